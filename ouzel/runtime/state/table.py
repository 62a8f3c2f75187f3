"""SlotTable: keys to slots, with columns and rows by slot; and what is common to all that a state context keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.runtime.state import kernels
from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.hashing import Words
from ouzel.runtime.state.index import KeyIndex, Slots
from ouzel.runtime.state.positions import filter_rows, take_rows
from ouzel.runtime.state.rows import RowStore

LOW, HIGH, GROUP, GONE = "$low", "$high", "$group", "$gone"
"""Columns of every part of a snapshot: both words of the hash that a row is known by, its key group, whether it is there no more."""

FEW = 2
"""Of a table of which at most one slot in so many has changed, a snapshot copies those slots at once, and lends nothing. Measured with
twelve columns, copying 380,000 of 1.5 M slots took 40 ms, and lending them 340 ms, when the next batch wrote to all of them.
"""

REMOVED_MOST = 1 << 20
"""So many removals are remembered for the next snapshot of changes; beyond, and beyond what is held, it is a whole one."""


class SlotTable:
    """Slots of keys by their hashes, and whatever is kept by slot. Itself it keeps no keys: it serves what lives no longer than a batch."""

    def __init__(self) -> None:
        self.index = KeyIndex()
        self.bags: list[Kept] = []
        self._columns: dict[str, SlotColumns] = {}
        self._stores: dict[str, RowStore] = {}
        self._marks = SlotColumns({"mark": np.int64})
        self._arrays = [self._marks]
        self._seen = 1

    @property
    def used_bytes(self) -> int:
        """Of all that is kept by slot. Slots that were given out once count, also while nothing is in them."""
        limit = self.index.limit
        arrays = sum(columns.used_bytes(limit) for columns in self._arrays)
        return self.index.used_bytes + arrays + sum(store.used_bytes for store in self._stores.values())

    def columns(self, name: str, types: Mapping[str, npt.DTypeLike], derived: bool = False) -> SlotColumns:
        """Arrays by slot that grow with the table, zero at a slot's beginning; `derived` ones are in no snapshot."""
        assert name not in self._columns, f"columns called {name!r} are declared already"
        made = SlotColumns(types)
        made.reserve(self._marks.capacity)
        self._arrays.append(made)
        if not derived:
            self._columns[name] = made
        return made

    def rows(self, name: str, schema: Mapping[str, pl.DataType]) -> RowStore:
        """At most one row a slot."""
        assert name not in self._stores, f"rows called {name!r} are declared already"
        self._stores[name] = RowStore(schema)
        return self._stores[name]

    def locate(self, key: tuple[Words, Words]) -> Slots:
        """The slot of each key, a new one where the key is new."""
        slots = self.index.find_or_insert(*key)
        self.reserve(self.index.limit)
        return slots

    def reserve(self, limit: int) -> None:
        """Make room for slots below `limit`."""
        if limit > self._marks.capacity:
            for columns in self._arrays:
                columns.reserve(limit)

    def touch(self, slots: Slots) -> tuple[Slots, Slots, Slots]:
        """(each row's number among the distinct slots, in order of appearance; the slot of each number; its first row)."""
        groups, touched, first = np.empty((3, len(slots)), np.int64)
        number = kernels.touch(slots, self._marks["mark"], self._seen, groups, touched, first)
        self._seen += len(slots)
        return groups, touched[:number], first[:number]

    def release(self, slots: Slots) -> None:
        """Forget those of these slots, each given once, that have no row in any bag."""
        self.remove(slots[np.logical_and.reduce([bag.empty(slots) for bag in self.bags])])

    def find_expired(self, times: npt.NDArray[np.int64], until: int) -> Slots:
        """The slots whose value in a column of times is at most `until`: a watermark has passed them, or their time to live is over."""
        slots = self.index.slots()
        return slots[times[slots] <= until]

    def remove(self, slots: Slots) -> None:
        """Forget these slots, each given once, and the rows of bags that belong to them."""
        for bag in self.bags:
            bag.remove_of(slots)
        self.index.remove(slots)
        for columns in self._arrays:
            columns.clear(slots)
        for store in self._stores.values():
            store.free(slots)


class Kept(SlotTable):
    """Base: a table that a snapshot holds. A row of a snapshot is known by the hash of its slot."""

    _more_words: tuple[str, ...] = ()
    """The columns that `_more` gives, of words."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._changes = self.columns("changes", {"epoch": np.int64}, derived=True)
        self._epoch = 1
        self._removed: list[tuple[Words, Words]] | None = None

    def mark_changed(self, slots: Slots) -> None:
        """Note that the next snapshot of changes holds these slots."""
        if self._removed is not None:
            self._changes["epoch"][slots] = self._epoch

    def remove(self, slots: Slots) -> None:
        """Forget these slots, each given once."""
        if self._removed is not None and slots.size:
            self._removed.append(self.index.hashes(slots))
            if sum(len(low) for low, _ in self._removed) > max(REMOVED_MOST, len(self.index)):
                self._removed = None
        super().remove(slots)

    def remove_of(self, owners: Slots) -> None:
        """The slots of the table that it belongs to are forgotten."""

    def empty(self, owners: Slots) -> npt.NDArray[np.bool_]:
        """Which slots of the table that it belongs to have nothing in it."""
        raise NotImplementedError

    def count_of_owners(self, limit: int) -> npt.NDArray[np.int64]:
        """How many rows each slot below `limit` of the table that it belongs to has in it."""
        raise NotImplementedError

    @property
    def has_changes(self) -> bool:
        """Whether what has changed since the last snapshot is known."""
        return self._removed is not None

    def whole(self) -> Callable[[], pl.DataFrame]:
        """All that is held now as a part of a snapshot, made when this is called, in any thread; changes count from here on."""
        frozen = self.freeze()
        self._begin()
        return lambda: frozen._part(frozen._order(frozen.index.slots()))

    def changes(self) -> Callable[[], pl.DataFrame]:
        """As `whole`, of what has changed since the last snapshot: first what has gone, then what is new or other than it was.

        The table may be many times as large as what has changed, and what is lent is copied whole when it is next written to.
        """
        changed = np.flatnonzero(self._changes.peek("epoch", self.index.limit) == self._epoch)
        frozen = self.select(changed) if FEW * changed.size <= self.index.limit else self.freeze()
        self._begin()
        return frozen._changed_part

    def select(self, slots: Slots) -> Self:
        """A copy of these slots alone: slot i is `slots[i]`."""
        copied = copy(self)
        copied.index = self.index.select(slots)
        copied._columns = {family: held.select(slots) for family, held in self._columns.items()}
        copied._stores = {family: store.select(slots) for family, store in self._stores.items()}
        copied._changes = self._changes.select(slots)
        return copied

    def freeze(self) -> Self:
        """This as it is now, to be read while this goes on. Nothing is copied yet: what is written next is, if it is still read then."""
        frozen, used = copy(self), self.index.limit
        frozen.index = self.index.freeze()
        frozen._columns = {family: held.freeze(used) for family, held in self._columns.items()}
        frozen._stores = {family: store.freeze(used) for family, store in self._stores.items()}
        frozen._changes = self._changes.freeze(used)
        return frozen

    def _changed_part(self) -> pl.DataFrame:
        removed = self._removed
        assert removed is not None
        slots = self.index.slots()
        part = self._part(self._order(slots[self._changes["epoch"][slots] == self._epoch]))
        if not removed:
            return part
        low, high = map(np.concatenate, zip(*removed, strict=True))
        gone = pl.DataFrame({LOW: low, HIGH: high, GONE: np.ones(len(low), np.bool_)})
        return pl.concat([gone, part], how="diagonal").select(part.columns)

    @cached_property
    def schema(self) -> pl.Schema:
        """The columns of a part of a snapshot, once all that is kept has been declared."""
        types: dict[str, pl.DataType] = {LOW: pl.UInt64(), HIGH: pl.UInt64(), GROUP: pl.UInt16(), GONE: pl.Boolean()}
        for family, held in self._columns.items():
            types |= {f"column.{family}.{name}": _polars(held[name].dtype) for name in held.names}
        for family, store in self._stores.items():
            types[f"there.{family}"] = pl.Boolean()
            types |= {f"row.{family}.{name}": kind for name, kind in store.schema.items()}
        return pl.Schema(types | dict.fromkeys(self._more_words, pl.UInt64()))

    def load(self, part: pl.DataFrame) -> None:
        """Put in what a part of a snapshot holds, in place of what is here of the same keys."""
        gone = part[GONE].to_numpy()
        if gone.any():
            slots = self.index.find(part[LOW].to_numpy()[gone], part[HIGH].to_numpy()[gone])
            self.remove(np.unique(slots[slots >= 0]))
            part = filter_rows(part, ~gone)
        if not part.height:
            return
        slots = self.locate((part[LOW].to_numpy(), part[HIGH].to_numpy()))
        for family, columns in self._columns.items():
            for name in columns.names:
                columns[name][slots] = part[f"column.{family}.{name}"].to_numpy()
        for family, store in self._stores.items():
            there = np.flatnonzero(part[f"there.{family}"].to_numpy())
            store.put(slots[there], take_rows(_rows_of(part, f"row.{family}."), there))
        self._load(slots, part)

    def _begin(self) -> None:
        self._epoch += 1
        self._removed = []

    def _part(self, slots: Slots) -> pl.DataFrame:
        low, high = self.index.hashes(slots)
        columns = [pl.Series(LOW, low), pl.Series(HIGH, high), pl.Series(GROUP, self.groups(slots).astype(np.uint16))]
        columns.append(pl.Series(GONE, np.zeros(len(slots), np.bool_)))
        for family, held in self._columns.items():
            columns += [pl.Series(f"column.{family}.{name}", held[name].take(slots)) for name in held.names]
        for family, store in self._stores.items():
            there = ~store.missing(slots)
            columns.append(pl.Series(f"there.{family}", there))
            rows = store.take_with_gaps(slots).get_columns()
            columns += [column.alias(f"row.{family}.{column.name}") for column in rows]
        words = zip(self._more_words, self._more(slots), strict=True)
        return pl.DataFrame([*columns, *(pl.Series(name, array) for name, array in words)])

    def groups(self, slots: Slots) -> npt.NDArray[np.int64]:
        """The key group of each of these slots."""
        raise NotImplementedError

    def _order(self, slots: Slots) -> Slots:
        """These slots in the order in which a snapshot has them."""
        return slots

    def _more(self, slots: Slots) -> Sequence[Words]:
        """What a part holds beside columns and rows."""
        return ()

    def _load(self, slots: Slots, part: pl.DataFrame) -> None:
        """Take over what `_more` has told."""


def _rows_of(part: pl.DataFrame, prefix: str) -> pl.DataFrame:
    """The columns of this prefix, without it; not by expressions, which Polars plans each time."""
    columns = [column for column in part.get_columns() if column.name.startswith(prefix)]
    return pl.DataFrame([column.alias(column.name.removeprefix(prefix)) for column in columns])


@cache
def _polars(kind: np.dtype[Any]) -> pl.DataType:
    return pl.Series(np.empty(0, kind)).dtype

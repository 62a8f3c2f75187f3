"""RowBag: weighted rows by the key of a table (a Z-set for each key)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.runtime.state import kernels
from ouzel.runtime.state.hashing import Words, extend_hashes
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.rows import RowStore
from ouzel.runtime.state.table import Kept, SlotTable

_ROW = "row"
_OWNER_LOW, _OWNER_HIGH = "owner.low", "owner.high"


class RowBag(Kept):
    """Distinct rows of each owner (a slot of another table), each with a weight. They go when their owner goes.

    A row is known by the hash of owner and row, and linked to the other rows of its owner in both directions.

    Args:
        name: by which a snapshot knows it.
        owners: the table of the keys.
        schema: the columns of a row.
        seed: of the hash.
        order_by: a column by which `of` gives the rows of an owner, NULLs first; None for any order.
    """

    _more_words = _OWNER_LOW, _OWNER_HIGH

    def __init__(
        self, name: str, owners: SlotTable, schema: Mapping[str, pl.DataType], seed: int, order_by: str | None = None
    ) -> None:
        super().__init__(name)
        self._owners, self._names, self._seed, self._order_by = owners, list(schema), seed, order_by
        self.rows(_ROW, schema)
        self.columns(_ROW, {"weight": np.int64})
        self._links = self.columns("links", dict.fromkeys(("owner", "next", "previous"), np.int64), derived=True)
        self._heads = owners.columns(name, {"head": np.int64}, derived=True)
        owners.bags.append(self)

    @property
    def weights(self) -> npt.NDArray[np.int64]:
        """The weight of each slot."""
        return self._columns[_ROW]["weight"]

    @property
    def _held(self) -> RowStore:
        return self._stores[_ROW]

    def owners(self, slots: Slots) -> Slots:
        """The owner of each of these slots."""
        owners: Slots = self._links["owner"][slots] - 1
        return owners

    def find_or_put(self, key: tuple[Words, Words], owners: Slots, rows: pl.DataFrame) -> Slots:
        """The slot of each row; a new one of weight 0 where its owner has no such row. `key` are the hashes of the owners' keys."""
        slots = self.locate(extend_hashes(key, rows, self._names, self._seed))
        new = np.flatnonzero(self._links["owner"][slots] == 0)
        if new.size:
            _, fresh, first = self.touch(slots[new])
            first = new[first]
            places = pl.Series(first.astype(np.uint32))
            self._held.put(fresh, pl.DataFrame([rows.get_column(name)[places] for name in self._names]))
            self._link(fresh, owners[first])
        self.mark_changed(slots)
        return slots

    def add(self, slots: Slots, weights: npt.NDArray[np.int64]) -> None:
        """Add the weights of rows; who adds looks with `sweep` which have come to nothing."""
        kernels.add_amounts(self.weights, slots, weights)

    def sweep(self, slots: Slots) -> None:
        """Forget those of these slots whose weight is 0."""
        gone = slots[self.weights[slots] == 0]
        if gone.size:
            self.remove(np.unique(gone))

    def remove(self, slots: Slots) -> None:
        """Forget these rows, each given once."""
        links = self._links
        kernels.unlink(slots, self._heads["head"], links["next"], links["previous"], links["owner"])
        super().remove(slots)

    def remove_of(self, owners: Slots) -> None:
        """Forget all rows of these owners, and with them their lists."""
        slots = self._walk(owners)
        self._heads["head"][owners] = 0
        if slots.size:
            super().remove(slots)

    def of(self, owners: Slots) -> Slots:
        """The slots of the rows of positive weight of these owners, each given once: owner by owner, and in their order if one is kept."""
        slots = self._walk(owners)
        slots = slots[self.weights[slots] > 0]
        if self._order_by is None or not slots.size:
            return slots
        columns = [pl.Series("$owner", self.owners(slots)), self.frame(slots)[self._order_by].alias("$by")]
        order = pl.DataFrame([*columns, pl.Series("$slot", slots)]).sort("$owner", "$by", maintain_order=True)
        return order["$slot"].to_numpy()

    def of_any_weight(self, owners: Slots) -> Slots:
        """As `of`, but in no order within an owner, and with rows that have been taken back before they came."""
        return self._walk(owners)

    def list_slots(self, owners: Slots) -> tuple[Slots, npt.NDArray[np.int64]]:
        """As `of_any_weight`, owner by owner, and where the rows of each begin, with the end of the last."""
        ends = np.zeros(len(owners) + 1, np.int64)
        found = np.empty(len(self.index), np.int64)
        number = kernels.walk_each_list(owners, self._heads["head"], self._links["next"], found, ends)
        return found[:number], ends

    def frame(self, slots: Slots) -> pl.DataFrame:
        """The rows of these slots."""
        return self._held.take(slots)

    def frame_with_gaps(self, slots: Slots) -> pl.DataFrame:
        """The rows of these slots, NULLs for a slot below 0."""
        return self._held.take_with_gaps(slots)

    def empty(self, owners: Slots) -> npt.NDArray[np.bool_]:
        """Which owners have no rows, of whatever weight."""
        none: npt.NDArray[np.bool_] = self._heads["head"][owners] == 0
        return none

    def count_of_owners(self, limit: int) -> npt.NDArray[np.int64]:
        """How many rows each owner below `limit` has, of whatever weight."""
        owners = self._links.peek("owner", self.index.limit)  # 0 where there is no row
        return np.bincount(owners, minlength=limit + 1)[1 : limit + 1]

    def select(self, slots: Slots) -> Self:
        """As for every table, with their owners, an owner for each."""
        assert isinstance(self._owners, Kept)
        copied = super().select(slots)
        copied._links = self._links.select(slots, ("owner",))
        owners = copied._links["owner"]
        copied._owners = self._owners.select(owners - 1)
        owners[:] = np.arange(1, slots.size + 1)
        return copied

    def freeze(self) -> Self:
        """As for every table, with its owners."""
        frozen = super().freeze()
        frozen._links = self._links.freeze(self.index.limit, ("owner",))
        assert isinstance(self._owners, Kept)
        frozen._owners = self._owners.freeze()
        return frozen

    def groups(self, slots: Slots) -> npt.NDArray[np.int64]:
        """The key group of the owners."""
        assert isinstance(self._owners, Kept)
        return self._owners.groups(self.owners(slots))

    def _link(self, slots: Slots, owners: Slots) -> None:
        links = self._links
        kernels.link(slots, owners, self._heads["head"], links["next"], links["previous"], links["owner"])

    def _walk(self, owners: Slots) -> Slots:
        some = owners[self._heads["head"][owners] != 0]
        found = np.empty(len(self.index) if some.size else 0, np.int64)
        return found[: kernels.walk_lists(some, self._heads["head"], self._links["next"], found)]

    def _order(self, slots: Slots) -> Slots:
        return self._held.order(slots)

    def _more(self, slots: Slots) -> Sequence[Words]:
        return self._owners.index.hashes(self.owners(slots))

    def _load(self, slots: Slots, part: pl.DataFrame) -> None:
        new = np.flatnonzero(self._links["owner"][slots] == 0)
        words = (part[name].to_numpy()[new] for name in self._more_words)
        self._link(slots[new], self._owners.index.find(*words))

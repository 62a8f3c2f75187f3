"""KeyedTable: what an operator keeps for each key. The keys are stored; accumulators are columns by slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.runtime.state.hashing import Words, key_groups, key_hashes, row_hashes
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.rows import RowStore
from ouzel.runtime.state.table import Kept

_KEYS = "keys"


class Entered(NamedTuple):
    """Where the rows of a batch belong: row i has the key hash `key[…][i]`, and slot `slots[i]`, which is `touched[groups[i]]`."""

    key: tuple[Words, Words]
    slots: Slots
    groups: Slots
    touched: Slots


class KeyedTable(Kept):
    """A slot for each key, its key, and what is declared with `columns` and `rows`.

    Args:
        name: by which a snapshot knows it.
        keys: the key's columns; none for the one row of an operator without keys.
        routing: those of them by whose hash rows come to this task.
        seed: of the hash.
    """

    def __init__(self, name: str, keys: Mapping[str, pl.DataType], routing: Sequence[str], seed: int) -> None:
        super().__init__(name)
        self._routing, self._seed = list(routing), seed
        self._own = list(routing) == list(keys)
        if keys:
            self.rows(_KEYS, keys)

    @property
    def _keys(self) -> RowStore | None:
        return self._stores.get(_KEYS)

    def enter(self, frame: pl.DataFrame, names: Sequence[str]) -> Entered:
        """Find or make the slot of each row's key, which is in the columns `names`. All these slots count as changed."""
        key = key_hashes(frame, names, self._seed)
        slots = self.locate(key)
        groups, touched, first = self.touch(slots)
        self.keep(touched, frame, names, first)
        return Entered(key, slots, groups, touched)

    def keep(self, slots: Slots, frame: pl.DataFrame, names: Sequence[str], rows: Slots) -> None:
        """Store the keys of new slots, each given once: that of slot i is in row `rows[i]` under `names`. All count as changed."""
        self.mark_changed(slots)
        if self._keys is None or len(self._keys) == len(
            self.index
        ):  # to look for the new ones is a cache miss for each slot
            return
        new = np.flatnonzero(self._keys.missing(slots))
        places = pl.Series(rows[new].astype(np.uint32))
        pairs = zip(self._keys.names, names, strict=True)
        self._keys.put(slots[new], pl.DataFrame([frame[name][places].alias(own) for own, name in pairs]))

    def keys(self, slots: Slots) -> pl.DataFrame:
        """The keys of these slots."""
        return pl.DataFrame() if self._keys is None else self._keys.take(slots)

    def by_age(self, slots: Slots) -> Slots:
        """These slots, by when their keys came."""
        return slots if self._keys is None else self._keys.order(slots)

    def groups(self, slots: Slots) -> npt.NDArray[np.int64]:
        """The key group of each of these slots, from the hash of its routing key."""
        return key_groups(self._routing_hashes(slots))

    def _routing_hashes(self, slots: Slots) -> Words:
        if self._own or self._keys is None:
            return self.index.hashes(slots)[0]
        return row_hashes(self._keys.take(slots), self._routing, self._seed)

    def _order(self, slots: Slots) -> Slots:
        return self.by_age(slots)

"""KeyIndex: from the 128-bit hash of a key to a small number, its slot, by which columns of state are addressed."""

from __future__ import annotations

from copy import copy

import numpy as np
import numpy.typing as npt

from ouzel.runtime.state import kernels
from ouzel.runtime.state.hashing import Words
from ouzel.runtime.state.lending import Loans

Slots = npt.NDArray[np.int64]

_SMALLEST = 64


class KeyIndex:
    """Open addressing over key hashes. Slots are dense from 0; a removed key's slot is given to a later key.

    `find_or_insert` handles some 40 M rows a second while the table fits the cache (175,000 keys: 7 MB).
    """

    def __init__(self, capacity: int = _SMALLEST) -> None:
        size = max(_SMALLEST, 1 << (2 * capacity - 1).bit_length())
        self._table = np.zeros(size, np.uint64)
        self._keys = np.zeros((size // 2, 2), np.uint64)
        self._free = np.zeros(size // 2, np.int64)
        self._counts = np.zeros(3, np.int64)
        self._loans = Loans()

    def __len__(self) -> int:
        return int(self._counts[kernels.LIVE])

    @property
    def limit(self) -> int:
        """One more than the highest slot ever given out: how long columns must be."""
        return int(self._counts[kernels.NEXT])

    @property
    def used_bytes(self) -> int:
        """Of the slots given out so far, and of the table that leads to them."""
        waiting = int(self._counts[kernels.FREE])
        return self._table.nbytes + self._keys[: self.limit].nbytes + self._free[:waiting].nbytes

    def find_or_insert(self, low: Words, high: Words) -> Slots:
        """The slot of each key, a new one where the key is new."""
        slots = np.empty(low.size, np.int64)
        done = 0
        while (done := self._insert(low, high, slots, done)) < low.size:
            self._grow()
        return slots

    def find(self, low: Words, high: Words) -> Slots:
        """The slot of each key, -1 where there is none."""
        slots = np.empty(low.size, np.int64)
        kernels.find_slots(self._table, self._keys, low, high, slots)
        return slots

    def remove(self, slots: Slots) -> None:
        """Forget the keys of these slots, each given once."""
        self._own()
        kernels.remove(self._table, self._keys, self._free, self._counts, slots)

    def slots(self) -> Slots:
        """The slots in use, ascending."""
        waiting = int(self._counts[kernels.FREE])
        if not waiting:
            return np.arange(self.limit)
        used = np.ones(self.limit, np.bool_)
        used[self._free[:waiting]] = False
        return np.flatnonzero(used)

    def hashes(self, slots: Slots) -> tuple[Words, Words]:
        """Both words of the keys of these slots."""
        keys = self._keys.take(slots, axis=0)  # pairs by index take six times as long
        return np.ascontiguousarray(keys[:, 0]), np.ascontiguousarray(keys[:, 1])

    def clear(self) -> None:
        """Forget all keys and slots, keeping the memory."""
        self._own()
        self._table.fill(0)
        self._counts.fill(0)

    def freeze(self) -> KeyIndex:
        """What is held now, for `slots` and `hashes` alone. A slot has its key until it is forgotten, so only that needs a copy."""
        frozen = copy(self)
        frozen._table, frozen._loans = np.zeros(0, np.uint64), Loans()
        frozen._counts, frozen._free = self._counts.copy(), self._free[: int(self._counts[kernels.FREE])].copy()
        self._loans.add(frozen)
        return frozen

    def select(self, slots: Slots) -> KeyIndex:
        """A copy for `slots` and `hashes` alone, in which slot i has the key of `slots[i]`."""
        copied = copy(self)
        copied._table, copied._free, copied._loans = np.zeros(0, np.uint64), np.zeros(0, np.int64), Loans()
        copied._keys, copied._counts = self._keys.take(slots, axis=0), np.zeros_like(self._counts)
        copied._counts[[kernels.LIVE, kernels.NEXT]] = slots.size
        return copied

    def _own(self) -> None:
        """Leave the keys to those who read them as they were."""
        if self._loans and self._loans.take():
            keys, used = np.zeros_like(self._keys), self.limit
            keys[:used] = self._keys[:used]
            self._keys = keys

    def _insert(self, low: Words, high: Words, slots: Slots, start: int) -> int:
        return int(kernels.find_or_insert(self._table, self._keys, self._free, self._counts, low, high, slots, start))

    def _grow(self) -> None:
        table = np.zeros(self._table.size * 2, np.uint64)
        kernels.rehash(self._table, table)
        self._table = table
        if self._free.size < table.size // 2:
            used, waiting = self.limit, int(self._counts[kernels.FREE])
            keys, free = np.zeros((2 * table.size, 2), np.uint64), np.zeros(2 * table.size, np.int64)
            keys[:used], free[:waiting] = self._keys[:used], self._free[:waiting]
            self._keys, self._free = keys, free

"""SlotColumns: accumulators as arrays by slot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.lending import Loans

GROWTH = 4
"""Room grows so many times at once. What no slot has used yet takes no memory, and what is copied is a third of all, not all."""


class SlotColumns:
    """Named arrays of one length, growing together; zero is every accumulator's beginning.

    Who gets an array may write to it, until the task's state is snapshotted: no array is kept from one call of an operator to the next.
    """

    def __init__(self, types: Mapping[str, npt.DTypeLike]) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {name: np.zeros(64, kind) for name, kind in types.items()}
        self.capacity = 64
        self._loans: dict[str, Loans] = {}
        self._used = 0

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if self._loans:
            self._own(name)
        return self._arrays[name]

    def peek(self, name: str, limit: int) -> npt.NDArray[Any]:
        """The first so many values of an array, to be read now and not written to."""
        return self._arrays[name][:limit]

    def used_bytes(self, limit: int) -> int:
        """Of the slots below `limit`; the room beyond takes no memory yet."""
        return limit * sum(array.itemsize for array in self._arrays.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What the arrays are called, in order."""
        return tuple(self._arrays)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """All arrays, in the order they were named."""
        return tuple(self[name] for name in self._arrays)

    def reserve(self, limit: int) -> None:
        """Make room for slots below `limit`."""
        if limit <= self.capacity:
            return
        while self.capacity < limit:
            self.capacity *= GROWTH
        self._loans.clear()
        for name, array in self._arrays.items():
            self._arrays[name] = np.zeros(self.capacity, array.dtype)
            self._arrays[name][: array.size] = array

    def clear(self, slots: Slots) -> None:
        """Put these slots back to zero."""
        for array in self.arrays:
            array[slots] = 0

    def select(self, slots: Slots, names: Iterable[str] = ()) -> SlotColumns:
        """A copy of all arrays, or of those of these names, at these slots alone: entry i is that of `slots[i]`."""
        copied = SlotColumns({})
        copied._arrays = {name: self._arrays[name].take(slots) for name in names or self._arrays}
        copied.capacity = slots.size
        return copied

    def freeze(self, used: int, names: Iterable[str] = ()) -> SlotColumns:
        """All arrays, or those of these names, as they are now, to be read; slots below `used` have been given out."""
        frozen = SlotColumns({})
        frozen.capacity, self._used = self.capacity, max(self._used, used)
        for name in names or self._arrays:
            frozen._arrays[name] = self._arrays[name]
            self._loans.setdefault(name, Loans()).add(frozen)
        return frozen

    def _own(self, name: str) -> None:
        """Leave the array to those who read it as it was. Only what is in use is copied: the rest has never been touched."""
        readers = self._loans.pop(name, None)
        if readers is not None and readers.take():
            array = self._arrays[name]
            self._arrays[name] = np.zeros(array.size, array.dtype)
            self._arrays[name][: self._used] = array[: self._used]

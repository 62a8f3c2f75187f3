"""SlotColumns: accumulators as arrays by slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ouzel.runtime.state.index import Slots

GROWTH = 4
"""Room grows so many times at once. What no slot has used yet takes no memory, and what is copied is a third of all, not all."""


class SlotColumns:
    """Named arrays of one length, growing together; zero is every accumulator's beginning."""

    def __init__(self, types: Mapping[str, npt.DTypeLike]) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {name: np.zeros(64, kind) for name, kind in types.items()}
        self.capacity = 64

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._arrays[name]

    @property
    def names(self) -> tuple[str, ...]:
        """What the arrays are called, in order."""
        return tuple(self._arrays)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """All arrays, in the order they were named."""
        return tuple(self._arrays.values())

    def reserve(self, limit: int) -> None:
        """Make room for slots below `limit`."""
        if limit <= self.capacity:
            return
        while self.capacity < limit:
            self.capacity *= GROWTH
        for name, array in self._arrays.items():
            self._arrays[name] = np.zeros(self.capacity, array.dtype)
            self._arrays[name][: array.size] = array

    def clear(self, slots: Slots) -> None:
        """Put these slots back to zero."""
        for array in self._arrays.values():
            array[slots] = 0

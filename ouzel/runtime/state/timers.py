"""Timers: moments at which a key of a table wants to be looked at, in event time or in processing time."""

from __future__ import annotations

from enum import Enum

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.runtime.state.hashing import Words
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.table import SlotTable

_NEVER = (1 << 63) - 1


class Clock(Enum):
    """Which time a timer waits for."""

    EVENT = "event time, in microseconds"
    PROCESSING = "processing time, in milliseconds"


class Timers(RowBag):
    """Any number of moments for each key; one that is set twice comes once. They go when their key goes."""

    def __init__(self, name: str, owners: SlotTable, clock: Clock, seed: int) -> None:
        super().__init__(name, owners, {"at": pl.Int64()}, seed)
        self.clock = clock
        self._times = self.columns("timer", {"at": np.int64})
        self._next = _NEVER

    def set(self, key: tuple[Words, Words], owners: Slots, at: npt.NDArray[np.int64]) -> None:
        """Let each owner come up at its moment. `key` are the hashes of the owners' keys."""
        if not owners.size:
            return
        slots = self.find_or_put(key, owners, pl.DataFrame({"at": at}))
        self._times["at"][slots] = at
        self.weights[slots] = 1
        self._next = min(self._next, int(at.min()))

    def due(self, now: int) -> tuple[Slots, npt.NDArray[np.int64]]:
        """The owners whose moment has come, and those moments, in their order. They are told once."""
        if now < self._next:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        slots = self.index.slots()
        times = self._times["at"][slots]
        come = times <= now
        self._next = int(times[~come].min()) if not come.all() else _NEVER
        order = np.argsort(times[come], kind="stable")
        slots, times = slots[come][order], times[come][order]
        owners = self.owners(slots)
        self.remove(slots)
        return owners, times

    def load(self, part: pl.DataFrame) -> None:
        """As for every bag."""
        super().load(part)
        slots = self.index.slots()
        self._next = int(self._times["at"][slots].min()) if slots.size else _NEVER

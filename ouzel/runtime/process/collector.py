"""What Python's garbage collector takes of a process."""

from __future__ import annotations

import gc
import time
from typing import Any


class CollectorClock:
    """Counts the collections of this process, and the time that they take.

    Attributes:
        runs: how many there were.
        seconds: how long they took.
    """

    def __init__(self) -> None:
        self.runs, self.seconds = 0, 0.0
        self._began_s = 0.0

    def on_phase(self, phase: str, _: dict[str, Any]) -> None:
        """What the collector calls when it begins and when it ends."""
        if phase == "start":
            self._began_s = time.perf_counter()
        else:
            self.runs += 1
            self.seconds += time.perf_counter() - self._began_s


def watch_collector() -> CollectorClock:
    """A clock that this process' collector tells of each run, until the process ends."""
    clock = CollectorClock()
    gc.callbacks.append(clock.on_phase)
    return clock

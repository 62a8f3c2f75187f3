"""Time as a watcher may count it against what it watches: only as far as it looked. Without I/O or clock.

A watcher that looks late had no core, or its machine stood still; what it watches may have been held up by the same. But if all of that
time were excused, one that always looks late would never find what hangs. So a part of it counts.
"""

from __future__ import annotations


class WatchedTime:
    """Goes on from look to look, by no more than `step_ms` each time."""

    def __init__(self, step_ms: float, looked_ms: float | None = None) -> None:
        self._step_ms, self._looked_ms = step_ms, looked_ms
        self.now_ms = 0.0

    def look(self, now_ms: float) -> float:
        """The watcher looks now; by how much watched time has gone on since its last look."""
        before_ms, self._looked_ms = self._looked_ms, now_ms
        gone_ms = 0.0 if before_ms is None else min(max(0.0, now_ms - before_ms), self._step_ms)
        self.now_ms += gone_ms
        return gone_ms

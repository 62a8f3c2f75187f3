"""How long a client has not heard of the topology master, which tells it the status all the time. Without I/O or clock.

Silence counts only while the client looked, and while the topology master could have spoken: see `Starvation`.
"""

from __future__ import annotations

from ouzel.runtime.protocol.cluster.starvation import QUIET, STEP, Starvation, Usage
from ouzel.runtime.protocol.watched_time import WatchedTime


class Unheard:
    """The silence of the topology master, looked at again and again."""

    def __init__(self, limit_ms: float) -> None:
        self._limit_ms, self._time = limit_ms, WatchedTime(STEP * limit_ms)
        self.on_heard()

    def on_heard(self) -> None:
        """The topology master has said something."""
        self._since_ms, self._silence = self._time.now_ms, Starvation()

    def look(self, now_ms: float) -> bool:
        """Nothing has come until now; whether `see` is to be told what the topology master had of the CPU."""
        self._time.look(now_ms)
        is_quiet = self._time.now_ms - self._since_ms > QUIET * self._limit_ms
        return is_quiet and self._silence.is_due(self._limit_ms, self._time.now_ms)

    def see(self, usage: Usage | None) -> None:
        """What the topology master had of the CPU; None if there is none, or that is not known."""
        self._silence.see(usage, self._time.now_ms)

    @property
    def is_over(self) -> bool:
        """Whether it has been silent for too long: it will say nothing any more."""
        return self._time.now_ms - self._since_ms - self._silence.excused_ms > self._limit_ms

"""Whether something stands still: time without progress counts only as far as somebody looked. Without I/O or clock."""

from __future__ import annotations

from ouzel.runtime.protocol.watched_time import WatchedTime

SHARE = 0.1
"""At most this share of the limit counts between two looks: a process that looks so late was held up, and what it looks at perhaps too."""


class Standstill:
    """How far something has come, looked at again and again from `now_ms` on."""

    def __init__(self, limit_ms: float, now_ms: float) -> None:
        self._limit_ms, self._time = limit_ms, WatchedTime(SHARE * limit_ms, now_ms)
        self._stood_ms = 0.0
        self._reached: object = None

    def look(self, reached: object, now_ms: float) -> bool:
        """It has come so far now; whether it has stood still for longer than the limit."""
        gone_ms = self._time.look(now_ms)
        self._stood_ms = self._stood_ms + gone_ms if reached == self._reached else 0.0
        self._reached = reached
        return self._stood_ms > self._limit_ms

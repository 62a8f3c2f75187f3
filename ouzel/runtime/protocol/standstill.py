"""Whether something stands still: time without progress counts only as far as somebody looked. Without I/O or clock."""

from __future__ import annotations

SHARE = 0.1
"""At most this share of the limit counts between two looks: a process that looks so late was held up, and what it looks at perhaps too."""


class Standstill:
    """How far something has come, looked at again and again from `now_ms` on."""

    def __init__(self, limit_ms: float, now_ms: float) -> None:
        self._limit_ms, self._looked_ms = limit_ms, now_ms
        self._stood_ms = 0.0
        self._reached: object = None

    def look(self, reached: object, now_ms: float) -> bool:
        """It has come so far now; whether it has stood still for longer than the limit."""
        since_ms, self._looked_ms = now_ms - self._looked_ms, now_ms
        self._stood_ms = self._stood_ms + min(since_ms, SHARE * self._limit_ms) if reached == self._reached else 0.0
        self._reached = reached
        return self._stood_ms > self._limit_ms

"""Whether an input has nothing, or could not be asked: the one makes it idle, the other holds time back. No clock: times come in."""

from __future__ import annotations

from dataclasses import dataclass

ASKED_MS = 1_000
"""At most this much of the time between two questions counts as silence.

A process that was held up did not ask, and what fetches rows for it was held up too: the first answer after that says little.
"""


@dataclass(slots=True)
class Silence:
    """How long one partition has given nothing, and why: it had nothing, or what has it is `unreachable` (which says so in words)."""

    since_ms: float | None = None
    unreachable: str = ""
    _asked_ms: float = 0.0

    def on_rows(self) -> None:
        """Rows came."""
        self.since_ms, self.unreachable = None, ""

    def on_nothing(self, now_ms: float, unreachable: str = "") -> None:
        """It was asked and had nothing, or could not be asked. When it can be asked again, its silence begins anew."""
        if self.since_ms is None or bool(unreachable) != bool(self.unreachable):
            self.since_ms = now_ms
        self.since_ms += max(0.0, now_ms - self._asked_ms - ASKED_MS) if self.since_ms < now_ms else 0.0
        self.unreachable, self._asked_ms = unreachable, now_ms

    def was_asked_within(self, ms: float, now_ms: float) -> bool:
        """Whether it had nothing when it was asked so short a time ago."""
        return self.since_ms is not None and now_ms - self._asked_ms < ms

    def on_paused(self, lasted_ms: float) -> None:
        """It was not asked for so long, by command: that is no silence of its own."""
        if self.since_ms is not None:
            self.since_ms += lasted_ms

    def is_known(self, now_ms: float) -> bool:
        """Whether it had nothing when it was last asked, at most ASKED_MS ago. Under back-pressure nobody asks, so nothing is known."""
        return self.since_ms is not None and not self.unreachable and now_ms - self._asked_ms <= ASKED_MS

    def is_idle(self, now_ms: float, after_ms: int | None) -> bool:
        """Whether it has had nothing for that long; None is never."""
        if after_ms is None or self.since_ms is None or not self.is_known(now_ms):
            return False
        return now_ms - self.since_ms >= after_ms

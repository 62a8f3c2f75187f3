"""How long a partition is left alone that gives few rows at a time, so that they gather."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Linger:
    """A batch costs every task on its way a millisecond or so, however few its rows are: a trickle read row by row keeps a core busy.

    A partition that gives few rows twice in a row is left alone for `linger_ms` after each batch, until one is full. The first small batch
    is followed at once by the next read, so the end of a file is not waited for; and a row that comes after silence is read when it comes.
    (Nagle, RFC 896; `linger.ms` of Kafka's producer does the same where records are written.)

    Args:
        few: a batch of fewer rows is small.
        full: as many as are read at once: then there may be more.
        linger_ms: 0 waits for nothing.
    """

    few: int = 0
    full: int = 1
    linger_ms: float = 0.0
    _small: int = 0
    _until_ms: float = 0.0

    def on_read(self, rows: int, now_ms: float) -> None:
        """A batch was read."""
        self._small = 0 if rows >= self.full else self._small + (rows < self.few)
        if self._small > 1:
            self._until_ms = now_ms + self.linger_ms

    def is_gathering(self, now_ms: float) -> bool:
        """Whether its rows are left to gather."""
        return now_ms < self._until_ms

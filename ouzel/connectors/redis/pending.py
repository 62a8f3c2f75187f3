"""The entries that are pending at one consumer of a group; no I/O and no clock.

An entry is numbered when it is given out, and again when it is given out again. The server knows it by its id, and that it is pending,
until it is acknowledged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple


class StreamEntry(NamedTuple):
    """An entry of a stream: its id, what its field holds, and why it cannot be a row, if it cannot."""

    number: bytes
    data: bytes
    fault: str = ""


class PendingEntries:
    """Entries that wait to be given out, those that are out, and those to be acknowledged."""

    def __init__(self, tracked: bool) -> None:
        self._tracked = tracked
        self._waiting: deque[StreamEntry] = deque()
        self._out: dict[int, StreamEntry] = {}
        self._known: set[bytes] = set()
        self._handed = 0
        self.handled: deque[bytes] = deque()

    @property
    def waiting(self) -> int:
        """How many entries wait to be given out."""
        return len(self._waiting)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is pending, nor to be acknowledged."""
        return not (self._known or self._waiting or self.handled)

    @property
    def count(self) -> int:
        """How many entries are pending."""
        return len(self._waiting) + len(self._out)

    def take(self, entries: Iterable[StreamEntry]) -> int:
        """Take in entries unless they are here already; how many were not."""
        fresh = [entry for entry in entries if entry.number not in self._known]
        if self._tracked:
            self._known.update(entry.number for entry in fresh)
        self._waiting.extend(fresh)
        return len(fresh)

    def give_out(self, most: int) -> tuple[int, list[StreamEntry]]:
        """At most so many entries, and the number of the first of them."""
        start = self._handed
        entries = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        self._handed += len(entries)
        if self._tracked:
            self._out.update(enumerate(entries, start))
        return start, entries

    def data(self, start: int, end: int) -> list[bytes]:
        """The data of those of these numbers that are out and can be rows."""
        out = (self._out[number] for number in range(start, end) if number in self._out)
        return [entry.data for entry in out if not entry.fault]

    def acknowledge(self, start: int, end: int) -> int:
        """These are handled, and none of them comes again."""
        self.handled.extend(self._out.pop(number).number for number in range(start, end) if number in self._out)
        return 0

    def on_acknowledged(self, count: int) -> None:
        """The server knows of so many, the oldest."""
        self._known.difference_update(self.handled.popleft() for _ in range(count))

    def give_back(self, start: int, end: int) -> None:
        """These come again, as new ones: they are pending with the server, and stay so."""
        self._waiting.extend(self._out.pop(number) for number in range(start, end) if number in self._out)

    def held(self, start: int, end: int) -> int:
        """How many of these are out."""
        return sum(number in self._out for number in range(start, end))

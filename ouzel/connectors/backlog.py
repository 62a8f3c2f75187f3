"""Records that wait in a source to be read, by place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

BACKLOGS_MAX = 10
"""The most places of a source that are reported, the fullest first: a topic may have thousands of partitions."""


@dataclass(frozen=True)
class Backlog:
    """What waits in one place: a partition, a file, or a queue on one of its servers.

    `records` wait there (of a file that is followed about so many), of `bytes` together; the last one that the server handed out had waited
    for `age_ms`; `journal_bytes` is what the server keeps of them on its disk. None is not known.
    """

    place: str
    records: int
    bytes: int | None = None
    age_ms: int | None = None
    journal_bytes: int | None = None


@runtime_checkable
class Backlogged(Protocol):
    """What the reader of a partition that lies in several places, or tells more than a count, has beside `lag()`."""

    def backlogs(self) -> Sequence[Backlog]:
        """The backlog of each place that this reader reports. It is called right after `lag()`, and raises nothing."""


class PartitionExtent(NamedTuple):
    """How far a partition was read, and how much there is of it, in one unit that only grows: offsets, or bytes."""

    read: int
    there: int


@runtime_checkable
class Measured(Protocol):
    """A reader that knows how much there is of its partition."""

    def extent(self) -> PartitionExtent | None:
        """How far it has read; None if unknown now. It is called right after `lag()`, must not block, and raises nothing."""


MARKS_MAX = 256


class UnreadAge:
    """For how long the first record that was not read has been there: at least so long, as far as looks at the partition tell.

    It remembers when there was first how much. Of many such marks every second one is forgotten, so that what is told of a long wait is too
    little by a hundredth of it or two, and never too much.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[int, float]] = deque()

    def observe(self, extent: PartitionExtent, now_ms: float) -> float:
        """Milliseconds at this look; 0 if nothing waits."""
        marks = self._marks
        while marks and marks[-1][0] > extent.there:  # there is less than there was: it was replaced
            marks.pop()
        if not marks or extent.there > marks[-1][0]:
            marks.append((extent.there, now_ms))
        while marks and marks[0][0] <= extent.read:
            marks.popleft()
        if len(marks) > MARKS_MAX:
            self._marks = deque(mark for number, mark in enumerate(marks) if number % 2 == 0)
        return now_ms - self._marks[0][1] if self._marks else 0.0


class _Counted(Protocol):
    @property
    def records(self) -> int: ...


B = TypeVar("B", bound=_Counted)


def largest(backlogs: Iterable[B]) -> list[B]:
    """Those where most waits, the largest first."""
    return nlargest(BACKLOGS_MAX, backlogs, key=lambda backlog: backlog.records)

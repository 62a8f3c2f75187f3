"""Records that wait in a source to be read, by place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Protocol, TypeVar, runtime_checkable

BACKLOGS_MAX = 10
"""The most places of a source that are reported, the fullest first: a topic may have thousands of partitions."""


@dataclass(frozen=True)
class Backlog:
    """What waits in one place: a partition, or a queue on one of its servers.

    `records` wait there, of `bytes` together; the last one that the server handed out had waited for `age_ms`; `journal_bytes` is what the
    server keeps of them on its disk. None is not known.
    """

    place: str
    records: int
    bytes: int | None = None
    age_ms: int | None = None
    journal_bytes: int | None = None


@runtime_checkable
class Backlogged(Protocol):
    """What the reader of a partition that lies in several places has beside `lag()`."""

    def backlogs(self) -> Sequence[Backlog]:
        """The backlog of each place that this reader reports. It is called right after `lag()`, and raises nothing."""


class _Counted(Protocol):
    @property
    def records(self) -> int: ...


B = TypeVar("B", bound=_Counted)


def largest(backlogs: Iterable[B]) -> list[B]:
    """Those where most waits, the largest first."""
    return nlargest(BACKLOGS_MAX, backlogs, key=lambda backlog: backlog.records)

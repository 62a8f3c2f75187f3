"""The counts of tasks, and what a run makes of them: the one place that lists them.

Whatever counts are reported, added up, sent to the client or shown in the live table, the code asks COUNTS and names none. A new count is
a field of `TaskCounts` and, if users see it, one of `RunCounts`; the messages TaskReport and TopologyStatus (`wire.proto`) have fields of
the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any


class Counted(Enum):
    """The tasks whose counts are added up to the count of a run."""

    SPOUTS = "spouts"
    SINKS = "sinks"
    ALL = "all tasks"
    NONE = "a run has no such count"


@dataclass(frozen=True)
class Metric:
    """What is said of one count, as metadata of its field.

    Attributes:
        of: the tasks whose counts are added up.
        carried: a task that goes on after a restart starts from the count of its former process (see TaskMetrics.carries).
        shown: its name in the live table, where it appears once it is not 0; empty for one that has its own place there.
        is_alarm: the live table shows it in red instead of yellow.
    """

    of: Counted
    carried: bool = False
    shown: str = ""
    is_alarm: bool = False


def _count(of: Counted, *, carried: bool = False, shown: str = "", is_alarm: bool = False) -> int:
    return field(default=0, metadata={"count": Metric(of, carried, shown, is_alarm)})


@dataclass(slots=True)
class TaskCounts:
    """Counts of one task since its start.

    Attributes:
        rows_in: rows read by a spout, or received by a bolt.
        rows_out: rows sent, or written by a sink.
        rows_acked: rows of roots that every task below has handled.
        rows_failed: rows of roots that are replayed.
        rows_late: rows behind the watermark.
        rows_bad: records that could not be read or computed.
        rows_shed: records that a source skipped.
        batches_in: batches received.
    """

    rows_in: int = _count(Counted.SPOUTS, carried=True)
    rows_out: int = _count(Counted.SINKS)
    rows_acked: int = _count(Counted.SPOUTS, carried=True)
    rows_failed: int = _count(Counted.ALL, shown="replayed")
    rows_late: int = _count(Counted.ALL, shown="late")
    rows_bad: int = _count(Counted.ALL, carried=True, shown="bad", is_alarm=True)
    rows_shed: int = _count(Counted.SPOUTS, shown="shed", is_alarm=True)
    batches_in: int = _count(Counted.NONE)


@dataclass(frozen=True, kw_only=True)
class RunCounts:
    """The same counts, added up over the tasks of a run."""

    rows_in: int = 0
    rows_out: int = 0
    rows_acked: int = 0
    rows_failed: int = 0
    rows_late: int = 0
    rows_bad: int = 0
    rows_shed: int = 0


COUNTS: Mapping[str, Metric] = {each.name: each.metadata["count"] for each in fields(TaskCounts)}
"""All counts, by name."""

RUN_COUNTS = tuple(each.name for each in fields(RunCounts))
"""The names of those that a run has."""


def add_up_counts(spouts: Iterable[object], sinks: Iterable[object], everyone: Iterable[object]) -> dict[str, Any]:
    """The counts of a run, by name, from those of its tasks: each has the counts as attributes."""
    groups = {Counted.SPOUTS: list(spouts), Counted.SINKS: list(sinks), Counted.ALL: list(everyone)}
    return {name: sum(count_of(task, name) for task in groups[COUNTS[name].of]) for name in RUN_COUNTS}


def count_of(task: object, name: str) -> int:
    """A count of a task, by name."""
    found: int = getattr(task, name)
    return found

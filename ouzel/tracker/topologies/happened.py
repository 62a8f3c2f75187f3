"""What has happened to a topology: its events, folded by component and kind, with times and samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ouzel.planner.topology import Task
from ouzel.runtime.protocol.messages import ADVICE, RESUMED, Event
from ouzel.tracker.topologies.snapshot import TopologySnapshot

UNREMARKABLE = frozenset({"note", RESUMED, ADVICE})
"""Kinds of events that are no exceptions."""

SAMPLES_SHOWN = 5

WHOLE = "topology"
"""Where it happened if nobody says to which task."""

Happened = tuple[Task | None, Event]


def exceptions(snapshot: TopologySnapshot) -> list[Happened]:
    """What has happened to its tasks, the latest last; of some it is not known to which."""
    tasks = {task.id: task for task in snapshot.job.topology.tasks()}
    events = snapshot.status.events if snapshot.status else ()
    found = [(tasks.get(event.task or 0), event) for event in events if event.kind not in UNREMARKABLE]
    if snapshot.record.reason:
        found.append((None, Event("failed", snapshot.record.reason, at_us=snapshot.record.since_us)))
    return found


@dataclass(frozen=True)
class FoldedExceptions:
    """All of one kind that has happened to a component.

    Attributes:
        component: its name, or WHOLE.
        kind: of the events.
        count: how often.
        first_us, last_us: when, in microseconds since 1970; None if nobody noted that.
        samples: their texts, each once, the latest first, each with its task.
        log: the container and the log file of the task to which it happened last; None if that is not known.
    """

    component: str
    kind: str
    count: int
    first_us: int | None
    last_us: int | None
    samples: tuple[tuple[str, str], ...]
    log: tuple[int, str] | None


def fold_exceptions(snapshot: TopologySnapshot) -> list[FoldedExceptions]:
    """What has happened to a topology, the latest first; what nobody noted the time of comes last."""
    groups: dict[tuple[str, str], list[Happened]] = {}
    for task, event in exceptions(snapshot):
        groups.setdefault((task.component if task else WHOLE, event.kind), []).append((task, event))
    folded = [_fold(snapshot, component, kind, group) for (component, kind), group in groups.items()]
    return sorted(folded, key=lambda one: -(one.last_us or 0))


def _fold(snapshot: TopologySnapshot, component: str, kind: str, group: list[Happened]) -> FoldedExceptions:
    group = sorted(group, key=lambda one: one[1].at_us or 0)
    first_us, last_us = find_times(event for _, event in group)
    titles = [(f"{task.component}[{task.index}]" if task else WHOLE, event.text) for task, event in reversed(group)]
    last = group[-1][0]
    log = (snapshot.job.packing.container_of(last.id).id, f"instance-{last.id}.log") if last else None
    samples = tuple(dict.fromkeys(titles))[:SAMPLES_SHOWN]
    return FoldedExceptions(component, kind, sum(event.count for _, event in group), first_us, last_us, samples, log)


def find_times(events: Iterable[Event]) -> tuple[int | None, int | None]:
    """When the first and the last of these came, in microseconds since 1970; None if nobody noted it of any."""
    known = [event.at_us for event in events if event.at_us]
    return min(known, default=None), max(known, default=None)

"""What components, instances and containers did over a span of time, as tables: each column is a row of a table here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from ouzel.runtime.observe.task_metrics import (
    COLLECTING,
    COMPLETE_COUNT,
    COMPLETE_TIME,
    CONTAINER,
    COUNT_NAMES,
    CPU_TIME,
    MEMORY,
    STREAM_MANAGER,
    UPTIME,
    pressure_time_metric,
)
from ouzel.tracker import words
from ouzel.tracker.metrics.history import CAPACITY, EXECUTE_COUNT, RESTARTS, History, InstanceKey
from ouzel.tracker.metrics.series import sum_of
from ouzel.tracker.pages.drawing import colours_of
from ouzel.tracker.topologies.snapshot import TopologySnapshot

INSTANCES_SHOWN = 200
"""So many instances are shown at once; of more, those of one component can be asked for."""

Figured = float | None


@dataclass(frozen=True)
class TaskPlace:
    """A task: its component and number, its container, and how pages name it."""

    component: str
    task: int
    container: int
    name: str

    @property
    def key(self) -> InstanceKey:
        """Under which history has it."""
        return self.component, self.task


@dataclass(frozen=True)
class Since:
    """The history since a time."""

    history: History
    since_s: int

    def over(self, key: InstanceKey, metric: str) -> Figured:
        """A metric of an instance in this time."""
        return self.history.over(key, metric, self.since_s)

    def rate(self, key: InstanceKey, metric: str) -> Figured:
        """What came of a count in a second of it."""
        return self.history.rate(key, metric, self.since_s)


@dataclass(frozen=True)
class Figure:
    """A column: its head, what it is, how it is found for some tasks together, and how it is written."""

    title: str
    hint: str
    of: Callable[[Since, Sequence[TaskPlace]], Figured]
    text: Callable[[Figured], str]


@dataclass(frozen=True)
class FigureRow:
    """One line: whose it is, the number of its colour, where a click leads, and its cells."""

    name: str
    colour: int
    link: str
    cells: tuple[str, ...]


def list_instances(snapshot: TopologySnapshot) -> list[TaskPlace]:
    """All tasks of a topology."""
    places = snapshot.job.placement.places()
    return [
        TaskPlace(task.component, task.id, places.get(task.id, 0), f"{task.component}[{task.index}]")
        for task in snapshot.job.topology.tasks()
    ]


def _total(metric: str, span: Since, instances: Sequence[TaskPlace]) -> Figured:
    return sum_of(span.over(one.key, metric) for one in instances)


def _quotient(metric: str, by: str, factor: float, span: Since, instances: Sequence[TaskPlace]) -> Figured:
    came, per = _total(metric, span, instances), _total(by, span, instances)
    return came / per * factor if came is not None and per else None


def _most(metric: str, span: Since, instances: Sequence[TaskPlace]) -> Figured:
    return most(span.over(one.key, metric) for one in instances)


def _least(metric: str, span: Since, instances: Sequence[TaskPlace]) -> Figured:
    known = [value for one in instances if (value := span.over(one.key, metric)) is not None]
    return min(known, default=None)


def _collecting(span: Since, instances: Sequence[TaskPlace]) -> Figured:
    found_ms = most(span.rate(one.key, COLLECTING) for one in instances)
    return None if found_ms is None else found_ms / 1e3


def _slow(span: Since, instances: Sequence[TaskPlace]) -> Figured:
    return most(find_slow_share(span, one) for one in instances)


def find_slow_share(span: Since, one: TaskPlace) -> Figured:
    """The share of the time in which too much waited for a task: 0 of one whose stream manager has never said so."""
    manager = (STREAM_MANAGER, one.container)
    spent_ms = span.rate(manager, pressure_time_metric(one.task))
    if spent_ms is None:
        return None if span.rate(manager, "__bytes") is None else 0.0
    return min(1.0, spent_ms / 1e3)


def most(values: Iterable[Figured]) -> Figured:
    """The largest of those that are known; None if none is."""
    return max((value for value in values if value is not None), default=None)


FIGURES = (
    Figure("Rows in", "read or received", partial(_total, EXECUTE_COUNT), words.count_text),
    Figure("Rows out", "sent or written", partial(_total, COUNT_NAMES["rows_out"]), words.count_text),
    Figure("Acked", "of a spout: wholly handled", partial(_total, COUNT_NAMES["rows_acked"]), words.count_text),
    Figure("Replayed", "of a spout: read again", partial(_total, COUNT_NAMES["rows_failed"]), words.count_text),
    Figure("Late", "behind the watermark", partial(_total, COUNT_NAMES["rows_late"]), words.count_text),
    Figure("Bad", "could not be read or computed", partial(_total, COUNT_NAMES["rows_bad"]), words.count_text),
    Figure("CPU a row", "mean CPU time", partial(_quotient, CPU_TIME, EXECUTE_COUNT, 1.0), words.nanoseconds_text),
    Figure(
        "Emit to ack",
        "mean, of a batch",
        partial(_quotient, COMPLETE_TIME, COMPLETE_COUNT, 1e3),
        words.nanoseconds_text,
    ),
    Figure("Busy", "share of a core, of the busiest", partial(_most, CAPACITY), words.share_text),
    Figure(
        "Collector", "share of the time that Python's collector took, the most", _collecting, words.small_share_text
    ),
    Figure("Back-pressure", "share of the time in which too much waited for it, the most", _slow, words.share_text),
    Figure(
        "Memory", "resident now; pages that processes share count in each", partial(_total, MEMORY), words.bytes_text
    ),
    Figure("Up", "since its process began, the least", partial(_least, UPTIME), words.duration_or_nothing),
    Figure("Restarts", "of its process", partial(_total, RESTARTS), words.count_text),
)
"""What is told of a component, and of an instance."""

OF_CONTAINERS = ("Cores asked for", "Cores used", "Memory asked for", "Memory used", "Bytes/s", "Waiting")


class FigureTables:
    """The tables of one topology over one span of time; `address` is that of its page of figures, with the span."""

    def __init__(self, snapshot: TopologySnapshot, span: Since, address: str) -> None:
        self._snapshot, self._span, self._address = snapshot, span, address
        self._colours = colours_of(snapshot.job.topology.components)
        self._instances = list_instances(snapshot)

    def list_components(self, link: Callable[[str], str]) -> list[FigureRow]:
        """A line a component, in their order; `link` leads to the instances of one."""
        names = [part.name for part in self._snapshot.job.topology.components]
        return [self._row(name, name, link(name), self._list_tasks(name)) for name in names]

    def list_instances(self, component: str) -> tuple[list[FigureRow], int]:
        """A line an instance, of one component or of all (an empty name); and how many more there are than are shown."""
        found = self._list_tasks(component) if component else self._instances
        shown = found[:INSTANCES_SHOWN]
        return [self._row(one.name, one.component, self._log(one), [one]) for one in shown], len(found) - len(shown)

    def list_containers(self) -> list[tuple[str, tuple[str, ...]]]:
        """A line a container: what it asked for, what its processes use, and what its stream manager sends."""
        found: list[tuple[str, tuple[str, ...]]] = []
        for one in self._snapshot.job.packing.containers:
            key, manager, over = (CONTAINER, one.id), (STREAM_MANAGER, one.id), self._span
            used_ns = over.rate(key, CPU_TIME)
            cells = (
                f"{one.resources.cpu:g}",
                words.NOTHING if used_ns is None else f"{used_ns / 1e9:.2f}",
                words.bytes_text(one.resources.ram_bytes),
                words.bytes_text(over.over(key, MEMORY)),
                words.rate_text(over.rate(manager, "__bytes")),
                words.bytes_text(over.over(manager, "__waiting-bytes")),
            )
            found.append((f"container {one.id}", cells))
        return found

    def _list_tasks(self, component: str) -> list[TaskPlace]:
        return [one for one in self._instances if one.component == component]

    def _log(self, one: TaskPlace) -> str:
        return f"{self._address}/logs/{one.container}/instance-{one.task}.log"

    def _row(self, name: str, component: str, link: str, instances: Sequence[TaskPlace]) -> FigureRow:
        cells = tuple(figure.text(figure.of(self._span, instances)) for figure in FIGURES)
        return FigureRow(name, self._colours[component], link, cells)

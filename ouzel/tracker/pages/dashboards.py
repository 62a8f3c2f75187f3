"""The dashboards of a topology, made from its plan: which charts there are, and which lines each has. After Heron's Viz."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ouzel.planner.topology import Component
from ouzel.runtime.observe.task_metrics import (
    COMPLETE_COUNT,
    COMPLETE_TIME,
    CONTAINER,
    COUNT_NAMES,
    CPU_TIME,
    MEMORY,
    STATE_BYTES,
    STATE_KEYS,
    STREAM_MANAGER,
)
from ouzel.tracker.metrics.grids import Grid, GridValues, maximum_of, minimum_of, quotient, total_of
from ouzel.tracker.metrics.history import RESTARTS, History, InstanceKey
from ouzel.tracker.pages.drawing import COLOURS, colours_of
from ouzel.tracker.topologies.snapshot import TopologySnapshot

LINES_MAX = 8
"""Most lines of a chart: those with the largest values."""


@dataclass(frozen=True)
class ChartLine:
    """One line of a chart; `colour` counts from 0."""

    name: str
    colour: int
    values: GridValues


@dataclass(frozen=True)
class Panel:
    """One chart; `left_out` are how many lines more there would be."""

    title: str
    unit: str
    lines: tuple[ChartLine, ...]
    left_out: int = 0


@dataclass(frozen=True)
class Dashboard:
    """Charts that belong together."""

    title: str
    panels: tuple[Panel, ...]


Reduce = Callable[[Iterable[GridValues], Grid], GridValues]


class DashboardMaker:
    """Makes the dashboards of one topology over one span of time."""

    def __init__(self, snapshot: TopologySnapshot, history: History, grid: Grid) -> None:
        self._history, self._grid = history, grid
        self._components = snapshot.job.topology.components
        self._colours = colours_of(self._components)
        self._tasks: dict[str, list[InstanceKey]] = {}
        for task in snapshot.job.topology.tasks():
            self._tasks.setdefault(task.component, []).append((task.component, task.id))
        self._containers = [one.id for one in snapshot.job.packing.containers]
        self._rows: dict[
            tuple[str, str], GridValues
        ] = {}  # by component and metric, a row a task: several charts show the same

    def make(self) -> tuple[Dashboard, ...]:
        """All of them."""
        return (
            Dashboard("Health", self._health()),
            Dashboard("Resources", self._resources()),
            Dashboard("Components", self._of_components()),
            Dashboard("Stream managers", self._of_stream_managers()),
        )

    def _health(self) -> tuple[Panel, ...]:
        spouts = [part for part in self._components if part.is_spout]
        pressure = [self._of_managers("slow tasks", "__back-pressure-tasks", maximum_of)]
        restarts = [
            self._steps_of(part.name, self._colours[part.name], self._tasks[part.name]) for part in self._components
        ]
        managers = self._steps_of("stream managers", COLOURS - 1, self._managers())
        return (
            _panel("Lag", "records", self._values(spouts, "__lag", total_of)),
            _panel("Waiting to be read", "s", self._values(spouts, "__lag-ms", maximum_of, 1e-3)),
            _panel("Event time behind the clock", "s", [self._behind(part) for part in spouts]),
            _panel("Replayed", "rows/s", self._rates(spouts, COUNT_NAMES["rows_failed"])),
            _panel("Late, bad and shed", "rows/s", self._left_out()),
            _panel("Restarts", "", [*restarts, managers]),
            _panel("Back-pressure", "tasks", pressure),
        )

    def _resources(self) -> tuple[Panel, ...]:
        keys = [(CONTAINER, number) for number in self._containers]
        cores = [self._line(key, self._history.rates_on(key, CPU_TIME, self._grid) / 1e9) for key in keys]
        memory = [self._line(key, self._history.values_on(key, MEMORY, self._grid)) for key in keys]
        busiest = [
            ChartLine(part.name, self._colours[part.name], self._reduce(part, CPU_TIME, maximum_of) / 1e9)
            for part in self._components
        ]
        return (
            _panel("CPU by container", "cores", cores),
            _panel("Memory by container", "B", memory),
            _panel("CPU of the busiest task", "cores", busiest),
        )

    def _of_components(self) -> tuple[Panel, ...]:
        parts = self._components
        state = [
            _panel(title, unit, lines)
            for title, unit, begin in (("State", "B", STATE_BYTES), ("Keys of state", "keys", STATE_KEYS))
            if (lines := self._of_operators(begin))
        ]
        return (
            _panel("Rows in", "rows/s", self._rates(parts, COUNT_NAMES["rows_in"])),
            _panel("Rows out", "rows/s", self._rates(parts, COUNT_NAMES["rows_out"])),
            _panel("CPU time a row", "ms", self._quotients(parts, CPU_TIME, COUNT_NAMES["rows_in"], 1e-6)),
            _panel("Emit to last ack", "ms", self._quotients(parts, COMPLETE_TIME, COMPLETE_COUNT, 1e-3)),
            *state,
        )

    def _of_operators(self, begin: str) -> list[ChartLine]:
        """A value of state, a line an operator; of a component with one such operator it is called as the component."""
        lines = []
        for part in self._components:
            keys = self._tasks[part.name]
            told = set().union(*(self._history.values_of(key) for key in keys))
            metrics = sorted(metric for metric in told if metric.startswith(begin))
            for metric in metrics:
                name = part.name if len(metrics) == 1 else f"{part.name} {metric.removeprefix(begin)}"
                rows = [self._history.values_on(key, metric, self._grid) for key in keys]
                lines.append(ChartLine(name, self._colours[part.name], total_of(rows, self._grid)))
        return lines

    def _of_stream_managers(self) -> tuple[Panel, ...]:
        counts = {
            "Bytes": ("__bytes", "B/s"),
            "Frames": ("__frames", "/s"),
            "Dropped frames": ("__dropped-frames", "/s"),
        }
        values = {"Waiting to be sent": ("__waiting-bytes", "B"), "Slow tasks": ("__back-pressure-tasks", "tasks")}
        made = [
            _panel(
                title,
                unit,
                [self._line(key, self._history.rates_on(key, metric, self._grid)) for key in self._managers()],
            )
            for title, (metric, unit) in counts.items()
        ]
        made += [
            _panel(
                title,
                unit,
                [self._line(key, self._history.values_on(key, metric, self._grid)) for key in self._managers()],
            )
            for title, (metric, unit) in values.items()
        ]
        return tuple(made)

    def _managers(self) -> list[InstanceKey]:
        return [(STREAM_MANAGER, number) for number in self._containers]

    def _line(self, key: InstanceKey, values: GridValues) -> ChartLine:
        """A line of a container."""
        return ChartLine(f"container {key[1]}", self._containers.index(key[1]) % COLOURS, values)

    def _of_managers(self, name: str, metric: str, reduce: Reduce) -> ChartLine:
        rows = [self._history.values_on(key, metric, self._grid) for key in self._managers()]
        return ChartLine(name, 1, reduce(rows, self._grid))

    def _reduce(self, part: Component, metric: str, reduce: Reduce) -> GridValues:
        known = self._rows.get((part.name, metric))
        if known is None:
            rows = [self._history.rates_on(key, metric, self._grid) for key in self._tasks[part.name]]
            known = self._rows[part.name, metric] = np.array(rows).reshape(-1, self._grid.count)
        return reduce(known, self._grid)

    def _rates(self, parts: Sequence[Component], metric: str) -> list[ChartLine]:
        return [ChartLine(part.name, self._colours[part.name], self._reduce(part, metric, total_of)) for part in parts]

    def _values(self, parts: Sequence[Component], metric: str, reduce: Reduce, factor: float = 1.0) -> list[ChartLine]:
        found = []
        for part in parts:
            rows = [self._history.values_on(key, metric, self._grid) for key in self._tasks[part.name]]
            found.append(ChartLine(part.name, self._colours[part.name], reduce(rows, self._grid) * factor))
        return found

    def _quotients(self, parts: Sequence[Component], of: str, by: str, factor: float) -> list[ChartLine]:
        return [
            ChartLine(
                part.name,
                self._colours[part.name],
                quotient(self._reduce(part, of, total_of), self._reduce(part, by, total_of)) * factor,
            )
            for part in parts
        ]

    def _behind(self, part: Component) -> ChartLine:
        """How far the slowest task's event time is behind the wall clock, in seconds."""
        rows = [self._history.values_on(key, "__watermark-ms", self._grid) for key in self._tasks[part.name]]
        return ChartLine(part.name, self._colours[part.name], self._grid.clock - minimum_of(rows, self._grid) / 1e3)

    def _left_out(self) -> list[ChartLine]:
        kinds = {"late": 1, "bad": 3, "shed": 5}
        return [
            ChartLine(
                kind,
                colour,
                total_of(
                    [self._reduce(part, COUNT_NAMES[f"rows_{kind}"], total_of) for part in self._components],
                    self._grid,
                ),
            )
            for kind, colour in kinds.items()
        ]

    def _steps_of(self, name: str, colour: int, keys: Sequence[InstanceKey]) -> ChartLine:
        """How often processes were started again in each step."""
        rows = [self._history.rates_on(key, RESTARTS, self._grid) * self._grid.step for key in keys]
        return ChartLine(name, colour, total_of(rows, self._grid))


def _panel(title: str, unit: str, lines: Sequence[ChartLine]) -> Panel:
    """The chart of these lines; if there are too many, of those with the largest values."""
    kept = {id(line) for line in sorted(lines, key=_peak, reverse=True)[:LINES_MAX]}
    return Panel(title, unit, tuple(line for line in lines if id(line) in kept), max(0, len(lines) - LINES_MAX))


def _peak(line: ChartLine) -> float:
    known = line.values[~np.isnan(line.values)]
    return float(known.max()) if len(known) else float("-inf")

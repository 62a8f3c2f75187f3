"""Sensors: the numbers by which health is judged, from a snapshot, the history of its run, and its epochs. Nothing here asks anybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ouzel.planner.topology import Component
from ouzel.runtime.observe.task_metrics import CONTAINER, CPU_TIME, MEMORY, STREAM_MANAGER, pressure_metric
from ouzel.tracker.health.readings import ComponentReading, Readings, TaskReading, Trend, find_trend
from ouzel.tracker.metrics.grids import Grid, GridValues
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from ouzel.tracker.topologies.epochs import EpochSummary, epoch_age_s
from ouzel.tracker.topologies.snapshot import TopologySnapshot

SPAN_S, TREND_S, LONG_S, MEMORY_S = 180, 600, 1_800, 3_600
"""Rates and back-pressure are those of SPAN_S, lag and what waits of TREND_S, tasks to spare of LONG_S, memory of MEMORY_S."""

YOUNG_S = 60
"""Of a run that is younger nothing is judged by its metrics: it begins with what had waited for it."""

STEPS_MIN = 6
"""Back-pressure must be known in so many steps of ten seconds."""


def read_sensors(
    snapshot: TopologySnapshot, history: History, epochs: Sequence[EpochSummary], now_s: float
) -> Readings:
    """The numbers of a topology that runs; `epochs` are the newest first."""
    return _Sensors(snapshot, history, int(now_s)).read(epochs)


class _Sensors:
    def __init__(self, snapshot: TopologySnapshot, history: History, now_s: int) -> None:
        self._snapshot, self._history, self._now_s = snapshot, history, now_s
        began = history.began_s
        self._known_s = 0 if began is None else now_s - max(began, snapshot.record.since_us // 1_000_000)
        self._containers = [one.id for one in snapshot.job.packing.containers]
        self._tasks = snapshot.job.topology.tasks()
        self._steps: dict[int, npt.NDArray[np.bool_]] = {}

    def read(self, epochs: Sequence[EpochSummary]) -> Readings:
        """All of them."""
        snapshot, settings = self._snapshot, self._snapshot.job.topology.settings
        return Readings(
            topology=snapshot.name,
            components=tuple(self._component(part) for part in snapshot.job.topology.components),
            lag=self._lag(),
            waiting=dict(self._trends(STREAM_MANAGER, "__waiting-bytes", TREND_S)),
            memory=dict(self._trends(CONTAINER, MEMORY, MEMORY_S)),
            slow_links=dict(self._slow_links()),
            state=dict(epochs[0].state) if epochs else {},
            epoch_interval_s=max(0, settings.checkpoint_interval_ms) / 1e3,
            epoch_age_s=epoch_age_s(snapshot, epochs, self._now_s),
            silence_s=snapshot.silence_s,
            known_s=self._known_s,
        )

    def _component(self, part: Component) -> ComponentReading:
        places = self._snapshot.job.placement.places()
        tasks = tuple(
            self._task(part.name, task.id, task.index, places[task.id])
            for task in self._tasks
            if task.component == part.name
        )
        return ComponentReading(part.name, tuple(each.component for each in part.inputs), tasks)

    def _task(self, component: str, task: int, index: int, container: int) -> TaskReading:
        if self._known_s < YOUNG_S:
            return TaskReading(index)
        key, since_s = (component, task), self._now_s - SPAN_S
        cores = self._history.rate(key, CPU_TIME, since_s)
        is_long = self._known_s >= LONG_S
        cores_long = self._history.rate(key, CPU_TIME, self._now_s - LONG_S) if is_long else None
        return TaskReading(
            index,
            self._history.rate(key, EXECUTE_COUNT, since_s),
            None if cores is None else cores / 1e9,
            None if cores_long is None else cores_long / 1e9,
            self._share_of_time(container, task),
        )

    def _share_of_time(self, container: int, link: int) -> float | None:
        """In which a container's stream manager had too much for a link; None if that is not known for long enough."""
        known = self._known_steps(container)
        if known.sum() < STEPS_MIN:
            return None
        slow = self._history.values_on((STREAM_MANAGER, container), pressure_metric(link), self._grid(SPAN_S)) == 1
        return float((known & slow).sum() / known.sum())

    def _known_steps(self, container: int) -> npt.NDArray[np.bool_]:
        """In which steps a container's stream manager has told of back-pressure; it may have hundreds of tasks that ask."""
        if container not in self._steps:
            told = self._history.values_on((STREAM_MANAGER, container), "__back-pressure-tasks", self._grid(SPAN_S))
            self._steps[container] = ~np.isnan(told)
        return self._steps[container]

    def _slow_links(self) -> Iterator[tuple[tuple[int, int], float]]:
        for sender in self._containers if self._known_s >= YOUNG_S else ():
            told = self._history.values_of((STREAM_MANAGER, sender))  # most have never waited for most of the others
            for receiver in self._containers:
                is_told = sender != receiver and pressure_metric(-receiver) in told
                if is_told and (share := self._share_of_time(sender, -receiver)):
                    yield (sender, receiver), share

    def _lag(self) -> Trend | None:
        grid = self._grid(TREND_S)
        spouts = {part.name for part in self._snapshot.job.topology.components if part.is_spout}
        rows = [
            self._history.values_on((task.component, task.id), "__lag", grid)
            for task in self._tasks
            if task.component in spouts
        ]
        known = [row for row in rows if not np.isnan(row).all()]
        total: GridValues = np.sum(known, axis=0) if known else grid.nothing  # unknown where one task's is
        return find_trend(total, grid.step)

    def _trends(self, component: str, metric: str, span_s: int) -> Iterator[tuple[int, Trend]]:
        grid = self._grid(span_s)
        for container in self._containers:
            trend = find_trend(self._history.values_on((component, container), metric, grid), grid.step)
            if trend is not None:
                yield container, trend

    def _grid(self, span_s: int) -> Grid:
        return Grid.between(self._now_s - min(span_s, max(0, self._known_s)), self._now_s)

"""Metrics under the names by which clients of Heron's tracker ask, where they have others here.

Heron's are those of a JVM, and of its stream managers; its pages, its command line and its health manager ask for them (names as in
heron/tools/common/src/python/clients/tracker.py, Heron 0.20).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ouzel.runtime.observe.task_metrics import (
    COLLECTING,
    COLLECTIONS,
    MEMORY,
    UPTIME,
    pressure_time_metric,
)
from ouzel.tracker.metrics.history import CAPACITY, History, InstanceKey
from ouzel.tracker.metrics.series import Minutes, MinuteValues, Series
from ouzel.tracker.topologies.snapshot import TopologySnapshot

_STREAM = "/default"
_PRESSURE = "__time_spent_back_pressure_by_compid/"
_MEMORY_TOTAL = "__jvm-memory-mb-total"

_BY_STREAM = {
    f"__{name}"
    for name in ("emit-count", "execute-count", "ack-count", "fail-count", "execute-latency", "complete-latency")
}


@dataclass(frozen=True)
class FoundMetric:
    """A metric as it is asked for.

    Attributes:
        name: ours.
        factor: its values are multiplied by that.
        is_running: it is not what came in each minute, but the sum up to its end.
    """

    name: str
    factor: float = 1.0
    is_running: bool = False

    def over(self, history: History, key: InstanceKey, since_s: int) -> float | None:
        """Of one instance, over the time since then; None if nothing has come since."""
        value = history.over(key, self.name, since_s)
        return None if value is None else value * self.factor

    def series(
        self, history: History, keys: Sequence[InstanceKey], minutes: Minutes, name: Callable[[InstanceKey], str]
    ) -> Series:
        """By minute, of these instances of one component."""
        numbers = [number for _, number in keys]
        found = history.series(keys[0][0] if keys else "", numbers, self.name, minutes, name)
        values = _add_up(found.values) if self.is_running else found.values
        return Series(found.instances, values * self.factor)


def _add_up(values: MinuteValues) -> MinuteValues:
    """The sums of each row up to each minute that has a value."""
    return np.where(np.isnan(values), np.nan, np.nancumsum(values, axis=1))


OURS = {
    "__jvm-process-cpu-load": FoundMetric(CAPACITY),
    "__jvm-memory-used-mb": FoundMetric(MEMORY, 1 / (1 << 20)),
    "__jvm-uptime-secs": FoundMetric(UPTIME),
    "__jvm-gc-collection-time-ms": FoundMetric(COLLECTING, is_running=True),
    "__jvm-gc-collection-count": FoundMetric(COLLECTIONS, is_running=True),
}
"""Heron's name, and what it is here. The load is of one core; RATE is asked of what the collector does, so that is a sum, as in Heron."""


@dataclass(frozen=True)
class AskedMemory:
    """The memory that an instance has asked for, in MiB: as long as it runs the same."""

    snapshot: TopologySnapshot

    def over(self, history: History, key: InstanceKey, since_s: int) -> float | None:
        """Of one instance; None of a stream manager or a container."""
        return self._read_plan().get(key[0])

    def series(
        self, history: History, keys: Sequence[InstanceKey], minutes: Minutes, name: Callable[[InstanceKey], str]
    ) -> Series:
        """The same in each minute."""
        asked = [key for key in keys if key[0] in self._read_plan()]
        rows = [np.full(minutes.count, self._read_plan()[key[0]]) for key in asked]
        return Series(tuple(name(key) for key in asked), np.array(rows).reshape(len(rows), minutes.count))

    def _read_plan(self) -> dict[str, float]:
        return {part.name: float(part.resources.ram_mb) for part in self.snapshot.job.topology.components}


def find_metric(snapshot: TopologySnapshot, name: str) -> FoundMetric | AskedMemory:
    """What is meant by a name of Heron's, or of ours."""
    if name == _MEMORY_TOTAL:
        return AskedMemory(snapshot)
    if name in OURS:
        return OURS[name]
    if name in _BY_STREAM:
        return FoundMetric(name + _STREAM)
    if name.startswith(_PRESSURE) and (task := snapshot.find_task(name.removeprefix(_PRESSURE))):
        return FoundMetric(pressure_time_metric(task.id))
    return FoundMetric(name)

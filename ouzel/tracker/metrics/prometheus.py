"""What Prometheus scrapes: counts and values of all topologies, in Ouzel's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ouzel.runtime.observe.counts import RUN_COUNTS, count_of
from ouzel.runtime.observe.task_metrics import CONTAINER, CPU_TIME, MEMORY, STREAM_MANAGER
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.run import Status
from ouzel.tracker.metrics.history import CAPACITY, EXECUTE_COUNT, History
from ouzel.tracker.metrics.rates import EMIT_COUNT
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.state_sizes import list_operator_sizes

CAPACITY_S = 60

STATE, TASK, OPERATOR = "ouzel_topology_state", "ouzel_task_", "ouzel_operator_"
CONTAINERS = "ouzel_container_", "ouzel_stream_manager_"
"""The name of one family, and how names of others begin: those have more labels than the topology."""

STATE_LABELS, TASK_LABELS, OPERATOR_LABELS, CONTAINER_LABELS = (
    ("topology", "state"),
    ("topology", "component", "task"),
    ("topology", "component", "operator"),
    ("topology", "container"),
)

_GAUGES: dict[str, tuple[str, Callable[[Status], float | None]]] = {
    "watermark_seconds": ("Event time of the result.", lambda status: _scale(status.watermark_us, 1e-6)),
    "lag_records": ("Records that wait to be read.", lambda status: status.lag),
    "lag_bytes": ("Bytes of these, as far as that is known.", lambda status: status.lag_bytes),
    "lag_seconds": ("For so long one of these has waited, at least.", lambda status: _scale(status.lag_ms, 1e-3)),
    "restarts": ("Processes that were started again.", lambda status: status.restarts),
    "back_pressure": ("1 if a task is slower than its input.", lambda status: float(status.back_pressure)),
    "complete_latency_p99_seconds": ("From emit to ack.", lambda status: _scale(status.p99_ms, 1e-3)),
}


class TopologyCollector(Collector):
    """The metrics of these topologies, as they are at this moment."""

    def __init__(self, topologies: Iterable[tuple[TopologySnapshot, History]], now_s: int) -> None:
        self._topologies, self._now_s = list(topologies), now_s

    def collect(self) -> Iterator[Metric]:
        """All families."""
        yield from self._of_topologies()
        yield from self._of_tasks()
        yield from self._of_operators()
        yield from self._of_containers()

    def _of_topologies(self) -> Iterator[Metric]:
        state = GaugeMetricFamily(STATE, "1 for how it stands, else 0.", labels=STATE_LABELS)
        for one, _ in self._topologies:
            for condition in Condition:
                state.add_metric([one.name, condition.value], float(one.condition is condition))
        yield state
        for name in RUN_COUNTS:
            family = CounterMetricFamily(
                f"ouzel_{name}", f"{name.replace('_', ' ')}, over all tasks.", labels=["topology"]
            )
            for one, _ in self._topologies:
                if one.status is not None:
                    family.add_metric([one.name], count_of(one.status, name))
            yield family
        yield from self._gauges()

    def _gauges(self) -> Iterator[Metric]:
        for name, (text, value_of) in _GAUGES.items():
            family = GaugeMetricFamily(f"ouzel_{name}", text, labels=["topology"])
            for one, _ in self._topologies:
                if one.status is not None and (value := value_of(one.status)) is not None:
                    family.add_metric([one.name], value)
            yield family

    def _of_tasks(self) -> Iterator[Metric]:
        labels = TASK_LABELS
        read = CounterMetricFamily("ouzel_task_rows_in", "Rows read or received by a task.", labels=labels)
        sent = CounterMetricFamily("ouzel_task_rows_out", "Rows sent or written by a task.", labels=labels)
        cores = GaugeMetricFamily("ouzel_task_cores", "Share of a core, over the last minute.", labels=labels)
        for one, history in self._topologies:
            for task in one.job.topology.tasks():
                key, names = (task.component, task.id), [one.name, task.component, str(task.index)]
                for family, metric in ((read, EXECUTE_COUNT), (sent, EMIT_COUNT)):
                    if (count := history.over(key, metric, 0)) is not None:
                        family.add_metric(names, count)
                if (share := history.over(key, CAPACITY, self._now_s - CAPACITY_S)) is not None:
                    cores.add_metric(names, share)
        yield from (read, sent, cores)

    def _of_operators(self) -> Iterator[Metric]:
        keys = GaugeMetricFamily("ouzel_operator_keys", "Keys of an operator's state.", labels=OPERATOR_LABELS)
        rows = GaugeMetricFamily("ouzel_operator_rows", "Rows that it keeps for its keys.", labels=OPERATOR_LABELS)
        size = GaugeMetricFamily(
            "ouzel_operator_state_bytes", "Memory of its state, of rows an estimate.", labels=OPERATOR_LABELS
        )
        for one, history in self._topologies:
            for operator in list_operator_sizes(one, history, self._now_s) if one.is_alive else ():
                names = [one.name, operator.component, operator.operator]
                for family, value in ((keys, operator.keys), (rows, operator.rows), (size, operator.bytes)):
                    if value is not None:
                        family.add_metric(names, value)
        yield from (keys, rows, size)

    def _of_containers(self) -> Iterator[Metric]:
        labels = CONTAINER_LABELS
        cores = GaugeMetricFamily(
            "ouzel_container_cores", "Cores that its processes used, over the last minute.", labels=labels
        )
        memory = GaugeMetricFamily("ouzel_container_memory_bytes", "Resident memory of its processes.", labels=labels)
        sent = CounterMetricFamily("ouzel_stream_manager_bytes", "Bytes that a stream manager sent.", labels=labels)
        slow = GaugeMetricFamily(
            "ouzel_stream_manager_slow_tasks", "Tasks that are slower than their input.", labels=labels
        )
        for one, history in self._topologies:
            for container in one.job.packing.containers:
                since_s, names = self._now_s - CAPACITY_S, [one.name, str(container.id)]
                key, manager = (CONTAINER, container.id), (STREAM_MANAGER, container.id)
                for family, value in (
                    (cores, _scale(history.rate(key, CPU_TIME, since_s), 1e-9)),
                    (memory, history.over(key, MEMORY, since_s)),
                    (sent, history.over(manager, "__bytes", 0)),
                    (slow, history.over(manager, "__back-pressure-tasks", since_s)),
                ):
                    if value is not None:
                        family.add_metric(names, value)
        yield from (cores, memory, sent, slow)


def labels_of(family: Metric) -> tuple[str, ...]:
    """The labels of a family's samples."""
    if family.name.startswith(TASK):
        return TASK_LABELS
    if family.name.startswith(OPERATOR):
        return OPERATOR_LABELS
    if family.name.startswith(CONTAINERS):
        return CONTAINER_LABELS
    return STATE_LABELS if family.name == STATE else ("topology",)


def list_families() -> list[Metric]:
    """All families, without samples: what there is to be scraped."""
    return list(TopologyCollector((), 0).collect())


def _scale(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def exposition(topologies: Iterable[tuple[TopologySnapshot, History]], now_s: int) -> bytes:
    """The text that Prometheus reads."""
    registry = CollectorRegistry()
    registry.register(TopologyCollector(topologies, now_s))
    return generate_latest(registry)

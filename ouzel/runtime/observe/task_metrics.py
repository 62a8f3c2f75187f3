"""The metrics of tasks and stream managers under Heron's names, from what these report.

`counts` only grow while a process lives, and begin at 0 with it; `values` are as they are now. The reports of a task are not split by
stream, so all of a task is told as its stream `default`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.runtime.observe.counts import COUNTS, count_of
from ouzel.runtime.observe.histogram import middle_of
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME
from ouzel.runtime.wire.wire_pb2 import OperatorStateSize, StreamManagerReport, TaskReport

STREAM_MANAGER = "__stmgr__"
"""The component whose instances are the stream managers, as Heron calls it."""

COUNT_NAMES = {
    "rows_out": "__emit-count/default",
    "rows_in": "__execute-count/default",
    "rows_acked": "__ack-count/default",
    "rows_failed": "__fail-count/default",
    "rows_late": "__late-count/default",
    "rows_bad": "__bad-count/default",
    "rows_shed": "__shed-count/default",
    "batches_in": "__execute-batches/default",
}
"""Of each count of a task, the metric."""

CONTAINER = "__container__"
"""The component whose instances are the containers: what all their processes use."""

CPU_TIME = "__cpu-time-ns"
MEMORY = "__memory-resident-bytes"
UPTIME = "__uptime-secs"
STATE_KEYS, STATE_ROWS, STATE_BYTES = "__state-keys/", "__state-rows/", "__state-bytes/"
"""How metrics of state begin; the name of the operator follows."""

COLLECTIONS, COLLECTING = "__gc-collection-count", "__gc-collection-time-ms"
COMPLETE_COUNT, COMPLETE_TIME = "__complete-count/default", "__complete-time-us/default"


@dataclass(frozen=True)
class MetricsSample:
    """What one instance said at one time.

    Attributes:
        time_s: since 1970, UTC.
        component: its name, or STREAM_MANAGER, or CONTAINER.
        instance: the task's id, or the container's.
        life: which of its processes this is; grows.
        carries: those of `counts` that are named here begin where the process before ended.
        counts: by metric, since the process began.
        values: by metric, as they are now.
    """

    time_s: int
    component: str
    instance: int
    life: int
    carries: frozenset[str]
    counts: dict[str, int]
    values: dict[str, float]


def sample_task(report: TaskReport, time_s: int) -> MetricsSample:
    """The metrics of a task."""
    counts = {COUNT_NAMES[name]: count_of(report, name) for name in COUNTS}
    counts[CPU_TIME] = int(report.busy_seconds * 1e9)
    counts |= {COLLECTIONS: report.collections, COLLECTING: int(report.collecting_seconds * 1e3)}
    counts[COMPLETE_COUNT] = sum(report.latency_us.values())
    counts[COMPLETE_TIME] = int(sum(middle_of(slot) * rows for slot, rows in report.latency_us.items()))
    counts |= {name: int(count) for name, count in report.counters.items()}
    values: dict[str, float] = {"__pending-acked-count": report.pending_rows}
    if report.HasField("lag"):
        values["__lag"] = report.lag
    if report.HasField("lag_bytes"):
        values["__lag-bytes"] = report.lag_bytes
    if report.HasField("lag_ms"):
        values["__lag-ms"] = report.lag_ms
    if report.HasField("watermark_us") and BEGINNING_OF_TIME < report.watermark_us < END_OF_TIME:
        values["__watermark-ms"] = report.watermark_us // 1000
    for state in report.states:
        values |= _sample_state(state)
    return MetricsSample(
        time_s, report.component, report.task, report.incarnation, _names_of_carried(report), counts, values
    )


def _sample_state(state: OperatorStateSize) -> dict[str, float]:
    """What is known of how much an operator keeps."""
    values: dict[str, float] = {}
    if state.HasField("keys"):
        values[f"{STATE_KEYS}{state.operator}"] = state.keys
    if state.HasField("rows"):
        values[f"{STATE_ROWS}{state.operator}"] = state.rows
    if state.HasField("bytes"):
        values[f"{STATE_BYTES}{state.operator}"] = state.bytes
    return values


def _names_of_carried(report: TaskReport) -> frozenset[str]:
    """The counts that begin where another process had ended: after going back to an epoch, all that the task itself counts."""
    names = {
        COUNT_NAMES[name] for name, metric in COUNTS.items() if report.restored or (report.carries and metric.carried)
    }
    return frozenset(names | set(report.counters if report.restored else ()))


def pressure_metric(link: int) -> str:
    """The metric of a stream manager that is 1 while too much waits for a link: a task's id, or minus the id of another container."""
    return f"__back-pressure-by-task/{link}" if link > 0 else f"__back-pressure-by-container/{-link}"


def pressure_time_metric(link: int) -> str:
    """The metric of a stream manager that counts the milliseconds for which too much waited for a link."""
    return f"__back-pressure-time-ms-by-{'task' if link > 0 else 'container'}/{abs(link)}"


def sample_stream_manager(report: StreamManagerReport, time_s: int) -> MetricsSample:
    """The metrics of a stream manager."""
    counts = {"__frames": report.frames, "__bytes": report.bytes, "__dropped-frames": report.dropped}
    counts |= {pressure_time_metric(link): spent_ms for link, spent_ms in report.slow_ms.items()}
    values: dict[str, float] = {"__waiting-bytes": report.waiting_bytes, "__back-pressure-tasks": len(report.slow)}
    values |= {pressure_metric(link): 1.0 for link in report.slow}
    return MetricsSample(time_s, STREAM_MANAGER, report.container, report.incarnation, frozenset(), counts, values)

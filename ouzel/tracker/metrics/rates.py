"""How many rows a second a topology reads and writes now."""

from __future__ import annotations

from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from ouzel.tracker.metrics.series import sum_of
from ouzel.tracker.topologies.snapshot import TopologySnapshot

RATE_S = 70
"""Rates are those of so many seconds: a sample comes every minute at least."""

EMIT_COUNT = "__emit-count/default"


def rates(snapshot: TopologySnapshot, history: History, now_s: float) -> tuple[float | None, float | None]:
    """Rows a second that its sources read, and that its sinks write."""
    since_s, place = int(now_s) - RATE_S, snapshot.job.placement
    tasks = {task.id: task.component for task in snapshot.job.topology.tasks()}
    read = [history.rate((tasks[task], task), EXECUTE_COUNT, since_s) for task in sorted(place.spouts())]
    written = [history.rate((tasks[task], task), EMIT_COUNT, since_s) for task in sorted(place.sinks())]
    return sum_of(read), sum_of(written)

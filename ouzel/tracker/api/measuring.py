"""Answers to questions about metrics, from the history of a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ouzel.errors import QueryError
from ouzel.runtime.observe.task_metrics import CONTAINER, STREAM_MANAGER
from ouzel.runtime.process.metrics_file import HISTORY_S
from ouzel.tracker.api.heron_metrics import find_metric
from ouzel.tracker.api.models import InstanceTimeline, MetricsShape, MetricsTimeline, QueryTimeline
from ouzel.tracker.metrics.history import History, InstanceKey
from ouzel.tracker.metrics.query import evaluate_query, parse_metrics_query
from ouzel.tracker.metrics.series import Minutes, MinuteValues, Series
from ouzel.tracker.topologies.snapshot import TopologySnapshot

ALL_TIME = -1


def name_instance(snapshot: TopologySnapshot, key: InstanceKey) -> str:
    """How Heron calls an instance: a task, a stream manager, or a container."""
    component, number = key
    if component == STREAM_MANAGER:
        return f"stmgr-{number}"
    if component == CONTAINER:
        return f"container_{number}"
    place = snapshot.job.placement.places().get(number, 0)
    return f"container_{place}_{component}_{number}"


def _keys(snapshot: TopologySnapshot, history: History, component: str, instances: Sequence[str]) -> list[InstanceKey]:
    """The instances of a component, or those of them that are named.

    Raises:
        QueryError: there is no such component.
    """
    names = [part.name for part in snapshot.job.topology.components]
    if component not in (*names, STREAM_MANAGER, CONTAINER):
        raise QueryError(
            f"topology '{snapshot.name}' has no component '{component}'",
            instead=f"write one of {', '.join([*names, STREAM_MANAGER, CONTAINER])}",
        )
    known = [key for key in history.instances if key[0] == component]
    return [key for key in known if not instances or name_instance(snapshot, key) in instances]


def metrics_now(
    snapshot: TopologySnapshot,
    history: History,
    component: str,
    names: Sequence[str],
    instances: Sequence[str],
    interval: int,
    now_s: int,
) -> MetricsShape:
    """Metrics over the last `interval` seconds, or over all time for -1.

    Raises:
        QueryError: there is no such component.
    """
    since_s = 0 if interval == ALL_TIME else now_s - max(0, interval)
    found: dict[str, dict[str, str]] = {}
    keys = _keys(snapshot, history, component, instances)
    for metric in names or history.metrics_of(component):
        known = find_metric(snapshot, metric)
        values = {name_instance(snapshot, key): known.over(history, key, since_s) for key in keys}
        found[metric] = {name: _text(value) for name, value in values.items() if value is not None}
    return MetricsShape(interval=interval, component=component, metrics=found)


def timeline(
    snapshot: TopologySnapshot,
    history: History,
    component: str,
    names: Sequence[str],
    instances: Sequence[str],
    start: int,
    end: int,
) -> MetricsTimeline:
    """Metrics by minute.

    Raises:
        QueryError: there is no such component, or the times are wrong.
    """
    minutes = minutes_of(start, end)
    keys = _keys(snapshot, history, component, instances)
    found = {}
    for metric in names or history.metrics_of(component):
        series = find_metric(snapshot, metric).series(history, keys, minutes, partial(name_instance, snapshot))
        found[metric] = {
            str(name): _points(row, minutes) for name, row in zip(series.instances, series.values, strict=True)
        }
    return MetricsTimeline(component=component, starttime=start, endtime=end, timeline=found)


def answer_query(snapshot: TopologySnapshot, history: History, text: str, start: int, end: int) -> QueryTimeline:
    """The answer to a query.

    Raises:
        QueryError: it is none, or the times are wrong, or it asks for a component that is not there.
    """

    def fetch(component: str, instance: str | None, metric: str, over: Minutes) -> Series:
        keys = _keys(snapshot, history, component, [] if instance is None else [instance])
        return find_metric(snapshot, metric).series(history, keys, over, partial(name_instance, snapshot))

    minutes = minutes_of(start, end)
    series = evaluate_query(parse_metrics_query(text), minutes, fetch)
    lines = [
        InstanceTimeline(instance=name, data=_points(row, minutes))
        for name, row in zip(series.instances, series.values, strict=True)
    ]
    return QueryTimeline(starttime=start, endtime=end, timeline=lines)


def minutes_of(start: int, end: int) -> Minutes:
    """The minutes of a question.

    Raises:
        QueryError: these are not times, or too many minutes.
    """
    if not 0 <= start <= end:
        raise QueryError(
            f"starttime {start} and endtime {end} are no span of time",
            instead="write seconds since 1970, the earlier first",
        )
    if end - start > 2 * HISTORY_S or end > 1 << 40:
        raise QueryError(
            f"the span of {end - start:,} s is too long",
            instead=f"write at most {2 * HISTORY_S:,} s; {HISTORY_S:,} s are kept",
        )
    return Minutes.between(start, end)


def _points(row: MinuteValues, minutes: Minutes) -> dict[int, float]:
    return {stamp: float(value) for stamp, value in zip(minutes.stamps, row, strict=True) if np.isfinite(value)}


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)

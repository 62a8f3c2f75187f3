"""A topology has ended when all have said so; what has not been said in time is told of, and no such record is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ouzel.errors import QueryError
from ouzel.reconcile import reconcile
from ouzel.reconcile.recording.record import RunRecord
from ouzel.runtime.observe.ending import UNREPORTED, Ending
from ouzel.runtime.observe.totals import Totals
from ouzel.runtime.wire.wire_pb2 import Range, TaskReport
from ouzel.session import load_text

SPOUT, SINK = 1, 2
QUERY = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'rows' = '9'); SELECT a FROM t;"


def totals(*reports: TaskReport) -> Totals:
    told = Totals(frozenset({SPOUT}), frozenset({SINK}))
    for report in reports:
        told.take(report)
    return told


def ending() -> Ending:
    return Ending(frozenset({SINK}), frozenset({SPOUT, SINK}), 10_000)


def test_the_last_report_of_a_source_is_waited_for_however_late_it_comes() -> None:
    read, end = Range(component="t", partition="0", start=0, end=7), ending()
    told = totals(TaskReport(task=SPOUT, ranges=[read]), TaskReport(task=SINK, finished=True))
    assert not end.is_over(told, 1_000)
    assert not end.is_over(told, 10_900)
    read.end = 9
    told.take(TaskReport(task=SPOUT, ranges=[read], rows_in=9, finished=True))
    assert end.is_over(told, 10_950)
    status = told.status(0)
    assert ([span.end for span in status.ranges], list(status.events)) == ([9], [])


def test_nothing_has_ended_before_the_sinks() -> None:
    assert not ending().is_over(totals(TaskReport(task=SPOUT, finished=True)), 60_000)


def test_whoever_stays_silent_is_told_of_once() -> None:
    told, end = totals(TaskReport(task=SINK, finished=True)), ending()
    assert not any(end.is_over(told, now_ms) for now_ms in range(1_000, 11_000, 500))
    assert [end.is_over(told, now_ms) for now_ms in (11_500, 12_000)] == [True, True]
    (event,) = told.status(0).events
    assert (event.kind, event.task) == (UNREPORTED, SPOUT)
    assert "has not said within 10 s of the end how far it had read" in event.text


def test_of_many_each_has_as_long_as_the_one_before_it_has_given_the_rest() -> None:
    """Hundreds of sources on two cores say so one after the other, and the topology master looks when it has a core."""
    everyone = frozenset(range(1, 300))
    told, end = totals(TaskReport(task=SINK, finished=True)), Ending(frozenset({SINK}), everyone, 10_000)
    for now_ms, task in zip(range(1_000, 1_200_000, 4_000), sorted(everyone - {SINK}), strict=False):
        assert not end.is_over(told, now_ms)
        told.take(TaskReport(task=task, finished=True))
    assert end.is_over(told, 1_200_000)
    assert not told.status(0).events


def test_a_record_of_such_a_run_is_not_judged(tmp_path: Path) -> None:
    spark: Any = object()
    job = load_text(QUERY, tmp_path, "q")
    events = ((UNREPORTED, "task 1 has not said within 10 s of the end how far it had read", 1),)
    RunRecord("q", job.text, str(tmp_path), "heron", "at-least-once", {}, events=events).save(tmp_path)
    with pytest.raises(QueryError, match="does not say what the answer is of: task 1 has not said"):
        reconcile(job, tmp_path, spark)

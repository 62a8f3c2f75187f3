"""A topology that really runs is reconciled while it goes on, while it is paused, and when it was stopped midway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from ouzel.reconcile import Class, Cut, Reconciliation, Recorder, reconcile, recordable
from ouzel.reconcile.recording.live import paused, snapshot
from ouzel.runtime.run import RunState
from ouzel.session import Job, load_text, start
from tests.servers.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.usefixtures("one_partition")]

TICKS = """
CREATE TABLE ticks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rate' = '2000', 'partitions' = '2', 'fields.id.kind' = 'sequence', 'fields.id.min' = '0',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2024-01-01 00:00:00', 'fields.ts.step' = '1');
"""
WINDOWS = """
SELECT window_start, window_end, id % 3 AS k, COUNT(*) AS n, SUM(id) AS total
FROM TABLE(HOP(TABLE ticks, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)) GROUP BY window_start, window_end, id % 3;"""
COUNTS = "SELECT id % 3 AS k, COUNT(*) AS n, SUM(id) AS total FROM ticks GROUP BY id % 3 EMIT CHANGES;"
SETTINGS = (("parallelism", "2"), ("batch.rows", "500"))
OPEN = 3 * 3
"""A time lies in three windows, each of three keys: at least so many rows are of windows that are open at any time."""


@pytest.fixture
def query() -> str:
    return WINDOWS


@pytest.fixture
def job(query: str, tmp_path: Path) -> Job:
    return load_text(TICKS + query, tmp_path, "ticks", SETTINGS)


@pytest.fixture
def run(spark: SparkSession, job: Job, tmp_path: Path) -> Iterator[Recorder]:
    """The job on its way in processes, once Spark has started; its results are taken as they come."""
    job = recordable(job, tmp_path / "record", "heron")
    recorder, over = Recorder(start(job), job, "heron", tmp_path / "record"), Event()

    def follow() -> None:
        while not over.is_set() and not recorder.wait(0.1):
            recorder.results()

    following = Thread(target=follow)
    following.start()
    yield recorder
    over.set()
    following.join()
    recorder.stop()


def under_way(run: Recorder, rows: int) -> None:
    wait_until(lambda: run.status().rows_acked >= rows, told=run.status)


def compared(job: Job, run: Recorder, spark: SparkSession, closed_only: bool = False) -> Reconciliation:
    return reconcile(job, run.home, spark, cut=Cut(closed_only=closed_only))


def test_windows_that_are_open_are_all_that_differs(job: Job, run: Recorder, spark: SparkSession) -> None:
    under_way(run, 14_000)
    snapshot(run.home)
    closed = compared(job, run, spark, closed_only=True)
    assert (closed.differing, closed.matched >= OPEN) == (0, True)

    under_way(run, run.status().rows_acked + 4_000)  # a window more closes, however quick the comparison was
    with paused(run.home) as record:
        at_rest = compared(job, run, spark)
        assert run.status().state is RunState.PAUSED
    assert set(at_rest.counts) == {Class.IN_FLIGHT}
    assert at_rest.counts[Class.IN_FLIGHT] >= OPEN
    assert at_rest.matched > closed.matched

    under_way(run, run.status().rows_acked + 4_000)
    status = run.stop()
    assert status.state is RunState.STOPPED
    stopped = compared(job, run, spark)
    assert stopped.record.closed_us is not None
    assert record.closed_us is not None
    assert stopped.record.closed_us > record.closed_us
    assert set(stopped.counts) == {Class.IN_FLIGHT}
    assert stopped.counts[Class.IN_FLIGHT] >= OPEN


@pytest.mark.parametrize("query", [COUNTS])
def test_a_pause_is_exact_where_no_window_ever_closes(job: Job, run: Recorder, spark: SparkSession) -> None:
    under_way(run, 2_000)
    with paused(run.home) as record:
        found = compared(job, run, spark)
    assert (found.differing, found.matched) == (0, 3)
    under_way(run, sum(end - first for first, end in record.ranges["ticks"].values()) + 1_000)

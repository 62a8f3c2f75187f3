"""The record of a topology that goes on, in real processes under load: whatever it calls closed is in the result, exactly."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Thread

import polars as pl
import pytest

from ouzel.reconcile.recording.live import is_live, paused, snapshot
from ouzel.reconcile.recording.record import RESULTS, RunRecord
from ouzel.reconcile.recording.recorder import Recorder, recordable
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import RunState
from ouzel.session import Job, load_text, start
from tests.process.topologies import pid_of
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

PARTITIONS = 2
START = datetime(2024, 1, 1)
START_US = (START - datetime(1970, 1, 1)) // timedelta(microseconds=1)
TICKS = f"""
CREATE TABLE ticks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rate' = '20000', 'partitions' = '{PARTITIONS}', 'fields.id.kind' = 'sequence', 'fields.id.min' = '0',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2024-01-01 00:00:00', 'fields.ts.step' = '1');
CREATE TABLE parts (window_end TIMESTAMP(3), k BIGINT, n BIGINT, total BIGINT) WITH (
  'connector' = 'file', 'path' = 'parts', 'format' = 'parquet', 'flush.interval.ms' = '300');
"""
SELECT = """SELECT window_end, id % 3 AS k, COUNT(*) AS n, SUM(id) AS total
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '0.1' SECOND)) GROUP BY window_start, window_end, id % 3;"""
SETTINGS = (("parallelism", "2"), ("containers", "2"), ("batch.rows", "500"), ("max.pending.rows", "2000"))


class Following(Thread):
    """Takes the results as the command line does."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder, self.over, self.rows = recorder, Event(), 0

    def run(self) -> None:
        while not self.over.is_set() and not self.recorder.wait(0.1):
            self.rows += sum(frame.height for frame in self.recorder.results())


@pytest.fixture
def query() -> str:
    return SELECT


@pytest.fixture
def job(query: str, tmp_path: Path) -> Job:
    return load_text(TICKS + query, tmp_path, "ticks", SETTINGS)


@pytest.fixture
def recorder(job: Job, tmp_path: Path) -> Iterator[Recorder]:
    home = tmp_path / "record"
    job = recordable(job, home, "heron")
    recorder = Recorder(start(job, "heron"), job, "heron", home, SETTINGS)
    following = Following(recorder)
    following.start()
    yield recorder
    following.over.set()
    following.join()
    recorder.stop()


def batch_answer(record: RunRecord) -> pl.DataFrame:
    """What the query returns over exactly the ranges: the generator deals its rows to the partitions in turn."""
    numbers = pl.concat(
        pl.DataFrame({"id": range(first * PARTITIONS + int(partition), end * PARTITIONS, PARTITIONS)})
        for partition, (first, end) in record.ranges["ticks"].items()
    )
    ends = (pl.lit(START) + pl.duration(milliseconds=(pl.col("id") // 100 + 1) * 100)).alias("window_end")
    answer = numbers.group_by(ends, (pl.col("id") % 3).alias("k")).agg(n=pl.len(), total=pl.col("id").sum())
    return answer.select("window_end", "k", pl.col("n").cast(pl.Int64), "total")


def answer_in(home: Path) -> pl.DataFrame:
    """The stream's answer: the trailing SELECT's, or the parts on disk."""
    result = home / RESULTS
    answer = pl.read_parquet(result if result.exists() else home.parent / "parts" / "*.parquet")
    return sort(answer.with_columns(pl.col("window_end").cast(pl.Datetime("us"))))


def closed(answer: pl.DataFrame, record: RunRecord) -> pl.DataFrame:
    """The rows of windows that the record calls closed."""
    assert record.closed_us is not None
    last = START + timedelta(microseconds=record.closed_us + 1 - START_US)
    return sort(answer.filter(pl.col("window_end") <= last))


def sort(answer: pl.DataFrame) -> pl.DataFrame:
    return answer.sort("window_end", "k")


def taken(home: Path, after_us: int = START_US + 2_000_000) -> RunRecord:
    """A snapshot that calls the windows up to then closed, and maybe more."""
    taken: list[RunRecord] = []

    def look() -> bool:
        taken[:] = [snapshot(home)]
        closed_us = taken[0].closed_us
        return closed_us is not None and closed_us >= after_us

    wait_until(look, told=lambda: taken)
    return taken[0]


@pytest.mark.parametrize("query", [SELECT, f"INSERT INTO parts {SELECT}"], ids=["select", "files"])
def test_every_snapshot_of_a_busy_run_is_exact_for_the_windows_it_calls_closed(recorder: Recorder) -> None:
    home, rows, times = recorder.home, [], []
    for _ in range(20):
        record = taken(home)
        result, expected = answer_in(home), batch_answer(record)
        assert closed(result, record).equals(closed(expected, record))
        if (home / RESULTS).exists():
            later = result.join(expected, on=result.columns, how="anti")
            assert later.height == 0, "what closed since is of no rows beyond the ranges"
        for partition, (_, end) in record.ranges["ticks"].items():
            last = START + timedelta(milliseconds=(end - 1) * PARTITIONS + int(partition))
            assert record.times["ticks"][partition] == START_US + (last - START) // timedelta(microseconds=1)
        rows.append(closed(expected, record).height)
        times.append(record.closed_us)
    assert rows[0] > 0
    assert sorted(times) == times
    assert rows[-1] > rows[0], "the run went on"


def test_a_paused_run_is_exact_whatever_dies_and_goes_on_to_the_right_end(job: Job, recorder: Recorder) -> None:
    home = recorder.home
    taken(home)
    with paused(home) as record:
        first = answer_in(home)
        assert first.equals(closed(batch_answer(record), record)), "no window that is open is in the result"
        assert recorder.status().state is RunState.PAUSED
        handle = recorder._handle
        assert isinstance(handle, HeronHandle)
        source = next(task.id for task in job.topology.tasks() if job.topology.component(task.component).is_spout)
        for victim in (
            f"{job.packing.container_of(source).id}/instance-{source}",
            "0/topology-master",
            "1/stream-manager",
        ):
            os.kill(pid := pid_of(handle, victim), signal.SIGKILL)
            wait_until(lambda victim=victim, pid=pid: pid_of(handle, victim) != pid)
        with paused(home) as again:
            ends = {partition: end for partition, (_, end) in record.ranges["ticks"].items()}
            assert {partition: end for partition, (_, end) in again.ranges["ticks"].items()} == ends
            assert answer_in(home).equals(first)
        assert recorder.status().state is RunState.PAUSED, "somebody else still holds it"
    taken(home, record.closed_us + 5_000_000)
    status = recorder.stop()
    assert status.state is RunState.STOPPED
    assert not is_live(home)
    whole = recorder.record(status)
    assert closed(answer_in(home), whole).equals(closed(batch_answer(whole), whole))

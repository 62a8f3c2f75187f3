"""SQL in processes when one of them is killed: windows come out right, or the loss of what was in memory is said."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import STATE_LOST, RunState, Status
from ouzel.session import Job, load_text, start
from tests.law.compare import plain_fold
from tests.process.topologies import pid_of, wait_until

pytestmark = pytest.mark.server

ROWS = 6_000
FILES = """
CREATE TABLE ticks (n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '6000', 'rate' = '1500', 'partitions' = '1', 'fields.n.kind' = 'sequence', 'fields.n.min' = '0');
CREATE TABLE out (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet');
INSERT INTO out SELECT n FROM ticks;
"""
SETTINGS = (("batch.rows", "100"), ("max.pending.rows", "1000"), ("ack.timeout.ms", "5000"), ("containers", "1"))
QUERY = f"""
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'rate' = '3000', 'partitions' = '1',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '0',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '10');
SELECT window_start, COUNT(*) AS many, SUM(n) AS total
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
"""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return load_text(QUERY, tmp_path, "ticks", SETTINGS)


@pytest.fixture
def handle(job: Job) -> Iterator[HeronHandle]:
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    yield handle
    handle._scheduler.on_kill()


def instances(job: Job, spouts: bool) -> list[str]:
    tasks = [task for task in job.topology.tasks() if job.topology.component(task.component).is_spout is spouts]
    return [f"{job.packing.container_of(task.id).id}/instance-{task.id}" for task in tasks]


def collected(handle: HeronHandle) -> tuple[list[pl.DataFrame], Status]:
    deadline = time.monotonic() + 120
    frames: list[pl.DataFrame] = []
    while not handle.wait(0.2):
        assert time.monotonic() < deadline, handle.status()
        frames += handle.results()
    return frames + handle.results(), handle.status()


def answer(handle: HeronHandle) -> tuple[Status, pl.DataFrame]:
    frames, status = collected(handle)
    return status, pl.concat(frames).sort("window_start")


@pytest.mark.parametrize("victim", ["1/stream-manager", "1/metrics-manager", "0/topology-master", "1/executor"])
def test_without_loss_of_state_every_window_is_right(job: Job, handle: HeronHandle, victim: str) -> None:
    wait_until(lambda: handle.status().rows_acked > 500)
    os.kill(pid_of(handle, victim), signal.SIGKILL)
    status, windows = answer(handle)
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    assert status.restarts == 1
    assert windows["many"].to_list() == [100] * (ROWS // 100)
    assert windows["total"].sum() == ROWS * (ROWS - 1) // 2


def test_a_source_that_dies_reads_on_and_no_window_lacks_a_row(job: Job, handle: HeronHandle) -> None:
    wait_until(lambda: handle.status().rows_acked > 500)
    os.kill(pid_of(handle, instances(job, spouts=True)[0]), signal.SIGKILL)
    status, windows = answer(handle)
    assert status.state is RunState.FINISHED, status
    kinds = [event.kind for event in status.events]
    assert "replayed" in kinds
    assert "state-lost" not in kinds
    assert windows["many"].to_list() == [100] * (ROWS // 100)


LINES = """
CREATE TABLE notes (n BIGINT, note VARCHAR) WITH ('connector' = 'file', 'path' = 'notes.csv', 'format' = 'csv');
SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM notes GROUP BY n % 7;
"""


def kill_source_again(job: Job, handle: HeronHandle, kills: int) -> None:
    """Kill the source once more when it has come up and some rows have come through."""
    before = handle.status().rows_acked
    wait_until(lambda: handle.status().restarts == kills and handle.status().rows_acked > before + 5_000)
    os.kill(pid_of(handle, instances(job, spouts=True)[0]), signal.SIGKILL)


def test_a_source_that_dies_counts_rows_of_several_lines_once(tmp_path: Path) -> None:
    rows = 120_000
    with (tmp_path / "notes.csv").open("w") as file:
        file.write("n,note\n")
        file.writelines(f'{n},"a\nb"\n' if n % 3 == 0 else f"{n},c\n" for n in range(rows))
    job = load_text(LINES, tmp_path, "notes", SETTINGS)
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    try:
        for kills in range(3):
            kill_source_again(job, handle, kills)
        frames, status = collected(handle)
    finally:
        handle._scheduler.on_kill()
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    assert (status.rows_in, status.rows_acked) == (rows, rows), "what was read again counts once"
    found = plain_fold(frames, ["k", "many", "total"]).sort("k").rows()
    groups = [range(k, rows, 7) for k in range(7)]
    assert found == [(k, len(group), sum(group)) for k, group in enumerate(groups)]


def test_counts_that_died_with_their_task_are_said_to_be_lost(job: Job, handle: HeronHandle) -> None:
    wait_until(lambda: handle.status().rows_acked > 500)
    for bolt in instances(job, spouts=False):
        os.kill(pid_of(handle, bolt), signal.SIGKILL)
    status, windows = answer(handle)
    assert status.state is RunState.FINISHED, status
    assert "state-lost" in [event.kind for event in status.events]
    assert windows["window_start"].max() is not None


@pytest.mark.parametrize("hint", ["", "/*+ PARALLELISM('out'='1') */"], ids=["reads too", "by itself"])
def test_files_hold_each_row_once_though_who_writes_them_is_killed(tmp_path: Path, hint: str) -> None:
    job = load_text(FILES.replace("SELECT", f"SELECT {hint}"), tmp_path, "files", SETTINGS)
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    (writer,) = instances(job, spouts=not hint)
    try:
        with suppress(ProcessLookupError):  # on a busy machine it may be over before the last
            for rows in (500, 2_000, 3_500):
                wait_until(lambda rows=rows: handle.status().rows_acked > rows)
                os.kill(pid_of(handle, writer), signal.SIGKILL)
        deadline = time.monotonic() + 120
        while not handle.wait(0.2):
            assert time.monotonic() < deadline, handle.status()
        status = handle.status()
    finally:
        handle._scheduler.on_kill()
    assert status.state is RunState.FINISHED, status
    assert status.restarts >= 2, status
    assert pl.read_parquet(tmp_path / "out" / "*.parquet")["n"].sort().to_list() == list(range(ROWS))
    assert len(list((tmp_path / "out").iterdir())) < 60, "parts are made by time, not by frame"


SIDE = """
CREATE TABLE {name} (n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '{rows}', 'rate' = '1500', 'partitions' = '1',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '{first}');
"""
JOINED = (
    SIDE.format(name="ordered", rows=4_000, first=0)
    + SIDE.format(name="paid", rows=4_000, first=1_000)
    + "SELECT o.n AS o, p.n AS p FROM ordered AS o FULL JOIN paid AS p ON o.n = p.n;"
)
"""Rows are alone first, and taken back when the others come."""


@pytest.mark.parametrize("victims", [("ordered",), ("paid", "1/stream-manager"), ("join",)], ids=" and ".join)
def test_a_join_is_exact_though_what_is_beside_it_dies_and_says_when_its_own_rows_are_lost(
    tmp_path: Path, victims: tuple[str, ...]
) -> None:
    job = load_text(JOINED, tmp_path, "joined", (*SETTINGS, ("parallelism", "2")))
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    try:
        wait_until(lambda: handle.status().rows_acked > 1_500)
        for victim in victims:
            os.kill(pid_of(handle, victim if "/" in victim else process_of(job, victim)), signal.SIGKILL)
        frames, status = collected(handle)
    finally:
        handle._scheduler.on_kill()
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    assert status.restarts >= len(victims)
    if victims == ("join",):
        assert STATE_LOST in [event.kind for event in status.events]
        return
    assert STATE_LOST not in [event.kind for event in status.events]
    found = plain_fold(frames, ["o", "p"]).sort("o", "p", nulls_last=True).rows()
    both = [(n, n) for n in range(1_000, 4_000)]
    assert found == [(n, None) for n in range(1_000)] + both + [(None, n) for n in range(4_000, 5_000)]


def process_of(job: Job, component: str) -> str:
    """The process of a component's first task."""
    task = next(task for task in job.topology.tasks() if component in task.component)
    return f"{job.packing.container_of(task.id).id}/instance-{task.id}"

"""SQL in processes when one of them is killed: windows come out right, or, without epochs, the loss of what was in memory is said."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import ROLLED_BACK, STATE_LOST, RunState, Status, describe_lost_state
from ouzel.session import Job, load_text, start
from tests.law.compare import plain_fold
from tests.process.gates import Gate, through_gate
from tests.process.topologies import pid_of
from tests.servers.waiting import collect, wait_until

pytestmark = pytest.mark.server

ROWS, GATE_ROWS = 6_000, 3_500
"""More than are looked for before a kill and, of two sources, on their way then: one write to the gate may hold all of these."""

FILES = """
CREATE TABLE ticks (n BIGINT) WITH (
  'connector' = 'datagen', 'rate' = '1500', 'partitions' = '1', 'fields.n.kind' = 'sequence', 'fields.n.min' = '0');
CREATE TABLE out (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet');
INSERT INTO out SELECT n FROM ticks;
"""
SETTINGS = (("batch.rows", "100"), ("max.pending.rows", "1000"), ("ack.timeout.ms", "5000"), ("containers", "1"))
QUERY = f"""
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'rate' = '3000', 'partitions' = '1',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '0',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '10');
{through_gate("ticks")}
SELECT window_start, COUNT(*) AS many, SUM(n) AS total
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
"""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return load_text(QUERY, tmp_path, "ticks", SETTINGS)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """So many rows go through it, then none until it is open: so long nothing ends."""
    with Gate(tmp_path, GATE_ROWS) as gate:
        yield gate


@pytest.fixture
def handle(job: Job, gate: Gate) -> Iterator[HeronHandle]:
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    yield handle
    handle._scheduler.on_kill()


def instances(job: Job, spouts: bool) -> list[str]:
    tasks = [task for task in job.topology.tasks() if job.topology.component(task.component).is_spout is spouts]
    return [f"{job.packing.container_of(task.id).id}/instance-{task.id}" for task in tasks]


def kill(handle: HeronHandle, *victims: str) -> None:
    """Kill each, and wait until they have been started again."""
    before = handle.status().restarts
    for victim in victims:
        os.kill(pid_of(handle, victim), signal.SIGKILL)
    wait_until(lambda: handle.status().restarts >= before + len(victims))


def answer_after_kills(handle: HeronHandle, gate: Gate, *victims: str) -> tuple[Status, pl.DataFrame]:
    """The windows of a run of which these are killed while rows flow."""
    wait_until(lambda: handle.status().rows_acked > 500)
    kill(handle, *victims)
    gate.open()
    frames, status = collect(handle)
    return status, pl.concat(frames).sort("window_start")


@pytest.mark.parametrize("victim", ["1/stream-manager", "1/metrics-manager", "0/topology-master", "1/executor"])
def test_without_loss_of_state_every_window_is_right(handle: HeronHandle, gate: Gate, victim: str) -> None:
    status, windows = answer_after_kills(handle, gate, victim)
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    assert status.restarts == 1
    assert windows["many"].to_list() == [100] * (ROWS // 100)
    assert windows["total"].sum() == ROWS * (ROWS - 1) // 2


def test_a_source_that_dies_reads_on_and_no_window_lacks_a_row(job: Job, handle: HeronHandle, gate: Gate) -> None:
    status, windows = answer_after_kills(handle, gate, *instances(job, spouts=True))
    assert status.state is RunState.FINISHED, status
    kinds = [event.kind for event in status.events]
    assert "replayed" in kinds
    assert "state-lost" not in kinds
    assert windows["many"].to_list() == [100] * (ROWS // 100)


LINES = f"""
CREATE TABLE notes (n BIGINT, note VARCHAR) WITH ('connector' = 'file', 'path' = 'notes.csv', 'format' = 'csv');
{through_gate("notes")}
SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM notes GROUP BY n % 7;
"""


def test_a_source_that_dies_counts_rows_of_several_lines_once(tmp_path: Path) -> None:
    rows = 120_000
    with (tmp_path / "notes.csv").open("w") as file:
        file.write("n,note\n")
        file.writelines(f'{n},"a\nb"\n' if n % 3 == 0 else f"{n},c\n" for n in range(rows))
    job = load_text(LINES, tmp_path, "notes", SETTINGS)
    with Gate(tmp_path, rows // 2) as gate:
        handle = start(job)
        assert isinstance(handle, HeronHandle)
        try:
            for _ in range(3):
                before = handle.status().rows_acked
                wait_until(lambda before=before: handle.status().rows_acked > before + 5_000)  # type: ignore[misc]
                kill(handle, *instances(job, spouts=True))
            gate.open()
            frames, status = collect(handle)
        finally:
            handle._scheduler.on_kill()
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    assert (status.rows_in, status.rows_acked) == (rows, rows), "what was read again counts once"
    found = plain_fold(frames, ["k", "many", "total"]).sort("k").rows()
    groups = [range(k, rows, 7) for k in range(7)]
    assert found == [(k, len(group), sum(group)) for k, group in enumerate(groups)]


def test_tasks_with_state_die_where_nobody_has_set_anything_and_every_window_is_right(
    job: Job, handle: HeronHandle, gate: Gate
) -> None:
    """The default mode: what had been counted is not lost, the exit code is 0, and before the first epoch no file is made for it."""
    assert not handle.job.checkpoints.exists()
    status, windows = answer_after_kills(handle, gate, *instances(job, spouts=False))
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    kinds = [event.kind for event in status.events]
    assert ROLLED_BACK in kinds
    assert (STATE_LOST in kinds, describe_lost_state(status, job.settings)) == (False, "")
    assert windows["many"].to_list() == [100] * (ROWS // 100), "each window once, and with each row once"
    assert windows["total"].sum() == ROWS * (ROWS - 1) // 2
    assert not handle.job.home.exists()


def test_without_epochs_counts_that_died_with_their_task_are_said_to_be_lost(tmp_path: Path, gate: Gate) -> None:
    job = load_text(QUERY, tmp_path, "ticks", (*SETTINGS, ("checkpoint.interval.ms", "0")))
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    try:
        status, windows = answer_after_kills(handle, gate, *instances(job, spouts=False))
    finally:
        handle._scheduler.on_kill()
    assert status.state is RunState.FINISHED, status
    assert STATE_LOST in [event.kind for event in status.events]
    assert windows["window_start"].max() is not None


@pytest.mark.parametrize("hint", ["", "/*+ PARALLELISM('out'='1') */"], ids=["reads too", "by itself"])
def test_files_hold_each_row_once_though_who_writes_them_is_killed(tmp_path: Path, hint: str) -> None:
    job = load_text(FILES.replace("SELECT", f"SELECT {hint}"), tmp_path, "files", SETTINGS)
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    (writer,) = instances(job, spouts=not hint)
    try:
        for _ in range(3):
            before = handle.status().rows_acked
            wait_until(lambda before=before: handle.status().rows_acked > before + 1_000)  # type: ignore[misc]
            kill(handle, writer)
        wait_until(lambda: handle.status().rows_acked > ROWS)
        status = handle.stop()
    finally:
        handle._scheduler.on_kill()
    assert (status.state, status.rows_in) == (RunState.STOPPED, status.rows_acked), status
    assert pl.read_parquet(tmp_path / "out" / "*.parquet")["n"].sort().to_list() == list(range(status.rows_in))
    assert len(list((tmp_path / "out").iterdir())) < status.rows_in / 100, "parts are made by time, not by frame"


SIDE = """
CREATE TABLE {name} (n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '{rows}', 'rate' = '1500', 'partitions' = '1',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '{first}');
"""
JOINED = (
    SIDE.format(name="ordered", rows=4_000, first=0)
    + SIDE.format(name="paid", rows=4_000, first=1_000)
    + through_gate("(SELECT n FROM ordered UNION ALL SELECT n FROM paid)")
    + "SELECT o.n AS o, p.n AS p FROM ordered AS o FULL JOIN paid AS p ON o.n = p.n;"
)
"""Rows are alone first, and taken back when the others come."""


@pytest.mark.parametrize("victims", [("ordered",), ("paid", "1/stream-manager"), ("join",)], ids=" and ".join)
def test_a_join_is_exact_though_it_dies_or_what_is_beside_it(
    tmp_path: Path, gate: Gate, victims: tuple[str, ...]
) -> None:
    job = load_text(JOINED, tmp_path, "joined", (*SETTINGS, ("parallelism", "2")))
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    try:
        wait_until(lambda: handle.status().rows_acked > 1_000)
        kill(handle, *(victim if "/" in victim else process_of(job, victim) for victim in victims))
        gate.open()
        frames, status = collect(handle)
    finally:
        handle._scheduler.on_kill()
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    kinds = [event.kind for event in status.events]
    assert (STATE_LOST in kinds, ROLLED_BACK in kinds) == (False, victims == ("join",))
    found = plain_fold(frames, ["o", "p"]).sort("o", "p", nulls_last=True).rows()
    both = [(n, n) for n in range(1_000, 4_000)]
    assert found == [(n, None) for n in range(1_000)] + both + [(None, n) for n in range(4_000, 5_000)]


def process_of(job: Job, component: str) -> str:
    """The process of a component's first task."""
    task = next(task for task in job.topology.tasks() if component in task.component)
    return f"{job.packing.container_of(task.id).id}/instance-{task.id}"

"""`kill -9` of each kind of process while rows flow: the run ends, with the right windows, or says that counts died with their instance."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest

from ouzel.compiler.plan import Aggregate, FinalAggregate
from ouzel.runtime.run import Handle, RunState, Status
from ouzel.session import Job, load
from tests.law.compare import difference, plain_fold
from tests.law.engines import run_to_end
from tests.law.oracle import table_of
from tests.process.gates import GATED, Gate, through_gate
from tests.servers.waiting import wait_until, wait_while_it_runs

ROWS, ROWS_A_SECOND = 60_000, 10_000
KILL_AFTER_ROWS, GATE_ROWS = 13_000, 26_000
"""More than are looked for before a kill and, of two sources, on their way then: one write to the gate may hold all of these."""

LIMIT_S = 120

TICKS = f"""
CREATE TABLE ticks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'rate' = '{ROWS_A_SECOND}', 'fields.id.kind' = 'sequence',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2024-01-01 00:00:00', 'fields.ts.step' = '1');
""" + through_gate("ticks")
WINDOWS = """
SELECT window_start, id % 10 AS k, COUNT(*) AS n, SUM(id) AS total
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '4' SECOND)) GROUP BY window_start, window_end, id % 10;
"""
WINDOWS_ORACLE = f"""
SELECT time_bucket(INTERVAL 4 SECOND, TIMESTAMP '2024-01-01' + INTERVAL 1 MILLISECOND * id) AS window_start, id % 10 AS k, COUNT(*) AS n,
  SUM(id) AS total
FROM range({ROWS}) AS ticks (id) GROUP BY 1, 2
"""
SELECTED = "SELECT id FROM ticks WHERE id % 100 = 7;"

SETTINGS = (
    ("parallelism", "2"),
    ("containers", "2"),
    ("batch.rows", "5000"),
    ("batch.linger.ms", "40"),
    ("ack.timeout.ms", "3000"),
    *GATED,
)

Victim = Callable[[Job], str]
"""From a job to the name of the process to kill."""


def source(job: Job) -> str:
    """An instance of the source; it keeps nothing."""
    return next(
        f"instance-{task.id}" for task in job.topology.tasks() if job.topology.component(task.component).is_spout
    )


def aggregate(job: Job) -> str:
    """An instance that keeps counts in memory."""
    counting = [
        one.name
        for one in job.topology.components
        if any(isinstance(n, (Aggregate, FinalAggregate)) for n in one.chain)
    ]
    return next(f"instance-{task.id}" for task in job.topology.tasks() if task.component in counting)


STATELESS: dict[str, Victim] = {
    "topology master": lambda job: "topology-master",
    "stream manager": lambda job: "stream-manager",
    "metrics manager": lambda job: "metrics-manager",
    "executor": lambda job: "executor-1",
    "source instance": source,
}


def processes(name: str) -> list[int]:
    """Descendants of this process that bear the name."""
    parents, names = {}, {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            text = (directory / "stat").read_text(errors="replace")
        except OSError:
            continue
        names[int(directory.name)] = text[text.index("(") + 1 : text.rindex(")")]
        parents[int(directory.name)] = int(text.rpartition(")")[2].split()[1])
    return [pid for pid in names if names[pid] == name[:15] and _is_ours(pid, parents)]


def kill(name: str) -> None:
    """`kill -9` of the one process below this one that bears the name, as soon as there is one."""
    wait_until(lambda: processes(name))
    os.kill(processes(name)[0], signal.SIGKILL)


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        pid = parents.get(pid, 0)
        if pid == os.getpid():
            return True
    return False


def run_with_a_kill(
    query: str, victim: Victim, directory: Path, *more: tuple[str, str]
) -> tuple[Job, list[pl.DataFrame], Status]:
    """Run the query, kill once while rows flow, and let it end."""
    path = directory / "query.sql"
    path.write_text(TICKS + query, encoding="utf-8")
    job = load(path, (*SETTINGS, *more))

    def disturb(handle: Handle) -> None:
        wait_while_it_runs(handle, lambda status: status.rows_acked >= KILL_AFTER_ROWS)
        kill(victim(job))
        wait_while_it_runs(handle, lambda status: status.restarts >= 1)
        gate.open()

    with Gate(directory, GATE_ROWS) as gate:
        frames, status = run_to_end(job, "heron", LIMIT_S, disturb)
    assert status.state is RunState.FINISHED, status
    assert status.restarts >= 1, status
    return job, frames, status


def folded(job: Job, frames: list[pl.DataFrame]) -> pl.DataFrame:
    """What the changes add up to."""
    return plain_fold(frames, list(job.program.sinks[-1].schema.names))


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("victim", [*STATELESS.values(), aggregate], ids=[*STATELESS, "instance that counts"])
def test_windows_are_right_though_a_process_died(victim: Victim, tmp_path: Path) -> None:
    job, frames, status = run_with_a_kill(WINDOWS, victim, tmp_path)
    found = difference(table_of(duckdb.connect(), WINDOWS_ORACLE), folded(job, frames))
    assert found == "", f"{found}\n{status}"


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("victim", STATELESS.values(), ids=list(STATELESS))
def test_every_row_comes_at_least_once_though_a_process_died(victim: Victim, tmp_path: Path) -> None:
    _, frames, status = run_with_a_kill(SELECTED, victim, tmp_path)
    ids = pl.concat(frames)["id"]
    assert set(ids) == set(range(7, ROWS, 100)), status


@pytest.mark.server
@pytest.mark.slow
def test_without_epochs_counts_that_died_with_their_instance_are_announced(tmp_path: Path) -> None:
    job, frames, status = run_with_a_kill(WINDOWS, aggregate, tmp_path, ("checkpoint.interval.ms", "0"))
    expected, answer = table_of(duckdb.connect(), WINDOWS_ORACLE), folded(job, frames)
    assert [event for event in status.events if event.kind == "state-lost"], status
    windows = expected.join(answer, on=["window_start", "k"], suffix="_here")
    keys = expected["k"].n_unique()
    assert windows.height >= expected.height - 2 * keys, "only windows that were open, complete or not, may be gone"
    assert (windows["n_here"] <= windows["n"]).all()
    assert (windows["n_here"] == windows["n"]).sum() > expected.height // 2, (
        "only windows that were open may have lost rows"
    )

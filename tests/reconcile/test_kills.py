"""`kill -9` while rows flow: what survives reconciles without a difference; what dies with a task, without epochs, is found to be lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel import session
from ouzel.planner.settings import Delivery
from ouzel.reconcile import Class, Recorder, recordable
from ouzel.runtime.run import RunState, Status
from ouzel.session import Job, load
from tests.law.test_kills import GATE_ROWS, SETTINGS, TICKS, WINDOWS, Victim, aggregate, kill, source
from tests.law.test_kills import ROWS as TICKED
from tests.process.gates import Gate, through_gate
from tests.reconcile.planting import found
from tests.servers.waiting import collect, wait_while_it_runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow]

EXAMPLES = Path(__file__).parents[2] / "sql_examples"

NO_EPOCHS = ("checkpoint.interval.ms", "0")

BATCHES = 120
"""Input is read in so many batches, one at a time."""

PACE = """
CREATE TABLE pace (n INT) WITH ('connector' = 'file', 'path' = 'pace', 'format' = 'parquet', 'flush.interval.ms' = '100');
INSERT INTO pace SELECT 1 FROM {table};
"""
"""No batch is acked before a file is flushed, so that most kills find a batch that is on its way, on an idle machine too."""

VICTIMS: tuple[tuple[float, Victim], ...] = (
    (0.1, lambda job: "topology-master"),
    (0.25, lambda job: "stream-manager"),
    (0.4, source),
)
"""Who is killed when so much of the input is read; none of them keeps state. (A source counts anew, so it is the last.)"""

GATE = 0.6
"""So much of it is read before all have been killed and have come up again."""

INPUTS: dict[str, tuple[str, ...]] = {
    "airport_traffic": ("flights.parquet",),
    "claims": (),
    "flight_delays": ("flights.parquet",),
    "late_carriers": ("flights.parquet",),
    "storms": ("weather.parquet",),
    "wind_and_delays": ("flights.parquet", "weather.parquet"),
    "word_count": ("announcements.txt",),
    "worst_routes": ("flights.parquet",),
}
"""What each example reads."""

SHARE = 4
"""One of so many flights, observations and announcements is read: enough for storms, and for weeks of which the worst routes are told."""

COPIES = 40
"""Sixty claims are read at once, so that each line is there so often."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A share of what the examples read, all over the year."""
    folder = tmp_path_factory.mktemp("data")
    for table in sorted({table for tables in INPUTS.values() for table in tables}):
        real = EXAMPLES / "data" / table
        if real.suffix == ".parquet":
            pl.read_parquet(real).gather_every(SHARE).write_parquet(folder / table)
        else:
            lines = real.read_text().splitlines(keepends=True)
            (folder / table).write_text("".join(lines[::SHARE]))
    return folder


def at_home(name: str, data: Path, directory: Path) -> tuple[Path, int]:
    """The example, paced, in a directory of its own, and how many records it reads."""
    query = directory / f"{name}.sql"
    (table, *_) = [*(Path(each).stem for each in INPUTS[name]), name]
    tables, gap, asked = (EXAMPLES / query.name).read_text().rpartition("\n\n")
    pace = "" if asked.startswith("INSERT INTO") else PACE.format(table=table)  # which waits for files of its own
    query.write_text(tables + gap + pace + through_gate(table) + asked)
    (directory / "data").mkdir()
    for table in INPUTS[name]:
        (directory / "data" / table).symlink_to(data / table)
    if INPUTS[name]:
        return query, sum(records(data / table) for table in INPUTS[name])
    first, *lines = (EXAMPLES / "claims.csv").read_text().splitlines(keepends=True)
    (directory / "claims.csv").write_text(first + "".join(line for line in lines for _ in range(COPIES)))
    return query, len(lines) * COPIES


def records(path: Path) -> int:
    """Rows or lines of a file."""
    read = pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_lines(path)
    return int(read.select(pl.len()).collect().item())


def run_with_kills(job: Job, home: Path, rows: int, victims: Sequence[tuple[float, Victim]], gate_rows: int) -> Status:
    """Run the job on processes, kill while rows flow, let it end, and keep its record in `home`."""
    with Gate(job.directory, gate_rows) as gate:
        return _run_with_kills(recordable(job, home, "heron"), home, rows, victims, gate)


def _run_with_kills(job: Job, home: Path, rows: int, victims: Sequence[tuple[float, Victim]], gate: Gate) -> Status:
    handle = Recorder(session.start(job, "heron"), job, "heron", home, SETTINGS)
    tracked = job.settings.delivery is Delivery.AT_LEAST_ONCE
    try:
        for share, victim in victims:
            least = int(share * rows)
            wait_while_it_runs(handle, partial(_is_handled, rows=least, tracked=tracked), take=True)
            kill(victim(job))
        wait_while_it_runs(handle, lambda status: status.restarts >= len(victims), take=True)
        gate.open()
        collect(handle)
    finally:
        status = handle.stop()
    assert status.state is RunState.FINISHED, status
    return status


def _is_handled(status: Status, rows: int, tracked: bool) -> bool:
    """Whether every task has handled its part of so many rows; where nothing is acked, whether they are read and a sink has rows."""
    return status.rows_acked >= rows if tracked else status.rows_in >= rows and status.rows_out > 0


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_every_example_reconciles_after_kills(name: str, data: Path, tmp_path: Path, spark: SparkSession) -> None:
    query, rows = at_home(name, data, tmp_path)
    size = str(rows // BATCHES)
    job = load(query, (*SETTINGS, ("batch.rows", size), ("max.pending.rows", size)))
    run_with_kills(job, tmp_path / "record", rows, VICTIMS, int(GATE * rows))
    result = found(job, tmp_path / "record", spark, table=job.program.sinks[-1].table)
    assert set(result.counts) <= {Class.FLOAT, Class.LATE}, (result.counts, result.record.events)
    assert result.matched > 0


def test_every_example_is_here() -> None:
    assert sorted(INPUTS) == sorted(path.stem for path in EXAMPLES.glob("*.sql"))


@pytest.mark.parametrize("delivery", ["at-least-once", "at-most-once"])
def test_what_died_with_an_instance_is_lost(delivery: str, tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "query.sql").write_text(TICKS + WINDOWS)
    job = load(tmp_path / "query.sql", (*SETTINGS, NO_EPOCHS, ("delivery", delivery)))
    run_with_kills(job, tmp_path / "record", TICKED, [(0.25, aggregate)], GATE_ROWS)
    result = found(job, tmp_path / "record", spark)
    assert set(result.counts) == {Class.LOST}, (
        result.counts,
        result.record.losses,
        result.record.times,
        result.samples,
    )
    assert result.explained
    assert 0 < result.counts[Class.LOST] < result.matched


def test_groups_that_begin_anew_are_lost(tmp_path: Path, spark: SparkSession) -> None:
    query = "SELECT id % 10 AS k, COUNT(*) AS n FROM ticks GROUP BY id % 10 EMIT CHANGES;"
    (tmp_path / "query.sql").write_text(TICKS + query)
    job = load(tmp_path / "query.sql", (*SETTINGS, NO_EPOCHS))
    run_with_kills(job, tmp_path / "record", TICKED, [(0.25, aggregate)], GATE_ROWS)
    result = found(job, tmp_path / "record", spark)
    assert set(result.counts) == {Class.LOST}, (result.counts, result.samples)
    assert any(row.batch is None for row in result.samples[Class.LOST]), "what was told before is still there"

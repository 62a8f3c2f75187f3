"""Faults that are really done, to the input, to the run or to what it wrote: each is found as what it is, with its rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.planner.settings import Delivery
from ouzel.reconcile import Class, Recorder
from ouzel.runtime.run import RunState, Status
from ouzel.runtime.simulator.faults import lose_link
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import Job
from tests.cli.fakes import FakeHandle
from tests.reconcile.planting import DAYS, classes, flights, found, job_of, run, seal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition")]

INTO_FILES = """
CREATE TABLE long (id BIGINT, delay INT) WITH ('connector' = 'file', 'path' = 'long', 'format' = 'parquet');
INSERT INTO long SELECT id, delay FROM flights WHERE delay > 200;
"""
LONG = pl.col("delay") > 200


def part_of(directory: Path) -> Path:
    """A part of what was written."""
    return next((directory / "long").glob("*.parquet"))


def changed(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], None]:
    """A fault of the sink: a part is not what was written."""
    return lambda part: change(pl.read_parquet(part)).write_parquet(part)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (changed(lambda part: part.with_columns(delay=pl.col("delay") + (pl.int_range(pl.len()) == 0))),
         {Class.ONLY_STREAM: 1, Class.ONLY_BATCH: 1}),
        (changed(lambda part: part.slice(1)), {Class.ONLY_BATCH: 1}),
        (changed(lambda part: part.vstack(part.head(1).with_columns(id=pl.lit(-1, pl.Int64)))), {Class.ONLY_STREAM: 1}),
        (lambda part: shutil.copy(part, part.with_name(f"{part.stem}-again.parquet")), {Class.ONLY_STREAM: flights().filter(LONG).height}),
    ],
    ids=["corrupted", "deleted", "added", "delivered twice"],
)  # fmt: skip
def test_what_befell_a_file_is_not_explained(
    fault: Callable[[Path], object], expected: dict[Class, int], tmp_path: Path, spark: SparkSession
) -> None:
    job, home = run(INTO_FILES, tmp_path)
    fault(part_of(tmp_path))
    edited = found(job, home, spark)
    assert len(edited.tampered) == 1
    seal(home)
    result = found(job, home, spark)
    assert result.tampered == ()
    assert classes(edited) == classes(result)
    assert classes(result) == expected
    assert result.matched == flights().filter(LONG).height - result.counts.get(Class.ONLY_BATCH, 0)


def replaying(job: Job, directory: Path) -> Status:
    """The end of the first run whose broken links had rows sent again; what it wrote is in `directory`."""
    for seed in range(60):
        shutil.rmtree(directory / "long", ignore_errors=True)
        ran = simulate(job.topology, job.packing, directory, seed=seed, faults=[lose_link] * 6)
        if ran.rows_failed:
            return Status(RunState.FINISHED, rows_failed=ran.rows_failed, events=tuple(ran.events))
    raise AssertionError("no seed had anything sent again: the test tests nothing")


def test_a_file_delivered_twice_is_not_explained_by_rows_that_were_sent_again(
    tmp_path: Path, spark: SparkSession
) -> None:
    apart = INTO_FILES.replace("SELECT", "SELECT /*+ PARALLELISM('long' = '1') */")  # so that rows travel to the sink
    job = job_of(apart, tmp_path)
    assert job.settings.delivery is Delivery.AT_LEAST_ONCE
    Recorder(FakeHandle([], replaying(job, tmp_path)), job, "memory", tmp_path / "record").stop()
    assert classes(found(job, tmp_path / "record", spark)) == {}, "a replay alone writes nothing twice"
    part = part_of(tmp_path)
    shutil.copy(part, part.with_name(f"{part.stem}-again.parquet"))
    seal(tmp_path / "record")
    result = found(job, tmp_path / "record", spark)
    assert classes(result) == {Class.ONLY_STREAM: pl.read_parquet(part).height}


def test_rows_of_a_clock_that_is_behind_are_late(tmp_path: Path, spark: SparkSession) -> None:
    behind = pl.when(pl.col("origin") == "JFK").then(pl.col("ts") - pl.duration(days=3)).otherwise("ts").alias("ts")
    job, home = run(
        "SET 'batch.rows' = '100'; SET 'max.pending.rows' = '100';" + DAYS, tmp_path, flights().with_columns(behind)
    )
    result = found(job, home, spark)
    assert result.explained
    assert {row.row[1] for row in result.samples[Class.LATE]} == {"JFK"}
    kept = sum(row.stream[2] for row in result.samples[Class.LATE] if row.stream)
    there = sum(row.batch[2] for row in result.samples[Class.LATE] if row.batch)
    assert there - kept == result.dropped[0].rows > 500


def test_a_sum_of_floats_in_another_order_is_float(tmp_path: Path, spark: SparkSession) -> None:
    data = flights().with_columns(miles=pl.col("miles") * 1e6 + 0.1)
    job, home = run(DAYS, tmp_path, data)
    result = found(job, home, spark)
    assert set(classes(result)) == {Class.FLOAT}
    assert {row.differing for row in result.samples[Class.FLOAT]} == {("miles",)}
    exact = found(job, home, spark, 0.0)
    assert classes(exact) == {Class.VALUE_DIFFERS: result.counts[Class.FLOAT]}

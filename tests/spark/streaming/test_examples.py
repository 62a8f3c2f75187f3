"""Each example as `ouzel run --engine spark` runs it gives the answer of the memory engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.compiler.plan import Sink
from ouzel.runtime.run import RunState
from ouzel.session import Job, load, start
from ouzel.spark.streaming.run import start_structured
from tests.law.compare import difference
from tests.law.engines import folded
from tests.reconcile.test_fuzz import some_input
from tests.spark.batch.test_examples import NAMES
from tests.spark.streaming.conftest import ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ouzel.runtime.run import Handle, Status


BATCHES = 3
"""Micro-batches of each run: two of them find the state that one before has left."""


@pytest.mark.spark
@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_that_of_the_memory_engine(spark: SparkSession, tmp_path: Path, name: str) -> None:
    query = some_input(name, tmp_path)
    job = load(query)
    theirs, status = answer(job, tmp_path, start(job, "memory"))
    job = load(query, [("trigger.rows", str(status.rows_in // BATCHES))])
    ours, _ = answer(job, tmp_path, start_structured(job, spark=spark))
    assert (found := difference(theirs, ours)) == "", found
    assert theirs.height
    assert status.rows_late == 0


def answer(job: Job, folder: Path, handle: Handle) -> tuple[pl.DataFrame, Status]:
    """What a run's sink holds in the end; what it wrote is taken away again."""
    status = ended(handle)
    assert status.state is RunState.FINISHED, status.reason
    (sink,) = job.program.sinks
    if sink.connector == "result":
        return folded(job, handle.results()), status
    return written(sink, folder), status


def written(sink: Sink, folder: Path) -> pl.DataFrame:
    parts = sorted((folder / dict(sink.options)["path"]).glob("part-*"))
    rows = pl.concat(pl.read_parquet(part) for part in parts)
    for part in parts:
        part.unlink()
    return rows


@pytest.mark.spark
def test_bad_records_are_told_and_kept(spark: SparkSession, tmp_path: Path) -> None:
    handle = start_structured(load(some_input("claims", tmp_path)), spark=spark)
    status = ended(handle)
    kept = [json.loads(line) for line in (tmp_path / "data" / "bad_claims.jsonl").read_text().splitlines()]
    assert status.rows_bad == len(kept) > 0
    assert {letter["where"] for letter in kept} == {f"{tmp_path / 'claims.csv'}:{line}" for line in lines(kept)}
    assert any(
        event.kind == "bad-record" and f"{len(kept)} bad records left out" in event.text for event in status.events
    )


def lines(letters: list[dict[str, str]]) -> list[int]:
    return [int(letter["where"].rpartition(":")[2]) for letter in letters]

"""Runs random queries on Ouzel and on Spark and says where they differ: `python -m tests.fuzz.hunt --first 0 --count 500`."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl

from ouzel.errors import OuzelError, QueryError
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import Job, load_text
from ouzel.spark.batch.run import batch_run
from tests.fuzz.queries import Queries
from tests.fuzz.tables import write_tables
from tests.law.compare import difference
from tests.law.engines import folded, run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PER_TABLES = 10
"""Queries asked of one set of tables."""


@dataclass(frozen=True)
class Outcome:
    """A table, or why there is none."""

    rows: pl.DataFrame | None
    error: str = ""


@dataclass(frozen=True)
class Verdict:
    """What became of one query: `same`, `both fail`, `refused`, or what is wrong."""

    seed: int
    query: str
    kind: str
    detail: str = ""

    @property
    def is_wrong(self) -> bool:
        return self.kind not in ("same", "both fail")


def compare(seed: int, spark: SparkSession, directory: Path) -> Verdict:
    """The verdict on the query of this seed; its tables are written where they are not yet."""
    prelude, query = question(seed, directory)
    try:
        job = load_text(f"{prelude}\n{query}", directory, "fuzz", shape(seed))
    except QueryError as error:
        return Verdict(seed, query, "refused", str(error))
    return judge(seed, query, stream_answer(job, seed), spark_answer(job, spark))


def question(seed: int, directory: Path) -> tuple[str, str]:
    """The tables' statements and the query of this seed."""
    tables = write_tables(directory, Random(seed // PER_TABLES))
    prelude = "\n".join(table.statement for table in tables)
    return prelude, Queries(Random(seed), tables, prelude).query()


def shape(seed: int) -> tuple[tuple[str, str], ...]:
    """Parallelism and batching of the run."""
    dice = Random(seed)
    rows = dice.choice([1, 7, 50, 1000])
    return (
        ("parallelism", str(dice.randint(1, 3))),
        ("batch.rows", str(rows)),
        ("containers", str(dice.randint(1, 2))),
    )


def stream_answer(job: Job, seed: int) -> Outcome:
    """Memory engine without faults for even seeds, simulator with faults for odd ones."""
    return faulty_answer(job, seed) if seed % 2 else plain_answer(job)


def plain_answer(job: Job) -> Outcome:
    """The memory engine's."""
    try:
        frames, status = run_to_end(job, "memory")
    except OuzelError as error:
        return Outcome(None, str(error))
    assert status.rows_late == 0, f"{status.rows_late} rows are late"
    return Outcome(folded(job, frames))


def faulty_answer(job: Job, seed: int) -> Outcome:
    """The simulator's, with faults that the delivery promises to survive."""
    dice = Random(seed)
    faults = dice.choices(SURVIVABLE, k=dice.randint(0, 3))
    try:
        run = simulate(job.topology, job.packing, job.directory, seed=seed, faults=faults)
    except OuzelError as error:
        return Outcome(None, str(error))
    return Outcome(folded(job, run.frames.values()))


def spark_answer(job: Job, spark: SparkSession) -> Outcome:
    """Spark's."""
    try:
        return Outcome(batch_run(job).run(spark))
    except OuzelError as error:
        return Outcome(None, str(error))


def judge(seed: int, query: str, ours: Outcome, theirs: Outcome) -> Verdict:
    """The two answers compared."""
    if ours.rows is None and theirs.rows is None:
        return Verdict(seed, query, "both fail", f"{ours.error[:200]} / {theirs.error[:200]}")
    if ours.rows is None:
        return Verdict(seed, query, "only the stream fails", ours.error)
    if theirs.rows is None:
        return Verdict(seed, query, "only Spark fails", theirs.error)
    found = difference(theirs.rows, ours.rows)
    return Verdict(seed, query, "differ" if found else "same", found)


def main() -> None:
    """The command line."""
    from ouzel.spark.session import start_spark

    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    chosen = parser.parse_args()
    settings = (
        ("spark.ui.enabled", "false"),
        ("spark.sql.shuffle.partitions", "1"),
        ("spark.driver.memory", "1g"),
        ("spark.sql.codegen.wholeStage", "false"),
        ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
        ("spark.sql.adaptive.enabled", "false"),
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.session.timeZone", "UTC"),
    )
    spark, counts = start_spark("fuzz", "local[2]", settings), Counter[str]()
    for seed in range(chosen.first, chosen.first + chosen.count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                verdict = compare(seed, spark, Path(folder))
            except Exception as error:
                verdict = Verdict(seed, "", "crash", f"{type(error).__name__}: {error}")
        counts[verdict.kind] += 1
        if verdict.is_wrong:
            print(f"== {seed} {verdict.kind}\n{verdict.query}\n{verdict.detail}\n", flush=True)
    print(dict(counts))
    spark.stop()


if __name__ == "__main__":
    main()

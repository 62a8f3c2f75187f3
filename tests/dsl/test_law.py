"""The law for programs in Python: what plain lists and dictionaries give, every engine gives, whatever the batching and the faults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel import Stream
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from ouzel.spark.lowering import run_job
from tests.dsl.programs import draw, write_sentences
from tests.effort import seeds
from tests.law.compare import plain_fold
from tests.law.engines import faults_with_epochs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PER_SEED = 4
"""Programs drawn for each seed."""


def program(seed: int, number: int, folder: Path) -> Stream[Any]:
    path = folder / f"sentences{seed}.txt"
    if not path.exists():
        write_sentences(path, seed)
    return draw(Random(1000 * seed + number), path)


def meant(stream: Stream[Any]) -> Counter[tuple[object, ...]]:
    return Counter(stream.memory())


def found(frame: pl.DataFrame) -> Counter[tuple[object, ...]]:
    return Counter(frame.rows())


def simulated(stream: Stream[Any], seed: int, epochs: bool = False) -> Counter[tuple[object, ...]]:
    random, every_ms = Random(seed), 1000 if epochs else 0
    job = stream.job(parallelism=random.randint(1, 3), containers=random.randint(1, 2), checkpoint_interval_ms=every_ms)
    faults = faults_with_epochs(random) if epochs else random.choices(SURVIVABLE, k=random.randint(0, 3))
    run = simulate(job.topology, job.packing, job.directory, seed=seed, faults=faults)
    return found(plain_fold(run.frames.values(), list(stream.record.schema.names)))


@pytest.mark.parametrize("number", range(PER_SEED))
def test_the_simulator_gives_what_plain_python_gives(number: int, tmp_path: Path) -> None:
    for seed in seeds():
        stream = program(seed, number, tmp_path)
        assert simulated(stream, seed) == meant(stream), f"seed {seed}:\n{stream.explain()}"


@pytest.mark.parametrize("number", range(PER_SEED))
def test_what_python_totals_comes_back_from_an_epoch(number: int, tmp_path: Path) -> None:
    for seed in seeds():
        stream = program(seed, number, tmp_path)
        assert simulated(stream, seed, epochs=True) == meant(stream), f"seed {seed}:\n{stream.explain()}"


@pytest.mark.slow
@pytest.mark.server
def test_processes_give_what_plain_python_gives(tmp_path: Path) -> None:
    stream = program(1, 1, tmp_path)
    assert found(stream.table("heron", parallelism=2)) == meant(stream)


@pytest.mark.slow
@pytest.mark.spark
def test_spark_gives_what_plain_python_gives(tmp_path: Path, spark: SparkSession) -> None:
    for seed in range(3):
        stream = program(seed, 2, tmp_path)
        rows = run_job(stream.spark_job(), spark).collect()
        assert Counter(map(tuple, rows)) == meant(stream), stream.spark_job()

"""Summingbird's law: each of its graphs gives on every platform what it gives in memory, and writes the same."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel import Sink, Stream, monoid
from ouzel.compiler.plan import Scan, walk
from ouzel.connectors.memory import TABLES
from ouzel.dsl.memory import Memory
from ouzel.dsl.producers import ConnectorTable
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from ouzel.spark.lowering import run_job
from ouzel.spark.lowering.tables import read_range
from tests.dsl import graphs
from tests.dsl.graphs import GRAPHS, as_row, together
from tests.effort import seeds
from tests.law.compare import WEIGHT, plain_fold
from tests.law.engines import run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def meant(stream: Stream[Any]) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """The records, and what is written."""
    plain = Memory({})
    records = Counter(map(repr, map(as_row, plain.records(stream.producer))))
    return records, {name: Counter(map(repr, map(as_row, found))) for name, found in plain.written.items()}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_gives_in_the_simulator_what_it_gives_in_memory(name: str) -> None:
    stream = GRAPHS[name]()
    records, tables = meant(stream)
    assert records
    assert "SparkSession" in stream.spark_job()
    for seed in seeds()[:4]:
        random = Random(seed)
        TABLES.clear()
        job = stream.job(
            parallelism=random.randint(1, 3), containers=random.randint(1, 2), batch_rows=random.choice([1, 3, 100])
        )
        run = simulate(
            job.topology, job.packing, job.directory, seed=seed, faults=random.choices(SURVIVABLE, k=seed % 3)
        )
        found = plain_fold(run.frames.values(), list(stream.record.schema.names))
        assert Counter(map(repr, found.rows())) == records, f"seed {seed}\n{stream.explain()}"
        for table, expected in tables.items():
            frame = TABLES[table].result()
            assert Counter(map(repr, plain_fold([frame], frame.columns).rows())) == expected, f"seed {seed}: {table}"


@pytest.mark.slow
@pytest.mark.spark
def test_every_graph_gives_on_spark_what_it_gives_in_memory(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "sink", Sink.blackhole)
    for name, graph in GRAPHS.items():
        rows = run_job(graph().spark_job(), spark).collect()
        assert Counter(map(repr, map(tuple, rows))) == meant(graph())[0], name


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.timeout(240)
def test_graphs_give_as_processes_what_they_give_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All in one topology in two containers, fed by the same few sources, so that it starts few processes."""
    for shared in (graphs.source, graphs.pairs, graphs.service):
        monkeypatch.setattr(graphs, shared.__name__, cache(shared))
    monkeypatch.setattr(graphs, "sink", partial(changes_in, tmp_path))
    program = together(*GRAPHS)
    records, tables = meant(program)
    found, _ = run_to_end(program.job(containers=2), "heron", limit_s=120)
    given = plain_fold(found, list(program.record.schema.names))
    assert Counter(map(repr, given.rows())) == records
    assert {table: rows_in(tmp_path / table) for table in tables} == tables


def changes_in(folder: Path, name: str) -> ConnectorTable:
    """A table of files in which processes write what comes and what is taken back."""
    return Sink.file(str(folder / name), name=name, format="parquet", changelog="true")


def rows_in(folder: Path) -> Counter[str]:
    """What the files of a table add up to."""
    frames = [pl.read_parquet(part).rename({"op": WEIGHT}, strict=False) for part in folder.glob("*.parquet")]
    names = [name for name in frames[0].columns if name != WEIGHT]
    return Counter(map(repr, plain_fold(frames, names).rows()))


def test_records_that_a_program_holds_are_made_of_their_numbers() -> None:
    text = GRAPHS["single step"]().spark_job()
    assert f"spark.range({len(graphs.NUMBERS)})" in text
    assert '.select("id")' in text


def test_a_job_reads_of_a_programs_records_those_that_its_run_has_read() -> None:
    (sink,) = graphs.pairs().sum_by_key(monoid.Sum()).job().program.sinks
    (numbers,) = (node for node in walk(sink) if isinstance(node, Scan))
    assert read_range(numbers, {"0": (0, 4)}) == ["spark.range(0, 4)"]
    assert read_range(numbers, {"0": (0, 4, 6, 11)}) == ["spark.range(0, 4)", ".union(spark.range(6, 11))"]
    assert read_range(numbers, {}) == ["spark.range(0, 0)"]

"""Summingbird's law: each of its graphs gives on every platform what it gives in memory, and writes the same."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from ouzel import Sink, Stream
from ouzel.connectors.memory import TABLES
from ouzel.dsl.memory import Memory
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.world import simulate
from ouzel.spark.lowering import run_job
from tests.dsl import graphs
from tests.dsl.graphs import GRAPHS, as_row, together
from tests.effort import seeds
from tests.law.compare import plain_fold

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
def test_graphs_give_as_processes_what_they_give_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one topology, which has every kind of node."""
    monkeypatch.setattr(graphs, "sink", Sink.blackhole)
    found = together("two sums", "diamond", "multiple summers", "either", "left join with a store")
    assert Counter(found.table("heron").rows()) == Counter(found.memory())


def test_records_that_a_program_holds_are_made_of_the_column_that_spark_has() -> None:
    text = GRAPHS["single step"]().spark_job()
    assert "spark.range(1)" in text
    assert '.select("id")' in text

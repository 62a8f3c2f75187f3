"""Nexmark, q0 to q23 of sql_examples/nexmark: the simulator, real processes, Spark and its streams give DuckDB's answer to each."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import polars as pl
import pytest

from bench.nexmark import QUERIES as EXAMPLES
from bench.nexmark import query_names, statements
from ouzel.compiler.plan import Changelog
from ouzel.connectors.nexmark import count_rows, generate
from ouzel.errors import NotSupported
from ouzel.runtime.run import RunState
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import Job, load, load_text
from ouzel.spark.lowering import run_job, spark_job
from ouzel.spark.lowering.streaming import streaming_queries
from ouzel.spark.streaming.run import start_structured
from tests.effort import seeds
from tests.law.compare import WEIGHT, difference, plain_fold
from tests.law.engines import folded, run_to_end
from tests.law.oracle import table_of
from tests.spark.streaming.conftest import ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
QUERIES = query_names()
EVENTS, INTERVAL_US = 5000, 10_000
"""As the examples' tables say."""

PAGE = (HERE.parents[1] / "docs" / "nexmark.md").read_text()
QUESTIONS = dict(
    re.findall(r"-- query: (\w+)\n(.*?)(?=-- query: |\Z)", (HERE / "nexmark.duckdb.sql").read_text(), re.S)
)
COLUMNS = {
    "person": "id name emailAddress creditCard city state dateTime extra",
    "auction": "id itemName description initialBid reserve dateTime expires seller category extra",
    "bid": "auction bidder price channel url dateTime extra",
}
KINDS: dict[str, pl.DataType] = {
    **dict.fromkeys(["id", "initialBid", "reserve", "seller", "category", "auction", "bidder", "price"], pl.Int64()),
    **dict.fromkeys(("dateTime", "expires"), pl.Datetime("us")),
}
VIEWS = """
    CREATE VIEW open_bids AS
    SELECT a.*, b.auction, b.bidder, b.price, b.dateTime AS bid_time, b.extra AS bid_extra
    FROM auction a JOIN bid b ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires;
    CREATE VIEW ranked AS SELECT *, CASE WHEN price < 10000 THEN 1 WHEN price < 1000000 THEN 2 ELSE 3 END AS rank FROM bid"""


@cache
def oracle(query: str) -> pl.DataFrame:
    """DuckDB's answer over the same events."""
    with duckdb.connect() as connection:
        for table, names in COLUMNS.items():
            rows = np.arange(count_rows(table, EVENTS), dtype=np.int64)
            columns = {name: KINDS.get(name, pl.String()) for name in names.split()}
            connection.register(table, generate(table, rows, columns, interval_us=INTERVAL_US).to_arrow())
        connection.execute(f"CREATE VIEW side_input AS FROM read_csv('{EXAMPLES / 'side_input.csv'}');{VIEWS}")
        return table_of(connection, QUESTIONS[query])


def _selecting(query: str) -> list[str]:
    """What the example says, its question last: a SELECT, also of the one that writes files."""
    *tables, question = statements(query)
    return [*tables, question.removeprefix("INSERT INTO archive")]


def asked(query: str, *pairs: tuple[str, str]) -> Job:
    """The query, planned with these settings."""
    return load_text(";\n".join(_selecting(query)), EXAMPLES, query, pairs)


@pytest.mark.parametrize("query", QUERIES)
def test_the_page_says_where_the_query_runs(query: str) -> None:
    (row,) = re.findall(rf"^\| {query} \|.*", PAGE.partition("\n## ")[0], re.MULTILINE)
    program = asked(query).program
    try:
        streams = bool(streaming_queries(program, EXAMPLES, query))
    except NotSupported:
        streams = False
    changelog = "append" if program.sinks[-1].input.changelog is Changelog.APPEND else "retract"
    assert row.endswith(f"| {changelog} | yes | yes | {'yes' if streams else 'no'} |")


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_the_simulator_agrees_with_duckdb(query: str) -> None:
    expected = oracle(query)
    assert expected.height
    for seed in seeds()[::5]:
        random = Random(seed)
        job = asked(query, ("parallelism", str(random.randint(1, 3))), ("batch.rows", str(random.randint(100, 2000))))
        faults = random.choices(SURVIVABLE, k=random.randint(0, 3))
        run = simulate(job.topology, job.packing, EXAMPLES, seed=seed, faults=faults)
        assert (found := difference(expected, folded(job, run.frames.values()))) == "", f"seed {seed}: {found}"
        assert run.rows_late == 0


def inserting(query: str, out: Path) -> list[str]:
    """The statements of the query, with a table of Parquet for its answer."""
    *tables, question = _selecting(query)
    columns = ", ".join(f'"{field.name}" {field.type}' for field in asked(query).program.sinks[-1].schema)
    where = f"'connector' = 'file', 'path' = '{out / query}', 'format' = 'parquet', 'changelog' = 'true'"
    return [
        *tables,
        f"CREATE TABLE answer_{query} ({columns}) WITH ({where})",
        f"INSERT INTO answer_{query} {question}",
    ]


def written(query: str, out: Path) -> pl.DataFrame:
    """What the rows of the query's table add up to."""
    frames = [
        pl.read_parquet(part).rename({"op": WEIGHT}, strict=False) for part in sorted((out / query).glob("*.parquet"))
    ]
    return plain_fold(frames, oracle(query).columns)


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("first", range(3))
def test_topologies_of_eight_queries_agree_with_duckdb(first: int, tmp_path: Path) -> None:
    queries = QUERIES[first::3]
    parts = dict.fromkeys(part for query in queries for part in inserting(query, tmp_path))
    job = load_text(";\n".join(parts), EXAMPLES, f"nexmark_{first}", (("batch.rows", "1000"),))
    _, status = run_to_end(job, "heron")
    found = {query: difference(oracle(query), written(query, tmp_path)) for query in queries}
    assert not any(found.values()), f"{found}\n{status}"
    assert status.rows_late == 0


def test_the_archive_holds_every_bid(tmp_path: Path) -> None:
    job = load(Path(shutil.copy(EXAMPLES / "q10.sql", tmp_path)))
    simulate(job.topology, job.packing, tmp_path, seed=1, faults=[])
    rows = pl.concat(pl.read_csv(part) for part in (tmp_path / "archive").glob("*.csv"))
    assert rows.height == oracle("q10").height
    assert rows["price"].sum() == oracle("q10")["price"].sum()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_spark_agrees_with_duckdb(query: str, one_partition: SparkSession) -> None:
    answer = pl.from_arrow(run_job(spark_job(asked(query).program, EXAMPLES), one_partition).toArrow())
    assert isinstance(answer, pl.DataFrame)
    assert (found := difference(oracle(query), answer)) == "", found


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("query", QUERIES)
def test_streams_of_spark_agree_with_duckdb(query: str, one_partition: SparkSession) -> None:
    job = asked(query, ("trigger.rows", "2500"))
    handle = start_structured(job, spark=one_partition)
    status = ended(handle)
    assert status.state is RunState.FINISHED, status.reason
    assert (found := difference(oracle(query), folded(job, handle.results()))) == "", found
    assert status.rows_late == 0

"""Tables of Iceberg in a batch: Spark and a topology read the same rows, and each reads what the other writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from ouzel.session import Job
from ouzel.spark.batch.run import BatchRun
from tests.connectors.iceberg_tables import catalog, ids, made
from tests.fuzz.hunt import judge, plain_answer, spark_answer
from tests.law.engines import run_to_end
from tests.spark.batch.test_delta import ASKED, FILTERS, HELD, NAMED, PARTS, assert_same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def source(more: str, query: str, table: str = "ns.t") -> str:
    at = f"'catalog.uri' = 'sqlite:///c.db', 'table' = '{table}'"
    return f"CREATE TABLE t (*) WITH ('connector' = 'iceberg', {at}{more}); {query} EMIT CHANGES;"


@pytest.fixture
def held(tmp_path: Path) -> list[str]:
    """Ids of snapshots of a table, each of several files; the last two delete what was there before and add rows."""
    table = made(tmp_path, pa.table(HELD).schema, *PARTS)
    for rows in (pa.table(HELD), pa.table(HELD).slice(1, 3)):
        table.append(rows)
    table.overwrite(pa.table(HELD).slice(0, 2))
    return ids(table)


@pytest.mark.parametrize(("version", "rows"), [(-1, 2), (0, 5), (1, 8)])
def test_both_read_the_rows_of_a_snapshot(
    job: Callable[[str], Job], spark: SparkSession, held: list[str], version: int, rows: int
) -> None:
    more = "" if version < 0 else f", 'snapshot.id' = '{held[version]}'"
    assert assert_same(job(source(more, NAMED)), spark).height == rows


def test_both_refuse_to_follow_what_deletes_rows(
    job: Callable[[str], Job], spark: SparkSession, held: list[str]
) -> None:
    query = source(f", 'snapshot.id' = '{held[0]}', 'follow' = 'true', 'end' = 'latest'", NAMED)
    for answer in (plain_answer(job(query)), spark_answer(job(query), spark)):
        assert "deletes or rewrites rows" in answer.error


@pytest.mark.parametrize("condition", FILTERS)
def test_both_answer_what_asks_for_partitions(
    job: Callable[[str], Job], spark: SparkSession, held: list[str], condition: str
) -> None:
    query = source(f", 'snapshot.id' = '{held[1]}'", ASKED.format(condition))
    assert assert_same(job(query), spark).height


def test_a_batch_of_a_table_that_is_followed_ends_with_the_newest_snapshot(
    job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    rows = [pa.table({"n": pa.array([number], pa.int64())}) for number in range(3)]
    table = made(tmp_path, rows[0].schema)
    for one in rows:
        table.append(one)
    answer = spark_answer(job(source(", 'snapshot.id' = '0', 'follow' = 'true'", NAMED)), spark)
    assert answer.rows is not None, answer.error
    assert sorted(answer.rows.rows()) == [(0,), (1,), (2,)]


COPY = """CREATE TABLE t (*) WITH ('connector' = 'iceberg', 'catalog.uri' = 'sqlite:///c.db', 'table' = 'ns.t', 'snapshot.id' = '{}');
CREATE TABLE o (n BIGINT, price DECIMAL(9, 2), share DOUBLE, born DATE, ts TIMESTAMP(6), at TIMESTAMP_LTZ(6), tags ARRAY<VARCHAR>,
    year INT, day DATE, code VARCHAR) WITH ('connector' = 'iceberg', 'catalog.uri' = 'sqlite:///c.db', 'table' = 'ns.o',
    'partition.by' = 'year, code');
INSERT INTO o SELECT * FROM t;"""


def test_each_reads_what_the_other_writes(
    made: Callable[..., BatchRun], job: Callable[[str], Job], spark: SparkSession, held: list[str], tmp_path: Path
) -> None:
    copy = COPY.format(held[1])
    made(copy).run(spark)
    of_spark = plain_answer(job(source(f", 'snapshot.id' = '{held[1]}'", NAMED)))
    written = source("", NAMED, "ns.o")
    assert [field.name for field in catalog(tmp_path).load_table("ns.o").spec().fields] == ["year", "code"]
    assert judge(0, "", of_spark, plain_answer(job(written))).kind == "same"
    run_to_end(job(copy), "memory")
    twice = spark_answer(job(written), spark)
    assert twice.rows is not None, twice.error
    assert twice.rows.height == 16
    assert judge(0, "", plain_answer(job(written)), twice).kind == "same"

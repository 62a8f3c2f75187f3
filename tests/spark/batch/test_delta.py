"""Tables of Delta Lake in a batch: Spark and a topology read the same rows, and each reads what the other writes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from ouzel.session import Job
from ouzel.spark.batch.run import BatchRun
from tests.fuzz.hunt import judge, plain_answer, spark_answer
from tests.law.engines import run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NOON = datetime(2013, 1, 1, 12, 30, 0, 123456)
DAY = date(2013, 1, 1)
HELD = {
    "n": pa.array([1, 2, 3, None, 2**62], pa.int64()),
    "price": pa.array([Decimal("1.50"), Decimal("-3.65"), None, Decimal("0.00"), Decimal("9.99")], pa.decimal128(9, 2)),
    "share": pa.array([0.5, float("nan"), -0.0, None, 1e300], pa.float64()),
    "born": pa.array([DAY, date(1, 1, 1), None, date(9999, 12, 31), DAY], pa.date32()),
    "ts": pa.array([NOON, None, datetime(1900, 1, 1), NOON, NOON], pa.timestamp("us")),
    "at": pa.array([NOON.replace(tzinfo=UTC), None, NOON.replace(tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
    "tags": pa.array([["a", None], [], None, ["b"], ["é"]], pa.list_(pa.string())),
    "year": pa.array([2013, 2014, None, 2013, -1], pa.int32()),
    "day": pa.array([DAY, DAY, None, date(2014, 2, 28), DAY], pa.date32()),
    "code": pa.array(["a b/ü", "%20=", None, "JFK", "x"], pa.string()),
}
PARTS = ["year", "day", "code"]
"""Columns that no file holds: the table is partitioned by them."""

NAMED = "SELECT * FROM t"
ASKED = "SELECT year, day, code, COUNT(*) AS many, SUM(price) AS total, MAX(ts) AS last FROM t WHERE {} GROUP BY year, day, code"
FILTERS = ["year = 2013", "day > DATE '2013-12-31' OR code IS NULL", "code <> 'x' AND n < 3", "year IS NULL"]


def source(more: str, query: str) -> str:
    return f"CREATE TABLE t (*) WITH ('connector' = 'delta', 'path' = 't'{more}); {query} EMIT CHANGES;"


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A table of three versions, each of several files; the last deletes what was there before."""
    for rows in (pa.table(HELD), pa.table(HELD).slice(1, 3)):
        write_deltalake(tmp_path / "t", rows, mode="append", partition_by=PARTS)
    write_deltalake(tmp_path / "t", pa.table(HELD).slice(0, 2), mode="overwrite")
    return tmp_path


def assert_same(job: Job, spark: SparkSession) -> pl.DataFrame:
    found = judge(0, "", streamed := plain_answer(job), spark_answer(job, spark))
    assert found.kind == "same", f"{found.kind}: {found.detail}"
    assert isinstance(streamed.rows, pl.DataFrame)
    return streamed.rows


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        ("", 2),
        (", 'version' = '0'", 5),
        (", 'version' = '1'", 8),
        (", 'version' = '0', 'follow' = 'true', 'end' = 'latest'", 0),
    ],
)
def test_both_read_the_rows_of_a_version(
    job: Callable[[str], Job], spark: SparkSession, held: Path, more: str, rows: int
) -> None:
    if not rows:
        for answer in (plain_answer(job(source(more, NAMED))), spark_answer(job(source(more, NAMED)), spark)):
            assert "deletes or rewrites rows" in answer.error
    else:
        assert assert_same(job(source(more, NAMED)), spark).height == rows


@pytest.mark.parametrize("condition", FILTERS)
def test_both_answer_what_asks_for_partitions(
    job: Callable[[str], Job], spark: SparkSession, held: Path, condition: str
) -> None:
    query = source(", 'version' = '1'", ASKED.format(condition))
    assert assert_same(job(query), spark).height


def test_a_batch_of_a_table_that_is_followed_ends_with_the_newest_commit(
    job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    for number in range(3):
        write_deltalake(tmp_path / "t", pa.table({"n": pa.array([number], pa.int64())}), mode="append")
    answer = spark_answer(job(source(", 'version' = '0', 'follow' = 'true'", NAMED)), spark)
    assert answer.rows is not None, answer.error
    assert sorted(answer.rows.rows()) == [(0,), (1,), (2,)]


COPY = """CREATE TABLE t (*) WITH ('connector' = 'delta', 'path' = 't', 'version' = '1');
CREATE TABLE o (n BIGINT, price DECIMAL(9, 2), share DOUBLE, born DATE, ts TIMESTAMP(6), at TIMESTAMP_LTZ(6), tags ARRAY<VARCHAR>,
    year INT, day DATE, code VARCHAR) WITH ('connector' = 'delta', 'path' = 'o', 'partition.by' = 'year, code');
INSERT INTO o SELECT * FROM t;"""


def test_each_reads_what_the_other_writes(
    made: Callable[..., BatchRun], job: Callable[[str], Job], spark: SparkSession, held: Path
) -> None:
    made(COPY).run(spark)
    of_spark = plain_answer(job(source(", 'version' = '1'", NAMED)))
    assert DeltaTable(held / "o").metadata().partition_columns == ["year", "code"]
    written = source("", NAMED).replace("'path' = 't'", "'path' = 'o'")
    assert judge(0, "", of_spark, plain_answer(job(written))).kind == "same"
    run_to_end(job(COPY), "memory")
    twice = spark_answer(job(written), spark)
    assert twice.rows is not None, twice.error
    assert twice.rows.height == 16
    assert judge(0, "", plain_answer(job(written)), twice).kind == "same"

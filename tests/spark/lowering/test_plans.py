"""What Spark makes of a job: as few sorts and shuffles as by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.session import load_text
from ouzel.spark.lowering import run_job, spark_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """CREATE TABLE visits (user_id VARCHAR, spent BIGINT, page VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'visits.parquet', 'format' = 'parquet');
"""
LAG = "LAG(spent) OVER (PARTITION BY user_id ORDER BY ts) AS before"
RANGE = "SUM(spent) OVER (PARTITION BY user_id ORDER BY ts RANGE INTERVAL '9' SECOND PRECEDING) AS lately"
PEERS = "MAX(spent) OVER (PARTITION BY user_id ORDER BY ts) AS most"
WHOLE = "COUNT(*) OVER (PARTITION BY user_id) AS visits"
SESSION = """SELECT user_id, window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE visits PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '9' SECOND)) GROUP BY user_id, window_start, window_end"""

QUERIES = {
    "a lag": (f"SELECT user_id, spent, {LAG} FROM visits", 1),
    "a range": (f"SELECT user_id, {RANGE} FROM visits", 1),
    "range and lag": (f"SELECT user_id, {RANGE}, {LAG} FROM visits", 1),
    "whole, peers, range and lag": (f"SELECT user_id, {WHOLE}, {PEERS}, {RANGE}, {LAG} FROM visits", 1),
    "the first rows": ("SELECT user_id, spent FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ts) = 1", 2),
    "sessions": (SESSION, 1),
}  # fmt: skip
"""Queries, and how often they sort; of first rows Spark drops most before the shuffle, for which it sorts them too."""


def job_of(question: str, folder: Path = Path("/data")) -> str:
    return spark_job(load_text(TABLE + question, folder, "query").program, folder)


@pytest.mark.spark
@pytest.mark.parametrize("query", QUERIES)
def test_a_job_sorts_no_more_than_it_must_and_shuffles_once(query: str, spark: SparkSession, tmp_path: Path) -> None:
    question, sorts = QUERIES[query]
    visits = {"user_id": ["ann"], "page": ["/"], "spent": [1], "ts": [datetime(2024, 1, 1)]}
    pl.DataFrame(visits).with_columns(pl.col("ts").cast(pl.Datetime("us"))).write_parquet(tmp_path / "visits.parquet")
    frame = run_job(job_of(question, tmp_path), spark)
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert len(re.findall(r"\bSort \[", plan)) == sorts, plan
    assert len(re.findall(r"\bExchange hashpartitioning", plan)) == 1, plan
    assert "Python" not in plan


def test_ties_that_nobody_sees_are_neither_broken_nor_read() -> None:
    job = job_of(f"SELECT user_id, spent, {LAG} FROM visits")
    assert 'orderBy(F.col("ts").asc_nulls_first(), F.col("spent").asc_nulls_first())' in job
    assert "page" not in job


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT *, {LAG} FROM visits",
        f"SELECT page, {LAG}, LAG(page) OVER (PARTITION BY user_id ORDER BY ts) AS last FROM visits",
        "SELECT page FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ts) = 1",
    ],
)
def test_ties_that_are_seen_are_broken(question: str) -> None:
    assert 'F.col("page").asc_nulls_first()' in job_of(question)


def test_ties_stay_where_the_sign_of_a_zero_may_be_seen() -> None:
    """-0.0 and 0.0 are equal in an order, and look different: which comes first is decided by the other columns."""
    question = "SELECT share, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY share) AS n FROM shares"
    table = TABLE.replace("visits", "shares").replace("spent BIGINT", "share DOUBLE")
    job = spark_job(load_text(table + question, Path("/data"), "query").program, Path("/data"))
    assert 'F.col("page").asc_nulls_first()' in job


def test_ties_stay_where_a_column_is_no_part_of_the_order() -> None:
    """The rows are one a page, so that the order ends there; what is told of them must be that of the same row."""
    below = "SELECT page, COUNT(*) AS n, MAX(spent) AS most FROM visits GROUP BY page"
    job = job_of(f"SELECT most, ROW_NUMBER() OVER (ORDER BY n) AS place FROM ({below}) AS pages")
    assert 'F.col("page").asc_nulls_first()' in job


def test_nothing_computes_the_time_of_a_window_that_nobody_reads() -> None:
    grouped = "FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR(ts), INTERVAL '9' SECOND)) GROUP BY window_start, window_end"
    assert "window_time" not in job_of(f"SELECT window_end, COUNT(*) AS n {grouped}")


@pytest.fixture
def whole_plans(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark whose plans say all of what a scan does."""
    fields = "spark.sql.debug.maxToStringFields"
    before = spark.conf.get(fields)
    spark.conf.set(fields, "25")
    yield spark
    spark.conf.set(fields, str(before))


@pytest.mark.spark
def test_a_filter_reaches_the_reader_and_a_small_table_every_task(whole_plans: SparkSession, tmp_path: Path) -> None:
    """Row groups without such rows are left out; the large table of a join is neither shuffled nor sorted."""
    pl.DataFrame({"user_id": ["ann"], "page": ["/"], "spent": [1]}).write_parquet(tmp_path / "visits.parquet")
    pl.DataFrame({"page": ["/"], "title": ["Home"]}).write_parquet(tmp_path / "pages.parquet")
    tables = "".join(
        f"CREATE TABLE {table} ({columns}) WITH ('connector' = 'file', 'path' = '{table}.parquet', 'format' = 'parquet');\n"
        for table, columns in {"visits": "page VARCHAR, spent BIGINT", "pages": "page VARCHAR, title VARCHAR"}.items()
    )
    question = "SELECT title, spent FROM visits JOIN pages ON visits.page = pages.page WHERE spent > 60"
    job = spark_job(load_text(tables + question, tmp_path, "query").program, tmp_path)
    plan = run_job(job, whole_plans)._jdf.queryExecution().executedPlan().toString()
    assert re.search(r"PushedFilters: \[[^]]*GreaterThan\(spent,60\)", plan), plan
    assert "BroadcastHashJoin" in plan
    assert not re.search(r"\bExchange |\bSort |Python", plan), plan


@pytest.mark.spark
def test_rows_that_look_alike_are_limited_in_an_order_that_spark_takes(spark: SparkSession, tmp_path: Path) -> None:
    pl.DataFrame({"user_id": ["ann", "bob"]}).write_parquet(tmp_path / "few.parquet")
    question = "SELECT EXISTS (SELECT 1 FROM few AS f WHERE f.user_id = 'ann' LIMIT 1 OFFSET 1) AS more FROM few"
    table = "CREATE TABLE few (user_id VARCHAR) WITH ('connector' = 'file', 'path' = 'few.parquet', 'format' = 'parquet');\n"
    job = spark_job(load_text(table + question, tmp_path, "query").program, tmp_path)
    assert [row.more for row in run_job(job, spark).collect()] == [False, False]

"""Sessions by Spark's own `session_window` are those of the windows that give each row its bounds, and those of plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from ouzel.session import load_text
from ouzel.spark.lowering import run_job, spark_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

US = timedelta(microseconds=1)
GAPS = {"0.000001": 1, "0.0015": 1_500, "10": 10_000_000, "604800": 604_800_000_000}
"""Gaps in seconds, as SQL says them, and in microseconds."""
BASES = [datetime(1, 2, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 2, 29), datetime(9999, 6, 1)]
SHARES = [None, 0.0, -0.0, float("nan"), 1.5, float("inf")]

TABLE = """CREATE TABLE visits (k BIGINT, share DOUBLE, v BIGINT, ts TIMESTAMP{zone}(6), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'visits.parquet', 'format' = 'parquet');
"""
QUESTION = """SELECT {keys}window_start, window_end, COUNT(*) AS n, SUM(v) AS total, COUNT(*) FILTER (WHERE v > 2) AS high{more}
FROM TABLE(SESSION(TABLE visits {by}, DESCRIPTOR(ts), INTERVAL '{gap}' SECOND)) GROUP BY {keys}window_start, window_end"""
BOUNDS, DISTINCT = ", MAX(window_time) AS closes", ", COUNT(DISTINCT v) AS kinds"


def question(gap: str, keys: str = "k, share", more: str = "", zone: str = "") -> str:
    by, keys = (f"PARTITION BY {keys}", f"{keys}, ") if keys else ("", "")
    return TABLE.format(zone=zone) + QUESTION.format(gap=gap, keys=keys, by=by, more=more)


def job_of(text: str, folder: Path = Path("/data")) -> str:
    return spark_job(load_text(text, folder, "query").program, folder)


def visits(gap_us: int, seed: int) -> pl.DataFrame:
    """Of each key some rows whose distances are about a gap, a microsecond more or less; some rows have no time."""
    chance, rows = random.Random(seed), list[tuple[Any, ...]]()
    for key in [None, *range(60)]:
        ts, share = chance.choice(BASES), chance.choice(SHARES)
        for _ in range(chance.choice([1, 2, 12])):
            ts += chance.choice([0, 1, gap_us // 2, gap_us - 1, gap_us, gap_us + 1, 2 * gap_us]) * US
            rows.append((key, share, chance.choice([None, 1, 2, 3, 9]), chance.choice([ts, ts, ts, None])))
    chance.shuffle(rows)
    return pl.DataFrame(
        rows, {"k": pl.Int64, "share": pl.Float64, "v": pl.Int64, "ts": pl.Datetime("us")}, orient="row"
    )


def sessions(rows: pl.DataFrame, keys: list[str], gap_us: int) -> Iterator[tuple[Any, ...]]:
    """In plain Python: a row goes on with the session of its keys up to a gap after the last one, that moment included."""
    timed = sorted(rows.drop_nulls("ts").iter_rows(named=True), key=lambda row: (*_comparable(row, keys), row["ts"]))
    for key, group in groupby(timed, lambda row: _comparable(row, keys)):
        session = list[dict[str, Any]]()
        for row in group:
            if session and row["ts"] > session[-1]["ts"] + gap_us * US:
                yield _told(session, key, gap_us)
                session = []
            session.append(row)
        yield _told(session, key, gap_us)


def _comparable(row: dict[str, Any], keys: list[str]) -> tuple[str, ...]:
    """Keys as text: zeros are one key, and so are all NaN."""
    return tuple(str(row[key] + 0.0 if key == "share" and row[key] is not None else row[key]) for key in keys)


def _told(session: list[dict[str, Any]], key: tuple[str, ...], gap_us: int) -> tuple[Any, ...]:
    values = [row["v"] for row in session if row["v"] is not None]
    total, high = sum(values) if values else None, sum(value > 2 for value in values)
    return (*key, session[0]["ts"], session[-1]["ts"] + gap_us * US, len(session), total, high)


def answer(text: str, folder: Path, spark: SparkSession) -> pl.DataFrame:
    found = pl.from_arrow(run_job(job_of(text, folder), spark).toArrow())
    assert isinstance(found, pl.DataFrame)
    return found.sort(found.columns)


@pytest.mark.spark
@pytest.mark.parametrize(("gap", "zone", "keys"), [
    ("0.000001", "", "k, share"), ("0.0015", "_LTZ", "k, share"), ("10", "", "k, share"), ("10", "", ""), ("604800", "", "share"),
])  # fmt: skip
def test_sessions_are_those_of_plain_python_and_of_rows_that_have_their_bounds(
    spark: SparkSession, tmp_path: Path, gap: str, zone: str, keys: str
) -> None:
    rows = visits(GAPS[gap], seed=len(gap + zone + keys))
    stored = rows.with_columns(pl.col("ts").dt.replace_time_zone("UTC")) if zone else rows
    stored.write_parquet(tmp_path / "visits.parquet", row_group_size=50)
    found = answer(question(gap, keys, zone=zone), tmp_path, spark)
    assert_frame_equal(
        found, answer(question(gap, keys, BOUNDS, zone), tmp_path, spark).drop("closes").sort(found.columns)
    )
    names = keys.split(", ") if keys else []
    texts = [(*_comparable(row, names), *list(row.values())[len(names) :]) for row in found.iter_rows(named=True)]
    assert sorted(texts, key=str) == sorted(sessions(rows, names, GAPS[gap]), key=str)


@pytest.mark.spark
def test_distinct_values_of_sessions_are_counted_by_their_number(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's own sessions count some of them wrong."""
    visits(10_000_000, seed=1).write_parquet(tmp_path / "visits.parquet", row_group_size=50)
    text = question("10", more=DISTINCT)
    assert "session_window" not in job_of(text)
    found = answer(text, tmp_path, spark)
    assert_frame_equal(
        found, answer(question("10", more=DISTINCT + BOUNDS), tmp_path, spark).drop("closes").sort(found.columns)
    )


def test_a_job_says_sessions_as_spark_does() -> None:
    job = job_of(question("10"))
    assert '.groupBy("k", "share", F.session_window("ts", "10 seconds").alias("session"))' in job
    assert "OVER" not in job


@pytest.mark.parametrize("more", [DISTINCT, BOUNDS], ids=["distinct values", "a bound is read"])
def test_what_spark_has_not_of_sessions_is_told_by_windows(more: str) -> None:
    job = job_of(question("10", more=more))
    assert "session_window" not in job
    assert "count_if(`$begins`) OVER" in job


def test_a_column_may_be_called_session() -> None:
    text = (
        question("10", "k")
        .replace("k BIGINT", "session BIGINT")
        .replace("k, ", "session, ")
        .replace("BY k", "BY session")
    )
    assert 'F.session_window("ts", "10 seconds").alias("session0")' in job_of(text)

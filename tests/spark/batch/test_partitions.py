"""Folders that are named by values of columns: Spark and a topology read the same rows, and neither opens what a WHERE excludes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.session import Job
from tests.fuzz.hunt import judge, plain_answer, spark_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FORMATS = ("parquet", "csv", "json")
FOLDERS = [
    "day=2026-01-01/hour=03/Place=a%20b%2Fc",
    "day=2026-01-01/hour=14/Place=100%25",
    "day=2026-01-02/hour=03/Place=__HIVE_DEFAULT_PARTITION__",
    "day=__HIVE_DEFAULT_PARTITION__/hour=14/Place=é[b]=%3D",
]
FOUND = "CREATE TABLE t WITH ('connector' = 'file', 'path' = 't', 'format' = '{}'); {} EMIT CHANGES;"
DECLARED = """CREATE TABLE t (n BIGINT, {}) PARTITIONED BY (day, hour, place)
WITH ('connector' = 'file', 'path' = 't', 'format' = '{}'); {} EMIT CHANGES;"""
ALL = "SELECT * FROM t"
COUNTED = "SELECT day, COUNT(*) AS many FROM t GROUP BY day"


def write_file(path: Path, *numbers: int) -> None:
    """A file whose own column `hour` is not that of its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame({"n": numbers, "hour": [-1] * len(numbers)})
    {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".json": frame.write_ndjson}[path.suffix](path)


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A format in which the table `t` is there."""
    for number, folder in enumerate(FOLDERS):
        write_file(tmp_path / "t" / folder / f"part-0.{request.param}", number, 10 + number)
        (tmp_path / "t" / folder / "_SUCCESS").write_text("")
    (tmp_path / "t" / "_logs").mkdir()
    return str(request.param)


def assert_same(job: Job, spark: SparkSession) -> pl.DataFrame:
    found = judge(0, "", streamed := plain_answer(job), spark_answer(job, spark))
    assert found.kind == "same", f"{found.kind}: {found.detail}"
    assert isinstance(streamed.rows, pl.DataFrame)
    return streamed.rows


def test_both_read_values_of_the_types_that_are_found(
    job: Callable[[str], Job], spark: SparkSession, form: str
) -> None:
    rows = assert_same(job(FOUND.format(form, ALL)), spark)
    assert dict(rows.schema) == {"n": pl.Int64(), "hour": pl.Int64(), "day": pl.Date(), "Place": pl.String()}
    assert sorted(rows.rows(), key=lambda row: row[0]) == [
        (n, hour, day, place)
        for start in (0, 10)
        for n, hour, day, place in (
            (start, 3, date(2026, 1, 1), "a b/c"),
            (start + 1, 14, date(2026, 1, 1), "100%"),
            (start + 2, 3, date(2026, 1, 2), None),
            (start + 3, 14, None, "é[b]=="),
        )
    ]
    assert assert_same(job(FOUND.format(form, COUNTED)), spark).height == 3


TYPES = {
    "day VARCHAR, hour DOUBLE, place VARCHAR": (ALL, 8),
    "day TIMESTAMP(3), hour DECIMAL(5, 2), place VARCHAR": (ALL, 8),
    "place VARCHAR, day TIMESTAMP_LTZ(3), hour VARCHAR": (f"{ALL} WHERE place LIKE '%/%' OR place IS NULL", 4),
    "place VARCHAR, day DATE, hour SMALLINT": (f"{ALL} WHERE day > DATE '2026-01-01' AND hour IN (1, 3) AND n < 10", 1),
    "hour TINYINT, day DATE, place VARCHAR": ("SELECT place FROM t WHERE hour > 100", 0),
}


@pytest.mark.parametrize("columns", TYPES)
def test_both_read_values_of_the_types_that_are_declared(
    job: Callable[[str], Job], spark: SparkSession, form: str, columns: str
) -> None:
    query, expected = TYPES[columns]
    assert assert_same(job(DECLARED.format(columns, form, query)), spark).height == expected


def test_files_that_a_where_excludes_are_not_opened(
    job: Callable[[str], Job], spark: SparkSession, form: str, tmp_path: Path
) -> None:
    query = DECLARED.format("day DATE, hour INT, place VARCHAR", form, f"{ALL} WHERE day = DATE '2026-01-02'")
    planned = job(query)
    for folder in FOLDERS[:2] + FOLDERS[3:]:
        (tmp_path / "t" / folder / f"part-0.{form}").write_bytes(b'"\xff\xfe of no format \x00')
    assert sorted(assert_same(planned, spark)["n"].to_list()) == [2, 12]
    unread = job(query.replace("= DATE '2026-01-02'", "< DATE '2026-01-02'"))
    assert plain_answer(unread).error, "who opens them fails"
    assert spark_answer(unread, spark).error


@pytest.mark.parametrize(
    "columns", ["day DATE NOT NULL, hour INT, place VARCHAR", "day DATE, hour DATE, place VARCHAR"]
)
def test_both_refuse_a_value_that_the_column_cannot_have(
    job: Callable[[str], Job], spark: SparkSession, form: str, columns: str
) -> None:
    planned = job(DECLARED.format(columns, form, ALL))
    assert plain_answer(planned).error
    assert spark_answer(planned, spark).error


def test_spark_refuses_folders_that_have_come_since(
    job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    write_file(tmp_path / "t/day=2026-01-01/part-0.parquet", 1)
    planned = job(FOUND.format("parquet", ALL))
    for place in ("part-1.parquet", "day=2026-01-02/hour=1/part-0.parquet", "month=1/part-0.parquet"):
        write_file(tmp_path / "t" / place, 2)
        assert "other folders than day=... below" in str(spark_answer(planned, spark).error)
        assert "(PARTITIONED BY) says" in str(plain_answer(planned).error)
        (tmp_path / "t" / place).unlink()
    (tmp_path / "t/month=1").rmdir()
    write_file(tmp_path / "t/day=caf%C3%A9/part-0.parquet", 2)
    assert "escaped as Spark does not read them" in str(spark_answer(planned, spark).error)

"""INSERT INTO from a batch: what is written, where, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel.connectors.memory import TABLES
from ouzel.errors import ConnectorError, NotSupported, OuzelError
from ouzel.session import Job
from ouzel.spark.batch.run import BatchRun
from ouzel.spark.io.sink import Destination, write_table
from tests.fuzz.hunt import judge, plain_answer, spark_answer
from tests.law.engines import run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [
    {"k": " a ", "n": 1, "ts": "2024-01-01T00:00:00.123456"},
    {"k": 'say "x", y', "n": 2, "ts": "2024-01-01T00:00:01"},
    {"k": " a ", "n": 3, "ts": None},
]
SOURCE = "CREATE TABLE t (k VARCHAR, n BIGINT, ts TIMESTAMP(6)) WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');"


def into(
    options: str, columns: str = "k VARCHAR, n BIGINT, ts TIMESTAMP(6)", query: str = "SELECT k, n, ts FROM t"
) -> str:
    return f"{SOURCE} CREATE TABLE o ({columns}) WITH ({options}); INSERT INTO o {query};"


COUNTED = "SELECT k, SUM(n) AS n FROM t GROUP BY k EMIT CHANGES"
KAFKA = "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 'o', 'format' = 'json'"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "t.json").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def test_a_topic_is_written_by_our_own_sink(made: Callable[..., BatchRun]) -> None:
    text = made(into(KAFKA, "k VARCHAR, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", COUNTED)).text()
    assert "from ouzel.spark import write_table  # needs the wheel of Ouzel" in text
    ending = re.sub(r"\s+", " ", text.split("answer = query(spark, args)\n")[1])
    assert ending.startswith(' write_table( answer, "o", {"connector": "kafka",')
    assert ' mode="upsert", keys=["k"], ) finally:' in ending


@pytest.mark.parametrize(
    ("options", "columns", "query", "sentence"),
    [
        ("'format' = 'csv'", "a ARRAY<BIGINT>", "SELECT ARRAY[n] FROM t", "cannot write column 'a' of type ARRAY<BIGINT> as csv; use"),
        ("'format' = 'raw'", "k BYTES", "SELECT CAST(k AS BYTES) FROM t", "Spark writes one column of type VARCHAR as raw, not (k)"),
    ],
)  # fmt: skip
def test_what_spark_cannot_write_is_refused_at_once(
    made: Callable[..., BatchRun], options: str, columns: str, query: str, sentence: str
) -> None:
    with pytest.raises(NotSupported) as refused:
        made(into(f"'connector' = 'file', 'path' = 'o', {options}", columns, query)).text()
    assert sentence in str(refused.value)


@pytest.mark.spark
@pytest.mark.parametrize(
    "more",
    ["'format' = 'csv'", "'format' = 'csv', 'csv.delimiter' = ';', 'csv.header' = 'false', 'csv.columns' = 'k,n,ts', 'csv.null' = '-'",
     "'format' = 'json', 'json.nulls' = 'false'", "'format' = 'parquet', 'parquet.compression' = 'lz4'"],
)  # fmt: skip
def test_files_come_back_as_they_were(
    made: Callable[..., BatchRun], spark: SparkSession, source: Path, more: str, tmp_path: Path
) -> None:
    table = f"'connector' = 'file', 'path' = 'o', {more}"
    assert made(into(table)).run(spark) is None
    again = f"CREATE TABLE o (k VARCHAR, n BIGINT, ts TIMESTAMP(6)) WITH ({table}); SELECT k, n, ts FROM o;"
    rows = made(again).run(spark)
    times = [datetime(2024, 1, 1, 0, 0, 0, 123456), datetime(2024, 1, 1, 0, 0, 1), None]
    assert rows is not None
    assert sorted(rows.rows(), key=lambda row: row[1]) == [
        (row["k"], row["n"], ts) for row, ts in zip(ROWS, times, strict=True)
    ]


FLAT = {
    "n": ("BIGINT", [1, -(2**63), None]),
    "small": ("TINYINT", [127, -128, None]),
    "f": ("DOUBLE", [0.1, nan, -inf]),
    "g": ("FLOAT", [1.5, -0.0, None]),
    "yes": ("BOOLEAN", [True, False, None]),
    "word": ("VARCHAR", [' a "b", ', "é\\\n|", None]),
    "price": ("DECIMAL(20, 4)", [Decimal("1.2300"), Decimal("-1234567890123456.7891"), None]),
    "day": ("DATE", [date(1, 1, 1), date(9999, 12, 31), None]),
    "ts": ("TIMESTAMP(6)", [datetime(1, 1, 1, 0, 0, 0, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), None]),
    "at": (
        "TIMESTAMP_LTZ(6)",
        [datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime(2024, 1, 1, tzinfo=UTC), None],
    ),
}
NARROW = {"small": pl.Int8(), "g": pl.Float32(), "price": pl.Decimal(20, 4)}
"""Columns that Polars would make wider, and a table refuses then."""

NOON = datetime(2024, 1, 31, 12, 0, 0, 123456)
NESTED = {
    "data": ("BYTES", [b"abc\xff", b"", None]),
    "times": ("ARRAY<TIMESTAMP(6)>", [[NOON, None], [], None]),
    "r": (
        "ROW<a DOUBLE, at TIMESTAMP_LTZ(6), s VARCHAR>",
        [{"a": nan, "at": NOON.replace(tzinfo=UTC), "s": "1.50"}, None, None],
    ),
}


Made = Callable[..., BatchRun]
Columns = dict[str, tuple[str, list[Any]]]


def tables(directory: Path, form: str, fields: Columns) -> str:
    """Two tables with these columns: `t` holds them, `o` is to be written."""
    types = {name: kind for name, kind in NARROW.items() if name in fields}
    frame = pl.DataFrame({name: values for name, (_, values) in fields.items()}, schema_overrides=types)
    frame.write_parquet(directory / "t.parquet")
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in fields.items())
    null = ", 'csv.null' = 'none'" if form == "csv" else ""
    return (
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'file', 'path' = 't.parquet', 'format' = 'parquet');\n"
        f"CREATE TABLE o ({columns}) WITH ('connector' = 'file', 'path' = 'o', 'format' = '{form}'{null});\n"
    )


@pytest.mark.spark
@pytest.mark.parametrize(
    ("form", "fields"), [("csv", FLAT), ("json", FLAT), ("json", NESTED), ("parquet", {**FLAT, **NESTED})]
)
def test_a_stream_reads_what_spark_writes(
    made: Made, job: Callable[[str], Job], spark: SparkSession, tmp_path: Path, form: str, fields: Columns
) -> None:
    both = tables(tmp_path, form, fields)
    made(f"{both} INSERT INTO o SELECT * FROM t;").run(spark)
    there, back = (plain_answer(job(f"{both} SELECT * FROM {table};")) for table in "to")
    found = judge(0, "", there, back)
    assert found.kind == "same", found


@pytest.mark.spark
@pytest.mark.parametrize(
    ("form", "fields"),
    [("csv", {**FLAT, "data": NESTED["data"]}), ("json", {**FLAT, **NESTED}), ("parquet", {**FLAT, **NESTED})],
)
def test_spark_reads_what_a_stream_writes(
    made: Made, job: Callable[[str], Job], spark: SparkSession, tmp_path: Path, form: str, fields: Columns
) -> None:
    both = tables(tmp_path, form, fields)
    run_to_end(job(f"{both} INSERT INTO o SELECT * FROM t;"), "memory")
    there, back = (spark_answer(job(f"{both} SELECT * FROM {table};"), spark) for table in "to")
    found = judge(0, "", there, back)
    assert found.kind == "same", found


@pytest.mark.spark
def test_raw_lines_and_a_changelog(made: Callable[..., BatchRun], spark: SparkSession, source: Path) -> None:
    made(into("'connector' = 'file', 'path' = 'raw', 'format' = 'raw'", "k VARCHAR", "SELECT k FROM t")).run(spark)
    lines = sorted(line for part in (source / "raw").glob("part-*") for line in part.read_text().splitlines())
    assert lines == sorted(row["k"] for row in ROWS)
    changes = "'connector' = 'file', 'path' = 'log', 'format' = 'parquet', 'changelog' = 'true'"
    made(into(changes, "k VARCHAR, n BIGINT", COUNTED)).run(spark)
    assert sorted(pl.read_parquet(source / "log/*.parquet").rows()) == [(" a ", 4, 1), ('say "x", y', 2, 1)]


@pytest.mark.spark
def test_print_and_memory_are_this_process(made: Callable[..., BatchRun], spark: SparkSession, source: Path) -> None:
    made(into("'connector' = 'print', 'path' = 'p.txt'", "k VARCHAR, n BIGINT", COUNTED)).run(spark)
    assert sorted((source / "p.txt").read_text().splitlines()) == [
        '+{"k":" a ","n":4}', '+{"k":"say \\"x\\", y","n":2}',
    ]  # fmt: skip
    made(into("'connector' = 'memory', 'name' = 'batch-sinks'", "k VARCHAR, n BIGINT", "SELECT k, n FROM t")).run(spark)
    assert sorted(TABLES.pop("batch-sinks").result().rows()) == sorted((row["k"], row["n"]) for row in ROWS)
    made(into("'connector' = 'blackhole'")).run(spark)


@pytest.mark.spark
def test_a_task_opens_its_own_writer(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(10).repartition(2)
    options = {"connector": "file", "path": "o", "format": "json"}
    assert write_table(frame, "o", options, folder=str(tmp_path)) == 10
    assert sorted(pl.read_ndjson(tmp_path / "o/*.json")["id"].to_list()) == list(range(10))
    assert len({part.name.split("-")[1] for part in (tmp_path / "o").glob("part-*")}) == 2


@pytest.mark.spark
def test_tasks_that_may_run_twice_at_once_are_refused(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = spark.sparkContext.getConf().set("spark.speculation", "true")
    monkeypatch.setattr(spark.sparkContext, "getConf", lambda: twice)
    with pytest.raises(OuzelError, match=r"with spark\.speculation a task may run twice"):
        write_table(spark.range(1), "o", {"connector": "kafka"})


def test_a_task_that_runs_again_appends_nothing_twice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Again:
        def attemptNumber(self) -> int:
            return 1

        def partitionId(self) -> int:
            return 0

    monkeypatch.setattr("pyspark.TaskContext.get", Again)
    options = {"connector": "print", "path": "p"}
    with pytest.raises(ConnectorError, match="table 'o': a task had begun to write when it failed"):
        list(Destination("o", options, {"a": pl.Int64()}, "append", (), str(tmp_path)).task([]))
    upsert = Destination("o", options, {"a": pl.Int64()}, "upsert", ("a",), str(tmp_path))
    (counted,) = upsert.task([])
    assert counted.to_pylist() == [{"rows": 0}], "by key what comes again changes nothing"

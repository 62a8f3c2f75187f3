"""The PySpark job: its text, and what it answers in a real Spark."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import ouzel.compiler.plan as plan
from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import (
    AssignWindow,
    Filter,
    Program,
    Scan,
    SinkMode,
    Union,
    Unnest,
    WindowKind,
)  # fmt: skip
from ouzel.compiler.types import (
    BIGINT,
    INT,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    VARCHAR,
    ArrayType,
    DataType,
    Field,
    MapType,
    RowType,
    Schema,
)
from ouzel.errors import NotSupported
from ouzel.spark.lowering import run_job, spark_job
from ouzel.spark.lowering.job import job_endings, load_job
from ouzel.spark.session import translate_error
from tests.planner.plans import (
    count_by,
    delays_by_day,
    greater,
    program,
    read_traits,
    scan,
    select,
    sink,
    word_count,
    write_traits,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(spark: SparkSession, made: Program, directory: Path, table: str = "result") -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in run_job(spark_job(made, directory), spark, table).collect()), key=repr)


def test_the_job_reads_like_a_program() -> None:
    text = spark_job(program(word_count()), Path("/data"), "word_count")
    assert text.startswith('"""word_count as a PySpark job')
    assert '    lines = read_parquet(spark, at(args.folder, args.lines), "line string")\n' in text
    assert '\n        .groupBy("word")\n        .agg(F.count("*").alias("n"))\n    )\n' in text
    assert (
        "        answer.show(20, truncate=False)\n    finally:\n        if there is None:\n            spark.stop()\n"
        in text
    )
    assert text.endswith('if __name__ == "__main__":\n    main()\n')


@pytest.mark.parametrize(
    ("name", "value"), [("spark.sql.ansi.enabled", "false"), ("spark.sql.session.timeZone", "Europe/Rome")]
)
def test_a_session_that_means_something_else_is_refused(spark: SparkSession, name: str, value: str) -> None:
    names: dict[str, Any] = {}
    exec(spark_job(program(word_count()), Path("/data")), names)
    before, right = spark.conf.get(name), names["SETTINGS"][name]
    spark.conf.set(name, value)
    try:
        with pytest.raises(
            ValueError, match=re.escape(f'has {name} = {value}; write: spark.conf.set("{name}", "{right}")')
        ):
            names["query"](spark, names["parse_args"]([]))
    finally:
        spark.conf.set(name, before)


def test_a_session_that_was_there_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pl.DataFrame({"line": ["to be or", "not to be"]}).write_parquet(tmp_path / "lines.parquet")
    names: dict[str, Any] = {}
    exec(spark_job(program(word_count()), tmp_path), names)
    monkeypatch.setattr("sys.argv", ["job.py", "--lines", str(tmp_path / "lines.parquet")])
    names["main"]()
    assert "|not |1|" in capsys.readouterr().out.replace("|not |1  |", "|not |1|")
    assert spark.range(3).count() == 3


def test_what_has_no_batch_form_is_refused() -> None:
    with pytest.raises(
        NotSupported,
        match="table 't': a Spark job cannot read connector 'memory', which lives in one process; use 'file'",
    ):
        spark_job(program(scan("t", "memory", a=INT)), Path())
    with pytest.raises(NotSupported, match="cannot read format 'avro'; use one of csv, json, parquet, raw"):
        spark_job(program(table("t", "avro", a=VARCHAR)), Path())


def test_tables_may_have_the_names_of_the_programs_own() -> None:
    text = spark_job(program(sink(table("spark", "json", a=INT), "F")), Path())
    assert "\n    table_spark = " in text
    assert "\n    return table_spark\n" in text


def table(name: str, shape: str, options: dict[str, str] | None = None, **columns: DataType) -> Scan:
    given = {"path": f"{name}.{shape}", "format": shape, **(options or {})}
    return Scan(
        name,
        "file",
        tuple(given.items()),
        Schema(tuple(Field(*pair) for pair in columns.items())),
        traits=read_traits("file", given),
    )


@pytest.mark.spark
def test_parquet_is_read_as_declared(spark: SparkSession, tmp_path: Path) -> None:
    pl.DataFrame({"more": [1.5], "n": [7], "ts": [datetime(2024, 1, 1, 12)]}).write_parquet(tmp_path / "t.parquet")
    made = program(table("t", "parquet", ts=TIMESTAMP, n=BIGINT))
    assert rows(spark, made, tmp_path) == [(datetime(2024, 1, 1, 12), 7)]


@pytest.mark.spark
def test_json_and_csv(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "j.json").write_text('{"a": 1, "r": {"x": "p"}, "m": {"k": 2}}\n{"a": 2}\n')
    nested = table("j", "json", a=INT, r=RowType((("x", VARCHAR),)), m=MapType(VARCHAR, INT))
    assert rows(spark, program(nested), tmp_path) == [(1, ("p",), {"k": 2}), (2, None, None)]
    (tmp_path / "c.csv").write_text('b;a\n"x;""y""";1\nNA;2\n')
    fields = table("c", "csv", {"csv.delimiter": ";", "csv.null": "NA"}, a=INT, b=VARCHAR)
    assert rows(spark, program(fields), tmp_path) == [(1, 'x;"y"'), (2, None)]
    (tmp_path / "h.csv").write_text("1,x\n2,y\n")
    bare = table("h", "csv", {"csv.header": "false", "csv.columns": "a, b"}, b=VARCHAR)
    assert rows(spark, program(bare), tmp_path) == [("x",), ("y",)]


@pytest.mark.spark
def test_raw_lines(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.raw").write_text("a b\n\nc\n")
    assert rows(spark, program(table("t", "raw", line=VARCHAR)), tmp_path) == [("",), ("a b",), ("c",)]


@pytest.mark.spark
def test_bad_records_are_left_out_where_the_table_says_so(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,b\n1,x\noops,y\n,z\n")
    schema = Schema((Field("a", INT, False), Field("b", VARCHAR)))
    options = (("path", "c.csv"), ("format", "csv"), ("bad.record", "skip"))
    assert rows(
        spark, program(Scan("c", "file", options, schema, traits=read_traits("file", dict(options)))), tmp_path
    ) == [(1, "x")]
    (tmp_path / "j.json").write_text('{"a": 1, "b": "x"}\n{"a": "oops", "b": "y"}\n{"b": "z"}\n{"a": 3\n')
    options = (("path", "j.json"), ("format", "json"), ("bad.record", "dead-letter"))
    lines = Scan("j", "file", options, schema, traits=read_traits("file", dict(options)))
    assert rows(spark, program(lines), tmp_path) == [(1, "x")]
    assert rows(spark, program(select(lines, "b")), tmp_path) == [("x",)], "also when nobody asks for what is bad"


@pytest.mark.spark
@pytest.mark.parametrize("shape", ["csv", "json", "parquet"])
def test_a_null_where_the_table_has_none_fails_the_job(spark: SparkSession, tmp_path: Path, shape: str) -> None:
    frame = pl.DataFrame({"a": [1, None, 9], "b": ["x", "y", "z"]}, schema_overrides={"a": pl.Int32})
    written = {"csv": pl.DataFrame.write_csv, "json": pl.DataFrame.write_ndjson, "parquet": pl.DataFrame.write_parquet}
    written[shape](frame, tmp_path / f"c.{shape}")
    schema = Schema((Field("a", INT, False), Field("b", VARCHAR)))
    lines = Scan(
        "c", "file", (("path", f"c.{shape}"), ("format", shape)), schema, traits=read_traits("file", {"format": shape})
    )
    refused = "table 'c': column 'a' may not be NULL"
    with pytest.raises(Exception, match=refused) as failed:
        rows(spark, program(lines), tmp_path)
    assert str(translate_error(failed.value)) == refused
    with pytest.raises(Exception, match=refused):
        rows(spark, program(Filter(lines, greater(lines, "a", 5))), tmp_path)
    assert rows(spark, program(select(lines, "b")), tmp_path) == [("x",), ("y",), ("z",)]


@pytest.mark.spark
def test_word_count(spark: SparkSession, tmp_path: Path) -> None:
    pl.DataFrame({"line": ["a b a", "b a", None]}).write_parquet(tmp_path / "lines.parquet")
    assert rows(spark, program(word_count()), tmp_path) == [("a", 3), ("b", 2)]


@pytest.mark.spark
def test_tumbling_windows_by_microseconds(spark: SparkSession, tmp_path: Path) -> None:
    day = datetime(1969, 12, 31)  # before the epoch: a truncating division would be wrong
    times = [day, day + timedelta(days=1, microseconds=-1), day + timedelta(days=1), None]
    frame = {"origin": ["JFK"] * 4, "delay": [1, 2, 4, 8], "distance": [0.0] * 4, "ts": times}
    pl.DataFrame(frame).write_parquet(tmp_path / "flights.parquet")
    days = [day, day + timedelta(days=1), day + timedelta(days=2)]
    assert rows(spark, program(delays_by_day()), tmp_path) == [
        (days[0], days[1], "JFK", 2, 3),
        (days[1], days[2], "JFK", 1, 4),
    ]


@pytest.mark.spark
@pytest.mark.parametrize("kind", [TIMESTAMP, TIMESTAMP_LTZ], ids=str)
def test_hopping_windows(spark: SparkSession, tmp_path: Path, kind: DataType) -> None:
    times = [datetime(2024, 1, 1, 0, 0, 7), datetime(2024, 1, 1, 0, 0, 10)]
    pl.DataFrame({"ts": times}).write_parquet(tmp_path / "t.parquet")
    hop = AssignWindow(table("t", "parquet", ts=kind), WindowKind.HOP, "ts", 10_000_000, 5_000_000, 1_000_000)
    answer = rows(spark, program(hop), tmp_path)
    spans = {(row[0].second, row[1].second, row[2].second, row[3].microsecond) for row in answer}
    assert spans == {(7, 1, 11, 999_000), (7, 6, 16, 999_000), (10, 1, 11, 999_000), (10, 6, 16, 999_000)}


@pytest.mark.spark
def test_unnest_in_all_its_forms(spark: SparkSession, tmp_path: Path) -> None:
    pairs = RowType((("sku", VARCHAR), ("n", INT)))
    lines = ['{"id": 1, "a": ["x", null], "r": [{"sku": "p", "n": 5}], "m": {"k": 2}}', '{"id": 2, "a": []}']
    (tmp_path / "t.json").write_text("\n".join(lines))
    t = table("t", "json", id=INT, a=ArrayType(VARCHAR), r=ArrayType(pairs), m=MapType(VARCHAR, INT))

    def unnested(name: str, *names: tuple[str, DataType], **flags: bool) -> list[tuple[Any, ...]]:
        node = Unnest(t, Column(t.schema[name].type, name), names, **flags)
        return rows(spark, program(select(node, "id", *(new for new, _ in names))), tmp_path)

    assert unnested("a", ("e", VARCHAR)) == [(1, "x"), (1, None)]
    assert unnested("a", ("e", VARCHAR), ("o", BIGINT), ordinality=True) == [(1, "x", 1), (1, None, 2)]
    assert unnested("a", ("e", VARCHAR), outer=True) == [(1, "x"), (1, None), (2, None)]
    assert unnested("r", ("s", VARCHAR), ("q", INT)) == [(1, "p", 5)]
    assert unnested("r", ("s", VARCHAR), ("q", INT), ("o", BIGINT), ordinality=True) == [(1, "p", 5, 1)]
    assert unnested("m", ("k", VARCHAR), ("v", INT)) == [(1, "k", 2)]
    assert unnested("m", ("k", VARCHAR), ("v", INT), ("o", BIGINT), ordinality=True) == [(1, "k", 2, 1)]


@pytest.mark.spark
def test_unions_views_filters_and_sinks(spark: SparkSession, tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2, 3]}, schema={"a": pl.Int32}).write_parquet(tmp_path / "t.parquet")
    t = table("t", "parquet", a=INT)
    some = plan.Filter(t, greater(t, "a", 1))
    made = program(sink(Union((t, some)), "both", SinkMode.APPEND), sink(count_by(some), "counted", SinkMode.RETRACT))
    assert rows(spark, made, tmp_path, "both") == [(1,), (2,), (2,), (3,), (3,)]
    assert rows(spark, made, tmp_path, "counted") == [(2,)]


@pytest.mark.spark
def test_the_program_writes_its_sinks(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"a": 1}')
    into = plan.Sink(
        table("t", "json", a=INT),
        "out",
        "file",
        (("path", "out"), ("format", "csv")),
        SinkMode.APPEND,
        traits=write_traits("file"),
    )
    loaded = load_job(spark_job(program(into), tmp_path), spark)
    (ending,) = job_endings(program(into)).values()
    loaded.end(ending)
    (written,) = (tmp_path / "out").glob("*.csv")
    assert re.sub(r"\s+", " ", written.read_text()).strip() == "a 1"

"""Parquet in files whose types are not the table's: both engines widen what loses nothing, and refuse the rest by name."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ouzel.compiler.types import DataType, from_polars, to_polars
from ouzel.connectors.formats.widening import fits_column
from ouzel.session import Job, load_text
from ouzel.spark.lowering.parquet import parquet_reader
from tests.fuzz.hunt import judge, plain_answer, spark_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

AT = datetime(2024, 1, 31, 10, 11, 12, 123456)
HELD: dict[str, pa.Array] = {
    "a_byte": pa.array([-100, None], pa.int8()),
    "a_short": pa.array([30_000, None], pa.int16()),
    "an_int": pa.array([2_000_000_000, None], pa.int32()),
    "a_long": pa.array([2**62 + 1, None], pa.int64()),
    "a_byte_without_sign": pa.array([200, None], pa.uint8()),
    "an_int_without_sign": pa.array([4_000_000_000, None], pa.uint32()),
    "a_long_without_sign": pa.array([2**63 + 5, None], pa.uint64()),
    "a_float": pa.array([1.5, None], pa.float32()),
    "a_double": pa.array([1.1, None], pa.float64()),
    "a_decimal": pa.array([Decimal("433.95"), None], pa.decimal128(5, 2)),
    "a_text": pa.array(["5", None]),
    "a_category": pa.array(["5", None]).dictionary_encode(),
    "some_bytes": pa.array([b"5", None]),
    "a_flag": pa.array([True, None]),
    "a_day": pa.array([date(2024, 1, 31), None]),
    "a_time": pa.array([AT, None], pa.timestamp("us")),
    "a_time_in_milliseconds": pa.array([AT, None], pa.timestamp("ms")),
    "an_instant": pa.array([AT, None], pa.timestamp("us", "UTC")),
    "a_list": pa.array([[1, None], None], pa.list_(pa.int32())),
    "a_row": pa.array([{"last": "b", "first": "a", "n": 1}, None], pa.struct({"last": pa.string(), "first": pa.string(), "n": pa.int32()})),
}  # fmt: skip
"""A column of each type that files have."""

WIDENED = {
    "a_byte": ["TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(12, 2)"], "a_short": ["SMALLINT", "INT", "DECIMAL(10, 0)"],
    "an_int": ["INT", "BIGINT", "DOUBLE"], "a_long": ["BIGINT", "DECIMAL(20, 0)", "DECIMAL(38, 10)"],
    "a_byte_without_sign": ["SMALLINT", "BIGINT"], "an_int_without_sign": ["BIGINT"], "a_long_without_sign": ["DECIMAL(20, 0)"],
    "a_float": ["FLOAT", "DOUBLE"], "a_double": ["DOUBLE"], "a_decimal": ["DECIMAL(5, 2)", "DECIMAL(12, 4)", "DECIMAL(38, 10)"],
    "a_text": ["VARCHAR", "BYTES"], "a_category": ["VARCHAR"], "some_bytes": ["BYTES"], "a_flag": ["BOOLEAN"],
    "a_day": ["DATE", "TIMESTAMP(3)"], "a_time": ["TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"], "a_time_in_milliseconds": ["TIMESTAMP(3)"],
    "an_instant": ["TIMESTAMP_LTZ(3)", "TIMESTAMP(3)"], "a_list": ["ARRAY<INT>", "ARRAY<BIGINT>"],
    "a_row": ["ROW<first VARCHAR, last VARCHAR>", "ROW<n BIGINT, `FIRST` VARCHAR>"],
}  # fmt: skip
REFUSED = [
    ("an_int", "SMALLINT"), ("a_short", "TINYINT"), ("an_int", "FLOAT"), ("a_long", "DOUBLE"), ("an_int", "BOOLEAN"), ("a_day", "INT"),
    ("an_int", "DATE"), ("an_int_without_sign", "DOUBLE"), ("an_int_without_sign", "INT"), ("a_double", "FLOAT"),
    ("a_decimal", "INT"), ("a_decimal", "DECIMAL(5, 1)"), ("a_decimal", "DECIMAL(5, 3)"), ("an_int", "DECIMAL(11, 2)"),
    ("a_time", "DATE"), ("a_time", "BIGINT"), ("a_day", "TIMESTAMP_LTZ(3)"), ("a_text", "INT"), ("some_bytes", "VARCHAR"),
    ("a_list", "ARRAY<SMALLINT>"), ("a_row", "ROW<n SMALLINT>"), ("a_row", "ROW<middle VARCHAR>"), ("a_flag", "INT"),
]  # fmt: skip


def table(directory: Path, columns: str, query: str = "SELECT * FROM t") -> Job:
    given = "('connector' = 'file', 'path' = '*.parquet', 'format' = 'parquet')"
    return load_text(f"CREATE TABLE t ({columns}) WITH {given};\n{query};", directory, "reader")


def write(directory: Path, name: str, **columns: Any) -> None:
    pq.write_table(pa.table(columns), directory / f"{name}.parquet")


def assert_same(job: Job, spark: SparkSession) -> pl.DataFrame:
    found = judge(0, "", streamed := plain_answer(job), spark_answer(job, spark))
    assert found.kind == "same", f"{found.kind}: {found.detail}"
    assert isinstance(streamed.rows, pl.DataFrame)
    return streamed.rows


def test_what_loses_nothing_is_widened_by_both(spark: SparkSession, tmp_path: Path) -> None:
    pairs = [(f"{name}_{number}", name, kind) for name, kinds in WIDENED.items() for number, kind in enumerate(kinds)]
    write(tmp_path, "a", **{column: HELD[name] for column, name, _ in pairs})
    rows = assert_same(table(tmp_path, ", ".join(f"{column} {kind}" for column, _, kind in pairs)), spark)
    assert rows.row(0, named=True)["a_decimal_1"] == Decimal("433.9500")
    assert rows.row(0, named=True)["a_row_0"] == {"first": "a", "last": "b"}
    assert not any(rows.row(1))


@pytest.mark.parametrize(("name", "kind"), REFUSED)
def test_what_would_lose_something_is_refused_by_both(
    spark: SparkSession, tmp_path: Path, name: str, kind: str
) -> None:
    write(tmp_path, "a", v=HELD[name])
    job = table(tmp_path, f"v {kind}")
    for told in (plain_answer(job).error, spark_answer(job, spark).error):
        assert "holds column 'v' as " in told
        assert "declare it as the file has it, and CAST it in the query" in told


def test_each_file_goes_by_its_own_names_and_types(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "a", id=pa.array([1], pa.int64()), origin=["LGA"], to=["MIA"])
    write(tmp_path, "b", TO=["EWR"], origin=["JFK"], ID=pa.array([2], pa.int32()), more=[1])
    write(tmp_path, "c", origin=["BOS"], id=pa.array([3], pa.int8()))
    job = table(tmp_path, "origin VARCHAR, `to` VARCHAR, id BIGINT")
    rows = assert_same(job, spark).sort("id").rows()
    assert rows == [("LGA", "MIA", 1), ("JFK", "EWR", 2), ("BOS", None, 3)]


def test_files_of_the_declared_types_are_read_by_the_declared_names(spark: SparkSession, tmp_path: Path) -> None:
    """Then Spark lists the files once, and reads the frame whose types the job has looked at."""
    write(tmp_path, "a", more=[1], ORIGIN=["LGA"], **{"at.time": pa.array([AT], pa.timestamp("us"))})
    write(tmp_path, "b", Origin=["JFK"], id=pa.array([2], pa.int64()))
    job = table(tmp_path, "id BIGINT, origin VARCHAR, `at.time` TIMESTAMP(6)")
    rows = assert_same(job, spark).sort("id", nulls_last=True)
    assert rows.columns == ["id", "origin", "at.time"]
    assert rows.rows() == [(2, "JFK", None), (None, "LGA", AT)]


def test_a_file_that_alone_is_wider_is_refused_by_both(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "a", v=pa.array([1], pa.int32()))
    write(tmp_path, "b", v=pa.array([2**40], pa.int64()))
    job = table(tmp_path, "v INT")
    assert "holds column 'v' as BIGINT, and the table declares it INT" in plain_answer(job).error
    assert "holds column 'v' as bigint, and the table declares it int" in spark_answer(job, spark).error


def test_a_column_that_no_file_has_is_named_by_both(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "a", origin=["LGA"], id=[1])
    job = table(tmp_path, "origin VARCHAR, destination VARCHAR")
    for told in (plain_answer(job).error, spark_answer(job, spark).error):
        assert "has no column 'destination'; it has origin, id" in told


def test_the_job_has_the_rule_of_the_connector(spark: SparkSession) -> None:
    from pyspark.sql import types as T

    from ouzel.compiler.functions.spark_types import to_spark_type

    decimals = [pl.Decimal(*size) for size in ((5, 2), (5, 3), (10, 0), (12, 2), (20, 0), (38, 10))]
    numbers = [pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64(), pl.Float32(), pl.Float64(), *decimals]
    times = [pl.Date(), pl.Datetime("us"), pl.Datetime("us", "UTC")]
    flat = [*numbers, *times, pl.String(), pl.Binary(), pl.Boolean()]
    some = [pl.Int16(), pl.Int32(), pl.String()]
    nested = [
        *(pl.List(kind) for kind in some),
        *(pl.Struct({"a": kind}) for kind in some),
        pl.Struct({"a": pl.Int16(), "b": pl.Int16()}),
        *(pl.List(pl.Struct({"key": pl.String(), "value": kind})) for kind in some),
    ]
    held = {kind: T.StructType.fromDDL(f"v {to_spark_type(from_polars(kind))}")["v"].dataType for kind in flat + nested}
    for declared in held:
        assert to_polars(from_polars(declared)) == declared
        for one in held:
            assert fits_column(one, declared) == read(held[one], held[declared], from_polars(declared)), (
                f"{one} for {declared}"
            )


def read(held: Any, declared: Any, kind: DataType) -> bool:
    """Whether a job that declares one column of this type reads files that hold it as another."""
    from pyspark.sql import types as T

    frame = SimpleNamespace(schema=T.StructType([T.StructField("v", held)]), to=lambda schema: schema)
    reader = SimpleNamespace(
        schema=lambda schema: SimpleNamespace(parquet=lambda path: schema), parquet=lambda path, **_: frame
    )
    names: dict[str, Any] = {"T": T, "DataFrame": object, "SparkSession": object}
    exec(parquet_reader([kind]), names)
    try:
        schema = names["read_parquet"](SimpleNamespace(read=reader), "t.parquet", f"v {declared.simpleString()}")
        return bool(schema == T.StructType([T.StructField("v", declared)]))
    except ValueError:
        return False

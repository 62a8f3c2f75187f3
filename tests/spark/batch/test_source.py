"""The data source's reader, called as Spark's workers call it; no JVM is needed for that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import LongType, StringType, StructField, StructType

from ouzel.errors import BadRecord
from ouzel.spark.io.source import TableReader, TableRequest

SCHEMA = StructType([StructField("a", LongType()), StructField("b", StringType())])


def reader(folder: Path, options: dict[str, str], schema: StructType = SCHEMA, **more: Any) -> TableReader:
    given: dict[str, Any] = {"metadata": {}, "required": [], "offsets": None, "tasks": 2} | more
    return TableReader(schema, TableRequest("t", options, folder=str(folder), **given))


def rows(made: TableReader) -> list[tuple[Any, ...]]:
    batches = [batch for span in made.partitions() for batch in made.read(span)]
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def csv(folder: Path, text: str) -> dict[str, str]:
    (folder / "t.csv").write_text(text)
    return {"connector": "file", "path": "t.csv", "format": "csv"}


def test_everything_is_read_without_offsets(tmp_path: Path) -> None:
    assert rows(reader(tmp_path, csv(tmp_path, "a,b\n1,x\n2,y\n"))) == [(1, "x"), (2, "y")]


def test_exactly_the_offsets_are_read(tmp_path: Path) -> None:
    options, path = csv(tmp_path, "a,b\n1,x\n2,y\n3,z\n"), str(tmp_path / "t.csv")
    assert rows(reader(tmp_path, options, offsets={path: [1, 3]})) == [(1, "x"), (2, "y")]
    assert rows(reader(tmp_path, options, offsets={path: [3, 4]})) == [(3, "z")]
    assert rows(reader(tmp_path, options, offsets={path: [2, 2]})) == []


def test_where_nothing_was_read_spark_asks_for_a_span_that_is_none(tmp_path: Path) -> None:
    """As of a run that was stopped before its first row: the batch job ended with an assertion of ours."""
    made = reader(tmp_path, csv(tmp_path, "a,b\n1,x\n"), offsets={})
    assert made.partitions() == []
    assert list(made.read(InputPartition(None))) == []


def test_records_of_several_lines_do_not_carry_it_too_far(tmp_path: Path) -> None:
    records = "".join(f'{number},"x\n\n\ny"\n' for number in range(20))
    options, path = csv(tmp_path, f"a,b\n{records}"), str(tmp_path / "t.csv")
    assert [a for a, _ in rows(reader(tmp_path, options, offsets={path: [1, 1 + 4 * 7]}))] == list(range(7))


def test_parquet_is_cut_into_spans_and_metadata_comes_along(tmp_path: Path) -> None:
    pl.DataFrame({"a": range(10), "b": ["x"] * 10}).write_parquet(tmp_path / "t.parquet", row_group_size=5)
    schema = StructType([*SCHEMA, StructField("n", LongType())])
    options = {"connector": "file", "path": "t.parquet", "format": "parquet"}
    made = reader(tmp_path, options, schema, metadata={"n": "row"})
    assert len(made.partitions()) == 2
    assert [n for _, _, n in rows(made)] == list(range(1, 11))


def test_generators_give_the_same_rows_however_they_are_cut(tmp_path: Path) -> None:
    options = {"connector": "datagen", "rows": "1000", "rate": "1"}  # a rate is for streams
    one, three = reader(tmp_path, options, tasks=1), reader(tmp_path, options, tasks=3)
    assert (len(one.partitions()), len(three.partitions())) == (1, 3)
    assert sorted(rows(one)) == sorted(rows(three))
    assert len(rows(one)) == 1000


def test_bad_records_fail_the_job_or_are_left_out(tmp_path: Path) -> None:
    options = csv(tmp_path, "a,b\n1,x\noops,y\n3,z\n")
    with pytest.raises(BadRecord, match=r"bad record at .*t\.csv:3"):
        rows(reader(tmp_path, options))
    for policy in ("skip", "dead-letter"):
        assert rows(reader(tmp_path, options | {"bad.record": policy})) == [(1, "x"), (3, "z")]

"""What docs/functions.md says of calls that engines answer in different ways is so, here and in Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel.compiler.functions.elsewhere import DIFFERENCES, EngineDifference
from ouzel.session import load_text
from tests.fuzz.hunt import Outcome, plain_answer, spark_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def said(outcome: Outcome) -> str:
    """The answer in the words of the table."""
    if outcome.rows is None:
        return "fails"
    value = outcome.rows.item()
    value = value.to_list() if hasattr(value, "to_list") else value
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return (
        "NULL"
        if value is None
        else repr(value)
        if value == ""
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


@pytest.mark.parametrize("one", DIFFERENCES, ids=lambda one: one.call)
def test_the_table_of_differences_is_so(spark: SparkSession, tmp_path: Path, one: EngineDifference) -> None:
    (tmp_path / "t.json").write_text('{"i": 1}\n')
    given = "('connector' = 'file', 'path' = 't.json', 'format' = 'json')"
    job = load_text(f"CREATE TABLE t (i INT) WITH {given};\nSELECT {one.call} AS x FROM t;", tmp_path, "elsewhere")
    here = one.here.partition(", as ")[0].partition(": ")[0]
    assert said(plain_answer(job)) == said(spark_answer(job, spark)) == here
    try:
        (row,) = spark.sql(f"SELECT CAST({one.spark_call} AS STRING) AS x").collect()
        native = "NULL" if row.x is None else row.x
    except Exception:
        native = "fails"
    told = one.spark.partition(";")[0]
    words = {"": "''", "3.0": "3", "[, , , ]": "a regular expression: four empty texts"}
    assert words.get(native, native) == told

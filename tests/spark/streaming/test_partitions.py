"""Folders that are named by values of columns, as Structured Streaming reads them: what WHERE excludes is not opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.runtime.run import RunState
from ouzel.session import Job
from ouzel.spark.streaming.run import start_structured
from tests.spark.streaming.conftest import answer, ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLE = """CREATE TABLE t (n BIGINT, day DATE) PARTITIONED BY (day) WITH ('connector' = 'file', 'path' = 't', 'format' = '{}');
SELECT day, SUM(n) AS n FROM t WHERE day {} DATE '2026-01-02' GROUP BY day EMIT CHANGES;"""


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_stream_opens_no_file_of_a_folder_that_is_not_asked_for(
    spark: SparkSession, job: Callable[..., Job], tmp_path: Path, form: str
) -> None:
    for number in range(1, 4):
        folder = tmp_path / "t" / f"day=2026-01-0{number}"
        folder.mkdir(parents=True)
        frame = pl.DataFrame({"n": [number, 10 * number]})
        {"parquet": frame.write_parquet, "csv": frame.write_csv}[form](folder / f"a.{form}")
    (tmp_path / f"t/day=2026-01-03/a.{form}").write_bytes(b'"\xff of no format')
    rows, _ = answer(job(TABLE.format(form, "<=")), spark)
    assert sorted(str(row[0]) + f" {row[1]}" for row in rows.rows()) == ["2026-01-01 11", "2026-01-02 22"]
    assert ended(start_structured(job(TABLE.format(form, ">=")), spark=spark)).state is RunState.FAILED

"""Records that a batch leaves out: counted once, told, and kept as dead letters where the table says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel.errors import OuzelError
from ouzel.spark import read_table
from ouzel.spark.batch.run import BatchRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BAD = "a,b\n1,x\noops,y\n3,z\n"


def query(policy: str) -> str:
    return f"""CREATE TABLE t (a BIGINT, b VARCHAR) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv', {policy});
    SELECT a FROM t WHERE a > 1 UNION ALL SELECT a + 1 FROM t;"""


@pytest.mark.spark
def test_a_table_that_is_read_twice_counts_nothing_twice(
    made: Callable[..., BatchRun], spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(BAD)
    said: list[str] = []
    rows = made(query("'bad.record' = 'skip'")).run(spark, said.append)
    assert rows is not None
    assert sorted(rows["a"]) == [2, 3, 4], "and what one branch filters, the other reads"
    letters = "'bad.record' = 'dead-letter', 'dead-letter.path' = 'letters/bad.jsonl'"
    for _ in range(2):  # as on the topology, what another run refuses is added
        made(query(letters)).run(spark, said.append)
    path = tmp_path / "letters/bad.jsonl"
    assert said == ["t: 1 bad record left out", *[f"t: 1 bad record left out; they are in {path}"] * 2]
    (one, again) = map(json.loads, path.read_text().splitlines())
    assert one == again
    assert (one["where"], one["raw"]) == (f"{tmp_path / 't.csv'}:3", "oops,y")
    assert "'oops' does not fit column 'a'" in one["reason"]


@pytest.mark.spark
def test_nothing_is_left_out_in_silence(spark: SparkSession, tmp_path: Path) -> None:
    options = {"connector": "file", "path": "t.csv", "format": "csv", "bad.record": "skip"}
    with pytest.raises(
        OuzelError, match="table 't' leaves bad records out, and nothing notes them; write bad_records ="
    ):
        read_table(spark, "t", "a bigint", options, folder=str(tmp_path))


def test_a_job_says_what_it_leaves_out(made: Callable[..., BatchRun]) -> None:
    text = made(query("'bad.record' = 'skip'")).text()
    assert "from ouzel.spark import BadRecords, read_table  # needs the wheel of Ouzel" in text
    assert text.count("bad_records=bad_records,") == 1
    assert "        answer.show(20, truncate=False)\n        bad_records.settle()\n    finally:" in text
    assert "settle" not in made(query("'bad.record' = 'fail'")).text()

"""The text of a job: which frames it has, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel.spark.batch.run import BatchRun, collect_rows
from ouzel.spark.lowering import run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """CREATE TABLE t (a BIGINT, b VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');
"""
SHARED = (
    TABLE
    + """CREATE VIEW v AS SELECT a, b FROM t WHERE a > 0;
SELECT b, SUM(a) AS n FROM v GROUP BY b UNION ALL SELECT 'all', SUM(a) FROM v;"""
)
DISTINCT = (
    TABLE
    + """SELECT UPPER(b) AS name, COUNT(DISTINCT a) FILTER (WHERE a > 1) AS n, COUNT(*) + 1 AS m
FROM t GROUP BY UPPER(b) HAVING COUNT(*) > 0 EMIT CHANGES;"""
)
TWICE = (
    TABLE
    + """CREATE VIEW w AS SELECT b, window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY b, window_start, window_end;
SELECT b, MAX(n) AS most FROM w GROUP BY b EMIT CHANGES;"""
)


def frames(text: str) -> list[str]:
    """The variables of the function that makes the answer, in order."""
    return re.findall(r"^    (\w+) = ", text.split("def query(")[1].split("\ndef ")[0], re.M)


def test_what_several_readers_share_is_one_frame(made: Callable[..., BatchRun]) -> None:
    assert frames(made(SHARED).text()) == ["t", "v", "t_by_b", "t_in_all"]


def test_an_aggregate_of_an_aggregate_has_a_frame_between(made: Callable[..., BatchRun]) -> None:
    text = made(TWICE).text()
    assert frames(text) == ["t", "w"]
    assert '"window_time"' not in text, "what nobody reads is not made"


def test_no_name_of_the_plans_own_making_is_left(made: Callable[..., BatchRun]) -> None:
    code = made(DISTINCT).text().split("def query(")[1]
    assert "$" not in code
    assert 'F.expr("count(DISTINCT `a`) FILTER (WHERE `a_over_1`)").alias("n")' in code


def test_a_question_with_quotes_stands_on_top(made: Callable[..., BatchRun]) -> None:
    text = made(TABLE + 'SELECT b || \'""" \\\' AS c FROM t;').text()
    assert "CREATE TABLE t" in text.split("\nimport argparse")[0]
    names: dict[str, object] = {}
    exec(compile(text.split("\nimport argparse")[0], "job.py", "exec"), names)
    assert 'SELECT b || \'""" \\\' AS c FROM t;' in str(names["__doc__"])


@pytest.mark.parametrize(
    ("path", "reader", "default"),
    [
        ("a.json,b/*.json", "read_table(", '"a.json,b/*.json"'),
        ("a/**/b.json", "read_table(", '"a/**/b.json"'),
        ("{a,b}.json", "read_table(", '"{a,b}.json"'),
        ("{a}/*.json", "read_json(spark, at(args.folder, args.t)", r'"\\{a\\}/*.json"'),
    ],
)
def test_a_path_means_in_a_job_what_it_means_in_a_topology(
    path: str, reader: str, default: str, made: Callable[..., BatchRun]
) -> None:
    text = made(TABLE.replace("t.json", path) + "SELECT a FROM t;").text()
    assert reader in text
    assert f"default={default}" in text


@pytest.mark.spark
@pytest.mark.parametrize(
    ("query", "expected"),
    [(SHARED, [("all", 6), ("x", 3), ("y", 3)]), (DISTINCT, [("X", 1, 3), ("Y", 1, 2)]), (TWICE, [("x", 1), ("y", 1)])],
    ids=["shared", "distinct", "twice"],
)
def test_they_answer_right(
    query: str, expected: list[object], made: Callable[..., BatchRun], spark: SparkSession, tmp_path: Path
) -> None:
    times = ("2024-01-01 00:00:00", "2024-01-01 00:01:00", "2024-01-01 00:02:00")
    rows = [f'{{"a": {a}, "b": "{b}", "ts": "{ts}"}}\n' for a, b, ts in zip((1, 2, 3), "xxy", times, strict=True)]
    (tmp_path / "t.json").write_text("".join(rows))
    batch = made(query)
    assert batch.result is not None
    assert sorted(collect_rows(run_job(batch.text(), spark), batch.result).rows()) == expected

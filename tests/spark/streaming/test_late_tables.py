"""LATE INTO on Spark's streams: a row is in the answer or in the table of late rows, once, whatever dropped it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.runtime.run import RunState
from ouzel.session import Job
from ouzel.spark.streaming.run import start_structured
from tests.law.engines import folded
from tests.spark.streaming.conftest import ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TABLES = """
CREATE TABLE clicks (k INT, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'clicks.jsonl', 'format' = 'json');
CREATE TABLE dropped (n BIGINT, ts TIMESTAMP(3), k INT) WITH ('connector' = 'file', 'path' = 'dropped', 'format' = 'json');
"""
WINDOWS = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECONDS))"
SUMS = f"SELECT k, COUNT(*) AS c, SUM(n) AS s FROM {WINDOWS} GROUP BY window_start, window_end, k EMIT "
ASKED = {
    "window": f"{SUMS} AFTER WATERMARK LATE INTO dropped",
    "changes": f"{SUMS} CHANGES LATE INTO dropped",
    "lateness": f"{SUMS} AFTER WATERMARK WITH LATENESS INTERVAL '3' SECOND LATE INTO dropped",
    "over": "SELECT k, 1 AS c, n AS s, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS r FROM clicks EMIT AFTER WATERMARK LATE INTO dropped",
    "session": """SELECT k, COUNT(*) AS c, SUM(n) AS s FROM TABLE(SESSION(TABLE clicks PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK LATE INTO dropped""",
    "join": """SELECT a.k, 1 AS c, a.n AS s FROM clicks AS a JOIN clicks AS b
ON a.n = b.n AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts EMIT CHANGES LATE INTO dropped""",
}  # fmt: skip
SECONDS = [1, 12, 13, 2, 12, 30, 31, 3, 33, 14, 29, 45, 44, 28, 5]
TWICE = {"join": 2}
"""How often a row that is late is told: a join of a table with itself drops it from both of its inputs."""


@pytest.fixture
def clicks(tmp_path: Path) -> list[int]:
    """The rows of the table: a number of its own for each."""
    rows = [{"k": n % 3, "n": n, "ts": f"2026-01-01 00:00:{each:02}"} for n, each in enumerate(SECONDS)]
    (tmp_path / "clicks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return [*range(len(rows))]


def dropped(folder: Path) -> list[dict[str, object]]:
    """What is in the table of late rows."""
    return [json.loads(line) for part in (folder / "dropped").glob("part-*") for line in part.read_text().splitlines()]


@pytest.mark.parametrize("name", ASKED)
def test_a_row_is_in_the_answer_or_among_the_late_ones(
    one_partition: SparkSession, job: Callable[..., Job], tmp_path: Path, clicks: list[int], name: str
) -> None:
    made = job(TABLES + ASKED[name], ("trigger.rows", "5"))
    handle = start_structured(made, spark=one_partition)
    status = ended(handle)
    assert status.state is RunState.FINISHED, status.reason
    answer, late = folded(made, handle.results()), dropped(tmp_path)
    times = TWICE.get(name, 1)
    told = Counter(row["n"] for row in late)
    assert set(told.values()) == {times}, "no row is late, or one is told too often"
    assert status.rows_late == len(late)
    assert all(row["k"] == row["n"] % 3 and row["ts"].endswith(f"{SECONDS[row['n']]:02}") for row in late)
    kept = [n for n in clicks if n not in told]
    assert answer.select(pl.col("c").sum(), pl.col("s").sum()).row(0) == (len(kept), sum(kept))

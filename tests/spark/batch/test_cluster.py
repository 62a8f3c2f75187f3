"""Jobs on a standalone cluster whose workers have Spark and no Ouzel: how they are started there.

What each kind of job answers there and in Spark Connect, and which Spark Connect refuses: test_jobs.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from ouzel.session import load
from ouzel.spark.batch.run import batch_run
from tests.servers.spark import StandaloneCluster
from tests.spark.batch.plain import INTERPRETED, LIMIT_S, PlainPython

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(LIMIT_S)]

NUMBERS = """CREATE TABLE t (a INT, k VARCHAR) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv', 'bad.record' = 'skip');
SELECT k, SUM(a) AS total FROM t GROUP BY k;
"""
SETTINGS = ("--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1", *INTERPRETED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("a,k\n1,x\noops,x\n2,y\n3,x\n")
    (tmp_path / "numbers.sql").write_text(NUMBERS)
    return tmp_path


def ouzel(plain: PlainPython, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ouzel", *map(str, arguments)]
    environment = {**os.environ, "PYSPARK_PYTHON": str(plain.workers.python)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=LIMIT_S)


def rows(text: str) -> list[dict[str, object]]:
    return sorted((json.loads(line) for line in text.splitlines()), key=repr)


def test_workers_are_given_ouzel(plain: PlainPython, cluster: StandaloneCluster, folder: Path) -> None:
    done = ouzel(plain, "batch", folder / "numbers.sql", "--master", cluster.url, "--format", "jsonl", *SETTINGS)
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout) == [{"k": "x", "total": 4}, {"k": "y", "total": 2}]
    assert "t: 1 bad record left out" in done.stderr


def test_a_submitted_job_on_a_cluster(plain: PlainPython, cluster: StandaloneCluster, folder: Path) -> None:
    job = folder / "numbers_job.py"
    job.write_text(batch_run(load(folder / "numbers.sql")).text())
    cold = ("--conf", f"spark.pyspark.python={plain.python}")  # workers that start by themselves, as users have them
    printed = plain.submit(job, "--py-files", str(plain.wheel), *cold, *INTERPRETED, master=cluster.url)
    assert all(row in printed.replace(" ", "") for row in ("|x|4|", "|y|2|")), printed


DAYS = """CREATE TABLE t (ts TIMESTAMP(3), k VARCHAR, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'days.csv', 'format' = 'csv');
CREATE TABLE out (day TIMESTAMP(3), k VARCHAR, n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet');
INSERT INTO out SELECT window_start, k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, k EMIT AFTER WATERMARK;
"""


def test_structured_streaming_on_a_cluster_comes_to_its_end(
    plain: PlainPython, cluster: StandaloneCluster, folder: Path
) -> None:
    days = [f"2024-01-{day:02} 10:00:00,{key}\n" for day in range(1, 5) for key in "aab"]
    (folder / "days.csv").write_text("ts,k\n" + "".join(days))
    (folder / "days.sql").write_text(DAYS)
    where = ("--engine", "spark", "--master", cluster.url, "--set", "checkpoint.path=state")
    done = ouzel(plain, "run", folder / "days.sql", *where, *SETTINGS)
    assert done.returncode == 0, done.stderr
    found = pl.read_parquet(folder / "out" / "*.parquet").sort("day", "k")
    assert found["n"].to_list() == [2, 1] * 4

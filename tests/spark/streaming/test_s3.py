"""Checkpoints of Structured Streaming in S3, by Hadoop's jars and a real server: a driver that is killed, and one without the jars."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.s3 import S3Server, spark_jars
from tests.servers.waiting import is_reached
from tests.servers.workers import WarmWorkers
from tests.spark.batch.plain import INTERPRETED
from tests.spark.streaming.test_kill import ROWS, TOTALS, parts, rows_in, warm_workers

__all__ = ["warm_workers"]

WAIT_S = 400
pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(3 * WAIT_S)]

ARGUMENTS = (
    "--engine",
    "spark",
    "--master",
    "local[2]",
    "--set",
    "trigger.rows=400",
    "--conf",
    "spark.ui.enabled=false",
)
PARTITIONS = "spark.sql.shuffle.partitions"


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    server = S3Server(tmp_path / "s3")
    yield server
    server.kill()


def begun(folder: Path, s3: S3Server, workers: WarmWorkers, *more: str) -> subprocess.Popen[bytes]:
    """The run, in a session of its own."""
    where = ("--set", "checkpoint.path=s3://kept/jobs/totals", "--set", f"checkpoint.endpoint={s3.endpoint}")
    command = [
        sys.executable,
        "-m",
        "ouzel",
        "run",
        str(folder / "numbers.sql"),
        *ARGUMENTS,
        *where,
        *INTERPRETED,
        *more,
    ]
    keys = {name: value for name, value in s3.environment.items() if name != "AWS_ENDPOINT_URL"}
    return subprocess.Popen(
        command,
        start_new_session=True,
        stderr=subprocess.PIPE,
        env={**os.environ, **keys, "PYSPARK_PYTHON": str(workers.python)},
    )


def told(run: subprocess.Popen[bytes]) -> str:
    """What it has said when it has ended."""
    return run.communicate(timeout=WAIT_S)[1].decode()


def totals_are_right(folder: Path) -> bool:
    found = Counter((row["n"], row["total"]) for row in rows_in(folder))
    return found == Counter((n, sum(range(n % 7, n + 1, 7))) for n in range(ROWS))


def test_state_in_s3_outlives_a_driver_that_is_killed_and_is_that_of_one_query(
    tmp_path: Path, s3: S3Server, warm_workers: WarmWorkers
) -> None:
    # As spark.jars the 650 MB would be copied in each session.
    jars = ("--conf", f"spark.driver.extraClassPath={spark_jars()}/*")
    (tmp_path / "numbers.sql").write_text(TOTALS)
    first = begun(tmp_path, s3, warm_workers, *jars, "--set", "trigger.ms=10000", "--conf", f"{PARTITIONS}=3")
    is_reached(lambda: len(parts(tmp_path)) >= 4 or first.poll() is not None, WAIT_S)
    os.killpg(first.pid, signal.SIGKILL)
    said = told(first)
    before = parts(tmp_path)
    assert len(before) >= 4, said
    again = begun(tmp_path, s3, warm_workers, *jars, "--conf", f"{PARTITIONS}=2")
    said = told(again)
    assert again.returncode == 0, said
    assert "table 'kept': the state in its checkpoint has 3 shuffle partitions, and Spark keeps that number" in said
    assert len(parts(tmp_path)) > len(before), "it was killed after its last micro-batch"
    assert totals_are_right(tmp_path)
    assert any(path.suffix == ".zip" for path in s3.objects.rglob("state/**/*")), "no state is in S3"
    (tmp_path / "numbers.sql").write_text(TOTALS.replace("MOD(n, 7)", "MOD(n, 8)"))
    assert "s3a://kept/jobs/totals is the checkpoint of another query" in told(begun(tmp_path, s3, warm_workers, *jars))


APART = ("another run began there, so this one ends", "CONCURRENT_STREAM_LOG_UPDATE")
"""What a run says that has met another on its checkpoint: ours as a rule, Spark's where both have come to the same micro-batch."""


@pytest.mark.parametrize(("first_ms", "is_amid"), [(5000, False), (30000, True)], ids=["at_once", "amid"])
def test_two_drivers_on_one_checkpoint_are_kept_apart_and_the_answer_is_exact(
    first_ms: int, is_amid: bool, tmp_path: Path, s3: S3Server, warm_workers: WarmWorkers
) -> None:
    options = ("--conf", f"spark.driver.extraClassPath={spark_jars()}/*", "--conf", f"{PARTITIONS}=2")
    (tmp_path / "numbers.sql").write_text(TOTALS)
    first = begun(tmp_path, s3, warm_workers, *options, "--set", f"trigger.ms={first_ms}")
    is_reached(lambda: not is_amid or parts(tmp_path) or first.poll() is not None, WAIT_S)
    runs = first, begun(tmp_path, s3, warm_workers, *options, "--set", "trigger.ms=5000")
    ends = [(told(run), run.returncode) for run in runs]
    assert any(code for _, code in ends), f"both came to their end: {ends}"
    assert all(code == 0 or any(words in said for words in APART) for said, code in ends), ends
    if all(code for _, code in ends):
        last = begun(tmp_path, s3, warm_workers, *options)
        said = told(last)
        assert last.returncode == 0, said
    assert totals_are_right(tmp_path), ends


def test_without_the_jars_it_is_said_which_they_are(tmp_path: Path, s3: S3Server, warm_workers: WarmWorkers) -> None:
    (tmp_path / "numbers.sql").write_text(TOTALS)
    run = begun(tmp_path, s3, warm_workers)
    said = told(run)
    assert run.returncode == 1
    assert "add --conf spark.jars.packages=org.apache.hadoop:hadoop-aws:" in said

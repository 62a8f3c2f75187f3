"""Checkpoints of Structured Streaming in S3, by Hadoop's jars and a real server: a driver that is killed, and one without the jars."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.servers.s3 import S3Server, spark_jars
from tests.servers.waiting import is_reached
from tests.servers.workers import WarmWorkers
from tests.spark.batch.plain import INTERPRETED
from tests.spark.streaming.test_kill import ROWS, TOTALS, end, parts, rows_in, warm_workers

__all__ = ["warm_workers"]

WAIT_S = 900
pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(3 * WAIT_S)]

ENGINE = ("--engine", "spark", "--master", "local[2]", "--conf", "spark.ui.enabled=false")
PARTITIONS = "spark.sql.shuffle.partitions"
RIGHT = Counter((n, sum(range(n % 7, n + 1, 7))) for n in range(ROWS))


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    server = S3Server(tmp_path / "s3")
    yield server
    server.kill()


@dataclass
class Runs:
    """Starts a query of ours with a checkpoint in S3."""

    folder: Path
    s3: S3Server
    python: Path
    begun: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def begin(self, *more: str) -> subprocess.Popen[bytes]:
        """A driver, in a session of its own, without the jars."""
        command = [sys.executable, "-m", "ouzel", "run", str(self.folder / "numbers.sql"), *ENGINE, *INTERPRETED]
        where = ("checkpoint.path=s3://kept/jobs/totals", f"checkpoint.endpoint={self.s3.endpoint}", "trigger.rows=400")
        keys = {name: value for name, value in self.s3.environment.items() if name != "AWS_ENDPOINT_URL"}
        run = subprocess.Popen(
            [*command, *(part for each in where for part in ("--set", each)), *more],
            start_new_session=True,
            stderr=subprocess.PIPE,
            env={**os.environ, **keys, "PYSPARK_PYTHON": str(self.python)},
        )
        self.begun.append(run)
        return run

    def begin_with_jars(self, partitions: int, trigger_ms: int = 0) -> subprocess.Popen[bytes]:
        """As a person does who has the jars. As spark.jars the 650 MB would be copied in each session."""
        jars = ("--conf", f"spark.driver.extraClassPath={spark_jars()}/*", "--conf", f"{PARTITIONS}={partitions}")
        return self.begin(*jars, "--set", f"trigger.ms={trigger_ms}")

    def is_right(self) -> bool:
        """Whether each row is there once."""
        return Counter((row["n"], row["total"]) for row in rows_in(self.folder)) == RIGHT


@pytest.fixture
def runs(tmp_path: Path, s3: S3Server, warm_workers: WarmWorkers) -> Iterator[Runs]:
    (tmp_path / "numbers.sql").write_text(TOTALS)
    made = Runs(tmp_path, s3, warm_workers.python)
    yield made
    for run in made.begun:
        end(run)


def told(run: subprocess.Popen[bytes]) -> str:
    """What it has said when it has ended."""
    return run.communicate(timeout=WAIT_S)[1].decode()


def test_state_in_s3_outlives_a_driver_that_is_killed_and_is_that_of_one_query(runs: Runs) -> None:
    first = runs.begin_with_jars(3, trigger_ms=10_000)
    is_reached(lambda: len(parts(runs.folder)) >= 4 or first.poll() is not None, WAIT_S)
    assert first.poll() is None, told(first)
    end(first)
    before = parts(runs.folder)
    again = runs.begin_with_jars(2)
    said = told(again)
    assert again.returncode == 0, said
    assert "table 'kept': the state in its checkpoint has 3 shuffle partitions, and Spark keeps that number" in said
    assert len(parts(runs.folder)) > len(before), "it was killed after its last micro-batch"
    assert runs.is_right()
    assert any(path.suffix == ".zip" for path in runs.s3.objects.rglob("state/**/*")), "no state is in S3"
    (runs.folder / "numbers.sql").write_text(TOTALS.replace("MOD(n, 7)", "MOD(n, 8)"))
    assert "s3a://kept/jobs/totals is the checkpoint of another query" in told(runs.begin_with_jars(3))


def test_without_the_jars_it_is_said_which_they_are(runs: Runs) -> None:
    run = runs.begin()
    said = told(run)
    assert run.returncode == 1
    assert "add --conf spark.jars.packages=org.apache.hadoop:hadoop-aws:" in said

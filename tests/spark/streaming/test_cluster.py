"""Structured Streaming on a standalone cluster of a master and two workers: executors and drivers that are killed under load."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ouzel.session import load_text
from ouzel.spark.lowering.streaming import streaming_queries
from tests.servers.spark import StandaloneCluster
from tests.servers.waiting import is_reached, wait_until
from tests.spark.batch.conftest import plain
from tests.spark.batch.plain import INTERPRETED, PlainPython
from tests.spark.streaming.test_kill import ROWS, TOTALS, end, rows_in

__all__ = ["plain"]

WAIT_S = 900
pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(3 * WAIT_S)]

OWN = f"""
CREATE TABLE numbers (n BIGINT, ts AS TIMESTAMP '2026-01-01 00:00:00' + n * INTERVAL '1' SECOND, WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0');
CREATE TABLE kept (n BIGINT, total BIGINT) WITH ('connector' = 'file', 'path' = 'kept', 'format' = 'json');
INSERT INTO kept SELECT MIN(n), SUM(n) FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '100' SECONDS))
GROUP BY window_start, window_end, MOD(n, 7) EMIT AFTER WATERMARK;
"""
ANSWERS = {
    OWN: Counter(
        (first, sum(range(first, start + 100, 7)))
        for start in range(0, ROWS, 100)
        for first in range(start, start + 7)
    ),
    TOTALS: Counter((n, sum(range(n % 7, n + 1, 7))) for n in range(ROWS)),
}  # fmt: skip
"""Of each query what is right: of Spark's own nodes, and of our operator in Spark's state."""

PARTITIONS = "spark.sql.shuffle.partitions"
SETTINGS = ("spark.ui.enabled=false", "spark.driver.host=127.0.0.1", "spark.executor.memory=800m")


@pytest.fixture(scope="module")
def cluster(plain: PlainPython, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """Two workers with a core each, whose Python has no Ouzel."""
    started = StandaloneCluster(tmp_path_factory.mktemp("cluster"), plain.environment(), workers=2)
    yield started
    started.stop()


@dataclass
class Runs:
    """Starts a query on the cluster, with a checkpoint in a folder that all share."""

    cluster: StandaloneCluster
    folder: Path
    python: Path
    begun: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def begin(self, partitions: int) -> subprocess.Popen[bytes]:
        """A driver, in a session of its own."""
        command = [
            sys.executable, "-m", "ouzel", "run", str(self.folder / "numbers.sql"), "--engine", "spark", "--master", self.cluster.url,
        ]  # fmt: skip
        settings = [part for each in (*SETTINGS, f"{PARTITIONS}={partitions}") for part in ("--conf", each)]
        limits = ("--set", "trigger.rows=400", "--set", "checkpoint.path=state")
        environment = {**os.environ, "PYSPARK_PYTHON": str(self.python)}
        run = subprocess.Popen(
            [*command, *limits, *settings, *INTERPRETED], start_new_session=True, stderr=subprocess.PIPE, env=environment
        )  # fmt: skip
        self.begun.append(run)
        return run

    @property
    def committed(self) -> int:
        """How many micro-batches are committed."""
        return sum(name.name.isdigit() for name in (self.folder / "state/kept/commits").glob("*"))

    def await_committed(self, count: int, run: subprocess.Popen[bytes]) -> None:
        """Wait for so many micro-batches, before the last one."""
        is_reached(lambda: self.committed >= count or run.poll() is not None, WAIT_S)
        assert run.poll() is None, run.communicate()[1].decode()

    def check(self, run: subprocess.Popen[bytes]) -> str:
        """See that the run comes to its end and that each row is there once; what it has said."""
        said = run.communicate(timeout=WAIT_S)[1].decode()
        assert run.returncode == 0, said
        found = Counter((row["n"], row["total"]) for row in rows_in(self.folder))
        assert found == ANSWERS[(self.folder / "numbers.sql").read_text()]
        return said


@pytest.fixture(params=ANSWERS, ids=["own", "ours"])
def runs(
    request: pytest.FixtureRequest, cluster: StandaloneCluster, plain: PlainPython, tmp_path: Path
) -> Iterator[Runs]:
    """Of a query of Spark's own nodes, and of one of our operators."""
    (tmp_path / "numbers.sql").write_text(request.param)
    (query,) = streaming_queries(load_text(request.param, tmp_path, "numbers").program, tmp_path, "numbers")
    assert bool(query.ours) == (request.param is TOTALS)
    made = Runs(cluster, tmp_path, plain.workers.python)
    yield made
    for run in made.begun:
        end(run)


def test_executors_that_are_killed_under_load_cost_no_row(runs: Runs) -> None:
    gone = runs.cluster.executors()  # of runs before, if they have not ended yet
    run = runs.begin(partitions=3)
    for count in (2, 5):
        runs.await_committed(count, run)
        wait_until(lambda: runs.cluster.executors() - gone, WAIT_S)
        one = max(runs.cluster.executors() - gone)
        os.kill(one, signal.SIGKILL)
        gone.add(one)
    runs.check(run)
    assert runs.committed > 6, "they were killed when all was done"


def test_a_driver_that_is_killed_goes_on_with_the_partitions_of_its_checkpoint(runs: Runs) -> None:
    first = runs.begin(partitions=3)
    runs.await_committed(3, first)
    end(first)
    before = runs.committed
    said = runs.check(runs.begin(partitions=5))
    assert runs.committed > before
    assert sorted(part.name for part in (runs.folder / "state/kept/state/0").glob("[0-9]*")) == ["0", "1", "2"]
    assert f"has 3 shuffle partitions, and Spark keeps that number; {PARTITIONS} = 5 begins with a new" in said

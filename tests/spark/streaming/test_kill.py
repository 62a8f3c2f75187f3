"""A driver that is killed, and the topic as a source and as a sink: real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel.runtime.run import RunState
from ouzel.session import Job
from ouzel.spark.streaming.run import start_structured
from tests.servers.waiting import is_reached
from tests.servers.workers import WarmWorkers
from tests.spark.batch.conftest import kafka
from tests.spark.batch.plain import INTERPRETED
from tests.spark.streaming.conftest import ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.servers.kafka import KafkaBroker

__all__ = ["kafka"]

pytestmark = [pytest.mark.spark, pytest.mark.server]

ROWS = 4_000
NUMBERS = f"""
CREATE TABLE numbers (n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'partitions' = '2');
CREATE TABLE kept (n BIGINT) WITH ('connector' = 'file', 'path' = 'kept', 'format' = 'json');
INSERT INTO kept SELECT n FROM numbers;
"""
ARGUMENTS = ["--engine", "spark", "--master", "local[2]", "--set", "trigger.rows=400", "--set", "checkpoint.path=state"]
SLOWLY = ("--set", "trigger.ms=10000")
"""A micro-batch each ten seconds, so that there are more to come when it is seen that the first have written."""

WAIT_S = 200


TOTALS = f"""
CREATE TABLE numbers (n BIGINT, ts AS TIMESTAMP '2026-01-01 00:00:00' + n * INTERVAL '1' SECOND, WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0');
CREATE TABLE kept (n BIGINT, total BIGINT) WITH ('connector' = 'file', 'path' = 'kept', 'format' = 'json');
INSERT INTO kept SELECT n, SUM(n) OVER (PARTITION BY MOD(n, 7) ORDER BY ts) AS total FROM numbers;
"""


def begun(folder: Path, *more: str, workers: Path = Path(sys.executable)) -> subprocess.Popen[bytes]:
    """The run, in a session of its own; `workers` is the Python that Spark starts."""
    command = [sys.executable, "-m", "ouzel", "run", str(folder / "numbers.sql"), *ARGUMENTS, *more]
    return subprocess.Popen(
        [*command, "--conf", "spark.ui.enabled=false", *INTERPRETED],
        start_new_session=True,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYSPARK_PYTHON": str(workers)},
    )


@pytest.fixture
def warm_workers() -> Iterator[WarmWorkers]:
    """Spark's workers, which begin with all imported."""
    workers = WarmWorkers()
    workers.import_all()
    yield workers
    workers.close()


def end(run: subprocess.Popen[bytes]) -> None:
    """Kill a run, and the JVM that it has started; nothing of one that has ended."""
    with run, suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "kept").glob("part-*"))


def rows_in(folder: Path) -> list[dict[str, int]]:
    return [json.loads(line) for part in parts(folder) for line in part.read_text().splitlines()]


def rows_after_a_kill(query: str, tmp_path: Path, warm_workers: WarmWorkers) -> list[dict[str, int]]:
    """What is in the table of a run that was killed and started again."""
    (tmp_path / "numbers.sql").write_text(query)
    first = begun(tmp_path, *SLOWLY)
    is_reached(lambda: len(parts(tmp_path)) >= 4 or first.poll() is not None, WAIT_S)
    end(first)
    before = parts(tmp_path)
    assert len(before) >= 4, "it was killed before it had written anything"
    again = begun(tmp_path, workers=warm_workers.python)
    _, said = again.communicate(timeout=WAIT_S)
    assert again.returncode == 0, said.decode()
    assert len(parts(tmp_path)) > len(before), "it was killed after its last micro-batch"
    return rows_in(tmp_path)


def test_a_run_that_was_killed_goes_on_and_writes_no_row_twice(tmp_path: Path, warm_workers: WarmWorkers) -> None:
    rows = rows_after_a_kill(NUMBERS, tmp_path, warm_workers)
    assert Counter(row["n"] for row in rows) == Counter(range(ROWS))


def test_what_our_operators_keep_in_sparks_state_outlives_a_kill(tmp_path: Path, warm_workers: WarmWorkers) -> None:
    rows = rows_after_a_kill(TOTALS, tmp_path, warm_workers)
    found = Counter((row["n"], row["total"]) for row in rows)
    assert found == Counter((n, sum(range(n % 7, n + 1, 7))) for n in range(ROWS))


def test_a_topic_is_read_to_its_end_and_written(
    spark: SparkSession, job: Callable[..., Job], kafka: KafkaBroker, tmp_path: Path
) -> None:
    kafka.create_topic("numbers")
    kafka.create_topic("evens")
    kafka.produce("numbers", [json.dumps({"n": number}).encode() for number in range(500)])
    table = (
        f"(n BIGINT) WITH ('connector' = 'kafka', 'bootstrap.servers' = '{kafka.address}', 'format' = 'json', 'topic'"
    )
    text = (
        f"CREATE TABLE numbers {table} = 'numbers', 'end' = 'latest'); CREATE TABLE evens {table} = 'evens');\n"
        "INSERT INTO evens SELECT n FROM numbers WHERE MOD(n, 2) = 0"
    )
    status = ended(start_structured(job(text, ("trigger.rows", "200")), spark=spark))
    assert (status.state, status.rows_in, status.rows_out) == (RunState.FINISHED, 500, 250), status.reason
    assert {name: end for name, (_, end) in status.ranges["numbers"].items()} == {"numbers-0": 250, "numbers-1": 250}
    back = f"CREATE TABLE evens {table} = 'evens', 'end' = 'latest'); SELECT n FROM evens"
    handle = start_structured(job(back), spark=spark)
    assert ended(handle).state is RunState.FINISHED
    assert sorted(n for frame in handle.results() for (n,) in frame.rows()) == list(range(0, 500, 2))

"""Tables that are written effectively once have each row once, whatever dies. With real processes and real files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.runtime.checkpoints.names import STAGED
from ouzel.runtime.run import ROLLED_BACK, RunState
from ouzel.session import load_text
from tests.process.test_epochs import SETTINGS, Run
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

QUERY = """
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '10000', 'partitions' = '1',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '0');
CREATE TABLE passed (n BIGINT) WITH ('connector' = 'file', 'path' = 'passed', 'format' = 'parquet');
CREATE TABLE counted (k BIGINT, many BIGINT, total BIGINT)
  WITH ('connector' = 'file', 'path' = 'counted', 'format' = 'parquet', 'changelog' = 'true');
INSERT INTO passed SELECT n FROM ticks WHERE n % 3 <> 1;
INSERT INTO counted SELECT n % 7, COUNT(*), SUM(n) FROM ticks GROUP BY n % 7 EMIT CHANGES;
"""


class Written(Run):
    """A run that writes two tables."""

    def __init__(self, directory: Path, query: str = QUERY, interval_ms: int = 100) -> None:
        pairs = (*SETTINGS, ("checkpoint.interval.ms", str(interval_ms)), ("delivery", "effectively-once"))
        self.directory = directory
        super().__init__(load_text(query, directory, "ticks", pairs))

    def read(self, table: str) -> pl.DataFrame:
        """What a reader of the table sees now."""
        parts = sorted((self.directory / table).glob("*.parquet"))
        return pl.concat(pl.read_parquet(part) for part in parts) if parts else pl.DataFrame({"n": []})


@pytest.fixture
def often(tmp_path: Path) -> Iterator[Written]:
    """A run with an epoch as often as can be."""
    made = Written(tmp_path)
    yield made
    made.handle._scheduler.on_kill()


def exact(made: Written) -> None:
    """Stop it; what its tables hold is right."""
    wait_until(lambda: made.handle.status().rows_acked > 1_000)
    status = made.handle.stop()
    assert (status.state, status.reason, status.rows_acked) == (RunState.STOPPED, "", status.rows_in)
    is_exact(made, status.rows_in)


def is_exact(made: Written, rows: int) -> None:
    assert sorted(made.read("passed")["n"].to_list()) == [n for n in range(rows) if n % 3 != 1]
    net = made.read("counted").group_by("k", "many", "total").agg(pl.sum("op")).filter(pl.col("op") != 0).sort("k")
    assert net.rows() == [(k, len(range(k, rows, 7)), sum(range(k, rows, 7)), 1) for k in range(min(7, rows))]
    left = [path for path in made.job.directory.rglob("*.sealed") if STAGED in path.parts]
    assert left == [], "all is published"


def test_a_task_with_state_dies_and_each_row_is_written_once(often: Written) -> None:
    often.wait_for_epochs(2)
    often.kill(often.instances("aggregate")[0])
    often.wait_for_event(ROLLED_BACK)
    often.wait_for_epochs(2)
    often.kill(*often.instances("passed"), often.instances("aggregate")[1])
    often.wait_for_event(ROLLED_BACK, 2)
    often.wait_for_epochs(1)
    assert often.read("passed").height > 0, "rows are visible while the topology runs"
    exact(often)


@pytest.mark.whole
@pytest.mark.parametrize(
    "victim",
    ["0/topology-master", "1/stream-manager", "1/metrics-manager", "1/executor", "passed", "ticks", ""],
)
def test_any_process_dies_and_each_row_is_written_once(often: Written, victim: str) -> None:
    for _ in range(1 if "executor" in victim else 3):  # children that the next executor has adopted do not tell its pid
        often.wait_for_epochs(1)
        often.kill(*([victim] if "/" in victim else often.instances(victim)))
    often.wait_for_epochs(2)
    exact(often)


def test_a_query_that_ends_publishes_its_last_rows_before_it_says_so(tmp_path: Path) -> None:
    pl.DataFrame({"n": range(5_000)}).write_parquet(tmp_path / "ticks.parquet")
    source = (
        "CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'file', 'path' = 'ticks.parquet', 'format' = 'parquet');"
    )
    made = Written(tmp_path, source + QUERY.partition(";")[2].replace("EMIT CHANGES", ""), interval_ms=600_000)
    try:
        wait_until(lambda: made.handle.wait(1.0), told=made.handle.status)
        status = made.handle.stop()
        assert (status.state, status.reason) == (RunState.FINISHED, "")
        is_exact(made, 5_000)
    finally:
        made.handle._scheduler.on_kill()


def test_without_state_it_goes_on_from_what_is_acked(tmp_path: Path) -> None:
    source, passed = QUERY.split(";")[0], "; ".join([QUERY.split(";")[1], QUERY.split(";")[3]])
    made = Written(tmp_path, f"{source}; {passed};")
    try:
        for _ in range(3):
            made.wait_for_epochs(1)
            made.kill(*made.instances(""))
        made.wait_for_epochs(1)
        wait_until(lambda: made.handle.status().rows_acked > 1_000)
        status = made.handle.stop()
        assert sorted(made.read("passed")["n"].to_list()) == [n for n in range(status.rows_in) if n % 3 != 1]
    finally:
        made.handle._scheduler.on_kill()

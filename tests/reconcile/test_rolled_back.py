"""Tasks with state die in a recorded run with epochs: what is read again is dropped as late again, and told once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel import session
from ouzel.compiler.plan.aggregates import ROWS
from ouzel.reconcile import Class, Recorder, recordable
from ouzel.reconcile.recording.record import DROPPED_LINES, RESULTS
from ouzel.runtime.run import ROLLED_BACK, RunState
from ouzel.runtime.tasks.late import STANDING
from ouzel.session import load_text
from tests.law.test_kills import aggregate, kill
from tests.process.gates import GATED, Gate, through_gate
from tests.reconcile.planting import TABLE, found
from tests.reconcile.test_runs import DAILY, IN_TIME, shaken
from tests.servers.waiting import collect, wait_while_it_runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow]

FLIGHTS = 8_000
COUNT = f"SELECT window_start, origin, COUNT(*) AS n {DAILY} GROUP BY window_start, window_end, origin;"
SETTINGS = (("parallelism", "2"), ("containers", "1"), ("batch.rows", "100"), *GATED)


@pytest.mark.parametrize(
    "interval_ms", [100, 600_000, None], ids=["to an epoch", "to the beginning", "where nobody has set anything"]
)
def test_what_is_dropped_again_behind_an_epoch_is_late_once(
    interval_ms: int | None, tmp_path: Path, spark: SparkSession
) -> None:
    shaken(FLIGHTS, 3).write_parquet(tmp_path / "flights.parquet")
    table = TABLE.replace(IN_TIME, "WATERMARK FOR ts AS ts") + through_gate("flights")
    pairs = SETTINGS if interval_ms is None else (*SETTINGS, ("checkpoint.interval.ms", str(interval_ms)))
    home = tmp_path / "record"
    job = recordable(load_text(table + COUNT, tmp_path, "late", pairs), home, "heron")
    with Gate(tmp_path, FLIGHTS // 2) as gate:
        handle = Recorder(session.start(job, "heron"), job, "heron", home)
        try:
            wait_while_it_runs(handle, lambda status: status.rows_late > 10, take=True)
            kill(aggregate(job))
            wait_while_it_runs(
                handle, lambda status: any(event.kind == ROLLED_BACK for event in status.events), take=True
            )
            gate.open()
            collect(handle)
        finally:
            status = handle.stop()
    assert status.state is RunState.FINISHED, status
    told = [json.loads(line) for line in (home / DROPPED_LINES).read_text().splitlines()]
    result = found(job, home, spark)
    if interval_ms == 600_000:  # else an epoch may have been kept just before the kill
        assert sum(line.get(ROWS, 1) for line in told if STANDING not in line) > (result.record.late or 0), "told again"
    assert result.tampered == ()
    assert set(result.counts) <= {Class.LATE, Class.ONLY_STREAM}, (result.counts, result.samples, result.record.events)
    assert result.counts[Class.LATE] > 10
    answer = pl.read_parquet(home / RESULTS).group_by("window_start", "origin").len().filter(pl.col("len") > 1)
    twice = set(
        answer.select("window_start", "origin").rows()
    )  # such a result only grows, so it keeps what it had told before
    assert {row.row[:2] for row in result.samples.get(Class.ONLY_STREAM, ())} <= twice

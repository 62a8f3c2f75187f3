"""Tasks of spouts and bolts written by hand die with what they keep; all go back to an epoch, and each row comes once. Real processes."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import Program
from ouzel.entry import _with_result
from ouzel.planner.api import Batch, Bolt, Collector, Context, Spout, TopologyBuilder
from ouzel.planner.packing import pack
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import ROLLED_BACK, RunState
from ouzel.session import Job, start
from tests.process.topologies import pid_of
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

KEYS, BATCH, ROWS = 7, 50, 20_000


def runs_of(may_end: Path) -> Path:
    """A file that is as long as the spout has begun to run how often."""
    return may_end.with_name("runs")


class Numbers(Spout):
    """Emits the numbers below ROWS, the last ones when a file says that it may end; where it is is in its memory alone."""

    def __init__(self, may_end: Path) -> None:
        self.may_end = may_end

    def open(self, context: Context) -> None:
        self.next, self.has_run = 0, False

    def next_batch(self, collector: Collector) -> bool | None:
        if not self.has_run:
            with runs_of(self.may_end).open("a") as runs:
                runs.write("1")
            self.has_run = True
        if self.next + BATCH == ROWS and not self.may_end.exists():
            return None
        collector.emit(pl.DataFrame({"n": range(self.next, self.next + BATCH)}), message_id=self.next)
        self.next += BATCH
        return self.next < ROWS

    def snapshot(self) -> int:
        return self.next

    def restore(self, state: int) -> None:
        self.next = state


class Count(Bolt):
    """Counts by key, and emits each count that a key comes to."""

    def open(self, context: Context) -> None:
        self.counts: Counter[int] = Counter()

    def execute(self, batch: Batch, collector: Collector) -> None:
        rows = []
        for number in batch.frame["n"]:
            self.counts[number % KEYS] += 1
            rows.append((number, self.counts[number % KEYS]))
        collector.emit(pl.DataFrame(rows, schema={"n": pl.Int64, "many": pl.Int64}, orient="row"), anchors=(batch,))
        collector.ack(batch)

    def snapshot(self) -> Counter[int]:
        return self.counts

    def restore(self, state: Counter[int]) -> None:
        self.counts = state


def topology(may_end: Path, settings: Settings) -> Topology:
    builder = TopologyBuilder("counts", settings)
    builder.set_spout("numbers", Numbers(may_end), schema(n=int))
    builder.set_bolt("count", Count(), schema(n=int, many=int)).global_grouping("numbers")
    return _with_result(builder.build(), "count")


@pytest.mark.parametrize("settings", [Settings(checkpoint_interval_ms=100), Settings()], ids=["often", "nothing set"])
def test_counts_are_exact_though_the_bolt_that_counts_and_the_spout_die(tmp_path: Path, settings: Settings) -> None:
    may_end = tmp_path / "may_end"
    made = topology(may_end, settings)
    packing = pack(made)
    handle = start(Job("", tmp_path, Program(()), made, packing))
    assert isinstance(handle, HeronHandle)
    store = CheckpointStore(handle.job.checkpoints)
    try:
        for times, victim in enumerate(("count", "numbers"), 1):
            before = max(store.epochs(), default=0)
            least = before + 1 if settings.has_epochs else 0
            wait_until(lambda least=least: max(store.epochs(), default=0) >= least, told=handle.status)
            wait_until(lambda: handle.status().rows_acked > ROWS // 10, told=handle.status)
            # A task that dies before it runs where all went back to has nothing to go back from.
            wait_until(lambda times=times: runs_of(may_end).stat().st_size >= times, told=handle.status)
            task = next(task for task in made.tasks() if task.component == victim)
            os.kill(pid_of(handle, f"{packing.container_of(task.id).id}/instance-{task.id}"), signal.SIGKILL)
            wait_until(
                lambda times=times: sum(event.kind == ROLLED_BACK for event in handle.status().events) >= times,
                told=handle.status,
            )
        may_end.touch()
        frames = []
        while not handle.wait_for_results(60.0):
            frames += handle.results()
        frames += handle.results()
        status = handle.stop()
    finally:
        handle._scheduler.on_kill()
    exact = Counter((n, n // KEYS + 1) for n in range(ROWS))
    assert (status.state, status.reason, status.rows_in, status.rows_acked) == (RunState.FINISHED, "", ROWS, ROWS)
    assert Counter(row for frame in frames for row in frame.rows()) == exact
    assert "state-lost" not in [event.kind for event in status.events]

"""Tasks with state die in a topology with epochs: all go back, and the answer is exact. With real processes and real files."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import ROLLED_BACK, RunState, Status
from ouzel.session import Job, load_text, start
from tests.law.compare import plain_fold
from tests.process.topologies import pid_of
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

QUERY = """
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '10000', 'partitions' = '1',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '0');
SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM ticks GROUP BY n % 7 EMIT CHANGES;
"""
SETTINGS = (("batch.rows", "100"), ("max.pending.rows", "1000"), ("containers", "1"), ("parallelism", "2"))


class Run:
    """A run that has no end by itself, and what it has kept."""

    def __init__(self, job: Job) -> None:
        self.job = job
        handle = start(job)
        assert isinstance(handle, HeronHandle)
        self.handle, self.frames = handle, list[pl.DataFrame]()

    @property
    def store(self) -> CheckpointStore:
        return CheckpointStore(self.handle.job.checkpoints)

    def instances(self, component: str) -> list[str]:
        tasks = [task for task in self.job.topology.tasks() if component in task.component]
        assert tasks, component
        return [f"{self.job.packing.container_of(task.id).id}/instance-{task.id}" for task in tasks]

    def kill(self, *victims: str) -> None:
        for victim in victims:
            os.kill(pid_of(self.handle, victim), signal.SIGKILL)

    def wait_for_epochs(self, more: int) -> None:
        """Wait until so many more have been kept."""
        first = max(self.store.epochs(), default=0)
        wait_until(lambda: max(self.store.epochs(), default=0) >= first + more, told=self.handle.status)

    def wait_for_event(self, kind: str, count: int = 1) -> None:
        wait_until(lambda: len(self.events(kind)) >= count, told=self.handle.status)

    def events(self, kind: str) -> list[str]:
        return [event.text for event in self.handle.status().events if event.kind == kind]

    @property
    def table(self) -> list[tuple[int, ...]]:
        return plain_fold(self.frames, ["k", "many", "total"]).sort("k").rows()


def run(directory: Path, interval_ms: int, *settings: tuple[str, str]) -> Run:
    pairs = (*SETTINGS, ("checkpoint.interval.ms", str(interval_ms)), *settings)
    return Run(load_text(QUERY, directory, "ticks", pairs))


@pytest.fixture
def often(tmp_path: Path) -> Iterator[Run]:
    """A run with an epoch as often as can be."""
    made = run(tmp_path, 100)
    yield made
    made.handle._scheduler.on_kill()


def exact(made: Run) -> Status:
    """The status of a run that is stopped, whose answer is right."""
    wait_until(lambda: made.handle.status().rows_acked > 1_000)
    status = made.handle.stop()
    made.frames += made.handle.results()
    rows = status.rows_in
    assert (status.state, status.reason, status.rows_acked) == (RunState.STOPPED, "", rows)
    assert made.table == [(k, len(range(k, rows, 7)), sum(range(k, rows, 7))) for k in range(min(7, rows))]
    assert "state-lost" not in [event.kind for event in status.events]
    return status


def test_a_task_with_state_dies_and_every_count_is_right(often: Run) -> None:
    counting = often.instances("aggregate")
    often.wait_for_epochs(1)
    often.kill(counting[0])
    often.wait_for_event(ROLLED_BACK)
    often.wait_for_epochs(1)
    often.kill(*counting)
    often.wait_for_event(ROLLED_BACK, 2)
    exact(often)


@pytest.mark.whole
@pytest.mark.parametrize(
    "victim", ["0/topology-master", "1/stream-manager", "1/metrics-manager", "1/executor", "result", "ticks"]
)
def test_any_other_process_dies_and_a_task_with_state_after_it(often: Run, victim: str) -> None:
    often.wait_for_epochs(1)
    often.kill(*([victim] if "/" in victim else often.instances(victim)))
    often.wait_for_epochs(2)
    often.kill(often.instances("aggregate")[1])
    often.wait_for_event(ROLLED_BACK)
    exact(often)


@pytest.mark.whole
def test_everything_dies_but_the_executors(often: Run) -> None:
    often.wait_for_epochs(1)
    often.kill("0/topology-master", "1/stream-manager", "1/metrics-manager", *often.instances(""))
    often.wait_for_event(ROLLED_BACK)
    exact(often)


@pytest.mark.whole
def test_a_task_with_state_dies_again_and_again_while_all_go_back(often: Run) -> None:
    counting = often.instances("aggregate")
    often.wait_for_epochs(1)
    for _ in range(6):
        often.kill(counting[0])
        often.kill(counting[1])
    often.wait_for_event(ROLLED_BACK)
    exact(often)


def test_before_the_first_epoch_all_begin_anew(tmp_path: Path) -> None:
    made = run(tmp_path, 600_000)
    try:
        wait_until(lambda: made.handle.status().rows_acked > 5_000)
        made.kill(made.instances("aggregate")[0])
        made.wait_for_event(ROLLED_BACK)
        status = exact(made)
        told = next(event.text for event in status.events if event.kind == ROLLED_BACK)
        assert told.startswith("all tasks began anew, for no epoch was kept yet: task ")
    finally:
        made.handle._scheduler.on_kill()


@pytest.mark.whole
def test_a_damaged_epoch_is_named_and_the_one_before_it_is_used(often: Run) -> None:
    often.wait_for_epochs(2)
    often.handle.pause(60.0)
    store = often.store
    newest = store.epochs()[-1]
    damage(store, newest)
    often.kill(often.instances("aggregate")[0])
    often.wait_for_event(ROLLED_BACK)
    assert any(f"epoch {newest} cannot be used" in text for text in often.events("epoch-failed"))
    often.handle.resume()
    exact(often)


@pytest.mark.whole
def test_where_no_epoch_can_be_read_the_topology_ends_and_says_so(often: Run) -> None:
    often.wait_for_epochs(1)
    often.handle.pause(60.0)
    for epoch in often.store.epochs():
        damage(often.store, epoch)
    often.kill(often.instances("aggregate")[0])
    wait_until(lambda: often.handle.status().state is RunState.FAILED, told=often.handle.status)
    assert often.handle.status().reason.startswith("no epoch can be read: epoch ")


@pytest.mark.whole
def test_what_cannot_be_written_is_said_and_rows_flow_on(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    made = run(tmp_path, 100, ("checkpoint.path", "taken"))
    try:
        made.wait_for_epochs(1)
        made.store.folder.rename(tmp_path / "away")
        made.store.folder.write_text("no folder")
        made.wait_for_event("epoch-failed")
        made.store.folder.unlink()
        (tmp_path / "away").rename(made.store.folder)
        made.wait_for_epochs(1)
        made.kill(made.instances("aggregate")[0])
        made.wait_for_event(ROLLED_BACK)
        exact(made)
    finally:
        made.handle._scheduler.on_kill()


def damage(store: CheckpointStore, epoch: int) -> None:
    """Change a byte in the middle of a file of the epoch."""
    path = store.folder / next(iter(store.manifest(epoch).files)).name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

"""Where there is less CPU than there is to do: who is only starved is not killed, and what is being handled is not replayed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ouzel.planner.api import Context, RowBolt, RowSpout, TopologyBuilder, schema
from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.process.life import Heartbeats
from ouzel.runtime.run import RunState
from tests.process.topologies import count_kept, kept, let_end, numbers, packed, pid_of
from tests.servers.waiting import wait_for_end, wait_until

pytestmark = [pytest.mark.server, pytest.mark.alone]

HANG_MS = 1_000
LOOP = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


@pytest.fixture
def started() -> Iterator[list[HeronHandle]]:
    handles: list[HeronHandle] = []
    yield handles
    for handle in handles:
        handle._scheduler.on_kill()


def threads_of(pid: int) -> list[int]:
    return [int(thread) for thread in os.listdir(f"/proc/{pid}/task")]


@contextmanager
def starved(pid: int) -> Iterator[None]:
    """Inside, the process has a core only when two endless loops leave it alone, which they hardly do."""
    core = {min(os.sched_getaffinity(0))}
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(2)]
    try:
        for loop in loops:
            os.sched_setaffinity(loop.pid, core)
        for thread in threads_of(pid):
            os.sched_setaffinity(thread, core)
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux starves a process on demand")
def test_a_starved_stream_manager_is_not_killed(tmp_path: Path, started: list[HeronHandle]) -> None:
    settings = Settings(ack_timeout_ms=600_000, heartbeat_ms=100, hang_timeout_ms=HANG_MS)
    topology = numbers(tmp_path, 100, settings, lingers=True)
    started.append(handle := start_heron(topology, packed(topology, 2), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 0)
    victim = pid_of(handle, "1/stream-manager")
    beats, silences = Heartbeats(handle.job.container(1) / "heartbeats"), list[float]()

    def was_silent_for_long() -> bool:
        silences.append(1e3 * time.monotonic() - beats.last(0)[0])
        return max(silences) > 1.5 * HANG_MS or not Path(f"/proc/{victim}").exists()

    with starved(victim):
        wait_until(was_silent_for_long)
        assert Path(f"/proc/{victim}").exists(), "it was killed for what it could not help"
    let_end(tmp_path)
    status = wait_for_end(handle)
    assert (status.state, status.restarts, status.rows_failed) == (RunState.FINISHED, 0, 0), status.events
    assert sorted(kept(tmp_path)) == list(range(100 * 100))


class Ten(RowSpout):
    """Ten rows, which are one batch."""

    fields, rows = ("n",), 10

    def open(self, context: Context) -> None:
        self.number = -1

    def next_row(self) -> Sequence[int] | None:
        self.number += 1
        return (self.number,) if self.number < 10 else None


class Slow(RowBolt):
    """Takes half a second for a row, and says which rows it was given."""

    fields = ("n",)

    def __init__(self, seen: Path) -> None:
        self.seen = seen

    def handle(self, n: int) -> list[tuple[int]]:
        with self.seen.open("a") as file:
            file.write(f"{n}\n")
        time.sleep(0.5)
        return [(n,)]


def test_a_batch_that_is_handled_for_longer_than_acks_take_is_not_replayed(
    tmp_path: Path, started: list[HeronHandle]
) -> None:
    builder = TopologyBuilder("slow", Settings(ack_timeout_ms=2_000, heartbeat_ms=100))
    builder.set_spout("ten", Ten(), schema(n=int))
    builder.set_bolt("slow", Slow(tmp_path / "seen"), schema(n=int)).shuffle_grouping("ten")
    topology = builder.build()
    started.append(handle := start_heron(topology, packed(topology), tmp_path))
    status = wait_for_end(handle)
    assert (status.state, status.rows_acked, status.rows_failed) == (RunState.FINISHED, 10, 0), status.events
    assert (tmp_path / "seen").read_text().split() == [str(n) for n in range(10)]

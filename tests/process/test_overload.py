"""Where there is less CPU than there is to do: who is only starved is not killed, and what is being handled is not replayed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ouzel.planner.api import Context, RowBolt, RowSpout, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.process.life import Heartbeats
from ouzel.runtime.run import RunState
from tests.process.topologies import Numbers, count_kept, kept, let_end, numbers, packed, pid_of
from tests.servers.waiting import wait_for_end, wait_until

pytestmark = [pytest.mark.server, pytest.mark.alone]

HANG_MS = 1_000
LOOP = """
import os, pathlib, sys, time
here = pathlib.Path(sys.argv[1])
(here / f"loop-{os.getpid()}").touch()
while not (here / "starve").exists():
    time.sleep(0.01)
while True:
    pass
"""


class Starves(Numbers):
    """Starts two loops that compute without end as soon as they are told to, and end with the topology.

    They are below the topology, and so in the control group and the session of what they take the core from: between two of those the
    kernel shares a core without regard to what each is worth in its own, and nobody would starve.
    """

    def open(self, context: Context) -> None:
        super().open(context)
        if context.index == 0:
            for _ in range(2):
                subprocess.Popen([sys.executable, "-c", LOOP, str(self.directory)])


@pytest.fixture
def started() -> Iterator[list[HeronHandle]]:
    handles: list[HeronHandle] = []
    yield handles
    for handle in handles:
        handle._scheduler.on_kill()


def threads_of(pid: int) -> list[int]:
    return [int(thread) for thread in os.listdir(f"/proc/{pid}/task")]


def loops_in(directory: Path) -> list[int]:
    """The pids of the loops that have come up."""
    return [int(file.name.removeprefix("loop-")) for file in directory.glob("loop-*")]


@contextmanager
def starved(pid: int, directory: Path) -> Iterator[None]:
    """Inside, the process has a core only when two endless loops leave it alone, which they hardly do."""
    core = {min(os.sched_getaffinity(0))}
    loops = loops_in(directory)
    for loop in loops:
        os.sched_setaffinity(loop, core)
    for thread in threads_of(pid):
        os.sched_setaffinity(thread, core)
        os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
    (directory / "starve").touch()
    try:
        yield
    finally:
        for loop in loops:
            os.kill(loop, signal.SIGKILL)


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux starves a process on demand")
def test_a_starved_stream_manager_is_not_killed(tmp_path: Path, started: list[HeronHandle]) -> None:
    settings = Settings(ack_timeout_ms=600_000, heartbeat_ms=100, hang_timeout_ms=HANG_MS)
    topology = numbers(tmp_path, 100, settings, lingers=True, spout=Starves)
    started.append(handle := start_heron(topology, packed(topology, 2), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 0 and len(loops_in(tmp_path)) == 2)
    victim = pid_of(handle, "1/stream-manager")
    beats, silences = Heartbeats(handle.job.container(1) / "heartbeats"), list[float]()

    def was_silent_for_long() -> bool:
        silences.append(1e3 * time.monotonic() - beats.last(0)[0])
        return max(silences) > 1.5 * HANG_MS or not Path(f"/proc/{victim}").exists()

    with starved(victim, tmp_path):
        wait_until(was_silent_for_long, told=lambda: f"its longest silence was {max(silences):.0f} ms")
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

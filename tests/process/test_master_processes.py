"""Two topology masters as processes, and a stream manager's membership: who leads is obeyed, whoever dies, stands still or wakes up."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.process.job import MASTER_CONTAINER, MASTERS, RunDescription, create_home
from ouzel.runtime.process.leading import MasterNote, leader_path
from ouzel.runtime.process.master_client import MasterClient
from ouzel.runtime.protocol.cluster.leadership import Fence
from ouzel.runtime.wire import wire_pb2
from tests.process.topologies import numbers, packed
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

MAIN = """
import os, sys
from pathlib import Path
from ouzel.runtime.process.job import MASTERS, load_description
from ouzel.runtime.process.life import Life
from ouzel.runtime.process.topology_master import run_topology_master
name, job = sys.argv[1], load_description(Path(sys.argv[2]))
life = Life(job.container(0) / "heartbeats", MASTERS.index(name), os.getppid())
run_topology_master(name, job, 0, int(sys.argv[3]), life)
"""
SETTINGS = Settings(topology_master_standby=True, hang_timeout_ms=2_000, checkpoint_interval_ms=100)


class Pair:
    """Two topology masters without an executor: nobody kills them, and nobody starts them again."""

    def __init__(self, directory: Path) -> None:
        topology = replace(numbers(directory), settings=SETTINGS)
        self.job = RunDescription("t", create_home(directory), directory, topology, packed(topology))
        self.job.save_outline()
        self.job.container(MASTER_CONTAINER).mkdir()
        self._state = LocalState(self.job.home / "state")
        self._starts = 0
        self.processes: dict[int, subprocess.Popen[str]] = {}
        self.plans: list[wire_pb2.PhysicalPlan] = []
        member = wire_pb2.StreamManager(container=1, incarnation=1)
        MasterClient(self.job, member, self.plans.append).start()

    def start(self, name: str) -> None:
        """One of them."""
        command = [sys.executable, "-c", MAIN, name, str(self.job.home), str(self._starts)]
        self._starts += 1
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.processes[process.pid] = process

    @property
    def leader(self) -> subprocess.Popen[str]:
        """The one that leads."""
        newest = self._state.leadership(leader_path(self.job.id))
        assert newest is not None
        return self.processes[MasterNote.parse(newest.data).pid]

    def wait_for_plan(self, leadership: int) -> None:
        """Wait until the stream manager has heard of that leadership."""
        wait_until(lambda: any(plan.leadership == leadership for plan in self.plans), told=lambda: self.plans[-3:])

    def obeyed(self) -> list[int]:
        """The leaderships that a stream manager obeys, in the order of the plans that came."""
        fence = Fence()
        return [plan.leadership for plan in self.plans if fence.admit(plan.leadership)]

    def close(self) -> None:
        """End them."""
        for process in self.processes.values():
            process.kill()
            process.communicate()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path)
    for name in MASTERS:
        made.start(name)
    made.wait_for_plan(1)
    yield made
    made.close()


def test_one_takes_over_from_one_that_is_killed(pair: Pair) -> None:
    pair.leader.kill()
    pair.wait_for_plan(2)
    pair.start(MASTERS[0])
    pair.leader.kill()
    pair.wait_for_plan(3)
    assert pair.obeyed() == sorted(pair.obeyed())


def test_one_takes_over_from_one_that_stands_still_and_that_one_ends_when_it_wakes_up(pair: Pair) -> None:
    old = pair.leader
    old.send_signal(signal.SIGSTOP)
    pair.wait_for_plan(2)
    assert pair.leader is not old
    old.send_signal(signal.SIGCONT)
    _, told = old.communicate(timeout=120)
    assert old.returncode == 1
    assert "another topology master leads now (leadership 2; this one's was 1)" in told
    heard = len(pair.plans)
    wait_until(lambda: len(pair.plans) > heard)
    assert pair.plans[-1].leadership == 2
    assert pair.leader.poll() is None

"""A standby topology master takes over from one that is killed or stopped; what the old one does when it wakes up counts for nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.errors import StateError
from ouzel.runtime.cluster.state import open_state
from ouzel.runtime.process.leading import MasterNote, leader_path
from ouzel.runtime.run import ROLLED_BACK
from tests.process.test_epochs import Run, exact, run
from tests.servers.waiting import wait_until
from tests.servers.zookeeper import ZooKeeper

pytestmark = pytest.mark.server

STANDBY = ("topology.master.standby", "true")


class Led:
    """A run with two topology masters."""

    def __init__(self, made: Run) -> None:
        self.made = made
        job = made.handle.job
        self._state, self._path = open_state(job.topology.settings.state_manager, job.home), leader_path(job.id)

    @property
    def number(self) -> int:
        """Of the newest leadership."""
        newest = self._state.leadership(self._path)
        return newest.number if newest is not None else 0

    @property
    def leader(self) -> MasterNote:
        """Who leads."""
        newest = self._state.leadership(self._path)
        assert newest is not None
        return MasterNote.parse(newest.data)

    def wait_for_leadership(self, after: int) -> None:
        """Wait until one after that number has begun, and has kept an epoch."""
        wait_until(lambda: self.number > after, told=self.made.handle.status)
        wait_until(
            lambda: any(self.leadership_of(epoch) > after for epoch in self.made.store.epochs()),
            told=self.made.handle.status,
        )

    def leadership_of(self, epoch: int) -> int:
        """Who has completed it; 0 if it is no longer there."""
        try:
            return self.made.store.manifest(epoch).leadership
        except StateError:
            return 0

    def close(self) -> None:
        self._state.close()
        self.made.handle._scheduler.on_kill()


@pytest.fixture
def led(tmp_path: Path) -> Iterator[Led]:
    made = Led(run(tmp_path, 100, STANDBY, ("hang.timeout.ms", "20000")))
    yield made
    made.close()


def test_a_standby_takes_over_from_a_leader_that_is_killed_and_counts_are_exact(led: Led) -> None:
    led.made.wait_for_epochs(1)
    before = led.number
    os.kill(led.leader.pid, signal.SIGKILL)
    led.wait_for_leadership(before)
    led.made.kill(led.made.instances("aggregate")[0])
    led.made.wait_for_event(ROLLED_BACK)
    exact(led.made)


@pytest.mark.whole
def test_masters_are_killed_in_turn_and_with_them_a_task_with_state(led: Led) -> None:
    led.made.wait_for_epochs(1)
    for count in (1, 2, 3):
        before = led.number
        led.made.kill(led.made.instances("aggregate")[count % 2])
        os.kill(led.leader.pid, signal.SIGKILL)
        led.wait_for_leadership(before)
        led.made.wait_for_epochs(1)
    exact(led.made)


def wake_when_deposed(led: Led) -> None:
    """Stop the leader, let it sleep until another has kept an epoch, and wake it up: it ends, and harms nobody."""
    led.made.wait_for_epochs(1)
    old, before = led.leader, led.number
    os.kill(old.pid, signal.SIGSTOP)
    led.wait_for_leadership(before)
    os.kill(old.pid, signal.SIGCONT)
    wait_until(lambda: not old.runs, told=led.made.handle.status)
    led.made.wait_for_epochs(1)
    log = (led.made.handle.job.container(0) / f"{old.name}.log").read_text()
    assert f"another topology master leads now (leadership {before + 1}; this one's was {before})" in log


def test_a_leader_that_is_stopped_is_deposed_and_ends_when_it_wakes_up(led: Led) -> None:
    wake_when_deposed(led)
    led.made.kill(led.made.instances("aggregate")[0])
    led.made.wait_for_event(ROLLED_BACK)
    exact(led.made)


def test_so_it_is_with_zookeeper(tmp_path: Path) -> None:
    with ZooKeeper(tmp_path) as ensemble:
        settings = (STANDBY, ("hang.timeout.ms", "20000"), ("state.manager", ensemble.setting))
        led = Led(run(tmp_path, 100, *settings))
        try:
            wake_when_deposed(led)
            before = led.number
            os.kill(led.leader.pid, signal.SIGKILL)
            led.wait_for_leadership(before)
            exact(led.made)
        finally:
            led.close()

"""Topologies in real processes that are paused: nothing is read, nothing is lost, and whatever is killed meanwhile, the pause goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.errors import TopologyError
from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.run import RunState
from tests.process.topologies import ROWS, count_kept, kept, let_end, numbers, packed, pid_of
from tests.servers.waiting import wait_for_end, wait_until

pytestmark = pytest.mark.server

BATCHES = 300
LIMIT_S = 120
LOOKS = 5
"""So often every task is asked how it stands, and says so."""
SETTINGS = Settings(max_pending_rows=20_000, ack_timeout_ms=5_000, heartbeat_ms=100, hang_timeout_ms=60_000)
PATIENT = Settings(max_pending_rows=20_000, ack_timeout_ms=600_000, hang_timeout_ms=600_000)
"""Nothing is sent again for a busy machine's sake, and what hangs is left alone."""


@pytest.fixture
def started() -> Iterator[list[HeronHandle]]:
    handles: list[HeronHandle] = []
    yield handles
    for handle in handles:
        handle._scheduler.on_kill()


def run(
    directory: Path, started: list[HeronHandle], batches: int = BATCHES, settings: Settings = SETTINGS
) -> HeronHandle:
    """Numbers in two containers, under way; they do not end before `let_end`."""
    topology = numbers(directory, batches, settings, lingers=True)
    started.append(handle := start_heron(topology, packed(topology, 2), directory))
    wait_until(lambda: count_kept(directory) > 20 * ROWS)
    return handle


def test_a_pause_reads_nothing_and_a_resumed_run_loses_and_doubles_nothing(
    tmp_path: Path, started: list[HeronHandle]
) -> None:
    handle = run(tmp_path, started, settings=PATIENT)
    for number in range(3):
        if number == 2:
            os.kill(pid_of(handle, "0/topology-master"), signal.SIGKILL)
        status = handle.pause(LIMIT_S)
        assert status.state is RunState.PAUSED
        assert status.rows_in == status.rows_acked == len(kept(tmp_path)) < BATCHES * ROWS
        for _ in range(LOOKS):
            assert handle.fresh_status(LIMIT_S).rows_in == status.rows_in
        assert len(kept(tmp_path)) == status.rows_in
        assert handle.pause(LIMIT_S).rows_in == status.rows_in, "paused twice is paused"
        handle.resume()
        assert handle.status().state is not RunState.PAUSED
    handle.resume()
    let_end(tmp_path)
    done = wait_for_end(handle)
    assert (done.state, done.rows_failed) == (RunState.FINISHED, 0)
    assert sorted(kept(tmp_path)) == list(range(BATCHES * ROWS))


VICTIMS = (
    "0/topology-master", "1/instance-1", "2/instance-2", "1/instance-3", "1/instance-5", "2/stream-manager", "1/metrics-manager",
    "0/executor",
)  # fmt: skip


def test_whatever_is_killed_in_a_pause_it_stays_paused_and_loses_nothing(
    tmp_path: Path, started: list[HeronHandle]
) -> None:
    handle = run(tmp_path, started)
    handle.pause(LIMIT_S)
    before = kept(tmp_path)
    for victim in VICTIMS:
        pid = pid_of(handle, victim)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda victim=victim, pid=pid: pid_of(handle, victim) != pid)
        assert handle.pause(LIMIT_S).state is RunState.PAUSED
        assert kept(tmp_path) == before, f"after {victim} was killed"
    handle.resume()
    let_end(tmp_path)
    done = wait_for_end(handle)
    assert done.state is RunState.FINISHED, done
    assert set(kept(tmp_path)) == set(range(BATCHES * ROWS))


def test_a_topology_that_does_not_come_to_rest_runs_on(tmp_path: Path, started: list[HeronHandle]) -> None:
    handle = run(tmp_path, started, 10**6, PATIENT)
    for _ in range(3):
        read = len(kept(tmp_path))
        assert handle.fresh_status(LIMIT_S).rows_in >= read, "a status is no older than the call"
    hung = pid_of(handle, "1/instance-5")
    os.kill(hung, signal.SIGSTOP)
    wait_until(lambda: handle.status().rows_in > count_kept(tmp_path))  # on their way to who is stopped
    with pytest.raises(TopologyError, match=r"did not come to rest within 1 s, and runs on; .*slow or dead task"):
        handle.pause(1)
    assert handle.status().state is RunState.RUNNING
    os.kill(hung, signal.SIGCONT)
    rows = handle.status().rows_acked
    wait_until(lambda: handle.status().rows_acked > rows)
    handle.pause(LIMIT_S)
    status = handle.stop()
    assert status.state is RunState.STOPPED
    assert status.rows_in == status.rows_acked == len(kept(tmp_path))

"""Topologies in real processes: they answer, end cleanly, and survive the death of any of their processes."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ouzel.planner.api import BasicBolt, Context, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import LocalScheduler, start_heron
from ouzel.runtime.run import RunState
from tests.process.topologies import (
    ROWS,
    Keep,
    Numbers,
    count_kept,
    kept,
    let_end,
    numbers,
    packed,
    pid_of,
    processes_of,
)
from tests.servers.waiting import wait_for_end, wait_until

pytestmark = pytest.mark.server

BATCHES = 300
SETTINGS = Settings(max_pending_rows=20_000, ack_timeout_ms=5_000, heartbeat_ms=100, hang_timeout_ms=60_000)
HANGS = replace(SETTINGS, hang_timeout_ms=1_500)
QUIET = Settings(max_pending_rows=20_000, ack_timeout_ms=600_000, hang_timeout_ms=600_000)
"""No limit of time strikes, however slow the machine."""

LIMIT_S = 120


@pytest.fixture
def started() -> Iterator[list[HeronHandle]]:
    handles: list[HeronHandle] = []
    yield handles
    for handle in handles:
        handle._scheduler.on_kill()


def server_of(handle: HeronHandle) -> int:
    scheduler = handle._scheduler
    assert isinstance(scheduler, LocalScheduler)
    return scheduler.pid


def assert_nothing_is_left(handle: HeronHandle) -> None:
    assert not handle.job.home.exists()
    wait_until(lambda: not processes_of(server_of(handle)))


@pytest.mark.parametrize(("containers", "tcp"), [(1, False), (2, False), (3, True)])
def test_a_quiet_run_loses_and_doubles_nothing(
    tmp_path: Path, started: list[HeronHandle], containers: int, tcp: bool
) -> None:
    topology = numbers(tmp_path, 100, QUIET)
    started.append(handle := start_heron(topology, packed(topology, containers), tmp_path, tcp=tcp))
    status = wait_for_end(handle)
    assert status.state is RunState.FINISHED, status
    assert sorted(kept(tmp_path)) == list(range(100 * ROWS))
    counts = (status.rows_in, status.rows_acked, status.rows_failed, status.restarts)
    assert counts == (100 * ROWS, 100 * ROWS, 0, 0), status.events
    assert status.p50_ms is not None
    assert_nothing_is_left(handle)


VICTIMS = [
    "1/instance-1",
    "1/instance-3",
    "1/instance-5",
    "1/stream-manager",
    "1/metrics-manager",
    "1/executor",
    "0/executor",
    "0/topology-master",
]
"""One process of each kind."""
TWINS = ["2/instance-2", "2/instance-4", "2/stream-manager", "2/executor"]
"""Others of the same kinds, in the second container."""


@pytest.mark.parametrize("victim", [*VICTIMS, *(pytest.param(twin, marks=pytest.mark.whole) for twin in TWINS)])
def test_a_kill_under_load_loses_nothing(tmp_path: Path, started: list[HeronHandle], victim: str) -> None:
    topology = numbers(tmp_path, BATCHES, SETTINGS, lingers=True)
    started.append(handle := start_heron(topology, packed(topology, 2), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 20 * ROWS)
    before = pid_of(handle, "1/instance-5")
    os.kill(pid_of(handle, victim), signal.SIGKILL)
    wait_until(lambda: handle.status().restarts >= 1)
    if victim.endswith("executor"):
        assert pid_of(handle, "1/instance-5") == before, "what ran was not adopted"
    let_end(tmp_path)
    status = wait_for_end(handle)
    assert status.state is RunState.FINISHED, status
    assert set(kept(tmp_path)) == set(range(BATCHES * ROWS))
    assert status.restarts >= 1
    if victim in ("1/instance-1", "2/instance-2"):
        assert sorted(event.kind for event in status.events) == ["replayed", "restarted"]
    container, name = victim.split("/")
    assert {event.text for event in status.events if event.kind == "restarted"} == {
        f"the executor of container {container} ended and was started again"
        if name == "executor"
        else f"{name} of container {container} was started again: signal 9"
    }
    assert_nothing_is_left(handle)


@pytest.mark.parametrize("victim", ["1/instance-3", "1/stream-manager", "0/topology-master", "1/executor"])
def test_a_process_that_hangs_is_noticed(tmp_path: Path, started: list[HeronHandle], victim: str) -> None:
    topology = numbers(tmp_path, BATCHES, HANGS, lingers=True)
    started.append(handle := start_heron(topology, packed(topology, 2), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 20 * ROWS)
    os.kill(stopped := pid_of(handle, victim), signal.SIGSTOP)
    wait_until(lambda: not Path(f"/proc/{stopped}").exists())
    name = victim.rpartition("/")[2]
    wait_until(lambda: any(name in event.text for event in handle.status().events if event.kind == "restarted"))
    let_end(tmp_path)
    status = wait_for_end(handle)
    assert status.state is RunState.FINISHED, status
    assert set(kept(tmp_path)) == set(range(BATCHES * ROWS))
    assert_nothing_is_left(handle)


def test_everything_dies_one_after_the_other(tmp_path: Path, started: list[HeronHandle]) -> None:
    topology = numbers(tmp_path, 3 * BATCHES, SETTINGS, lingers=True)
    started.append(handle := start_heron(topology, packed(topology, 2), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 20 * ROWS)
    for victim in VICTIMS + TWINS:
        os.kill(killed := pid_of(handle, victim), signal.SIGKILL)
        wait_until(lambda killed=killed: not Path(f"/proc/{killed}").exists())
    let_end(tmp_path)
    status = wait_for_end(handle)
    assert status.state is RunState.FINISHED, status
    assert set(kept(tmp_path)) == set(range(3 * BATCHES * ROWS))
    assert_nothing_is_left(handle)


def test_stop_drains(tmp_path: Path, started: list[HeronHandle]) -> None:
    topology = numbers(tmp_path, 10**6, SETTINGS)
    started.append(handle := start_heron(topology, packed(topology, 2), tmp_path))
    wait_until(lambda: handle.status().rows_acked > 0)
    status = handle.stop()
    assert status.state is RunState.STOPPED
    assert status.rows_in == status.rows_acked == len(kept(tmp_path))
    assert handle.stop() == status
    assert handle.wait(0)
    assert_nothing_is_left(handle)


class Broken(BasicBolt):
    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        raise ValueError("no such luck")


def test_a_bolt_that_raises_fails_the_topology_and_leaves_its_log(tmp_path: Path, started: list[HeronHandle]) -> None:
    builder = TopologyBuilder("broken", SETTINGS)
    builder.set_spout("numbers", Numbers(5, tmp_path), schema(n=int))
    builder.set_bolt("broken", Broken()).shuffle_grouping("numbers")
    topology = builder.build()
    started.append(handle := start_heron(topology, packed(topology), tmp_path))
    status = wait_for_end(handle)
    line = inspect.getsourcelines(Broken.process)[1] + 1
    place = f"in process, {__file__}:{line}"
    expected = f"'broken' (task 2) failed: ValueError: no such luck ({place})"
    assert (status.state, status.reason) == (RunState.FAILED, expected)
    logs = Path(status.events[-1].text.removeprefix("the logs are in "))
    assert "no such luck" in (logs / "container-1-instance-2.log").read_text()
    shutil.rmtree(logs)
    assert_nothing_is_left(handle)


class Dies(BasicBolt):
    def open(self, context: Context) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return []


@pytest.mark.slow
def test_a_bolt_that_never_stays_up_fails_the_topology(
    tmp_path: Path, started: list[HeronHandle], monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = TopologyBuilder("dies", SETTINGS)
    builder.set_spout("numbers", Numbers(5, tmp_path), schema(n=int))
    builder.set_bolt("dies", Dies()).shuffle_grouping("numbers")
    topology = builder.build()
    started.append(handle := start_heron(topology, packed(topology), tmp_path))
    status = wait_for_end(handle)
    assert status.state is RunState.FAILED
    assert status.reason.startswith("'dies': instance-2 died 13 times in a row: signal 9")
    assert_nothing_is_left(handle)


def test_a_container_is_started_again_on_request(tmp_path: Path, started: list[HeronHandle]) -> None:
    topology = numbers(tmp_path, BATCHES, SETTINGS, lingers=True)
    started.append(handle := start_heron(topology, packed(topology, 2), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 20 * ROWS)
    before = pid_of(handle, "2/stream-manager")
    assert Path(f"/proc/{before}/cmdline").read_text().rstrip("\0") == "ouzel: numbers · container 2 · stream-manager"
    assert isinstance(handle._scheduler, LocalScheduler)
    handle._scheduler.on_restart(2)
    wait_until(lambda: not Path(f"/proc/{before}").exists())
    let_end(tmp_path)
    assert wait_for_end(handle).state is RunState.FINISHED
    assert set(kept(tmp_path)) == set(range(BATCHES * ROWS))
    assert_nothing_is_left(handle)


def test_a_detached_topology_outlives_its_client(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        from pathlib import Path
        from tests.process.topologies import numbers, packed
        from ouzel.runtime.cluster.local import start_heron
        here = Path({str(tmp_path)!r})
        topology = numbers(here, {BATCHES}, lingers=True)
        handle = start_heron(topology, packed(topology), here, detached=True)
        print(handle._scheduler.pid, handle.job.home, flush=True)
        input()
    """)
    client = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    server, home = client.stdout.readline().split()
    wait_until(lambda: count_kept(tmp_path) > 0)
    client.kill()
    client.wait()
    let_end(tmp_path)
    wait_until(lambda: set(kept(tmp_path)) == set(range(BATCHES * ROWS)))
    wait_until(lambda: not processes_of(int(server)) and not Path(home).exists())


def test_a_slow_bolt_holds_back_its_own_spout_only(tmp_path: Path, started: list[HeronHandle]) -> None:
    batches, rows = 600, 2_000
    settings = Settings(
        max_pending_rows=10**9, batch_rows=rows, high_watermark_bytes=200_000, low_watermark_bytes=50_000
    )
    builder = TopologyBuilder("two_paths", settings)
    for name, pause_s in (("slow", 0.5), ("quick", 0.0)):
        (tmp_path / name).mkdir()
        builder.set_spout(f"{name}_numbers", Numbers(batches, tmp_path / name, 0, rows), schema(n=int))
        builder.set_bolt(name, Keep(tmp_path / name, pause_s)).shuffle_grouping(f"{name}_numbers")
    topology = builder.build()
    started.append(handle := start_heron(topology, packed(topology), tmp_path))
    wait_until(lambda: handle.status().back_pressure)
    wait_until(lambda: count_kept(tmp_path / "quick") == batches * rows)
    assert count_kept(tmp_path / "slow") < batches * rows / 2
    assert handle.status().rows_in < 2 * batches * rows * 0.9


@pytest.mark.parametrize("stopped", [False, True], ids=["", "the_server_is_stopped"])
def test_the_topology_ends_with_its_client(tmp_path: Path, stopped: bool) -> None:
    script = textwrap.dedent(f"""
        from pathlib import Path
        from tests.process.topologies import numbers, packed
        from ouzel.runtime.cluster.local import start_heron
        here = Path({str(tmp_path)!r})
        topology = numbers(here, 10**6)
        handle = start_heron(topology, packed(topology), here)
        print(handle._scheduler.pid, handle.job.home, flush=True)
        input()
    """)
    client = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    server, home = client.stdout.readline().split()
    wait_until(lambda: count_kept(tmp_path) > 0)
    if stopped:
        os.kill(int(server), signal.SIGSTOP)
    client.kill()
    client.wait()
    wait_until(lambda: not processes_of(int(server)) and not Path(home).exists())


def test_everything_ends_when_the_server_is_killed(tmp_path: Path, started: list[HeronHandle]) -> None:
    topology = numbers(tmp_path, 10**6, SETTINGS)
    started.append(handle := start_heron(topology, packed(topology), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 0)
    os.kill(server_of(handle), signal.SIGKILL)
    status = wait_for_end(handle)
    assert (status.state, status.reason) == (RunState.FAILED, "the processes of the topology were ended from outside")
    assert_nothing_is_left(handle)


@pytest.mark.parametrize("victim", ["1/instance-3", "1/stream-manager", "0/topology-master", "1/executor"])
def test_nothing_outlives_the_server_though_it_is_stopped(
    tmp_path: Path, started: list[HeronHandle], victim: str
) -> None:
    topology = numbers(tmp_path, 10**6, SETTINGS)
    started.append(handle := start_heron(topology, packed(topology), tmp_path))
    wait_until(lambda: count_kept(tmp_path) > 0)
    os.kill(pid_of(handle, victim), signal.SIGSTOP)
    os.kill(server_of(handle), signal.SIGKILL)
    assert wait_for_end(handle).state is RunState.FAILED
    assert_nothing_is_left(handle)


def test_a_client_that_leaves_at_the_end_leaves_nothing(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os
        from pathlib import Path
        from tests.process.topologies import kept, numbers, packed
        from tests.servers.waiting import wait_until
        from ouzel.runtime.cluster.local import start_heron
        here = Path({str(tmp_path)!r})
        topology = numbers(here, 20)
        handle = start_heron(topology, packed(topology), here)
        print(handle._scheduler.pid, handle.job.home, flush=True)
        wait_until((handle.job.home / "status").exists, look_s=0.001)
        os._exit(0)
    """)
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    server, home = output.split()
    wait_until(lambda: not processes_of(int(server)) and not Path(home).exists())

"""The state manager: one behaviour, on local files and on ZooKeeper."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ouzel.errors import TopologyError
from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.cluster.state import Leadership, StateManager, open_state
from ouzel.runtime.cluster.state.fenced import check_leads, read_fenced, take_over, write_fenced
from ouzel.runtime.protocol.cluster.leadership import Deposed
from ouzel.runtime.run import RunState
from tests.process.topologies import ROWS, count_kept, kept, let_end, numbers, packed, pid_of
from tests.servers.waiting import wait_for_end, wait_until
from tests.servers.zookeeper import ZooKeeper

Open = Callable[[], StateManager]

HOLD = """
import signal, sys
from pathlib import Path
from ouzel.runtime.cluster.state import open_state
state = open_state(sys.argv[1], Path(sys.argv[2]))
print(state.hold("/tmanagers/t", b"there"), flush=True)
signal.pause()
"""


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    with ZooKeeper(tmp_path_factory.mktemp("zookeeper")) as ensemble:
        yield ensemble


@pytest.fixture(params=["local", pytest.param("zookeeper", marks=pytest.mark.server)])
def setting(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue("zookeeper").setting if request.param == "zookeeper" else "local"


@pytest.fixture
def connect(setting: str, tmp_path: Path) -> Iterator[Open]:
    opened: list[StateManager] = []

    def connect() -> StateManager:
        opened.append(open_state(setting, tmp_path))
        return opened[-1]

    yield connect
    opened[0].delete("/")
    for path in ("/tmanagers", "/offsets", "/topologies"):
        opened[0].delete(path)
    for state in opened:
        state.close()


def test_what_one_puts_another_gets(connect: Open) -> None:
    one, other = connect(), connect()
    assert one.get("/offsets/t/1") is None
    one.put("/offsets/t/1", b"first")
    one.put("/offsets/t/1", b"second")
    one.put("/offsets/t/2", b"")
    assert (other.get("/offsets/t/1"), other.get("/offsets/t/2")) == (b"second", b"")
    assert other.children("/offsets/t") == ["1", "2"]
    assert other.children("/nowhere") == []


def test_deleting_takes_what_is_below_with_it(connect: Open) -> None:
    state = connect()
    state.put("/topologies/a/b/c", b"x")
    state.delete("/topologies/a")
    state.delete("/topologies/a")
    assert state.get("/topologies/a/b/c") is None
    assert state.children("/topologies") == []


def test_only_one_holds_a_node_and_it_goes_with_the_connection(connect: Open, setting: str, tmp_path: Path) -> None:
    one, other = open_state(setting, tmp_path), connect()
    assert one.hold("/tmanagers/t", b"one")
    assert not other.hold("/tmanagers/t", b"other")
    assert other.get("/tmanagers/t") == b"one"
    one.close()
    assert other.get("/tmanagers/t") is None
    assert other.children("/tmanagers") == []
    assert other.hold("/tmanagers/t", b"other")
    assert other.get("/tmanagers/t") == b"other"


def test_a_held_node_goes_with_its_process(connect: Open, setting: str, tmp_path: Path) -> None:
    state = connect()
    holder = subprocess.Popen([sys.executable, "-c", HOLD, setting, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert state.get("/tmanagers/t") == b"there"
    holder.kill()
    holder.wait()
    wait_until(lambda: state.get("/tmanagers/t") is None)
    assert state.hold("/tmanagers/t", b"mine")


def test_of_two_one_leads_until_its_connection_ends_and_numbers_grow(
    connect: Open, setting: str, tmp_path: Path
) -> None:
    one, other = open_state(setting, tmp_path), connect()
    assert other.leadership("/tmanagers/t") is None
    assert one.lead("/tmanagers/t", b"one") == 1
    assert other.lead("/tmanagers/t", b"other") is None
    assert other.leadership("/tmanagers/t") == Leadership(1, b"one", is_held=True)
    one.close()
    wait_until(lambda: other.leadership("/tmanagers/t") == Leadership(1, b"one", is_held=False))
    assert other.lead("/tmanagers/t", b"other") == 2


def test_a_leader_may_be_deposed_though_it_lives_but_only_by_who_names_its_number(connect: Open) -> None:
    one, other, third = connect(), connect(), connect()
    assert one.lead("/tmanagers/t", b"one") == 1
    assert other.lead("/tmanagers/t", b"other", deposing=1) == 2
    assert third.lead("/tmanagers/t", b"third", deposing=1) is None
    assert one.leadership("/tmanagers/t") == Leadership(2, b"other", is_held=True)


def test_a_leadership_goes_with_its_process(connect: Open, setting: str, tmp_path: Path) -> None:
    state, code = (
        connect(),
        HOLD.replace('state.hold("/tmanagers/t", b"there")', 'state.lead("/tmanagers/t", b"there")'),
    )
    holder = subprocess.Popen([sys.executable, "-c", code, setting, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "1\n"
    assert state.leadership("/tmanagers/t") == Leadership(1, b"there", is_held=True)
    holder.kill()
    holder.wait()
    wait_until(lambda: state.leadership("/tmanagers/t") == Leadership(1, b"there", is_held=False))
    assert state.lead("/tmanagers/t", b"mine") == 2


def test_what_an_older_leader_writes_does_not_count(connect: Open) -> None:
    old, new = connect(), connect()
    write_fenced(old, "/offsets/f", b"before there was a leader")
    assert take_over(old, "/offsets/f", 1) == b"before there was a leader"
    write_fenced(old, "/offsets/f", b"first", 1)
    assert take_over(new, "/offsets/f", 2) == b"first"
    write_fenced(old, "/offsets/f", b"too late", 1)
    assert read_fenced(new, "/offsets/f") == b"first"
    write_fenced(new, "/offsets/f", b"second", 2)
    assert read_fenced(old, "/offsets/f") == b"second"
    write_fenced(new, "/offsets/f", b"while nothing runs")
    assert take_over(new, "/offsets/f", 3) == b"while nothing runs"


def test_a_leader_looks_whether_it_still_leads(connect: Open) -> None:
    old, new = connect(), connect()
    assert old.lead("/tmanagers/t", b"old") == 1
    check_leads(old, "/tmanagers/t", 1)
    assert new.lead("/tmanagers/t", b"new", deposing=1) == 2
    with pytest.raises(Deposed, match=r"another topology master leads now \(leadership 2; this one's was 1\)"):
        check_leads(old, "/tmanagers/t", 1)


def test_a_watcher_hears_of_every_state_in_which_a_node_rests(connect: Open) -> None:
    state, other = connect(), connect()
    heard: list[bytes | None] = []
    state.watch("/topologies/w", heard.append)
    wait_until(lambda: heard == [None])
    other.put("/topologies/w", b"1")
    wait_until(lambda: heard[-1] == b"1")
    other.put("/topologies/w", b"2")
    wait_until(lambda: heard[-1] == b"2")
    other.delete("/topologies/w")
    wait_until(lambda: heard[-1] is None)


def test_a_setting_that_names_no_state_manager_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        TopologyError, match="there is no state manager 'etcd://x'; write local or zookeeper://host:port"
    ):
        open_state("etcd://x", tmp_path)


@pytest.mark.server
def test_nobody_there_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.runtime.cluster.state.zookeeper._CONNECT_S", 0.3)
    with pytest.raises(TopologyError, match=r"no ZooKeeper answers at 127.0.0.1:1 within 0.3 s; is it running\?"):
        open_state("zookeeper://127.0.0.1:1", tmp_path)


@pytest.mark.server
@pytest.mark.slow
def test_a_topology_on_an_ensemble_outlives_its_leader_and_a_topology_master(tmp_path: Path) -> None:
    with ZooKeeper(tmp_path, 3) as ensemble:
        settings = Settings(state_manager=ensemble.setting, max_pending_rows=20_000, ack_timeout_ms=5_000)
        topology = numbers(tmp_path, 400, settings, lingers=True)
        handle = start_heron(topology, packed(topology, 2), tmp_path)
        wait_until(lambda: count_kept(tmp_path) > 20 * ROWS)
        leader = ensemble.leader()
        ensemble.kill(leader)
        os.kill(pid_of(handle, "0/topology-master"), signal.SIGKILL)
        ensemble.start(leader)
        wait_until(lambda: handle.status().restarts >= 1)
        let_end(tmp_path)
        status = wait_for_end(handle)
        assert status.state is RunState.FINISHED, status
        assert set(kept(tmp_path)) == set(range(400 * ROWS))

"""A submission is private, and what has been tampered with is refused."""

from __future__ import annotations

import fcntl
import importlib
import os
import select
import signal
import stat
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import TopologyError
from ouzel.planner.api import BasicBolt, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Grouping, GroupingKind
from ouzel.runtime import warm
from ouzel.runtime.cluster.client import name_log
from ouzel.runtime.cluster.local import name_run, start_heron
from ouzel.runtime.process.executor import EXECUTOR_SLOT, Executor, mains
from ouzel.runtime.process.job import (
    RunDescription,
    check_room,
    create_home,
    load_description,
    load_program,
    remove_abandoned,
    remove_home,
)
from ouzel.runtime.protocol.cluster.executor import SEE_LOG
from ouzel.runtime.protocol.cluster.supervision import Start
from tests.process.topologies import Numbers, numbers, packed


@pytest.fixture
def job(tmp_path: Path) -> RunDescription:
    topology = numbers(tmp_path)
    job = RunDescription("numbers-1", create_home(tmp_path), tmp_path, topology, packed(topology, 2))
    job.save()
    return job


def test_the_directory_and_the_key_are_the_owners_alone(job: RunDescription) -> None:
    assert stat.S_IMODE(job.home.stat().st_mode) == 0o700
    assert stat.S_IMODE((job.home / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE((job.home / "topology").stat().st_mode) == 0o600


def test_what_was_saved_is_loaded(job: RunDescription) -> None:
    loaded = load_description(job.home)
    assert (loaded.id, loaded.packing, loaded.topology.name) == (job.id, job.packing, "numbers")
    assert loaded.topology.tasks() == job.topology.tasks()
    assert [part.outputs for part in load_program(job.home).components] == [
        part.outputs for part in loaded.topology.components
    ]


def test_each_process_has_a_title_of_its_own(job: RunDescription) -> None:
    tasks = {task.id: f"{task.component}[{task.index}]" for task in job.tasks_in(1)}
    titles = [job.title(1, name) for name in mains(job, 1)]
    assert titles[:2] == [f"ouzel: numbers · container 1 · {name}" for name in ("stream-manager", "metrics-manager")]
    assert titles[2:] == [f"ouzel: numbers · container 1 · instance {shown}" for shown in tasks.values()]
    assert job.title(0, "topology-master") == "ouzel: numbers · container 0 · topology-master"


def test_a_changed_description_is_refused_before_it_is_unpickled(job: RunDescription) -> None:
    for name, load in (("topology", load_description), ("program", load_program)):
        path = job.home / name
        path.write_bytes(path.read_bytes()[:32] + b"cos\nsystem\n(S'touch /tmp/owned'\ntR.")
        with pytest.raises(TopologyError, match="its signature is wrong; submit it again"):
            load(job.home)


def test_a_description_of_another_version_of_ouzel_says_so(job: RunDescription) -> None:
    job.sign("topology", b"couzel.errors\nGoneSince\n.")
    with pytest.raises(TopologyError, match=r"written by another version of Ouzel \(.*GoneSince.*submit it again"):
        load_description(job.home)


def test_a_file_of_the_job_is_not_taken_for_the_other(job: RunDescription) -> None:
    (job.home / "program").replace(job.home / "topology")
    with pytest.raises(TopologyError, match="its signature is wrong"):
        load_description(job.home)


_read: list[str] = []


def note(text: str) -> None:
    _read.append(text)


class Imports:
    """Something of the user's: to read it is to run what its module does."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return note, ("read",)


def test_what_forks_reads_nothing_of_the_users(job: RunDescription) -> None:
    """Server and executors fork: a thread of Arrow or Polars that a module of the user's starts would not come along."""
    first, second, *others = job.topology.components
    link = replace(second.inputs[0], grouping=Grouping(GroupingKind.CUSTOM, chooser=Imports()))
    components = (replace(first, user=Imports()), replace(second, inputs=(link,), user=Imports()), *others)
    replace(job, topology=replace(job.topology, components=components)).save()
    load_description(job.home)
    assert not _read
    load_program(job.home)
    assert _read == ["read"] * 3


def test_what_no_process_can_import_is_told(
    job: RunDescription, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that raises was told to be put where Python finds it, and the line was not told."""
    module = types.ModuleType("nowhere")
    exec("class Numbers: pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "nowhere", module)
    first, *others = job.topology.components
    replace(job, topology=replace(job.topology, components=(replace(first, user=module.Numbers()), *others))).save(
        [str(tmp_path)]
    )
    monkeypatch.delitem(sys.modules, "nowhere")
    monkeypatch.setattr(sys, "path", sys.path)
    told = r"cannot load what the program defines: ModuleNotFoundError: No module named 'nowhere'; define it in"
    with pytest.raises(TopologyError, match=told):
        load_program(job.home)
    (tmp_path / "nowhere.py").write_text("\nassert __name__ == '__main__', 'only alone'\n")
    importlib.invalidate_caches()
    told = rf"AssertionError: only alone \(at {tmp_path / 'nowhere.py'}:2\); each task imports the program's modules by itself"
    with pytest.raises(TopologyError, match=told):
        load_program(job.home)


def test_another_key_is_refused(job: RunDescription) -> None:
    (job.home / "key").write_bytes(b"x" * 32)
    with pytest.raises(TopologyError, match="its signature is wrong"):
        load_description(job.home)


def test_a_key_that_others_can_read_is_refused(job: RunDescription) -> None:
    (job.home / "key").chmod(0o644)
    with pytest.raises(TopologyError, match="can be read by others; run `chmod 600"):
        load_description(job.home)


def test_no_description_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"there is no topology in .*: No such file or directory"):
        load_description(tmp_path)


def test_who_feeds_whom_and_who_is_last(job: RunDescription) -> None:
    assert job.placement.feeders() == {1: (), 2: (), 3: (1, 2), 4: (1, 2), 5: (3, 4)}
    assert job.placement.sinks() == {5}
    assert job.placement.places() == {1: 1, 2: 2, 3: 1, 4: 2, 5: 1}


def test_a_directory_too_deep_for_sockets_is_refused(tmp_path: Path) -> None:
    check_room(Path("/tmp"))
    with pytest.raises(TopologyError, match="has too long a path for Unix sockets; set TMPDIR to a shorter one"):
        check_room(tmp_path / ("deep" * 30))
    with pytest.raises(TopologyError, match=r"/caf\\xe9 is not UTF-8; set TMPDIR to another"):
        check_room(Path(os.fsdecode(b"/caf\xe9")))


class Tells(BasicBolt):
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        (self.directory / "told").write_text(os.environ["OUZEL_SECRET_T_PASSWORD"])
        return []


@pytest.mark.server
def test_secrets_of_a_query_reach_tasks_by_their_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = TopologyBuilder("tells")
    builder.set_spout("numbers", Numbers(1, tmp_path), schema(n=int))
    builder.set_bolt("tells", Tells(tmp_path)).shuffle_grouping("numbers")
    topology = builder.build()
    warm.prepare()
    monkeypatch.setenv("OUZEL_SECRET_T_PASSWORD", "hunter2")
    handle = start_heron(topology, packed(topology), tmp_path)
    files = [path.read_bytes() for path in handle.job.home.rglob("*") if path.is_file()]
    while not handle.wait(1.0):
        pass
    assert (tmp_path / "told").read_text() == "hunter2"
    assert not any(b"hunter2" in text for text in files)


HOLDS = """
import os, sys
from dataclasses import replace
from pathlib import Path
from ouzel.runtime.process.job import create_home, hold
home = create_home(Path(sys.argv[1]))
if os.fork() == 0:
    hold(home)  # as the server does
os.write(1, f"{home}\\n".encode())  # at once, for both write here
sys.stdin.read()
"""


def test_a_job_directory_is_removed_when_nobody_lives_who_holds_it(tmp_path: Path) -> None:
    (tmp_path / "ouzel-of-others").mkdir()
    ours = create_home(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        homes = {Path(client.stdout.readline().strip()) for _ in range(2)}
        (theirs,) = homes
        client.kill()
        client.wait()
        remove_abandoned(tmp_path)
        assert theirs.is_dir(), "what the client started holds it still"
        assert client.stdin is not None
        client.stdin.close()
        with (theirs / "held").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # waits until it has ended, too
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([ours, tmp_path / "ouzel-of-others"])
    remove_home(ours)
    assert not ours.exists()


@pytest.mark.parametrize("name", ["topology-master", "stream-manager", "instance-1"])
def test_only_the_topology_master_ends_the_topology_by_its_exit_code(
    job: RunDescription, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A task whose function was a program that exits with 3 ended the run, "from outside"."""
    job.container(1).mkdir()
    executor = Executor(job, 1, os.getpid(), 0)
    monkeypatch.setattr(executor, "_end_children", lambda name: None)
    monkeypatch.setattr(executor._machine, "on_exited", lambda name, words, now: None)
    child = subprocess.Popen([sys.executable, "-S", "-c", "raise SystemExit(3)"])
    executor._pidfds[name] = os.pidfd_open(child.pid)
    select.select([executor._pidfds[name]], [], [])
    assert executor._reap() == (name == "topology-master")


def test_an_executor_lives_however_long_its_processes_take_to_start(
    job: RunDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server kills one that shows no life; with dozens of processes and a busy machine all starts together take long."""
    job.container(1).mkdir()
    executor, at = Executor(job, 1, os.getpid(), 0), 0.0
    monkeypatch.setattr("ouzel.runtime.process.life.time.monotonic_ns", lambda: round(at))
    monkeypatch.setattr("ouzel.runtime.process.executor.os.fork", os.getpid)
    for name in mains(job, 1):
        at += 6e9
        executor._carry_out([Start(name, 0)])
        assert executor._heartbeats.last(EXECUTOR_SLOT) == (at / 1e6, False)


DIES_BEFORE_THE_NOTE = """
import os, signal, sys
from pathlib import Path
from ouzel.runtime.process.executor import Executor
from ouzel.runtime.process.job import load_description
from ouzel.runtime.protocol.cluster.executor import SEE_LOG
from ouzel.runtime.protocol.cluster.supervision import Start
job = load_description(Path(sys.argv[1]))
executor = Executor(job, 1, os.getpid(), os.pipe()[0])
executor._mains["instance-1"] = lambda *_: print("works", flush=True)
executor._table.note = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
executor._carry_out([Start("instance-1", 0)])
"""


def test_a_process_that_its_executor_did_not_live_to_note_does_no_work(job: RunDescription) -> None:
    """The next executor starts what it does not find in the table: a task would be there twice."""
    job.container(1).mkdir()
    held, holds = os.pipe()
    executor = subprocess.Popen([sys.executable, "-c", DIES_BEFORE_THE_NOTE, str(job.home)], pass_fds=[holds])
    os.close(holds)
    assert os.read(held, 1) == b"", "both have ended"
    os.close(held)
    assert executor.wait() == -signal.SIGKILL
    assert (job.container(1) / "instance-1.log").read_text() == ""


@pytest.mark.parametrize("name", ["x" * 300, "日" * 100, "../../../a/b", 'a "b"\n'])
def test_a_run_has_a_name_that_a_file_can_have(tmp_path: Path, name: str) -> None:
    """The state manager keeps files under it: with a name of 250 letters the run would neither start nor end."""
    run = name_run(name, tmp_path / "ouzel-01234567")
    (tmp_path / run).mkdir()
    assert (tmp_path / run).parent == tmp_path
    assert run.endswith("-01234567")
    assert len(run.encode()) <= 109


def test_a_state_manager_that_is_not_there_is_told_of_before_anything_starts(tmp_path: Path) -> None:
    settings = Settings(state_manager="/var/state")
    topology = replace(numbers(tmp_path), settings=settings)
    with pytest.raises(TopologyError, match="there is no state manager '/var/state'; write local or zookeeper://"):
        start_heron(topology, packed(topology), tmp_path)


def test_a_reason_names_the_log_that_is_kept_by_its_new_name() -> None:
    logs = {"/tmp/ouzel-1/container-1/instance-2.log": Path("/tmp/ouzel-1-logs/container-1-instance-2.log")}
    assert name_log(f"'t': it died{SEE_LOG}{next(iter(logs))}", logs).endswith(f"died{SEE_LOG}{logs[next(iter(logs))]}")
    assert name_log(f"'t': it died{SEE_LOG}/tmp/ouzel-1/container-1/instance-3.log", logs) == "'t': it died"
    assert name_log("the disk is full", logs) == "the disk is full"

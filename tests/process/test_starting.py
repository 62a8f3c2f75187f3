"""Where processes start: standard streams that are closed, limits of the system, and a client whose own threads fail."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.errors import TopologyError
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.topology import Resources, Task
from ouzel.runtime import warm
from ouzel.runtime.cluster import calls
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import LocalScheduler
from ouzel.runtime.process import limits
from ouzel.runtime.process.results import ResultReader
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.house.source import ROOT
from tests.servers.waiting import wait_until

ENDLESS = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '100', 'fields.n.kind' = 'sequence');
SELECT n FROM numbers;
"""
PROGRAM = """
    import ouzel

    numbers = ouzel.query(
        "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.n.kind' = 'sequence'); SELECT n FROM t"
    )
    with ouzel.start(numbers) as run, open("answer", "w") as answer:
        answer.write(str([row["n"] for row in run]))
"""
TASKS = tuple(Task(number, "tasks", number) for number in range(30))
PLAN = PackingPlan((Container(1, TASKS[:20], Resources()), Container(2, TASKS[20:], Resources())))


@pytest.mark.server
@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", pytest.param("2>&-", marks=pytest.mark.whole)])
def test_a_program_with_closed_standard_streams_answers(closed: str, tmp_path: Path) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", textwrap.dedent(PROGRAM)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, timeout=120, check=False)
    assert ended.returncode == 0
    assert (tmp_path / "answer").read_text() == "[0, 1, 2]"


def test_a_server_that_has_ended_leaves_no_pipes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that starts run after run had two more files open with each, until they were collected."""
    pipe = subprocess.PIPE
    server = subprocess.Popen(["head", "-n", "1"], stdin=pipe, stdout=pipe)
    monkeypatch.setattr(warm, "_waiting", [server])
    scheduler = LocalScheduler()
    scheduler.on_kill()
    scheduler.on_kill()  # harmless
    assert server.returncode == 0
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdin.closed
    assert server.stdout.closed


def test_too_few_open_files_are_told_of_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {"now": (24, 50)}
    monkeypatch.setattr(resource, "getrlimit", lambda which: allowed["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda which, both: allowed.update(now=both))
    with pytest.raises(
        TopologyError, match="may have 50 files open here, and this topology needs 62; write `ulimit -n 1024`"
    ):
        limits.check_limits(PLAN)
    assert allowed["now"] == (50, 50)
    allowed["now"] = (24, resource.RLIM_INFINITY)
    limits.check_limits(PLAN)
    assert allowed["now"][0] == 62, "it allows itself what it may"


def test_too_few_processes_are_told_of_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (150, 150))
    monkeypatch.setattr(os, "geteuid", lambda: 65_533)  # nobody's
    told = "may have 150 processes and threads and has 0, and this topology needs 185 more; raise the limit"
    with pytest.raises(TopologyError, match=told):
        limits.check_limits(PLAN)


def _refuse(*arguments: object, **more: object) -> None:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def test_a_process_or_thread_that_cannot_be_had_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", _refuse)
    monkeypatch.setattr(subprocess, "Popen", _refuse)
    monkeypatch.setattr(
        threading.Thread, "start", lambda thread: (_ for _ in ()).throw(RuntimeError("can't start new thread"))
    )
    for begin in (limits.fork, warm._start, lambda: limits.start_thread(threading.Thread())):
        with pytest.raises(
            TopologyError, match=r"be started.*; raise the limit that `ulimit -u` shows, or run fewer tasks"
        ):
            begin()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[HeronHandle]:
    """A topology that does not end by itself, started when it is asked for."""
    handle = start(load_text(ENDLESS, tmp_path, "endless"))
    assert isinstance(handle, HeronHandle)
    yield handle
    handle.end()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "no space")])
def test_a_start_that_is_interrupted_leaves_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Its server waited for a command as long as somebody, as a notebook, kept the error."""
    begun: list[LocalScheduler] = []

    def interrupt(scheduler: LocalScheduler, plan: object) -> None:
        begun.append(scheduler)
        raise error

    monkeypatch.setattr(LocalScheduler, "on_schedule", interrupt)
    expected = TopologyError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as kept:
        start(load_text(ENDLESS, tmp_path, "endless"))
    assert kept.value is not None
    assert begun[0].has_ended()


def _reason(handle: HeronHandle) -> str:
    """Why it failed, as soon as it has."""
    wait_until(lambda: handle.wait(0.1) or handle.results() is None, 60)
    assert handle.status().state is RunState.FAILED
    return handle.status().reason


class _DeafStub:
    """gRPC where no thread can be started: calls never return."""

    called = threading.Event()

    def __init__(self, channel: object) -> None:
        pass

    def __getattr__(self, name: str) -> object:
        def call(*arguments: object, **more: object) -> None:
            self.called.set()
            threading.Event().wait()

        return call


@pytest.mark.server
@pytest.mark.alone
def test_the_end_of_the_server_is_noticed_by_a_client_that_hears_nothing(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(calls, "TopologyMasterStub", _DeafStub)
    handle = request.getfixturevalue("running")
    assert _DeafStub.called.wait(60)
    os.kill(handle._scheduler.pid, signal.SIGKILL)
    assert "ended from outside" in _reason(handle)


@pytest.mark.server
def test_a_client_that_hears_nothing_for_long_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(calls, "TopologyMasterStub", _DeafStub)
    monkeypatch.setattr("ouzel.runtime.cluster.client.SILENCE_S", 0.5)
    assert "not heard of" in _reason(request.getfixturevalue("running"))


@pytest.mark.server
def test_a_status_thread_that_fails_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    def fail(handle: HeronHandle) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(HeronHandle, "_watch", fail)
    assert "cannot be followed any more: [Errno 24] Too many open files" in _reason(request.getfixturevalue("running"))


@pytest.mark.server
def test_a_client_that_cannot_take_results_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    def fail(reader: ResultReader) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(ResultReader, "_accept", fail)
    assert "results cannot be taken any more: [Errno 24] Too many open files" in _reason(
        request.getfixturevalue("running")
    )

"""User code in real processes that kills its task at each row, and that starts processes which nobody ends."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from ouzel import Source
from ouzel.planner.api import RowBolt, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.process.executor import describe_end
from ouzel.runtime.process.life import start_time
from ouzel.runtime.run import RunState
from tests.process.test_quarantine import ROWS, Tens
from tests.process.topologies import packed
from tests.servers.waiting import wait_for_end, wait_until

pytestmark = pytest.mark.server


class AtOnce(Tens):
    """All numbers in one batch."""

    rows = ROWS


def work(begins: Connection) -> None:
    begins.send(True)
    threading.Event().wait()


class Hostile(RowBolt):
    """Writes down which processes it starts, and is killed where it should be."""

    fields = ("n",)

    def __init__(self, directory: Path, kills: bool) -> None:
        self.pids, self.kills = directory / "pids", kills

    def handle(self, n: int) -> list[tuple[int]]:
        if self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        if n == 0:
            started = [
                subprocess.Popen(["sleep", "1000"]).pid,
                subprocess.Popen(["sleep", "1000"], start_new_session=True).pid,
                self.fork(),
            ]
            self.end_worker()
            self.pids.write_text(" ".join(map(str, started)))
        return [(n,)]

    def end_worker(self) -> None:
        """As a pool of multiprocessing does when it is left: it waited for ever for a worker that SIGTERM did not end."""
        fork = get_context("fork")
        began, begins = fork.Pipe(duplex=False)
        worker = fork.Process(target=work, args=(begins,))
        worker.start()
        began.recv()
        worker.terminate()
        worker.join(10)
        assert worker.exitcode == -signal.SIGTERM

    def fork(self) -> int:
        child = os.fork()
        while not child:
            signal.pause()
        return child


def run(directory: Path, kills: bool) -> HeronHandle:
    builder = TopologyBuilder("hostile", Settings(heartbeat_ms=100))
    builder.set_spout("tens", AtOnce(), schema(n=int))
    builder.set_bolt("hostile", Hostile(directory, kills), schema(n=int)).shuffle_grouping("tens")
    topology = builder.build()
    return start_heron(topology, packed(topology), directory)


def test_what_a_function_has_started_ends_with_its_topology(tmp_path: Path) -> None:
    handle = run(tmp_path, kills=False)
    status = wait_for_end(handle)
    assert status.state is RunState.FINISHED, status
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    wait_until(lambda: not any(map(start_time, pids)))


def test_a_function_that_kills_its_task_at_each_row_ends_the_run_with_the_first(tmp_path: Path) -> None:
    """It died 13 times, and the run ended without a reason."""
    status = wait_for_end(run(tmp_path, kills=True))
    assert status.state is RunState.FAILED
    assert "this row ends the process of 'hostile' whenever it is handled (3 times" in status.reason
    assert '{"n": 0}' in status.reason
    assert status.restarts <= 5, "three deaths; a busy machine may cost more"


def test_a_crash_of_compiled_code_is_told_with_the_line_that_called_it() -> None:
    log = 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x7 (most recent call first):\n  File "/me/shop.py", line 9 in price\n'
    assert describe_end((os.CLD_DUMPED, signal.SIGSEGV), log) == "signal 11, in price (/me/shop.py:9)"
    assert describe_end((os.CLD_KILLED, signal.SIGKILL), log) == "signal 9"
    assert describe_end((os.CLD_EXITED, 3), "first\nlast words\n") == "exit code 3, last words"
    assert describe_end(None, log) == "it was another executor's child"


def kill_at_five(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_record_of_the_program_that_kills_its_task_costs_no_other() -> None:
    """All records of `Source.of` were one row, and went together."""
    with Source.of(range(12)).map(kill_at_five).start(error_policy="skip", heartbeat_ms=100) as run:
        assert sorted(row["value"] for row in run) == [*range(5), *range(6, 12)]
        (bad,) = [event.text for event in run.status().events if event.kind == "bad-record"]
    assert bad.startswith("records[5]: this row ends the process of 'records', which calls Source.of records")

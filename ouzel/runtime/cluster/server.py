"""The warm server of the local scheduler: it has imported everything heavy once, and forks the executors, which fork their processes.

It is a process of its own, started by the client, because a process that has used Polars, Arrow or gRPC must not fork: their threads
would not come along. It obeys lines on its standard input and ends everything when that closes, for then the client is gone; a detached
topology is ended by its topology master alone, a submitted one by commands too (see submitted/keeper.py).
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import time
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ouzel.connectors import load_function, reads_of, writes_of
from ouzel.connectors.formats import import_kernels
from ouzel.descriptors import allow_files, open_standard_descriptors
from ouzel.errors import ConnectorError, OuzelError
from ouzel.runtime.cluster.submitted.keeper import Keeper
from ouzel.runtime.process.executor import EXECUTOR_SLOT, Executor
from ouzel.runtime.process.job import RunDescription, hold, load_description
from ouzel.runtime.process.life import (
    Heartbeats,
    adopt_orphans,
    become,
    die_with_parent,
    has_ended,
    now_ms,
    show_as,
    wake_with_parent,
)
from ouzel.runtime.process.limits import files_needed, fork
from ouzel.runtime.process.usage import read_usage
from ouzel.runtime.protocol.cluster.supervision import GiveUp, Kill, Start, Supervision, SupervisionInstruction

TOPOLOGY_ENDED, CANNOT_GO_ON = 3, 4
"""Exit codes of an executor; with the second it leaves a reason."""

_REASON_BYTES = 4_000
_LOOK_MS = 100.0
_FAREWELL_S = 3.0


def warm_up() -> None:
    """Import what the processes of a container need, without using any of it."""
    gc.disable()  # nothing that is imported goes away: to look for garbage meanwhile takes a seventh of the time
    import google.protobuf
    import grpc
    import grpc._interceptor  # which gRPC imports when the first server is made, as the next
    import grpc._server
    import numba
    import polars
    import pyarrow.ipc

    import ouzel.runtime.process.instance_process
    import ouzel.runtime.process.metrics_manager
    import ouzel.runtime.process.stream_manager
    import ouzel.runtime.process.topology_master
    import ouzel.runtime.tasks.compiled
    import ouzel.runtime.tasks.factory
    import ouzel.runtime.tasks.in_flight
    import ouzel.runtime.tasks.journal
    import ouzel.runtime.wire.frames
    import ouzel.runtime.wire.wire_pb2_grpc
    from ouzel.compiler.functions import families
    from ouzel.runtime.wire import views

    del google, grpc, numba, polars, pyarrow, ouzel
    families()
    views.load_kernels()
    gc.freeze()
    gc.enable()


def load_connectors(tables: Iterable[Mapping[str, Any]]) -> None:
    """Import what this topology reads and writes with, as far as it is ours: once, and not in each task and whenever one starts again.

    A table is its `connector`, its `options` and whether it is one that `reads`. What cannot be imported the task will say that needs it.
    """
    for table in tables:
        connector, reads = table["connector"], table["reads"]
        with contextlib.suppress(ConnectorError):
            path = reads_of(connector, "").source if reads else writes_of(connector, "").sink
            if path:
                load_function(connector, path)
            if reads:
                import_kernels(table["options"])


class Server:
    """Keeps one executor running for each container of one job."""

    def __init__(self) -> None:
        self._job: RunDescription | None = None
        self._executors: dict[int, int] = {}
        self._reasons: dict[int, int] = {}
        self._supervision = Supervision((), 0.0)
        self._heartbeats: dict[int, Heartbeats] = {}
        self._ended = self._client_gone = self._told_to_end = False
        self._keeper: Keeper | None = None
        self._reason = ""
        self._buffer = b""
        self._lifeline, self._end_of_lifeline = os.pipe()
        """Processes hold the first, this one alone the second: when it is gone, so are they."""

    def run(self) -> None:
        """Until the client is gone or says so, or the topology has ended, or cannot go on: then its output says why."""
        adopt_orphans()
        poller = select.poll()
        poller.register(0, select.POLLIN)
        while not self._ended:
            told = poller.poll(_LOOK_MS if self._job else None)
            try:
                if told and not self._obey():
                    poller.unregister(0)
                    self._client_gone = True
                    self._ended = self._ended or self._job is None or not self._job.detached
                self._look_after()
            except (OuzelError, OSError) as error:
                self._give_up(str(error))
        self._end_all()

    def _obey(self) -> bool:
        """Carry out the commands that have arrived; False when there will be no more."""
        text = os.read(0, 65536)
        *lines, self._buffer = (self._buffer + text).split(b"\n")
        for line in lines:
            command = json.loads(line)
            match command["do"]:
                case "schedule":
                    self._schedule(command)
                case "kill":
                    self._end()
                case "restart":
                    self._restart(command["container"])
        return bool(text)

    def _schedule(self, command: Mapping[str, Any]) -> None:
        os.environ.update(command["secrets"])
        self._job = load_description(Path(command["home"]))
        allow_files(files_needed(self._job.packing))
        show_as("ouzel-server", f"ouzel: {self._job.topology.name} · server")
        hold(self._job.home)
        load_connectors(command["tables"])
        if "keeper" in command:
            self._keeper = Keeper(command["keeper"], self._job)
        self._supervision = Supervision(map(str, command["containers"]), self._job.topology.settings.hang_timeout_ms)

    def _end(self) -> None:
        self._ended = self._told_to_end = True

    def _restart(self, container: int) -> None:
        if (executor := self._executors.get(container)) is not None:
            os.kill(executor, signal.SIGTERM)

    def _look_after(self) -> None:
        """Kill executors that hang, and start those that have died, later and later; whose job directory is gone, all is over."""
        if self._job is None:
            return
        self._reap()
        if self._keeper is not None:
            self._keeper.look_after(self._end, self._restart)
        elif not self._job.home.is_dir():
            self._give_up("the job directory is gone")
        now = now_ms()
        for container, executor in self._executors.items():
            name, age_ms = str(container), now - self._heartbeats[container].last(EXECUTOR_SLOT)[0]
            if self._supervision.is_suspect(name, age_ms, now):
                self._carry_out(self._supervision.on_silence(name, age_ms, now, read_usage(executor)))
        if not self._ended:
            self._carry_out(self._supervision.tick(now))

    def _carry_out(self, instructions: Iterable[SupervisionInstruction]) -> None:
        for instruction in instructions:
            match instruction:
                case Start(name):
                    self._start(int(name))
                case Kill(name):
                    os.kill(self._executors[int(name)], signal.SIGKILL)
                case GiveUp(name, reason):
                    self._give_up(f"the executor of container {name} cannot be kept running: {reason}")

    def _give_up(self, reason: str) -> None:
        if not self._ended:
            self._ended, self._reason = True, reason
            with contextlib.suppress(OSError):  # nobody reads it
                os.write(1, reason.encode())

    def _start(self, container: int) -> None:
        assert self._job is not None
        directory = self._job.container(container)
        directory.mkdir(mode=0o700, exist_ok=True)
        self._heartbeats[container] = heartbeats = Heartbeats(directory / "heartbeats")
        heartbeats.beat(EXECUTOR_SLOT)
        server = os.getpid()
        reasons, reason = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        pid = fork()
        if pid == 0:
            os.close(self._end_of_lifeline)
            os._exit(_executor(self._job, container, server, self._lifeline, reason))
        os.close(reason)
        self._executors[container], self._reasons[container] = pid, reasons

    def _reap(self) -> None:
        """Note which executors have ended; an adopted process that has needs only to be reaped."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            container = next((one for one, executor in self._executors.items() if executor == pid), None)
            if container is not None:
                self._on_exit(container, os.waitstatus_to_exitcode(status))

    def _on_exit(self, container: int, code: int) -> None:
        del self._executors[container]
        reason = b""
        with contextlib.suppress(BlockingIOError):  # its children live, and hold the other end
            reason = os.read(self._reasons[container], _REASON_BYTES)
        os.close(self._reasons.pop(container))
        self._supervision.on_exited(str(container), now_ms())
        if code == TOPOLOGY_ENDED:
            self._ended = True
        elif code == CANNOT_GO_ON:
            self._give_up(reason.decode(errors="replace"))

    def _end_all(self) -> None:
        """End all containers; the processes of an executor that does not obey go with this one, which they watch."""
        pidfds = {pid: os.pidfd_open(pid) for pid in self._executors.values()}
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in pidfds:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            deadline = time.monotonic() + _FAREWELL_S
            while not all(map(has_ended, pidfds.values())) and time.monotonic() < deadline:
                time.sleep(_LOOK_MS / 1e4)
        end_children()
        if self._keeper is not None:
            self._keeper.on_ended(self._reason, was_told=self._told_to_end)
        elif self._job is not None and (self._client_gone or self._is_client_leaving()):
            shutil.rmtree(self._job.home, ignore_errors=True)

    def _is_client_leaving(self) -> bool:
        """Whether the client is gone now, or goes without the `kill` that says that it clears away by itself."""
        poller = select.poll()
        poller.register(0, select.POLLIN)
        if not poller.poll(0 if self._told_to_end else _FAREWELL_S * 1e3):
            return False
        return b"kill" not in os.read(0, 65536)


def end_children() -> None:
    """Kill all that is left below this process, which has adopted whatever a task's code has detached from it."""
    deadline = time.monotonic() + _FAREWELL_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(_LOOK_MS / 1e4)
        except ChildProcessError:
            return


def _executor(job: RunDescription, container: int, server: int, lifeline: int, reason: int) -> int:
    """What a forked child does: its exit code. Why it cannot go on it writes to the pipe `reason`, for the disk may be full."""
    try:
        die_with_parent()
        become(f"executor-{container}", job.title(container, "executor"), job.container(container) / "executor.log")
        return Executor(job, container, server, lifeline).run()
    except (OuzelError, OSError) as error:
        os.write(reason, str(error).encode()[:_REASON_BYTES])
        return CANNOT_GO_ON
    except BaseException:
        traceback.print_exc()
        return 1


def main() -> None:
    """The server's main function."""
    open_standard_descriptors()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wake_with_parent()
    warm_up()
    Server().run()

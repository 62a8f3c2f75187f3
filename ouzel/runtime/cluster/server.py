"""The warm server of the local scheduler: it has imported everything heavy once, and forks the executors, which fork their processes.

It is a process of its own, started by the client, because a process that has used Polars, Arrow or gRPC must not fork: their threads
would not come along. It obeys lines on its standard input and ends everything when that closes, for then the client is gone; a detached
topology is ended by its topology master alone.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import sys
import time
from pathlib import Path

from ouzel.runtime.process.executor import EXECUTOR_SLOT, Executor
from ouzel.runtime.process.job import Job, load_job
from ouzel.runtime.process.life import Heartbeats, adopt_orphans, become, die_with_parent, has_ended

TOPOLOGY_ENDED = 3
_LOOK_MS = 100.0
_FAREWELL_S = 3.0


def warm_up() -> None:
    """Import what instances need, without using any of it."""
    import google.protobuf
    import grpc
    import numba
    import polars
    import pyarrow.ipc

    import ouzel.runtime.tasks.compiled
    import ouzel.runtime.tasks.factory
    import ouzel.runtime.wire.frames
    import ouzel.runtime.wire.wire_pb2_grpc
    from ouzel.runtime.wire import views

    del google, grpc, numba, polars, pyarrow, ouzel
    views.warm_up()
    gc.freeze()


class Server:
    """Keeps one executor running for each container of one job."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._executors: dict[int, int] = {}
        self._heartbeats: dict[int, Heartbeats] = {}
        self._ended = self._client_gone = self._told_to_end = False
        self._buffer = b""

    def run(self) -> None:
        """Until the client is gone or says so, or the topology has ended."""
        adopt_orphans()
        poller = select.poll()
        poller.register(0, select.POLLIN)
        while not self._ended:
            for _ in poller.poll(_LOOK_MS if self._executors else None):
                if not self._obey():
                    poller.unregister(0)
                    self._client_gone = True
                    self._ended = self._job is None or not self._job.detached
            self._kill_the_hung()
            self._reap()
        self._end_all()

    def _obey(self) -> bool:
        """Carry out the commands that have arrived; False when there will be no more."""
        text = os.read(0, 65536)
        *lines, self._buffer = (self._buffer + text).split(b"\n")
        for line in lines:
            command = json.loads(line)
            match command["do"]:
                case "schedule":
                    sys.path.extend(path for path in command["path"] if path not in sys.path)
                    self._job = load_job(Path(command["home"]))
                    for container in command["containers"]:
                        self._start(container)
                case "kill":
                    self._ended = self._told_to_end = True
                case "restart":
                    os.kill(self._executors[command["container"]], signal.SIGTERM)
        return bool(text)

    def _start(self, container: int) -> None:
        assert self._job is not None
        directory = self._job.container(container)
        directory.mkdir(mode=0o700, exist_ok=True)
        self._heartbeats[container] = heartbeats = Heartbeats(directory / "heartbeats")
        heartbeats.beat(EXECUTOR_SLOT)
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                die_with_parent()
                become(f"executor-{container}", directory / "executor.log")
                code = Executor(self._job, container, server).run()
            finally:
                sys.stderr.flush()
                os._exit(code)
        self._executors[container] = pid

    def _kill_the_hung(self) -> None:
        for container, pid in self._executors.items():
            assert self._job is not None
            if self._heartbeats[container].age_ms(EXECUTOR_SLOT) > self._job.topology.settings.hang_timeout_ms:
                os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        """Start executors that died again; an adopted process that has ended needs only to be reaped."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            container = next((one for one, executor in self._executors.items() if executor == pid), None)
            if container is None:
                continue
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) == TOPOLOGY_ENDED:
                del self._executors[container]
                self._ended = True
            elif not self._ended:
                self._start(container)

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
        if self._job is not None and (self._client_gone or self._client_leaves()):
            shutil.rmtree(self._job.home, ignore_errors=True)

    def _client_leaves(self) -> bool:
        """Whether the client is gone now, or goes without the `kill` that says that it clears away by itself."""
        poller = select.poll()
        poller.register(0, select.POLLIN)
        if not poller.poll(0 if self._told_to_end else _FAREWELL_S * 1e3):
            return False
        return b"kill" not in os.read(0, 65536)


def main() -> None:
    """The server's main function."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up()
    Server().run()


if __name__ == "__main__":
    main()

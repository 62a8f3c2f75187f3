"""One warm server for all topologies of a run of tests: each start forks it, as it forks its executors, instead of importing all anew.

Servers that start by themselves, as users have them, are what the tests of the command line run.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_TEMPLATE = "import sys; sys.path.append(sys.argv[1]); from tests.servers.warm import serve; serve(int(sys.argv[2]))"
_REQUEST_BYTES = 1_000_000


class ForkedServer:
    """What `subprocess.Popen` of a server would be."""

    def __init__(self, pid: int, to_server: int, from_server: int) -> None:
        self.pid = pid
        self.stdin, self.stdout = os.fdopen(to_server, "wb"), os.fdopen(from_server, "rb")
        self._pidfd: int | None = None
        with suppress(ProcessLookupError):
            self._pidfd = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """0 when it has ended."""
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """0, once it has ended.

        Raises:
            subprocess.TimeoutExpired: it has not.
        """
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired("server", timeout or 0)
        return 0

    def kill(self) -> None:
        """Kill it, if it lives."""
        if self._pidfd is not None:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _has_ended(self, timeout: float | None) -> bool:
        if self._pidfd is not None and select.select([self._pidfd], [], [], timeout)[0]:
            os.close(self._pidfd)
            self._pidfd = None
        return self._pidfd is None


class WarmServers:
    """Forks servers of a process that has imported everything; that one ends with us."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-P", "-c", _TEMPLATE, root, str(theirs.fileno())]
        environment = {**os.environ, "POLARS_MAX_THREADS": "1", "GRPC_VERBOSITY": "NONE"}
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, start_new_session=True)
        theirs.close()

    def start(self) -> ForkedServer:
        """A new server, in a session of its own, with our environment and folder."""
        theirs_in, to_server = os.pipe()
        from_server, theirs_out = os.pipe()
        environment = {**os.environ, "POLARS_MAX_THREADS": "1", "GRPC_VERBOSITY": "NONE"}
        request = json.dumps({"environment": environment, "folder": os.getcwd()}).encode()
        socket.send_fds(self._control, [request + b"\n"], [theirs_in, theirs_out, 2])
        os.close(theirs_in)
        os.close(theirs_out)
        return ForkedServer(int(self._control.recv(100)), to_server, from_server)

    def close(self) -> None:
        """End it; servers that run go on."""
        self._control.close()
        self._process.wait()


def serve(number: int) -> None:
    """The template: warm up, and fork a server for each request, until the tests are gone."""
    from ouzel.runtime.cluster.server import warm_up
    from ouzel.runtime.process.life import show_as

    control = socket.socket(fileno=number)
    show_as(
        "ouzel-warm", "ouzel: what servers are forked from"
    )  # finds its place before a fork has another environment
    warm_up()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    while True:
        request, files = b"", []
        while not request.endswith(b"\n"):
            text, more, *_ = socket.recv_fds(control, _REQUEST_BYTES, 3)
            if not text:
                return
            request, files = request + text, files + more
        pid = os.fork()
        if pid == 0:
            control.close()
            _become_server(json.loads(request), files)
        for file in files:
            os.close(file)
        control.send(str(pid).encode())


def _become_server(request: dict[str, object], files: list[int]) -> None:
    from ouzel.runtime.cluster.server import Server

    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for target, file in enumerate(files):
            os.dup2(file, target)
            os.close(file)
        os.environ.clear()
        os.environ.update(request["environment"])  # type: ignore[call-overload]
        os.chdir(str(request["folder"]))
        Server().run()
        code = 0
    finally:
        os._exit(code)

"""One warm process for all topologies of a run of tests, and for commands: each start forks it, instead of importing all anew.

Commands and servers that start by themselves, as users have them, are what `tests/cli/test_processes.py` runs, and some others.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from weakref import finalize

_TEMPLATE = "import sys; sys.path.append(sys.argv[1]); from tests.servers.warm import serve; serve(int(sys.argv[2]))"
_REQUEST_BYTES = 1_000_000
_FILES = 1_024
"""No process of the tests has so many open when it forks."""


class ForkedServer:
    """What `subprocess.Popen` of a server would be."""

    def __init__(self, pid: int, to_server: int, from_server: int) -> None:
        self.pid = pid
        self.stdin, self.stdout = os.fdopen(to_server, "wb"), os.fdopen(from_server, "rb")
        self._pidfd: int | None = None
        with suppress(ProcessLookupError):
            self._pidfd = os.pidfd_open(pid)
            finalize(self, os.close, self._pidfd)  # not when it has ended: a thread that watches may be waiting on it

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
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _has_ended(self, timeout: float | None) -> bool:
        if self._pidfd is None:
            return True
        if not select.select([self._pidfd], [], [], timeout)[0]:
            return False
        with suppress(ChildProcessError):  # it is our child only where a command has forked it, and reaped once
            os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED)
        return True


class ForkedCommand:
    """What `subprocess.Popen` of `python -m ouzel` would be, with text."""

    def __init__(self, arguments: Sequence[str], pid: int, told: int, outputs: Sequence[int]) -> None:
        self.args, self.pid = arguments, pid
        self.returncode: int | None = None
        self._told = told
        self.stdout, self.stderr = (os.fdopen(file, encoding="utf-8") for file in outputs) if outputs else (None, None)

    def poll(self) -> int | None:
        """Its exit code, or the number of the signal that ended it, below 0; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The same, once it has ended.

        Raises:
            subprocess.TimeoutExpired: it has not.
        """
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
            self.returncode = int(os.read(self._told, 20))
            os.close(self._told)
        return self.returncode

    def communicate(self, timeout: float) -> tuple[str, str]:
        """All that it says, until it ends.

        Raises:
            subprocess.TimeoutExpired: it has not, and is killed.
        """
        assert self.stdout is not None
        assert self.stderr is not None
        with ThreadPoolExecutor(2) as readers, self.stdout, self.stderr:
            said = [readers.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            return said[0].result(), said[1].result()

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, if it runs."""
        self.send_signal(signal.SIGKILL)


class WarmServers:
    """Forks servers and commands of a process that has imported everything; that one ends with us."""

    running: ClassVar[WarmServers | None] = None
    """Those of this run of tests."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-P", "-c", _TEMPLATE, root, str(theirs.fileno())]
        environment = _of_server()
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, start_new_session=True)
        theirs.close()
        WarmServers.running = self

    def start(self) -> ForkedServer:
        """A new server, in a session of its own, with our environment and folder."""
        theirs_in, to_server = os.pipe()
        from_server, theirs_out = os.pipe()
        pid = self._ask({"environment": _of_server(), "folder": os.getcwd()}, [theirs_in, theirs_out, 2])
        os.close(theirs_in)
        os.close(theirs_out)
        return ForkedServer(pid, to_server, from_server)

    def command(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path | None = None,
        outputs: tuple[int, int] | None = None,
    ) -> ForkedCommand:
        """`python -m ouzel` with these arguments, no input, and the outputs that are given, or pipes."""
        told, tells = os.pipe()
        pipes = () if outputs else (os.pipe(), os.pipe())
        theirs = outputs or [pipe[1] for pipe in pipes]
        request = {"environment": {**environment}, "folder": str(folder or Path.cwd()), "arguments": [*arguments]}
        with open(os.devnull) as nothing:
            pid = self._ask(request, [nothing.fileno(), *theirs, tells])
        for file in (tells, *(pipe[1] for pipe in pipes)):
            os.close(file)
        return ForkedCommand(["ouzel", *arguments], pid, told, [pipe[0] for pipe in pipes])

    def _ask(self, request: dict[str, object], files: list[int]) -> int:
        socket.send_fds(self._control, [json.dumps(request).encode() + b"\n"], files)
        return int(self._control.recv(100))

    def close(self) -> None:
        """End it; servers that run go on."""
        WarmServers.running = None
        self._control.close()
        self._process.wait()


def _of_server() -> dict[str, str]:
    """The environment of a server that we start."""
    return {**os.environ, "POLARS_MAX_THREADS": "1", "GRPC_VERBOSITY": "NONE"}


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
            text, more, *_ = socket.recv_fds(control, _REQUEST_BYTES, 4)
            if not text:
                return
            request, files = request + text, files + more
        asked = json.loads(request)
        if "arguments" in asked:
            _import_commands()
        pid = os.fork()
        if pid == 0 and "arguments" in asked:
            _command(control, asked, files)
            return
        if pid == 0:
            _become_server(asked, files)
        for file in files:
            os.close(file)
        if "arguments" not in asked:
            control.send(str(pid).encode())


def _import_commands() -> None:
    import ouzel.cli.answer
    import ouzel.cli.main
    import ouzel.cli.run
    import ouzel.runtime.cluster.local
    import ouzel.runtime.operators.result_table

    del ouzel


def _command(control: socket.socket, asked: dict[str, object], files: list[int]) -> None:
    """In a fork: fork the command, and wait to tell how it ended; in that, return from the template when it has ended."""
    *streams, tells = files
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid:
        control.send(str(pid).encode())
        for file in streams:
            os.close(file)
        os.write(tells, str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
        os._exit(0)
    from ouzel.cli.main import main
    from ouzel.runtime import warm

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _take_over(asked, streams)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(file, mode, closefd=False) for file, mode in enumerate("rww"))
    sys.argv = ["ouzel", *asked["arguments"]]  # type: ignore[misc]
    warm._start = _fork_server  # type: ignore[assignment]
    sys.exit(main())


def _fork_server() -> ForkedServer:
    """In a command, which has only imported so far: a server of its own."""
    theirs_in, to_server = os.pipe()
    from_server, theirs_out = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become_server({"environment": _of_server(), "folder": os.getcwd()}, [theirs_in, theirs_out, os.dup(2)])
    os.close(theirs_in)
    os.close(theirs_out)
    return ForkedServer(pid, to_server, from_server)


def _take_over(request: dict[str, object], files: list[int]) -> None:
    """Have these files, and no others, and the environment and folder of who has asked."""
    for target, file in enumerate(files):
        os.dup2(file, target)
    os.closerange(len(files), _FILES)
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    os.chdir(str(request["folder"]))


def _become_server(request: dict[str, object], files: list[int]) -> None:
    from ouzel.runtime.cluster.server import Server

    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        _take_over(request, files)
        Server().run()
        code = 0
    finally:
        os._exit(code)

"""Spark's Python workers, forked from one process that has imported what they need: else each kind of worker imports it, in each session.

Spark runs `python -m pyspark.daemon KIND` for each of six kinds, which fork workers, and `python -m` of others for each streaming query.
Here that python is a script which asks a warm process to fork them. What else it is asked to run, and all if there is no warm process,
Python runs.
"""

from __future__ import annotations

import json
import os
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

IMPORTED = (
    "ouzel.dsl", "ouzel.spark.io.functions", "ouzel.spark.io.python_steps", "ouzel.spark.io.sink", "ouzel.spark.io.source",
    "ouzel.spark.streaming.source", "pandas", "pyspark.sql.worker.create_data_source", "pyspark.sql.worker.plan_data_source_read",
    "pyspark.worker",
)  # fmt: skip


class WarmWorkers:
    """A warm process, which imports nothing before it is first asked, and ends with us; `python` is what Spark is told to run.

    It is of an `interpreter`, which imports what is `imported`.
    """

    def __init__(self, interpreter: str = sys.executable, imported: Sequence[str] = IMPORTED) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ouzel-workers-")  # the path of a socket must be short
        place, self.python = (Path(self._folder.name) / name for name in ("socket", "python"))
        command = shlex.join([interpreter, "-I", "-S", __file__, str(place)])
        self.python.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        self.python.chmod(0o755)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place))
            listener.listen()
            listened = listener.fileno()
            started = [interpreter, "-P", __file__, str(listened), *imported]
            self._process = subprocess.Popen(
                started, stdin=subprocess.PIPE, pass_fds=[listened], start_new_session=True
            )

    def import_all(self) -> None:
        """Have all imported now, and not when Spark waits: it gives the processes beside a driver ten seconds to begin."""
        subprocess.run([self.python, "-m", "pyspark.install"], check=True)

    def close(self) -> None:
        """End it; what it has forked ends with its JVM."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


def serve(listener: socket.socket, imported: Sequence[str]) -> None:
    """Fork for each request, until the tests are gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    while 0 not in select.select([0, listener], [], [])[0]:
        for name in imported:
            import_module(name)
        connection, _ = listener.accept()
        text, files, *_ = socket.recv_fds(connection, 1 << 16, 3)
        while more := connection.recv(1 << 16):
            text += more
        if os.fork() == 0:
            listener.close()
            connection.send(str(os.getpid()).encode())
            run_module(json.loads(text), files)
        for file in (*files, connection.detach()):
            os.close(file)


def run_module(request: dict[str, object], files: list[int]) -> None:
    """Be what `python -m` is, with the files, environment and folder of who has asked; the connection stays open as long."""
    code = 1
    try:
        for target, file in enumerate(files):
            os.dup2(file, target)
            os.close(file)
        os.environ.clear()
        os.environ.update(request["environment"])  # type: ignore[call-overload]
        os.chdir(str(request["folder"]))
        sys.argv = list(request["arguments"])  # type: ignore[call-overload]
        beside = [] if os.environ.get("PYTHONSAFEPATH") else [os.getcwd()]
        sys.path[:0] = [*beside, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def ask(place: str, arguments: list[str]) -> None:
    """In what Spark has started: wait while the fork lives, and hand on that it is to end; if there is nobody to ask, be Python."""
    if arguments[0] == "-m" and arguments[1].startswith("pyspark."):
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.connect(place)
            wanted = {"arguments": arguments[1:], "environment": dict(os.environ), "folder": os.getcwd()}
            text = json.dumps(wanted).encode()
            sent = socket.send_fds(connection, [text], [0, 1, 2])
            connection.sendall(text[sent:])
            connection.shutdown(socket.SHUT_WR)
            if forked := connection.recv(20):
                signal.signal(signal.SIGTERM, lambda *_: os.kill(int(forked), signal.SIGTERM))
                connection.recv(1)
                return
    os.execv(sys.executable, [sys.executable, *arguments])


if __name__ == "__main__":
    if sys.argv[1].isdigit():
        serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
    else:
        ask(sys.argv[1], sys.argv[2:])

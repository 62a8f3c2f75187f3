"""Starting a warm server before it is needed. Imports nothing heavy itself, so that the server warms up while its client still compiles."""

from __future__ import annotations

import os
import subprocess
import sys

_waiting: list[subprocess.Popen[bytes]] = []


def prepare() -> None:
    """Start a server for the next topology on this machine, unless one waits already."""
    if not _waiting:
        _waiting.append(_start())


def take() -> subprocess.Popen[bytes]:
    """The server that was prepared, or a new one: it takes commands on its standard input (see cluster/server.py)."""
    return _waiting.pop() if _waiting else _start()


def _start() -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "POLARS_MAX_THREADS": os.environ.get("OUZEL_INSTANCE_THREADS", "1"),  # read when Polars is imported
        "GRPC_VERBOSITY": "NONE",
    }
    command = [sys.executable, "-m", "ouzel.runtime.cluster.server"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True)

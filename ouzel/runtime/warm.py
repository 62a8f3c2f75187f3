"""Starting a warm server before it is needed. Imports nothing heavy itself, so that the server warms up while its client still compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ouzel.descriptors import open_standard_descriptors
from ouzel.errors import TopologyError
from ouzel.runtime.process.limits import RAISE_LIMIT

_SERVER = "import sys; sys.path.append(sys.argv[1]); from ouzel.runtime.cluster.server import main; main()"
"""The command of a server. With -P, and our own folder last on the path, no module beside the user's data is imported."""

_waiting: list[subprocess.Popen[bytes]] = []


def prepare() -> None:
    """Start a server for the next topology on this machine, unless one waits already.

    Raises:
        TopologyError: no process can be started.
    """
    if not _waiting:
        open_standard_descriptors()
        _waiting.append(_start())


def take() -> subprocess.Popen[bytes]:
    """The server that was prepared, or a new one (see cluster/server.py): its input takes commands, its output says why it ended.

    Raises:
        TopologyError: no process can be started.
    """
    return _waiting.pop() if _waiting else _start()


def _start() -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "POLARS_MAX_THREADS": os.environ.get("OUZEL_INSTANCE_THREADS", "1"),  # read when Polars is imported
        "GRPC_VERBOSITY": "NONE",
    }
    command = [sys.executable, "-P", "-c", _SERVER, str(Path(__file__).parents[2])]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, start_new_session=True)
    except OSError as error:
        raise TopologyError(f"no process can be started: {error.strerror}; {RAISE_LIMIT}") from error

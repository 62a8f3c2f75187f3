"""A ZooKeeper ensemble on free ports, from the jars that come with PySpark."""

from __future__ import annotations

import shutil
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from tests.servers.process import free_port
from tests.servers.waiting import wait_until

_START_S, _LOOK_S = 120.0, 0.05


@dataclass
class ZooKeeper:
    """Servers on 127.0.0.1, each a JVM of about 130 MB. Use as a context manager."""

    directory: Path
    size: int = 1
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ports = [free_port() for _ in range(3 * self.size)]
        self.ports, self._quorum, self._election = (
            ports[part * self.size : (part + 1) * self.size] for part in range(3)
        )

    @property
    def hosts(self) -> str:
        """What a client connects to."""
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    @property
    def setting(self) -> str:
        """The value of the setting state.manager."""
        return f"zookeeper://{self.hosts}"

    def __enter__(self) -> ZooKeeper:
        try:
            for number in range(self.size):
                self.start(number)
            for number in range(self.size):
                self.mode(number, wait=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def start(self, number: int) -> None:
        """Start a server, or start it again with the data it has."""
        home = self.directory / f"zookeeper-{number}"
        (home / "data").mkdir(parents=True, exist_ok=True)
        (home / "data" / "myid").write_text(f"{number + 1}\n")
        (home / "zoo.cfg").write_text(self._configuration(number, home))
        alone = self.size == 1
        main = "org.apache.zookeeper.server." + ("ZooKeeperServerMain" if alone else "quorum.QuorumPeerMain")
        jars = Path(pyspark.__file__).parent / "jars" / "*"
        java = shutil.which("java")
        assert java is not None, "ZooKeeper needs a JDK 17 or newer"
        command = [
            java,
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            str(jars),
            main,
            str(home / "zoo.cfg"),
        ]
        with (home / "log").open("ab") as log:
            self.processes[number] = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self, number: int) -> None:
        """SIGKILL a server."""
        self.processes[number].kill()
        self.processes[number].wait()

    def leader(self) -> int:
        """The number of the server that leads (of several), once one does."""
        leaders: list[int] = []

        def look() -> bool:
            leaders.extend(number for number in range(self.size) if self.mode(number) in ("leader", "standalone"))
            return bool(leaders)

        wait_until(look, _START_S, lambda: "no ZooKeeper leads", _LOOK_S)
        return leaders[0]

    def mode(self, number: int, wait: bool = False) -> str:
        """What a server says it is: leader, follower, standalone; empty if it does not answer."""
        modes = [""]

        def look() -> bool:
            modes[:] = [self._ask(number).partition("Mode: ")[2].partition("\n")[0].strip()]
            if not modes[0] and wait:
                assert self.processes[number].poll() is None, self._log(number).read_text()[-2000:]
            return bool(modes[0])

        if wait:
            wait_until(look, _START_S, lambda: "ZooKeeper does not start", _LOOK_S)
        else:
            look()
        return modes[0]

    def _log(self, number: int) -> Path:
        return self.directory / f"zookeeper-{number}" / "log"

    def _ask(self, number: int) -> str:
        try:
            with socket.create_connection(("127.0.0.1", self.ports[number]), 10) as connection:
                connection.sendall(b"srvr")
                return b"".join(iter(lambda: connection.recv(4096), b"")).decode()
        except OSError:
            return ""

    def _configuration(self, number: int, home: Path) -> str:
        lines = [
            "tickTime=500",
            "initLimit=120",
            "syncLimit=40",
            f"dataDir={home / 'data'}",
            "clientPortAddress=127.0.0.1",
            f"clientPort={self.ports[number]}",
            "admin.enableServer=false",
            "4lw.commands.whitelist=*",
        ]
        if self.size > 1:
            members = enumerate(zip(self._quorum, self._election, strict=True), 1)
            lines += [f"server.{member}=127.0.0.1:{quorum}:{election}" for member, (quorum, election) in members]
        return "\n".join(lines) + "\n"

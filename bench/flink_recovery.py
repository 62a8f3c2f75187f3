"""What bench.recovery measures, on Flink 2.3: kill -9 of the process that counts, on the same machine. One JSON line for a run.

    python -m bench.flink_recovery HOME --keys 1000000 --kills 5 --backend rocksdb

The first run gets Flink's jars into the folder HOME with Maven, and compiles `bench/flink/Recovery.java`. A JobManager and three
TaskManagers of one slot each are real processes: one reads, one counts, and one waits for the next death, so that none has to be started.
It is set up for a fast recovery: checkpoints every three seconds, incremental ones with RocksDB, no wait before a restart, and heartbeats
every 200 ms, which find a dead process within some 0.4 s (the default is ten seconds). `first_s` and `beyond_s` mean what they do in
bench.recovery.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from bench.growth import LOOK_S, Growth, figures

HERE = Path(__file__).parent / "flink"
OPENED = (
    "lang",
    "util",
    "util.concurrent",
    "util.concurrent.atomic",
    "net",
    "io",
    "nio",
    "lang.reflect",
    "text",
    "time",
)
BETWEEN_S, START_S = 11.0, 120.0
MEGABYTE = 1 << 20
MANAGERS = 3


def build(home: Path) -> None:
    """Get the jars and compile, unless that was done before."""
    if (home / "recovery.jar").exists():
        return
    classes = home / "classes"
    classes.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            "mvn",
            "-q",
            "-B",
            "-f",
            str(HERE / "pom.xml"),
            "dependency:copy-dependencies",
            f"-DoutputDirectory={home / 'lib'}",
        ],
        check=True,
    )
    subprocess.run(["javac", "-cp", f"{home / 'lib'}/*", "-d", str(classes), str(HERE / "Recovery.java")], check=True)
    subprocess.run(["jar", "cf", str(home / "recovery.jar"), "-C", str(classes), "."], check=True)


def free_ports(many: int) -> list[int]:
    """Ports of the loopback that nobody listens on."""
    with ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(many)]
        return [each.getsockname()[1] for each in sockets]


class Cluster:
    """A JobManager and TaskManagers, as processes of one folder."""

    def __init__(self, home: Path, folder: Path, heap_mb: int) -> None:
        self._home, self.folder, self._heap_mb = home, folder, heap_mb
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._managers = 0
        rpc, self.rest, blob = free_ports(3)
        (folder / "conf").mkdir()
        settings = {
            "jobmanager.rpc.address": "127.0.0.1",
            "jobmanager.rpc.port": rpc,
            "jobmanager.bind-host": "127.0.0.1",
            "jobmanager.memory.heap.size": "512m",
            "rest.address": "127.0.0.1",
            "rest.bind-address": "127.0.0.1",
            "rest.port": self.rest,
            "rest.bind-port": self.rest,
            "blob.server.port": blob,
            "heartbeat.interval": 200,
            "heartbeat.timeout": 5000,
            "taskmanager.host": "127.0.0.1",
            "taskmanager.bind-host": "127.0.0.1",
            "taskmanager.numberOfTaskSlots": 1,
            "io.tmp.dirs": folder,
            "taskmanager.cpu.cores": 1.0,
        }
        memory = {
            "framework.heap.size": 128, "framework.off-heap.size": 128, "network.max": 128, "network.min": 128, "managed.size": 512,
            "task.heap.size": heap_mb - 128, "task.off-heap.size": 0,
            "jvm-metaspace.size": 256, "jvm-overhead.max": 192, "jvm-overhead.min": 192,
        }  # fmt: skip
        settings |= {f"taskmanager.memory.{name}": f"{size * MEGABYTE}b" for name, size in memory.items()}
        (folder / "conf" / "config.yaml").write_text(
            "".join(f"{key}: {value}\n" for key, value in settings.items()), "utf-8"
        )

    def java(self, name: str, main: str, *arguments: str, heap: str = "512m") -> subprocess.Popen[bytes]:
        """Start a class of Flink, or ours."""
        opened = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in OPENED]
        classes = f"{self._home / 'recovery.jar'}:{self._home / 'lib'}/*"
        command = ["java", f"-Xmx{heap}", "-XX:MaxDirectMemorySize=512m", *opened, "-cp", classes, main, *arguments]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self._processes[process.pid] = process
        return process

    def start(self) -> None:
        """The JobManager and three TaskManagers."""
        entry = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
        self.java("jobmanager", entry, "--configDir", str(self.folder / "conf"))
        for _ in range(MANAGERS):
            self.add_manager()
        self.wait_for_managers(MANAGERS)

    def add_manager(self) -> None:
        """One more TaskManager."""
        self._managers += 1
        name = f"taskmanager-{self._managers}"
        arguments = ("--configDir", str(self.folder / "conf"), "-D", f"taskmanager.resource-id={name}")
        self.java(name, "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", *arguments, heap=f"{self._heap_mb}m")

    def wait_for_managers(self, many: int) -> None:
        """Until so many TaskManagers are there: one that still starts takes no work over."""
        deadline = time.monotonic() + START_S
        while len(self._ask("taskmanagers")["taskmanagers"]) < many:
            if time.monotonic() > deadline:
                raise SystemExit(f"no {many} TaskManagers within {START_S:g} s; their logs are in {self.folder}")
            time.sleep(0.2)

    def _ask(self, what: str) -> dict[str, Any]:
        try:
            with urlopen(f"http://127.0.0.1:{self.rest}/{what}", timeout=10) as answer:
                return dict(json.load(answer))
        except URLError:  # it starts
            return {what: []}

    def counting(self) -> int:
        """The process that counts now: the one that told of it last."""
        told = max(self.folder.glob("counted-*"), key=lambda path: path.stat().st_mtime_ns)
        return int(told.name.removeprefix("counted-"))

    def kill(self, pid: int) -> None:
        """Kill one of its processes."""
        os.kill(pid, signal.SIGKILL)
        self._processes.pop(pid).wait()

    def end(self) -> None:
        """Kill all."""
        for pid in list(self._processes):
            self.kill(pid)


def rows_counted(folder: Path, *, but: int = 0) -> int:
    """Up to which row of the source the process that told of it last has counted; 0 if only that one has."""
    told = [path for path in folder.glob("counted-*") if path.name != f"counted-{but}"]
    if not told:
        return 0
    newest = max(told, key=lambda path: path.stat().st_mtime_ns)
    lines = re.findall(rb"(\d+)\n", newest.read_bytes()[-64:])
    return int(lines[-1]) if lines else 0


def recover(cluster: Cluster) -> tuple[float, float]:
    """Kill, and wait: how long until rows were counted, and until there were rows that had not been before."""
    pid, counted = cluster.counting(), rows_counted(cluster.folder)
    for stale in cluster.folder.glob("counted-*"):
        if stale.name != f"counted-{pid}":
            stale.unlink()
    began = time.monotonic()
    cluster.kill(pid)
    growth = Growth(lambda: rows_counted(cluster.folder, but=pid))
    growth.wait()
    first = time.monotonic() - began
    if growth.last <= counted:
        growth.wait(beyond=counted)
    beyond = time.monotonic() - began
    return first, beyond


def measure(cluster: Cluster, rows: float, rate: int, kills: int) -> dict[str, float]:
    """Kill so many times, once so many rows have come."""
    deadline = time.monotonic() + START_S
    while not rows_counted(cluster.folder):
        if time.monotonic() > deadline:
            raise SystemExit(f"Flink has counted nothing within {START_S:g} s; its logs are in {cluster.folder}")
        time.sleep(LOOK_S)
    time.sleep(15.0)
    while rows_counted(cluster.folder) < rows:
        time.sleep(1.0)
    began, first = time.monotonic(), rows_counted(cluster.folder)
    time.sleep(5.0)
    rows_per_s = (rows_counted(cluster.folder) - first) / (time.monotonic() - began)
    took = []
    for _ in range(kills):
        took.append(recover(cluster))
        cluster.add_manager()
        cluster.wait_for_managers(MANAGERS)
        time.sleep(BETWEEN_S)
    first, beyond = zip(*took, strict=True)
    return {"rows_per_s": round(rows_per_s)} | figures("first", first) | figures("beyond", beyond)


def main() -> None:
    """Run once and print the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path, help="a folder for Flink's jars")
    parser.add_argument("--keys", type=int, default=1_000_000, help="distinct words")
    parser.add_argument("--fill", type=float, default=4, help="kill once so many times as many rows as keys have come")
    parser.add_argument("--heap", type=int, default=2048, help="MB of heap of a TaskManager")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--rate", type=int, default=500_000, help="words a second")
    parser.add_argument("--interval", type=int, default=3_000, help="milliseconds from checkpoint to checkpoint")
    parser.add_argument("--backend", choices=("hashmap", "rocksdb"), default="rocksdb", help="where state is kept")
    options = parser.parse_args()
    home = options.home.resolve()
    build(home)
    with tempfile.TemporaryDirectory(prefix="flink-recovery-", ignore_cleanup_errors=True) as name:
        cluster = Cluster(home, Path(name), options.heap)
        try:
            cluster.start()
            jar = str(home / "recovery.jar")
            given = (cluster.rest, name, options.keys, options.rate, options.interval, options.backend, jar)
            cluster.java("client", "Recovery", *map(str, given))
            measured = measure(cluster, options.fill * options.keys, options.rate, options.kills)
        finally:
            cluster.end()
    del options.home
    print(json.dumps({"engine": "flink", **vars(options)} | measured), flush=True)


if __name__ == "__main__":
    main()

"""How long after `kill -9` of Flink's task manager results come again, as bench/recovery.py --numbers has it. One JSON line for a run.

    mvn -q -B -f bench/peers/flink/pom.xml dependency:copy-dependencies -DoutputDirectory=LIB
    python -m bench.peers.flink_recovery --lib LIB --keys 1000000 --backend hashmap
    python -m bench.peers.flink_recovery --lib LIB --keys 1000000 --backend rocksdb

A job manager and two task managers of one slot each: the second one has nothing to do until the first is killed. Heartbeats come every
half second (every ten by default), and the job is started again without delay. `first_s` is until the task that was started again has
counted a number, `beyond_s` until it has counted one that nobody had counted before the kill.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

OPENED = (
    "java.lang",
    "java.util",
    "java.util.concurrent",
    "java.net",
    "java.io",
    "java.nio",
    "sun.nio.ch",
    "java.time",
)
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
WORKER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
LOOK_S, LIMIT_S, INTERVAL_S = 0.002, 300.0, 3.0
MB = 1 << 20


class Cluster:
    """A job manager, task managers, and one job that counts; all files are in `folder`."""

    def __init__(self, lib: Path, folder: Path, heap_mb: int) -> None:
        self._lib, self._folder, self._heap_mb = lib, folder, heap_mb
        self._processes: list[subprocess.Popen[bytes]] = []
        self._port = _free_port()
        self.told = folder / "told"
        self.told.write_bytes(bytes(24))
        (folder / "conf").mkdir()
        (folder / "conf/config.yaml").write_text(
            "".join(f"{key}: {value}\n" for key, value in self._settings().items())
        )
        self._start(MANAGER, "--configDir", str(folder / "conf"), heap_mb=512)
        self.add_worker()
        self.add_worker()

    def _settings(self) -> dict[str, object]:
        task_mb = self._heap_mb - 128
        return {
            "jobmanager.rpc.address": "127.0.0.1",
            "jobmanager.rpc.port": _free_port(),
            "jobmanager.bind-host": "127.0.0.1",
            "jobmanager.memory.heap.size": "512m",
            "rest.address": "127.0.0.1",
            "rest.bind-address": "127.0.0.1",
            "rest.port": self._port,
            "blob.server.port": _free_port(),
            "heartbeat.interval": 500,
            "heartbeat.timeout": 5_000,
            "io.tmp.dirs": self._folder,
            "taskmanager.host": "127.0.0.1",
            "taskmanager.bind-host": "127.0.0.1",
            "taskmanager.numberOfTaskSlots": 1,
            "taskmanager.cpu.cores": 1.0,
            "taskmanager.memory.framework.heap.size": f"{128 * MB}b",
            "taskmanager.memory.framework.off-heap.size": f"{128 * MB}b",
            "taskmanager.memory.task.heap.size": f"{task_mb * MB}b",
            "taskmanager.memory.task.off-heap.size": "0b",
            "taskmanager.memory.network.min": f"{64 * MB}b",
            "taskmanager.memory.network.max": f"{64 * MB}b",
            "taskmanager.memory.managed.size": f"{512 * MB}b",
            "taskmanager.memory.jvm-metaspace.size": f"{256 * MB}b",
            "taskmanager.memory.jvm-overhead.min": f"{192 * MB}b",
            "taskmanager.memory.jvm-overhead.max": f"{192 * MB}b",
        }

    def _start(self, main: str, *arguments: str, heap_mb: int) -> None:
        command = ["java", f"-Xmx{heap_mb}m", *OPENS, "-cp", f"{self._folder}/job.jar:{self._lib}/*", main, *arguments]
        log = self._folder / f"{len(self._processes)}.log"
        with log.open("wb") as file:
            self._processes.append(subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=self._folder))

    def add_worker(self) -> None:
        """Start one more task manager."""
        self._start(WORKER, "--configDir", str(self._folder / "conf"), heap_mb=self._heap_mb)

    def submit(self, **arguments: object) -> None:
        """Start the job, as soon as the job manager can be reached."""
        _wait(self._is_reached)
        given = {"told": self.told, "jar": self._folder / "job.jar", "port": self._port, **arguments}
        self._start("RunningCount", *(f"{key}={value}" for key, value in given.items()), heap_mb=256)

    def _is_reached(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
            return True
        return False

    def read(self) -> tuple[int, int, int]:
        """Of the task that counts: its process, how many numbers that has counted, and the largest."""
        pid, counted, largest = struct.unpack(">qqq", self.told.read_bytes())
        return pid, counted, largest

    def checkpoints(self) -> set[Path]:
        """The complete ones."""
        return set((self._folder / "checkpoints").glob("*/chk-*/_metadata"))

    def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.kill()
            process.wait()


def recover(cluster: Cluster) -> tuple[float, float]:
    """Kill the process that counts, and wait: until there is a result, and until there is one that nobody had before."""
    known = cluster.checkpoints()
    _wait(lambda: len(cluster.checkpoints() - known) > 1)
    pid, _, _ = cluster.read()
    os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    _, _, largest = cluster.read()  # the file outlives who has written it
    _wait(lambda: cluster.read()[0] != pid)
    first = time.monotonic() - began
    _wait(lambda: cluster.read()[2] > largest and cluster.read()[0] != pid)
    beyond = time.monotonic() - began
    cluster.add_worker()
    return first, beyond


def build(lib: Path, folder: Path) -> None:
    """Compile the job."""
    source, classes = Path(__file__).parent / "flink/RunningCount.java", folder / "classes"
    subprocess.run(["javac", "-nowarn", "-cp", f"{lib}/*", "-d", str(classes), str(source)], check=True)
    subprocess.run(["jar", "cf", str(folder / "job.jar"), "-C", str(classes), "."], check=True)


def _wait(reached: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not reached():
        if time.monotonic() > deadline:
            raise SystemExit(f"nothing came within {LIMIT_S:g} s")
        time.sleep(LOOK_S)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main() -> None:
    """Run once and print the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", type=Path, required=True, help="the folder of Flink's jars")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=100_000, help="numbers a second")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--backend", choices=("hashmap", "rocksdb"), default="hashmap")
    parser.add_argument("--heap", type=int, default=2_048, help="of a task manager, in MB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flink-") as name:
        folder = Path(name)
        build(options.lib.resolve(), folder)
        cluster = Cluster(options.lib.resolve(), folder, options.heap)
        try:
            incremental = "true" if options.backend == "rocksdb" else "false"
            chosen = {name: getattr(options, name) for name in ("keys", "rate", "backend")}
            where = {"checkpoints": f"file://{folder}/checkpoints", "interval": f"{INTERVAL_S:g} s"}
            cluster.submit(incremental=incremental, **chosen, **where)
            _wait(lambda: cluster.read()[2] > options.keys)
            took = [recover(cluster) for _ in range(options.kills)]
        finally:
            cluster.close()
    first, beyond = zip(*took, strict=True)
    line = {"engine": "flink", **chosen, "kills": options.kills}
    line |= {"first_s": round(statistics.median(first), 3), "first_max_s": round(max(first), 3)}
    line |= {"beyond_s": round(statistics.median(beyond), 3), "beyond_max_s": round(max(beyond), 3)}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

"""A standalone cluster of Spark on this machine, from the package of PySpark: a master and workers."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pyspark

from tests.servers.jvm import JVM
from tests.servers.process import free_port
from tests.servers.waiting import is_reached

HOME = Path(pyspark.__file__).parent
START_S = 240.0
LOGGED = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d %p %c: %m%n%ex
"""
"""What executors log: errors. What the Kafka source of an older Spark logs beside has keys that this one does not know."""


class StandaloneCluster:
    """Two cores, of one worker or of two; their executors start with `environment`."""

    def __init__(self, folder: Path, environment: Mapping[str, str], workers: int = 1) -> None:
        logging = folder / "log4j2.properties"
        logging.write_text(LOGGED)
        self._environment = {
            **environment,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Of executors too, and not in a folder of settings: with one on its class path a JVM maps no archive of classes.
            "JAVA_TOOL_OPTIONS": f"{JVM} -Dlog4j2.configurationFile={logging}",
        }
        self._processes: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        port, pages = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(pages))
        self._wait(f"http://127.0.0.1:{pages}/json/", b'"status"')
        size = ("-c", str(2 // workers), "-m", f"{2 // workers}g", "-d", str(folder))
        for _ in range(workers):
            self._start("worker.Worker", *size, "--webui-port", str(free_port()), self.url)
        self._wait(f"http://127.0.0.1:{pages}/json/", b'"ALIVE"', times=1 + workers)

    def _start(self, kind: str, *arguments: str) -> None:
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
        log = (self._folder / f"{kind}-{len(self._processes)}.log").open("wb")
        self._processes.append(
            subprocess.Popen(command, stdout=log, stderr=log, env=self._environment, cwd=self._folder)
        )

    def _wait(self, page: str, text: bytes, times: int = 1) -> None:
        def says_so() -> bool:
            with suppress(URLError, OSError):
                return urlopen(page, timeout=5).read().count(text) >= times
            return False

        if not is_reached(says_so, START_S, look_s=0.2):
            self.stop()
            raise AssertionError("\n".join(log.read_text()[-2000:] for log in self._folder.glob("*.log")))

    def executors(self) -> set[int]:
        """The processes that the workers have started for applications."""
        ours = {process.pid for process in self._processes}
        found = ((stat, stat.with_name("cmdline")) for stat in Path("/proc").glob("[0-9]*/stat"))
        return {
            int(stat.parent.name) for stat, command in found if _parent(stat) in ours and EXECUTOR in _bytes(command)
        }

    def stop(self) -> None:
        """End them."""
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait(120)


EXECUTOR = b"CoarseGrainedExecutorBackend"


def _bytes(path: Path) -> bytes:
    """What the kernel tells of a process; nothing if it has gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _parent(stat: Path) -> int:
    """The process that started it."""
    *_, fields = _bytes(stat).rpartition(b") ")
    return int(fields.split()[1]) if fields else 0

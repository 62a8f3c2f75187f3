"""Sends the metrics of all submitted topologies to Graphite, in its line protocol: `PATH VALUE TIME`, a line a value.

It reads the files of history that metrics managers write, as the pages do; so topologies do not notice it, and it may start later, end,
and be started again: samples of the time between are sent then, and what comes twice takes its own place in Graphite.
"""

from __future__ import annotations

import re
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.task_metrics import MetricsSample
from ouzel.runtime.process.metrics_file import MetricsReader

PORT = 2003
LINES_KEPT = 200_000
"""The most lines that wait while Graphite cannot be reached; the oldest are dropped first."""

AT_ONCE = 1_000
TIMEOUT_S = 10.0

Containers = Callable[[], Iterable[tuple[str, Path]]]
"""Gives the directory of each container, with the name of its topology."""

_STRANGE = re.compile(r"[^A-Za-z0-9_-]+")


def find_containers(registry: Registry) -> Iterator[tuple[str, Path]]:
    """The containers of all submitted topologies."""
    for name in registry.names():
        with suppress(OuzelError):
            record = registry.find(name)
            if record is not None:
                for folder in sorted(registry.folder(name).run(record.run).glob("container-*")):
                    yield name, folder


def format_lines(prefix: str, topology: str, sample: MetricsSample) -> list[str]:
    """The lines of a sample: PREFIX.TOPOLOGY.COMPONENT.INSTANCE.METRIC. What a path cannot have in it becomes `_`."""
    place = ".".join([prefix, *map(_word, (topology, sample.component, str(sample.instance)))])
    values = {**sample.counts, **sample.values}
    return [f"{place}.{_word(metric)} {value:.15g} {sample.time_s}\n" for metric, value in values.items()]


def _word(text: str) -> str:
    return _STRANGE.sub("_", text).strip("_") or "_"


class GraphiteSender:
    """Sends what has come, round by round.

    Args:
        containers: whose metrics these are.
        address: host and port of Graphite.
        prefix: begins each path.
    """

    def __init__(self, containers: Containers, address: tuple[str, int], prefix: str = "ouzel") -> None:
        self._containers, self._address, self._prefix = containers, address, prefix
        self._readers: dict[Path, MetricsReader] = {}
        self._waiting: deque[str] = deque(maxlen=LINES_KEPT)
        self._connection: socket.socket | None = None

    def send(self) -> int:
        """Send what has come since the last round, and what could not be sent then. Returns the number of lines.

        Raises:
            OSError: Graphite cannot be reached. What was to be sent waits.
        """
        self._collect()
        sent = 0
        try:
            while self._waiting:
                lines = list(islice(self._waiting, AT_ONCE))
                self._connect().sendall("".join(lines).encode())
                for _ in lines:
                    self._waiting.popleft()
                sent += len(lines)
        except OSError:
            self.close()
            raise
        return sent

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _collect(self) -> None:
        found = {folder: topology for topology, folder in self._containers()}
        self._readers = {folder: self._readers.get(folder) or MetricsReader(folder) for folder in found}
        for folder, reader in self._readers.items():
            for sample in reader.read():
                self._waiting.extend(format_lines(self._prefix, found[folder], sample))

    def _connect(self) -> socket.socket:
        """The connection; a new one if Graphite has closed the last: a write into that would be lost without a word."""
        if self._connection is not None and _is_closed(self._connection):
            self.close()
        if self._connection is None:
            self._connection = socket.create_connection(self._address, TIMEOUT_S)
        return self._connection


def _is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed it. Graphite sends nothing, so a readable socket is a closed one."""
    try:
        return connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True

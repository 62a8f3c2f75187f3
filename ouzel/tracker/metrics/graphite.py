"""Sends the metrics of all submitted topologies to Graphite, in its line protocol: `PATH VALUE TIME`, a line a value.

It reads the files of history that metrics managers write, as the pages do; so topologies do not notice it, and it may start later, end,
and be started again: samples of the time between are sent then, and what comes twice takes its own place in Graphite.
"""

from __future__ import annotations

import re
import socket
from collections import deque

from ouzel.runtime.observe.task_metrics import MetricsSample
from ouzel.tracker.metrics.new_samples import Containers, NewSamples, send_waiting

PORT = 2003
LINES_KEPT = 200_000
"""The most lines that wait while Graphite cannot be reached; the oldest are dropped first."""

AT_ONCE = 1_000
TIMEOUT_S = 10.0

_STRANGE = re.compile(r"[^A-Za-z0-9_-]+")


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
        self._samples, self._address, self._prefix = NewSamples(containers), address, prefix
        self._waiting: deque[str] = deque(maxlen=LINES_KEPT)
        self._connection: socket.socket | None = None

    def send(self) -> int:
        """Send what has come since the last round, and what could not be sent then. Returns the number of lines.

        Raises:
            OSError: Graphite cannot be reached. What was to be sent waits.
        """
        for topology, sample in self._samples.read():
            self._waiting.extend(format_lines(self._prefix, topology, sample))
        try:
            return send_waiting(self._waiting, AT_ONCE, lambda lines: self._connect().sendall("".join(lines).encode()))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

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

"""The metrics that come of all submitted topologies, for whoever sends them elsewhere.

They are read from the files of history that metrics managers write: topologies do not notice it, and a sender may start later, end, and be
started again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.task_metrics import MetricsSample
from ouzel.runtime.process.metrics_file import MetricsReader

T = TypeVar("T")

Containers = Callable[[], Iterable[tuple[str, Path]]]
"""Gives the directory of each container, with the name of its topology."""


def find_containers(registry: Registry) -> Iterator[tuple[str, Path]]:
    """The containers of all submitted topologies."""
    for name in registry.names():
        with suppress(OuzelError):
            record = registry.find(name)
            if record is not None:
                for folder in sorted(registry.folder(name).run(record.run).glob("container-*")):
                    yield name, folder


class NewSamples:
    """Gives each sample once."""

    def __init__(self, containers: Containers) -> None:
        self._containers = containers
        self._readers: dict[Path, MetricsReader] = {}

    def read(self) -> Iterator[tuple[str, MetricsSample]]:
        """What has come since the last time, each sample with the name of its topology."""
        found = {folder: topology for topology, folder in self._containers()}
        self._readers = {folder: self._readers.get(folder) or MetricsReader(folder) for folder in found}
        for folder, reader in self._readers.items():
            for sample in reader.read():
                yield found[folder], sample


def send_waiting(waiting: deque[T], at_once: int, send: Callable[[list[T]], object]) -> int:
    """Send what waits, so many at once, and let go of what is sent. Returns how many.

    Raises:
        OSError: `send` cannot do it; what it was to send waits.
    """
    sent = 0
    while waiting:
        some = list(islice(waiting, at_once))
        send(some)
        for _ in some:
            waiting.popleft()
        sent += len(some)
    return sent

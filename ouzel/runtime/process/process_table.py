"""Which processes a container has, in a file: an executor that is started again adopts those that still run instead of killing them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ouzel.errors import TopologyError
from ouzel.runtime.process.life import start_time, watch_process

_DEATHS_TOLD = 20


class ProcessEntry(NamedTuple):
    """A process: its pid, when it was started (so that a pid used again does not deceive), and how often it was started before."""

    pid: int
    started: int
    incarnation: int


@dataclass
class ProcessTable:
    """The table of one container; `read` it anew to see what another process has written."""

    directory: Path

    def __post_init__(self) -> None:
        self.entries: dict[str, ProcessEntry] = {}
        self.executors = 0
        self.failed = ""
        self.deaths: list[str] = []

    @property
    def _path(self) -> Path:
        return self.directory / "processes.json"

    def read(self) -> None:
        """What the file says; an empty table if there is none."""
        try:
            text = json.loads(self._path.read_text())
        except FileNotFoundError:
            return
        self.entries = {name: ProcessEntry(*entry) for name, entry in text["processes"].items()}
        self.executors, self.failed, self.deaths = text["executors"], text["failed"], text["deaths"]

    def write(self) -> None:
        """Put it into the file, whole or not at all.

        Raises:
            TopologyError: it cannot be written, so the executor after this one would not know what runs.
        """
        fresh = self._path.with_suffix(".new")
        text = {"processes": self.entries, "executors": self.executors, "failed": self.failed, "deaths": self.deaths}
        try:
            fresh.write_text(json.dumps(text))
            fresh.rename(self._path)
        except OSError as error:
            raise TopologyError(f"which processes run cannot be noted in {self._path}: {error.strerror}") from error

    def note(self, name: str, pid: int, incarnation: int) -> None:
        """A process has been started."""
        self.entries[name] = ProcessEntry(pid, start_time(pid), incarnation)

    def died(self, death: str) -> None:
        """A process was started again; only the first deaths are told, so that the file stays small."""
        self.deaths = [*self.deaths, death][:_DEATHS_TOLD]

    def running(self, name: str) -> int | None:
        """A pidfd of the process if it still runs."""
        entry = self.entries.get(name)
        if entry is None or start_time(entry.pid) != entry.started:
            return None
        return watch_process(entry.pid)

    def restarts(self) -> int:
        """How often processes of the container, its executor among them, were started again."""
        self.read()
        return sum(entry.incarnation for entry in self.entries.values()) + max(0, self.executors - 1)

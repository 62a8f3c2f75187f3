"""The table of a container's processes, as a file: a restarted executor adopts the processes that still run."""

from __future__ import annotations

import json
from pathlib import Path

from ouzel.errors import TopologyError
from ouzel.files import put_bytes
from ouzel.runtime.process.life import start_time, watch_process
from ouzel.runtime.protocol.cluster.processes import ProcessEntry, Processes


class ProcessTable(Processes):
    """The table of the container in `directory`; `read` it anew to see what another process has written."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.path = directory / "processes.json"
        self._mark: tuple[int, int, int] | None = None

    def read(self) -> None:
        """What the file says; an empty table if there is none."""
        try:
            text = json.loads(self.path.read_text())
        except FileNotFoundError:
            return
        self.entries = {name: ProcessEntry(*entry) for name, entry in text["processes"].items()}
        self.executors, self.failed, self.deaths = text["executors"], text["failed"], text["deaths"]
        self.begins = text.get("begins", {})

    def read_if_changed(self) -> None:
        """The same for whoever reads often and changes nothing: only if it is another file, or was written since."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return
        mark = stat.st_mtime_ns, stat.st_ino, stat.st_size
        if mark != self._mark:
            self.read()
            self._mark = mark

    def write(self) -> None:
        """Put it into the file, whole or not at all.

        Raises:
            TopologyError: it cannot be written, so the next executor would not know what runs.
        """
        text = {
            "processes": self.entries,
            "executors": self.executors,
            "failed": self.failed,
            "deaths": self.deaths,
            "begins": self.begins,
        }
        try:
            put_bytes(self.path, json.dumps(text).encode())
        except OSError as error:
            raise TopologyError(f"which processes run cannot be noted in {self.path}: {error.strerror}") from error

    def is_running(self, name: str) -> bool:
        """Whether the process runs."""
        entry = self.entries.get(name)
        return entry is not None and start_time(entry.pid) == entry.started

    def find_running(self, name: str) -> int | None:
        """A pidfd of the process if it still runs."""
        return watch_process(self.entries[name].pid) if self.is_running(name) else None

    def restarts(self) -> int:
        """How often processes of the container were started again, as the file says now."""
        self.read()
        return self.count_restarts()

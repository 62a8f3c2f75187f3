"""Which partitions a source at rest has: found by the task that asks first, and the same for all tasks of the run, whenever they start.

They are dealt by their places in the list. Where each task looked for itself, a file that came meanwhile shifted the places of others: some
were read by two tasks, and others by none.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Protocol

from ouzel.connectors.reading import Partition
from ouzel.errors import TopologyError
from ouzel.runtime.protocol.ids import name_id

Finds = Callable[[], Sequence[Partition]]
"""Looks for the partitions of a source."""


class FoundOnce(Protocol):
    """What the first task of each component has found."""

    def once(self, component: str, find: Finds) -> Sequence[Partition]:
        """The partitions that are read in this run."""


class FoundInMemory:
    """For tasks of one process."""

    def __init__(self) -> None:
        self._known: dict[str, Sequence[Partition]] = {}

    def once(self, component: str, find: Finds) -> Sequence[Partition]:
        if component not in self._known:
            self._known[component] = find()
        return self._known[component]


def found_name(component: str) -> str:
    """What the file is called that says what a component has found."""
    return f"found-{name_id(component):x}"


class FoundInFiles:
    """For tasks of several processes: a file for each component, which gets its name when it is whole, and once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def once(self, component: str, find: Finds) -> Sequence[Partition]:
        """The partitions that are read in this run.

        Raises:
            TopologyError: they cannot be noted.
        """
        path = self._folder / found_name(component)
        if not path.exists():
            self._note(path, find())
        return [Partition(*fields) for fields in json.loads(path.read_bytes())]

    def _note(self, path: Path, found: Sequence[Partition]) -> None:
        fresh = path.with_name(f"{path.name}-{os.getpid()}")
        try:
            fresh.write_text(json.dumps([astuple(partition) for partition in found]))
            with contextlib.suppress(FileExistsError):  # another task was faster
                os.link(fresh, path)
            fresh.unlink()
        except OSError as error:
            raise TopologyError(f"which partitions are read cannot be noted in {path}: {error.strerror}") from error

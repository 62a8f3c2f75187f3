"""What the task of a source that asks first has found, and what is the same for all tasks of the run, whenever they start.

The partitions of a source at rest are dealt by their places in the list. Where each task looked for itself, a file that came meanwhile
shifted the places of others: some were read by two tasks, and others by none.

What a source had committed before the run began is where the run begins again when all go back to its beginning, whatever it has committed
since then.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Protocol

from ouzel.connectors.reading import Committed, Partition
from ouzel.errors import TopologyError
from ouzel.runtime.protocol.ids import name_id

Finds = Callable[[], Sequence[Partition]]
"""Looks for the partitions of a source."""


class FoundOnce(Protocol):
    """What the first task of each component has found."""

    def once(self, component: str, find: Finds) -> Sequence[Partition]:
        """The partitions that are read in this run."""

    def remember_committed(self, component: str, committed: Mapping[str, Committed]) -> Mapping[str, Committed]:
        """What the component's source had committed when the first task asked; that is now, if this is the first."""


class FoundInMemory:
    """For tasks of one process."""

    def __init__(self) -> None:
        self._known: dict[str, Sequence[Partition]] = {}
        self._committed: dict[str, Mapping[str, Committed]] = {}

    def once(self, component: str, find: Finds) -> Sequence[Partition]:
        if component not in self._known:
            self._known[component] = find()
        return self._known[component]

    def remember_committed(self, component: str, committed: Mapping[str, Committed]) -> Mapping[str, Committed]:
        return self._committed.setdefault(component, committed)


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
            _note(path, [astuple(partition) for partition in find()], "which partitions are read")
        return [Partition(*fields) for fields in json.loads(path.read_bytes())]

    def remember_committed(self, component: str, committed: Mapping[str, Committed]) -> Mapping[str, Committed]:
        """See FoundOnce.

        Raises:
            TopologyError: it cannot be noted.
        """
        path = self._folder / f"committed-{name_id(component):x}"
        if not path.exists():
            _note(path, committed, "where reading begins")
        return {name: Committed(*place) for name, place in json.loads(path.read_bytes()).items()}


def _note(path: Path, found: object, what: str) -> None:
    fresh = path.with_name(f"{path.name}-{os.getpid()}")
    try:
        fresh.write_text(json.dumps(found))
        with contextlib.suppress(FileExistsError):  # another task was faster
            os.link(fresh, path)
        fresh.unlink()
    except OSError as error:
        raise TopologyError(f"{what} cannot be noted in {path}: {error.strerror}") from error

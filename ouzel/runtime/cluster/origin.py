"""What a new run goes on from: a savepoint, whose epoch becomes the first of the run's own."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.errors import StateError
from ouzel.planner.former import Former
from ouzel.runtime.checkpoints.manifest import BEFORE_FIRST, Manifest
from ouzel.runtime.checkpoints.savepoint import NOTES, RESULTS, Savepoint
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.state import open_state
from ouzel.runtime.process.epochs import write_generation
from ouzel.runtime.process.job import RunDescription, notes_name
from ouzel.runtime.protocol.cluster.epochs import Generation
from ouzel.runtime.tasks.context import SOURCE_NOTES
from ouzel.runtime.tasks.found import found_name

if TYPE_CHECKING:
    import polars as pl

RESULTS_TASK = "task-00000"
"""Stands for the tasks of the result."""


@dataclass(frozen=True)
class Origin:
    """A savepoint as the beginning of a run.

    Attributes:
        savepoint: what it goes on from, in a folder of this machine.
        formers: by component, what it goes on from.
        noted: by component, the former one that read the table which it reads on; empty if there is none.
        columns: of the result as they are called now; None if the result begins anew, or there is none.
    """

    savepoint: Savepoint
    formers: Mapping[str, Former]
    noted: Mapping[str, str]
    columns: tuple[str, ...] | None

    def describe(self, job: RunDescription) -> RunDescription:
        """The description of a run that goes on from it."""
        return replace(job, formers=tuple(self.formers.items()), formers_from=BEFORE_FIRST)

    def begin(self, job: RunDescription) -> None:
        """Have a run that has not been started, and whose folder of checkpoints is its own, begin at the epoch.

        Raises:
            StateError: the epoch cannot be read, or the run's folder of checkpoints holds others.
            OSError: there is no room.
        """
        self._copy_epoch(job)
        self._copy_notes(job)
        state = open_state(job.topology.settings.state_manager, job.home)
        try:
            write_generation(state, job.id, Generation(1, self.savepoint.note.epoch))
        finally:
            state.close()

    def results(self) -> Iterator[pl.DataFrame]:
        """What had been answered up to the epoch."""
        from ouzel.runtime.process.saved_results import read_results

        if self.columns is not None:
            yield from read_results(self.savepoint.folder / RESULTS / RESULTS_TASK, self.columns)

    def copy_results(self, folder: Path) -> None:
        """Put what had been answered where a run before would have left it.

        Raises:
            OSError: there is no room.
        """
        if self.columns is not None and (self.savepoint.folder / RESULTS).is_dir():
            shutil.copytree(self.savepoint.folder / RESULTS, folder)

    def _copy_epoch(self, job: RunDescription) -> None:
        store, manifest = CheckpointStore(job.checkpoints), self.savepoint.manifest
        if store.epochs():
            raise StateError(
                f"{store.folder} holds epochs already, and topology '{job.topology.name}' is to begin with that of "
                f"{self.savepoint.place}; write another 'checkpoint.path'"
            )
        for name in {file.name for file in manifest.files}:
            self.savepoint.store.objects.copy(name, store.objects)
        epoch, name = manifest.epoch, job.topology.name
        store.complete(Manifest(epoch, name, manifest.seed, manifest.made_us, manifest.tasks, BEFORE_FIRST))

    def _copy_notes(self, job: RunDescription) -> None:
        had = Counter(files.component for files in self.savepoint.manifest.tasks)
        for name, former in self.noted.items():
            for theirs, ours in zip(
                names_of_notes(former, had[former]), names_of_notes(name, had[former]), strict=True
            ):
                if (path := self.savepoint.folder / NOTES / theirs).exists():
                    shutil.copyfile(path, job.home / ours)


def names_of_notes(component: str, tasks: int, noted: str = "") -> list[str]:
    """The files in which a source notes what it knows of the files that it reads; its tasks have theirs under another name, `noted`."""
    return [found_name(component), *(notes_name(noted or component, index) + SOURCE_NOTES for index in range(tasks))]


def save_notes(job: RunDescription, folder: Path) -> None:
    """Put what the sources of a run have noted into a folder.

    Raises:
        OSError: there is no room.
    """
    folder.mkdir(mode=0o700)
    for component in job.topology.components:
        name, tasks = component.name, component.parallelism
        theirs = names_of_notes(name, tasks, dict(job.noted).get(name, ""))
        for there, here in zip(theirs, names_of_notes(name, tasks), strict=True):
            if (job.home / there).exists():
                shutil.copyfile(job.home / there, folder / here)

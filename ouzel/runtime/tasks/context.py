"""What a task is given at its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import polars as pl

from ouzel.planner.topology import Topology
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.protocol.quarantine import InFlightNote, MemoryNote
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.found import FoundInMemory, FoundOnce
from ouzel.runtime.tasks.journal import Journal, MemoryJournal
from ouzel.runtime.tasks.partitions import SourceHistory

SOURCE_NOTES = "-source"
"""Ends the name of the file in which a source notes something."""


class Results(Protocol):
    """Where the batches of one task of a `result` sink go.

    Whoever takes them keeps what comes after a mark only from the first mark or roll back on: a topology with epochs calls
    `roll_back(0, generation)` at the start of each task, before anything is written.
    """

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Hand one batch on; its id tells a batch that comes again within a generation.

        Raises:
            TopologyError: nobody takes it.
        """

    def mark(self, epoch: int, kept: int) -> None:
        """All that was written before belongs to this epoch and those before; no roll back goes behind the epoch `kept`."""

    def roll_back(self, epoch: int, generation: int) -> None:
        """What was written after the mark of this epoch comes again, perhaps in other batches; after no mark (epoch 0): everything.

        Said once before anything of the generation is written; what has been said before of the same or a later generation is no news.
        """


@dataclass(frozen=True)
class TaskContext:
    """What a task is given at its start: its topology, its past, and what it may ask of its shell.

    Attributes:
        topology: what it is a task of.
        directory: where relative paths start.
        local_tasks: the tasks that share its container.
        places: the places kept for it by Commit instructions.
        results: where a `result` sink's batches go.
        incarnation: how often it was started before.
        journal: where its batches were cut.
        notes: a file that its sink may keep and, with SOURCE_NOTES behind the name, its source.
        in_flight: what it was handling when it ended.
        shell: what it may ask of whoever runs it.
        found: the partitions that all tasks of the run see alike.
        restored: what it goes on from, if that is an epoch and it begins there: a whole snapshot of it, and the changes after that.
        staged: where rows wait for their epoch, in a folder for each sink's task.
        leaves_epochs: whether, where there are epochs, somebody may go on from one when the run is over.
        history: by component, what of its source is read again to fill state; None if it reads on and on.
        begins_anew: whether all have gone back to the beginning of the run: what a source has been told since then was never.
        goes_on: whether it, or a task before it, began at an epoch: what a source says of a run before is nothing to it.
    """

    topology: Topology
    directory: Path
    local_tasks: frozenset[int] = frozenset()
    places: Mapping[str, Place] | None = None
    results: Results | None = None
    incarnation: int = 0
    journal: Journal = field(default_factory=MemoryJournal)
    notes: Path | None = None
    in_flight: InFlightNote = field(default_factory=MemoryNote)
    shell: Shell = Shell()
    found: FoundOnce = field(default_factory=FoundInMemory)
    restored: Sequence[TaskSnapshot] = ()
    goes_on: bool = False
    staged: Path | None = None
    leaves_epochs: bool = True
    begins_anew: bool = False
    history: Mapping[str, SourceHistory] | None = None

"""What a task is given at its start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ouzel.planner.topology import Topology
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.protocol.quarantine import InFlightNote, MemoryNote
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.tasks.found import FoundInMemory, FoundOnce
from ouzel.runtime.tasks.journal import Journal, MemoryJournal

Results = Callable[[int, pl.DataFrame], None]
"""Where a `result` sink's batches go: (batch id, frame)."""


@dataclass(frozen=True)
class TaskContext:
    """What a task is given at its start: its topology, its past, and what it may ask of its shell.

    Attributes:
        topology: what it is a task of.
        directory: where relative paths start.
        local_tasks: the tasks that share its container.
        places: the places kept for it by Commit instructions.
        results: where a `result` sink's batches go.
        epoch: how often it was started before.
        journal: where its batches were cut.
        notes: a file that its sink may keep and, with "-source" behind the name, its source.
        in_flight: what it was handling when it ended.
        shell: what it may ask of whoever runs it.
        found: the partitions that all tasks of the run see alike.
    """

    topology: Topology
    directory: Path
    local_tasks: frozenset[int] = frozenset()
    places: Mapping[str, Place] | None = None
    results: Results | None = None
    epoch: int = 0
    journal: Journal = field(default_factory=MemoryJournal)
    notes: Path | None = None
    in_flight: InFlightNote = field(default_factory=MemoryNote)
    shell: Shell = Shell()
    found: FoundOnce = field(default_factory=FoundInMemory)

"""What a task is given at its start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ouzel.planner.topology import Topology
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.protocol.quarantine import InFlightNote, MemoryNote
from ouzel.runtime.tasks.found import FoundInMemory, FoundOnce
from ouzel.runtime.tasks.journal import Journal, MemoryJournal

Results = Callable[[int, pl.DataFrame], None]
"""Where a `result` sink's batches go: (batch id, frame)."""


@dataclass(frozen=True)
class TaskContext:
    """What a task is given at its start: its topology, the tasks that share its container, where relative paths start, and its past.

    `places` are those kept for it by Commit instructions, `journal` where its batches were cut, `notes` its sink's and, with "-source"
    behind the name, its source's, `in_flight` what it was handling; `found` is that of all tasks; `epoch` counts how often it was started
    before.
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
    found: FoundOnce = field(default_factory=FoundInMemory)

"""What the machine of one task is made from: its program, and what it goes on from."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.connectors.writing import MarkedWriter
from ouzel.planner.topology import Task, Topology
from ouzel.runtime.checkpoints.names import STAGED
from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.process.epochs import TaskEpochs
from ouzel.runtime.process.job import RunDescription, load_program
from ouzel.runtime.process.offset_writer import Offsets, OffsetWriter
from ouzel.runtime.process.results import ResultSender
from ouzel.runtime.protocol.cluster.follower import EpochPart
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.tasks.journal import FileJournal, Journal, copy_pins

if TYPE_CHECKING:
    from ouzel.connectors.writing import SinkWriter
    from ouzel.runtime.protocol.task import TaskMachine
    from ouzel.runtime.state.task_snapshot import TaskSnapshot
    from ouzel.runtime.tasks.context import Results

Makes = Callable[[Shell, int], "TaskMachine"]
"""Makes the machine of a task, given its shell and how often it was made before."""


def take_results(job: RunDescription, task: Task) -> Results:
    """What takes the result's batches of a task: the client, or files that whoever likes reads."""
    if job.results is None:
        return ResultSender(job.home, task.id)
    from ouzel.runtime.process.kept_results import ResultKeeper

    return ResultKeeper(job.results / f"task-{task.id:05}")


@dataclass(frozen=True)
class PastKeepers:
    """What keeps the parts of a task's past.

    Attributes:
        open_offsets: the offsets of a source, below a path of the state manager.
        open_journal: where the batches of a source were cut.
        take_results: takes the result's batches of a task.
        load_program: the whole topology, from the job directory and its revision.
    """

    open_offsets: Callable[[StateManager, str], Offsets] = OffsetWriter
    open_journal: Callable[[Path], Journal] = FileJournal
    take_results: Callable[[RunDescription, Task], Results] = take_results
    load_program: Callable[[Path, int], Topology] = load_program


class Pasts:
    """What the machine of one task is made from, in each generation of the topology.

    Offsets and the journal of a source are of one generation: where its reading went in another says nothing of this one's.
    """

    def __init__(
        self,
        job: RunDescription,
        container: int,
        task: Task,
        state: StateManager,
        epochs: TaskEpochs | None,
        keeps: PastKeepers | None = None,
    ) -> None:
        self._job, self._container, self._task, self._state, self.epochs = job, container, task, state, epochs
        self._keeps = keeps or PastKeepers()

    @property
    def part(self) -> EpochPart | None:
        """What the task decides about epochs; None where there are none."""
        return self.epochs.part if self.epochs is not None else None

    @property
    def generation(self) -> int:
        """The number of the generation that the task runs in, or is to run in."""
        return self.epochs.part.generation.number if self.epochs is not None else 0

    def begin(self) -> tuple[Offsets, Makes]:
        """Where the offsets of this generation are kept, and what makes a machine in it.

        Raises:
            StateError: the epoch that it goes back to cannot be read.
        """
        number = f"{self._task.id}-{self.generation}" if self.generation else f"{self._task.id}"
        self._begin_journal(f"cuts-{number}")
        offsets = self._keeps.open_offsets(self._state, f"/offsets/{self._job.id}/{number}")
        restored = self.epochs.read_past() if self.epochs is not None else ()
        if restored and restored[-1].places and not offsets.known:
            offsets.begin_with(restored[-1].places)  # for a successor, which may come when the epoch has been removed
        return offsets, partial(self._make, number, offsets.known, restored)

    def _begin_journal(self, name: str) -> None:
        """Remove the journals of former generations. Where a partition was opened that begins at its end, it began, and begins again."""
        here = self._job.container(self._container)
        pattern = re.compile(rf"cuts-{self._task.id}(-\d+)?(\.\w+)?")
        for old in [path for path in here.glob("cuts-*") if pattern.fullmatch(path.name)]:
            if old.name not in (name, f"{name}.time", f"{name}.new"):
                if not old.suffix and not (here / name).exists():
                    copy_pins(old, here / name)
                old.unlink(missing_ok=True)

    def on_begun(self, keeps: bool) -> None:
        """The machine is made; whether it keeps what would die with it."""
        if self.epochs is not None:
            self.epochs.on_begun(keeps)

    def roll_back(self, writer: SinkWriter) -> None:
        """Tell a sink that takes back what it had written, before it writes anything, what this generation goes on from."""
        if self.epochs is not None and isinstance(writer, MarkedWriter):
            writer.roll_back(self.epochs.part.generation.restore, self.epochs.part.generation.number)

    def _make(
        self, number: str, places: dict[str, Place], restored: Sequence[TaskSnapshot], shell: Shell, incarnation: int
    ) -> TaskMachine:
        from ouzel.runtime.tasks.factory import TaskContext, make_task
        from ouzel.runtime.tasks.found import FoundInFiles
        from ouzel.runtime.tasks.in_flight import FileNote

        job, task, here = self._job, self._task, self._job.container(self._container)
        context = TaskContext(
            self._keeps.load_program(job.home, job.revision),
            job.directory,
            frozenset(one.id for one in job.tasks_in(self._container)),
            places,
            self._keeps.take_results(job, task),
            incarnation,
            self._keeps.open_journal(here / f"cuts-{number}"),
            job.notes_of(task),
            FileNote(here / f"in-flight-{task.id}"),
            shell,
            FoundInFiles(job.home),
            restored,
            self.epochs is not None and self.epochs.part.generation.restore > 0,
            job.local_checkpoints / STAGED,
            job.leaves_epochs,
            self.epochs is not None and self.epochs.part.is_at_beginning,
        )
        machine = make_task(task, context)
        machine.counts.restored |= self.epochs is not None and self.epochs.part.begins_anew
        return machine

"""An instance's part in epochs: which generation it runs in, and a thread that writes its snapshots beside the rows that flow.

Which generation a topology runs in, and the epoch that it went back to, stand in the state manager. The generation in which a task has last
run stands in its container's directory: a task that is started again in that one, and kept state, has lost it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.cluster.state.fenced import read_fenced, write_fenced
from ouzel.runtime.process.patience import when_it_answers, when_reachable
from ouzel.runtime.protocol.cluster.epochs import Generation

if TYPE_CHECKING:
    from ouzel.planner.topology import Task
    from ouzel.runtime.checkpoints.manifest import TaskFile
    from ouzel.runtime.checkpoints.store import CheckpointStore
    from ouzel.runtime.process.job import RunDescription
    from ouzel.runtime.protocol.task import TaskMachine
    from ouzel.runtime.state.task_snapshot import TaskSnapshot

CHANGES_MAX = 8
"""So many files of changes follow a whole snapshot at most; then comes a whole one."""


def generation_path(job: str) -> str:
    """Where the generation of a topology stands in the state manager."""
    return f"/generations/{job}"


def read_generation(state: StateManager, job: str) -> Generation:
    """The generation that is stored; that of a topology which never went back is the first.

    Raises:
        OSError: the state manager is away.
    """
    return parse_generation(read_fenced(state, generation_path(job)))


def parse_generation(stored: bytes | None) -> Generation:
    """The generation as it is stored; the first one if nothing is."""
    return Generation(*json.loads(stored or b"[0, 0]"))


def write_generation(state: StateManager, job: str, generation: Generation, leadership: int = 0) -> None:
    """Store it as the topology master of that leadership; no task may hear of it before.

    Raises:
        OSError: it cannot be stored.
    """
    write_fenced(state, generation_path(job), json.dumps(generation).encode(), leadership)


class LastRun(NamedTuple):
    """The generation that a task has last run in, -1 if it has not run, and whether it kept state."""

    generation: int = -1
    keeps: bool = False

    @classmethod
    def read(cls, path: Path) -> LastRun:
        """What stands in a file."""
        return cls(*json.loads(path.read_text())) if path.exists() else cls()

    def write(self, path: Path) -> None:
        """Put it there; what stands there already needs no room on a disk that is full."""
        if self == LastRun.read(path):
            return
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(self))
        fresh.rename(path)


@dataclass
class SavedEpoch:
    """What a task has written: for which epoch, and the files that it needs, oldest first; or why it could not."""

    epoch: int = 0
    files: list[TaskFile] = field(default_factory=list)
    failed: str = ""


class EpochWriter(Thread):
    """Writes the snapshots of one task. `saved` is the last that it has written, or could not write."""

    def __init__(self, store: CheckpointStore) -> None:
        super().__init__(name="epochs", daemon=True)
        self._store = store
        self._snapshots: SimpleQueue[tuple[int, TaskSnapshot | str] | None] = SimpleQueue()
        self._chain: list[TaskFile] = []
        self._asked = self._done = 0
        self.saved = SavedEpoch()

    def put(self, epoch: int, snapshot: TaskSnapshot | str) -> None:
        """Write this soon, unless it is closed, or say why there is none; never waits."""
        if self.ident is None:
            self.start()
        self._asked += 1
        self._snapshots.put((epoch, snapshot))

    @property
    def needs_whole(self) -> bool:
        """Whether changes alone would be of no use: nothing whole is written, or much has come after it, or nobody knows yet."""
        if self._asked != self._done or not self._chain or len(self._chain) > CHANGES_MAX:
            return True
        return sum(file.size for file in self._chain[1:]) > self._chain[0].size

    def run(self) -> None:
        """The thread's work."""
        while (asked := self._snapshots.get()) is not None:
            self.saved = self._write(*asked)
            self._done += 1

    def close(self) -> None:
        """End the thread, when it has written what it was given; never waits."""
        self._snapshots.put(None)

    def _write(self, epoch: int, snapshot: TaskSnapshot | str) -> SavedEpoch:
        if isinstance(snapshot, str):
            self._chain = []
            return SavedEpoch(epoch, failed=snapshot)
        try:
            file = self._store.write_task(epoch, snapshot)
        except Exception as error:  # the snapshot is put together here, too: whatever fails, the thread lives, and the next one may be kept
            self._chain = []
            return SavedEpoch(epoch, failed=f"a snapshot of task '{snapshot.component}' cannot be written: {error}")
        self._chain = [file] if snapshot.is_whole else [*self._chain, file]
        return SavedEpoch(epoch, list(self._chain))


class TaskEpochs:
    """An instance's part in epochs.

    Attributes:
        generation: in which its machine runs, or is to run.
        taken: the newest epoch that it has taken a snapshot for.
        published: the newest epoch up to which all that its sink was given is visible; without a sink, the newest that it knows to be kept.
        needs_restore: whether it must wait until all go back.
    """

    def __init__(self, job: RunDescription, container: int, task: Task, state: StateManager) -> None:
        from ouzel.runtime.checkpoints.store import CheckpointStore

        self._job, self._task, self._path = job, task, job.container(container) / f"generation-{task.id}"
        self._store = CheckpointStore(job.checkpoints)
        self.generation = when_it_answers(lambda: read_generation(state, job.id), "to read the generation")
        last = LastRun.read(self._path)
        self._begun = last.generation == self.generation.number
        self.needs_restore = last.keeps and self._begun
        self.taken = self.taken_by = self.published = 0
        self._writer = EpochWriter(self._store)

    @property
    def saved(self) -> SavedEpoch:
        """What it has written last."""
        return self._writer.saved

    def go_to(self, generation: Generation) -> None:
        """All go back."""
        self.generation, self.needs_restore, self._begun = generation, False, False
        self.published = 0
        self._writer.close()
        self._writer = EpochWriter(self._store)

    @property
    def is_at_beginning(self) -> bool:
        """Whether all have gone back to the beginning."""
        return self.generation.number > 0 and not self.generation.restore

    @property
    def begins_anew(self) -> bool:
        """Whether all have gone back to the beginning, and this task has not begun there yet: what it had counted was never."""
        return self.is_at_beginning and not self._begun

    def read_past(self) -> Sequence[TaskSnapshot]:
        """What its machine is made from: nothing, if it is to begin anew, or has begun in this generation and keeps no state.

        Where the store of epochs does not answer, it is waited for.

        Raises:
            StateError: it cannot be read.
        """
        if self._begun or not self.generation.restore:
            return ()
        return when_reachable(self._read_epoch, f"epoch {self.generation.restore}")

    def _read_epoch(self) -> Sequence[TaskSnapshot]:
        from ouzel.runtime.checkpoints.redistribute import past_in_epoch

        manifest, name = self._store.manifest(self.generation.restore), self._task.component
        tasks = self._job.topology.component(name).parallelism
        return past_in_epoch(self._task, tasks, manifest, self._store, self._job.former(name, manifest.revision))

    def on_begun(self, keeps: bool) -> None:
        """Its machine is made and begins to run."""
        LastRun(self.generation.number, keeps).write(self._path)
        self._begun = True

    def take(self, epoch: int, machine: TaskMachine, leadership: int) -> Callable[[], None]:
        """Take a snapshot, as the topology master of that leadership has asked.

        Call what it gives when whatever the epoch is to hold is out of the task's hands: then it is written.
        """
        self.taken, self.taken_by = epoch, leadership
        writer = self._writer
        snapshot: TaskSnapshot | str
        try:
            snapshot = machine.snapshot(writer.needs_whole)
        except OuzelError as error:  # of the user's own code: the next epoch may be kept
            snapshot = str(error)
        return lambda: writer.put(epoch, snapshot)

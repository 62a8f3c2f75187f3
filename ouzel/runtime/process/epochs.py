"""An instance's part in epochs: which generation it runs in, and a thread that writes its snapshots beside the rows that flow.

Which generation a topology runs in, and the epoch that it went back to, stand in the state manager. The generation in which a task has last
run stands in its container's directory: a task that is started again in that one, and kept state, has lost it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Protocol

from ouzel.errors import OuzelError
from ouzel.files import put_bytes
from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.cluster.state.fenced import read_fenced, write_fenced
from ouzel.runtime.process.life import now_ms
from ouzel.runtime.process.patience import when_it_answers, when_reachable
from ouzel.runtime.protocol.cluster.epochs import Generation
from ouzel.runtime.protocol.cluster.follower import EpochPart, LastRun

if TYPE_CHECKING:
    from ouzel.planner.topology import Task
    from ouzel.runtime.checkpoints.manifest import PartTimes, TaskFile
    from ouzel.runtime.checkpoints.store import CheckpointStore
    from ouzel.runtime.process.job import RunDescription
    from ouzel.runtime.protocol.task import TaskMachine
    from ouzel.runtime.state.task_snapshot import TaskSnapshot

CHANGES_MAX = 16
"""So many files of changes follow a whole snapshot at most; then comes a whole one."""

LOADED_MAX, SLACK = 1.5, 1_000
"""A whole snapshot is written again when a restart would load more than so many times the rows that are kept, and so many more."""


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


def read_last_run(path: Path) -> LastRun:
    """The generation that a task has last run in, as it stands in a file."""
    return LastRun(*json.loads(path.read_text())) if path.exists() else LastRun()


def write_last_run(path: Path, last: LastRun) -> None:
    """Put it there; what stands there already needs no room on a disk that is full."""
    if last == read_last_run(path):
        return
    put_bytes(path, json.dumps(last).encode())


@dataclass
class SavedEpoch:
    """What a task has written: for which epoch, the files that it needs, oldest first, and how long that took; or why it could not.

    `keys` are those that its operators keep in tables.
    """

    epoch: int = 0
    files: list[TaskFile] = field(default_factory=list)
    failed: str = ""
    took: PartTimes | None = None
    keys: int = 0


class PartWatch:
    """Measures how long a task's part of one epoch takes; it begins when the task hears of the epoch. Times are those of any clock."""

    def __init__(self, epoch: int, now_ms: float) -> None:
        self.epoch = epoch
        self._asked_ms = self._rested_ms = self._copied_ms = now_ms

    def on_rest(self, now_ms: float) -> None:
        """The task has come to rest."""
        self._rested_ms = now_ms

    def on_copied(self, now_ms: float) -> None:
        """Its state is copied."""
        self._copied_ms = now_ms

    def on_written(self, now_ms: float) -> PartTimes:
        """Its files are written: how long all took."""
        from ouzel.runtime.checkpoints.manifest import PartTimes

        stages = (self._asked_ms, self._rested_ms, self._copied_ms, now_ms)
        return PartTimes(*(round(end - begin, 1) for begin, end in pairwise(stages)))


class SnapshotFiles:
    """The files of one task's snapshots: a whole one, and changes after it. `saved` is what was written last, or could not be."""

    def __init__(self, store: CheckpointStore, clock: Callable[[], float] = now_ms) -> None:
        self._store, self._clock = store, clock
        self._chain: list[TaskFile] = []
        self._rows = self._live = 0
        self.saved = SavedEpoch()

    @property
    def needs_whole(self) -> bool:
        """Whether changes alone would be of no use: nothing whole is written, or a restart would load much that has changed since.

        Where state only grows, all that is in the files is still kept, and there is no use in writing it again.
        """
        has_dead = self._rows > LOADED_MAX * self._live + SLACK
        return not self._chain or len(self._chain) > CHANGES_MAX or has_dead

    def write(self, epoch: int, snapshot: TaskSnapshot | str, watch: PartWatch | None = None) -> None:
        """Write this, or say why there is none; `watch` measures the task's part of the epoch."""
        if isinstance(snapshot, str):
            self._chain = []
            self.saved = SavedEpoch(epoch, failed=snapshot)
            return
        before = [] if snapshot.is_whole else self._chain
        try:
            file = self._store.write_task(epoch, snapshot)
            problem = self._store.find_missing_file(before)
        except Exception as error:  # the snapshot is put together here, too: whatever fails, the thread lives, and the next one may be kept
            problem = str(error)
        if problem:  # the next one is whole
            self._chain = []
            self.saved = SavedEpoch(
                epoch, failed=f"a snapshot of task '{snapshot.component}' cannot be written: {problem}"
            )
            return
        self._chain, self._live = [*before, file], sum(state.live for state in snapshot.states)
        rows = sum(part.height for state in snapshot.states for part in state.parts.values())
        self._rows = rows if snapshot.is_whole else self._rows + rows
        took = watch.on_written(self._clock()) if watch else None
        keys = sum(state.keys for state in snapshot.states)
        self.saved = SavedEpoch(epoch, list(self._chain), took=took, keys=keys)


class SnapshotWriter(Protocol):
    """Writes the snapshots of one task, beside the rows that flow."""

    @property
    def saved(self) -> SavedEpoch:
        """The last that it has written, or could not write."""

    @property
    def needs_whole(self) -> bool:
        """Whether changes alone would be of no use, or nobody knows yet."""

    def put(self, epoch: int, snapshot: TaskSnapshot | str, watch: PartWatch | None = None) -> None:
        """Write this soon, unless it is closed, or say why there is none; never waits."""

    def close(self) -> None:
        """Write nothing that is put from now on; never waits."""


class EpochWriter(Thread):
    """Writes in a thread of its own."""

    def __init__(self, store: CheckpointStore) -> None:
        super().__init__(name="epochs", daemon=True)
        self._files = SnapshotFiles(store)
        self._snapshots: SimpleQueue[tuple[int, TaskSnapshot | str, PartWatch | None] | None] = SimpleQueue()
        self._asked = self._done = 0

    @property
    def saved(self) -> SavedEpoch:
        return self._files.saved

    @property
    def needs_whole(self) -> bool:
        return self._asked != self._done or self._files.needs_whole

    def put(self, epoch: int, snapshot: TaskSnapshot | str, watch: PartWatch | None = None) -> None:
        if self.ident is None:
            self.start()
        self._asked += 1
        self._snapshots.put((epoch, snapshot, watch))

    def run(self) -> None:
        """The thread's work."""
        while (asked := self._snapshots.get()) is not None:
            self._files.write(*asked)
            self._done += 1

    def close(self) -> None:
        self._snapshots.put(None)


class TaskEpochs:
    """An instance's part in epochs, and what it has on disk.

    Args:
        job, container, task: whose part.
        state: where the generation of the topology stands.
        make_writer: makes what writes the snapshots of one generation.
        store: where they are written; the folder of the job if None.
        clock: milliseconds, monotonic.

    Attributes:
        part: what it decides.
    """

    def __init__(
        self,
        job: RunDescription,
        container: int,
        task: Task,
        state: StateManager,
        make_writer: Callable[[CheckpointStore], SnapshotWriter] = EpochWriter,
        store: CheckpointStore | None = None,
        clock: Callable[[], float] = now_ms,
    ) -> None:
        from ouzel.runtime.checkpoints.store import CheckpointStore

        self._job, self._task, self._path = job, task, job.container(container) / f"generation-{task.id}"
        self._store, self._make_writer = store or CheckpointStore(job.checkpoints), make_writer
        generation = when_it_answers(lambda: read_generation(state, job.id), "to read the generation")
        self.part = EpochPart(generation, read_last_run(self._path))
        self._writer, self._clock = make_writer(self._store), clock
        self._watch: PartWatch | None = None

    @property
    def saved(self) -> SavedEpoch:
        """What it has written last."""
        return self._writer.saved

    def on_gone_back(self) -> None:
        """All go back: what is still to be written of the generation before is of no use."""
        self._writer.close()
        self._writer = self._make_writer(self._store)

    def read_past(self) -> Sequence[TaskSnapshot]:
        """What its machine is made from.

        Where the store of epochs does not answer, it is waited for.

        Raises:
            StateError: it cannot be read.
        """
        if not (epoch := self.part.restores):
            return ()
        return when_reachable(lambda: self._read_epoch(epoch), f"epoch {epoch}")

    def _read_epoch(self, epoch: int) -> Sequence[TaskSnapshot]:
        from ouzel.runtime.checkpoints.redistribute import past_in_epoch

        manifest, name = self._store.manifest(epoch), self._task.component
        tasks = self._job.topology.component(name).parallelism
        return past_in_epoch(self._task, tasks, manifest, self._store, self._job.former(name, manifest.revision))

    def on_begun(self, keeps: bool) -> None:
        """Its machine is made and begins to run."""
        write_last_run(self._path, self.part.on_begun(keeps))

    def on_asked(self, epoch: int) -> None:
        """A plan asks for a snapshot, be it a new plan or not."""
        if self._watch is None or self._watch.epoch != epoch:
            self._watch = PartWatch(epoch, self._clock())

    def take(self, epoch: int, machine: TaskMachine) -> Callable[[], None]:
        """Take a snapshot. Call what it gives when whatever the epoch is to hold is out of the task's hands: then it is written."""
        self.on_asked(epoch)
        writer, watch = self._writer, self._watch
        assert watch is not None
        watch.on_rest(self._clock())
        snapshot: TaskSnapshot | str
        try:
            snapshot = machine.snapshot(writer.needs_whole)
        except OuzelError as error:  # of the user's own code: the next epoch may be kept
            snapshot = str(error)
        watch.on_copied(self._clock())
        return lambda: writer.put(epoch, snapshot, watch)

"""The epochs of a simulated world: what its tasks have given for them, and which are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ouzel.planner.former import Former
from ouzel.planner.topology import Task, Topology
from ouzel.runtime.checkpoints.folder_store import FolderObjects
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFile, TaskFiles
from ouzel.runtime.checkpoints.redistribute import past_in_epoch
from ouzel.runtime.checkpoints.task_file import TaskHeader, read_task_file, write_task_file
from ouzel.runtime.simulator.host import TaskPast
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.journal import Journal


@dataclass(frozen=True)
class Epoch:
    """A complete epoch: of each task a whole snapshot, and the changes after it. Epoch 0 is the beginning, where nothing is kept.

    `tasks` are those that there were then; `formers` say what components of a later revision of the topology go on from.
    """

    number: int = 0
    chains: Mapping[int, Sequence[TaskSnapshot]] = field(default_factory=dict)
    tasks: Sequence[Task] = ()
    formers: Mapping[str, Former] = field(default_factory=dict)

    def past_in_epoch(self, task: Task, parallelism: int) -> Sequence[TaskSnapshot]:
        """What a task goes on from, of a component with so many of them now."""
        files = tuple(TaskFiles(one.component, one.index, ()) for one in self.tasks)
        manifest = Manifest(self.number, "simulated", 0, 0, files)
        return past_in_epoch(task, parallelism, manifest, self, self.formers.get(task.component))

    def begin(self, task: Task, journal: Journal, topology: Topology, incarnation: int, generation: int) -> TaskPast:
        """What a task finds that begins a generation here."""
        restored = self.past_in_epoch(task, topology.component(task.component).parallelism)
        places = dict(restored[-1].places) if restored else {}
        return TaskPast(places, journal, incarnation, generation, restored)

    def read_task(self, files: TaskFiles) -> list[TaskSnapshot]:
        """What a task gave."""
        (task,) = (one for one in self.tasks if (one.component, one.index) == (files.component, files.index))
        return list(self.chains[task.id])

    def read_header(self, files: TaskFiles) -> TaskHeader:
        """Where a task stands."""
        last = self.read_task(files)[-1]
        places = {partition: list(place) for partition, place in last.places.items()}
        return TaskHeader("", self.number, last.component, last.index, [], places, last.time_us, dict(last.counts))


class Epochs:
    """`newest` is the last complete epoch; `taking` the number of the one for which all come to rest, or 0; all have given theirs for the
    one that is `writing`."""

    def __init__(self) -> None:
        self.newest = Epoch()
        self.taking = 0
        self.writing: Epoch | None = None
        self._begun = 0
        self._taken: set[int] = set()
        self._chains: dict[int, list[TaskSnapshot]] = {}

    def begin(self) -> None:
        """Take the next epoch; a number is never used twice."""
        self._begun += 1
        self.taking = self._begun
        self._taken.clear()

    @property
    def taken(self) -> int:
        """How many tasks have been snapshotted for it."""
        return len(self._taken)

    def has(self, task: int) -> bool:
        """Whether that task has."""
        return task in self._taken

    def take(self, task: int, snapshot: TaskSnapshot) -> None:
        """What a task gave. It is part of the task's chain even if the epoch is abandoned: the task does not tell these changes again."""
        chain = self._chains.setdefault(task, [])
        if snapshot.is_whole:
            chain.clear()
        chain.append(snapshot)
        self._taken.add(task)

    def write(self, tasks: Sequence[Task]) -> None:
        """All these tasks have given theirs: that is written while rows flow."""
        self.writing = Epoch(self.taking, {task: tuple(chain) for task, chain in self._chains.items()}, tasks)
        self.taking = 0

    def go_on_as(self, formers: Mapping[str, Former]) -> None:
        """The topology is another one from the newest epoch on."""
        self.newest = replace(self.newest, formers=formers)

    def complete(self) -> None:
        """It is written."""
        assert self.writing is not None
        self.newest, self.writing = self.writing, None

    def abandon(self) -> None:
        """It never becomes complete."""
        self.taking, self.writing = 0, None

    def begin_anew(self) -> None:
        """All machines are made anew: each gives all of itself when it is next asked."""
        self.abandon()
        self._chains.clear()


def sent_as_file(epoch: int, snapshot: TaskSnapshot) -> TaskSnapshot:
    """The snapshot as it comes back from the file that is written of it."""
    with TemporaryDirectory() as folder:
        store = FolderObjects(Path(folder))
        with store.fresh("", epoch) as file:
            digest = write_task_file(file, "simulated", epoch, snapshot)
            file.keep("snapshot")
        return read_task_file(store, TaskFile("snapshot", file.size, digest))[1]

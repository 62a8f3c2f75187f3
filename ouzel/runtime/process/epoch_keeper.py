"""The topology master's part in epochs: a thread that makes them whole, and finds the one to go back to."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from threading import Thread
from typing import NoReturn, Protocol

from ouzel.errors import OuzelError, StateError
from ouzel.planner.topology import Task
from ouzel.runtime.checkpoints.manifest import Manifest, PartTimes, TaskFile, TaskFiles
from ouzel.runtime.checkpoints.objects import is_lasting
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.cluster.state.fenced import check_leads, take_over
from ouzel.runtime.process.epochs import generation_path, parse_generation, write_generation
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.leading import end_deposed, leader_path
from ouzel.runtime.process.patience import when_reachable
from ouzel.runtime.protocol.cluster.epochs import Generation, GoBack, KeepEpoch
from ouzel.runtime.protocol.cluster.leadership import Deposed
from ouzel.runtime.wire import wire_pb2

LOOK_S = 0.02
"""How often it is looked whether an epoch is due, or a step of one."""

KEPT = 3
"""So many whole epochs are kept."""

_AGAIN_S = 0.5


class Epochal(Protocol):
    """Whoever decides about epochs: a TopologyMaster."""

    def tick(self) -> KeepEpoch | GoBack | None:
        """What is to be done now."""

    def on_epoch_kept(self, epoch: int) -> None:
        """It is whole."""

    def on_epoch_lost(self, epoch: int, reason: str) -> None:
        """It cannot be made whole."""

    def on_gone_back(self, generation: Generation, problems: list[str]) -> None:
        """It is stored that all go back to an epoch."""

    def on_nothing_to_go_back_to(self, problems: list[str]) -> None:
        """None of the epochs that there are can be read."""


class EpochKeeper:
    """Does what a topology master says about epochs, in a thread of its own.

    Args:
        job: whose epochs.
        state: where the generation stands.
        leadership: of the topology master.
        store: where epochs are; the folder of the job if None.
        sleep: waits for so many seconds.
    """

    def __init__(
        self,
        job: RunDescription,
        state: StateManager,
        leadership: int,
        store: CheckpointStore | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._job, self._state, self._leadership, self._sleep = job, state, leadership, sleep
        self._store = store or CheckpointStore(job.checkpoints)

    def take_over(self) -> tuple[Generation, int]:
        """The generation that is stored, and the newest epoch that is kept: no earlier topology master changes them from now on.

        Raises:
            StateError: the folder of epochs is another topology's, or can be read or written by nobody until somebody mends it.
            OSError: it cannot be written now, or the state manager is away.
        """
        try:
            if self._job.leaves_epochs:
                self._store.claim(self._job.topology.name, self._job.id)
            kept = self._store.take_over(self._leadership)
        except OSError as error:
            if is_lasting(error):
                raise StateError(self._describe(error)) from error
            raise
        stored = take_over(self._state, generation_path(self._job.id), self._leadership)
        return parse_generation(stored), kept

    def start(self, master: Epochal) -> None:
        """Begin."""
        Thread(target=self._run, args=(master,), name="epochs", daemon=True).start()

    def _run(self, master: Epochal) -> None:
        try:
            self.run(master)
        except Deposed as error:
            end_deposed(error)

    def run(self, master: Epochal) -> NoReturn:
        """The thread's work.

        Raises:
            Deposed: another topology master leads.
        """
        while True:
            try:
                self._do(master, master.tick())
                self._sleep(LOOK_S)
            except Deposed:
                raise
            except (
                Exception
            ) as error:  # of the disk, or of the state manager's client: what was to be done is still to be done
                print(f"epochs: {error}", file=sys.stderr)
                self._sleep(_AGAIN_S)

    def _do(self, master: Epochal, task: KeepEpoch | GoBack | None) -> None:
        match task:
            case KeepEpoch(epoch, files):
                self._keep(master, epoch, files)
            case GoBack(number, kept):
                self._go_back(master, number, kept)

    def _keep(self, master: Epochal, epoch: int, files: dict[int, wire_pb2.EpochFiles]) -> None:
        topology = self._job.topology
        tasks = tuple(_task_files(task, files[task.id]) for task in topology.tasks())
        try:
            made_us, seed = time.time_ns() // 1000, topology.settings.seed
            revision, leadership = self._job.revision, self._leadership
            self._store.complete(Manifest(epoch, topology.name, seed, made_us, tasks, revision, leadership))
        except (OSError, OuzelError) as error:
            master.on_epoch_lost(epoch, str(error))
            return
        when_reachable(lambda: self._store.check_leads(self._leadership), "whether this topology master leads")
        master.on_epoch_kept(epoch)
        self._store.prune(KEPT)

    def _describe(self, error: OSError) -> str:
        where = error.filename2 or error.filename or self._store.folder
        why = f"{where} cannot be used: {error.strerror}"
        return f"epochs are kept in {self._store.folder}, and {why}; mend that, and start the topology again"

    def _find_newest(self, kept: int) -> tuple[Manifest | None, list[str]]:
        """The epoch to go back to, and what is wrong with later ones: what was kept last is one of them, even if nothing is left of it."""
        try:
            found, problems = self._store.newest(revision=self._job.revision)
            self._store.check_leads(self._leadership)  # else a later leader may have removed what was being read
        except OSError as error:
            if is_lasting(error):
                return None, [self._describe(error)]
            raise
        if found is None and not problems and kept:
            problems = [f"epoch {kept} was kept in {self._store.folder}, and is gone"]
        return found, problems

    def _go_back(self, master: Epochal, number: int, kept: int = 0) -> None:
        found, problems = self._find_newest(kept)
        if found is None and problems:
            master.on_nothing_to_go_back_to(problems)
            return
        generation = Generation(number, found.epoch if found else 0)
        write_generation(self._state, self._job.id, generation, self._leadership)
        check_leads(self._state, leader_path(self._job.id), self._leadership)
        master.on_gone_back(generation, problems)


def _task_files(task: Task, told: wire_pb2.EpochFiles) -> TaskFiles:
    """What a task has told of its part of an epoch."""
    took = told.took
    times = PartTimes(took.aligned_ms, took.copied_ms, took.written_ms) if told.HasField("took") else None
    files = tuple(TaskFile(one.name, one.size, one.digest) for one in told.files)
    return TaskFiles(task.component, task.index, files, times, told.keys)

"""Epochs of a topology: when one is taken, when it is kept, and when all tasks go back to one. Without I/O or clock.

An epoch is a short pause (see MOVES). Sources stop reading; a task that has come to rest takes its snapshot; when all have, rows flow
again, and the snapshots are written meanwhile. The epoch is kept when all are. A pause waits for acks, so no frame is on its way when a
snapshot is taken, not even one that is sent again: snapshots hold no channels, and no marker has to be aligned. (Chandy and Lamport, TOCS
1985, and Carbone et al., VLDB 2017, cut running channels instead; frames that are sent again would pass their markers.)

Invariants:

- All tasks go on from snapshots of one pause. Each has a generation, which grows with every going back, and is on every frame; a task takes
  no frame of another generation than its own.
- A generation is stored before it is announced: a task that starts again finds it there.
- The number of an epoch is never used twice, not even when it was abandoned. A topology master that was deposed may have begun one of which
  nobody has told its successor yet. So a snapshot counts only for the leadership that asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ouzel.runtime.wire import wire_pb2

DRAIN_LIMIT_MS = 60_000.0
"""An epoch in which the topology does not come to rest, or is not written, for so long is given up, and the next one is tried."""

LONG_PAUSE_MS, FLOW_TIMES = 1_000.0, 5
"""After an epoch's pause of more than this rows flow for so many times as long, whatever the interval is. A sink that stands still makes
each pause long, and paths that do not lead to it would stand still with it."""

RESULT_ROWS_MAX = 2_000_000
"""When whoever takes the result has been handed so many rows since an epoch began, the next one begins: it keeps them till then."""

AGAIN_MS = 1_000.0
"""A last epoch that must be kept, and could not be, is tried again so long after it began."""


class Generation(NamedTuple):
    """How often the topology went back, and to which epoch it went last; 0 is its beginning."""

    number: int = 0
    restore: int = 0


IN_VAIN_MAX = 12
"""All go back so often with no new epoch in between; then it is no use: what kills a task comes again each time."""


class Phase(Enum):
    """What is being done: nothing; a pause, until all tasks have taken their snapshots; their writing; going back."""

    IDLE = "idle"
    DRAINING = "draining"
    WRITING = "writing"
    GOING_BACK = "going back"


MOVES = {
    Phase.IDLE: (Phase.DRAINING, Phase.GOING_BACK),
    Phase.DRAINING: (Phase.WRITING, Phase.IDLE, Phase.GOING_BACK),
    Phase.WRITING: (Phase.IDLE, Phase.GOING_BACK),
    Phase.GOING_BACK: (Phase.IDLE,),
}


@dataclass(frozen=True)
class KeepEpoch:
    """To do: make this epoch whole, then call `on_kept`. `files` are those of each task."""

    epoch: int
    files: dict[int, wire_pb2.EpochFiles]


@dataclass(frozen=True)
class GoBack:
    """To do: find the newest epoch that can be read, store it with this generation, then call `on_found`.

    `kept` is the newest that was kept, 0 if none was.
    """

    generation: int
    kept: int = 0


@dataclass
class _Task:
    """What a task has last said; `rows_before` are those that it had made when the last epoch began."""

    incarnation: int = -1
    generation: int = -1
    taken: int = 0
    published: int = 0
    files: wire_pb2.EpochFiles | None = None
    rows_out: int = 0
    rows_before: int | None = None


class EpochsMachine:
    """The epochs of one topology.

    Args:
        interval_ms: how often one is taken; 0 for never.
        everyone: all tasks.
        started_from: the generation of the topology, as it is stored.
        kept: the newest epoch that is kept.
        publishes: whether the topology may end only when all is published: then the last epoch is tried until it is kept.
        leadership: of the topology master whose machine this is.
        results: the tasks whose rows whoever takes them keeps until the next epoch.
    """

    def __init__(
        self,
        interval_ms: float,
        everyone: frozenset[int],
        started_from: Generation = Generation(),
        kept: int = 0,
        publishes: bool = False,
        leadership: int = 0,
        results: frozenset[int] = frozenset(),
    ) -> None:
        self._leadership = leadership
        self.is_on = interval_ms > 0
        self.generation, self.restore = started_from
        self.kept = kept
        self.lost = ""
        self.in_vain = 0
        self.pause = self.number = 0
        self.phase = Phase.IDLE
        self._problem = ""
        self._has_given_up = False
        self._interval_ms, self._newest, self._publishes = interval_ms, kept, publishes
        self._tasks, self._results = {task: _Task() for task in everyone}, results
        self._due_ms: float | None = None
        self._since_ms = 0.0
        self._last = 0

    # What happens.

    def on_report(self, report: wire_pb2.TaskReport) -> None:
        """A task has said how it stands; what it said before may come again."""
        task = self._tasks.get(report.task)
        if not self.is_on or task is None or report.incarnation < task.incarnation:
            return
        if report.incarnation > task.incarnation:
            task = self._tasks[report.task] = _Task(report.incarnation)
        task.generation, task.taken = max(task.generation, report.generation), max(task.taken, report.taken)
        task.published, task.rows_out = max(task.published, report.published), report.rows_out
        task.rows_before = report.rows_out if task.rows_before is None else task.rows_before
        self._newest = max(self._newest, report.taken)
        if report.epoch_failed:
            self._on_not_written(report)
        elif report.HasField("saved") and (task.files is None or report.saved.epoch >= task.files.epoch):
            task.files = report.saved
        if report.needs_restore and report.generation == self.generation:
            self.lost = f"task {report.task} ({report.component}) was started again, without what it kept"
            self._move(Phase.GOING_BACK)
        if self.phase in (Phase.DRAINING, Phase.WRITING) and self._is_taken_for_another(report):
            self._give_up(f"task {report.task} has taken a snapshot for a topology master before this one")
        if self.phase is Phase.WRITING and not self._have_taken:
            self._give_up(f"task {report.task} was started again before its snapshot was written")

    def on_tick(self, now_ms: float, runs: bool, version: int, last_pause: int = 0) -> bool:
        """Whether the plan is another now.

        Args:
            now_ms: any monotonic clock.
            runs: whether the topology runs, and nobody has asked it to pause.
            version: of the next plan; it numbers a pause that begins with it.
            last_pause: the pause in which the topology is to end: one more epoch is taken in it.
        """
        if not self.is_on:
            return False
        if self._due_ms is None:
            self._due_ms = now_ms + self._interval_ms
        moved, self._has_given_up = self._has_given_up, False
        match self.phase:
            case Phase.IDLE if not moved:
                moved = self._begin_if_due(now_ms, runs, version, last_pause)
            case Phase.DRAINING if self._have_taken:
                self._let_flow(now_ms)
                self._move(Phase.WRITING)
                moved = True
            case Phase.DRAINING | Phase.WRITING if now_ms - self._since_ms > DRAIN_LIMIT_MS:
                late = next(
                    (number for number, task in sorted(self._tasks.items()) if not self._is_written(task)), None
                )
                who = "no manifest" if late is None else f"nothing of task {late}"
                if self.phase is Phase.DRAINING:
                    self._let_flow(now_ms)
                self._give_up(f"{who} was written within {DRAIN_LIMIT_MS / 1e3:g} s")
                moved, self._has_given_up = True, False
        return moved

    def on_kept(self, epoch: int) -> None:
        """The epoch is whole."""
        self.kept, self.in_vain = max(self.kept, epoch), 0
        if self.phase is Phase.WRITING and self.number == epoch:
            self._move(Phase.IDLE)

    def on_not_kept(self, epoch: int, reason: str) -> None:
        """The epoch cannot be made whole."""
        if self.phase is Phase.WRITING and self.number == epoch:
            self._give_up(reason)

    def on_found(self, generation: Generation) -> None:
        """All go back to an epoch; that is stored."""
        self.generation, self.restore = generation
        self.kept, self.in_vain = self.restore, self.in_vain + 1
        self._due_ms, self._last = None, 0
        self._move(Phase.IDLE)

    # How it stands.

    @property
    def to_do(self) -> KeepEpoch | GoBack | None:
        """What is to be done by whoever has a disk."""
        if self.phase is Phase.GOING_BACK:
            return GoBack(self.generation + 1, self.kept)
        if self.phase is Phase.WRITING and all(self._is_written(task) for task in self._tasks.values()):
            return KeepEpoch(self.number, {number: task.files for number, task in self._tasks.items() if task.files})
        return None

    @property
    def is_last_kept(self) -> bool:
        """Whether the epoch of the last pause is kept, or cannot be; where rows are published with it, whether all are."""
        is_over = self._last > 0 and self.phase is Phase.IDLE
        if not self._publishes:
            return is_over
        return is_over and all(task.published >= self._last for task in self._tasks.values())

    @property
    def all_are_there(self) -> bool:
        """Whether every task runs in this generation."""
        return all(task.generation == self.generation for task in self._tasks.values())

    def _on_not_written(self, report: wire_pb2.TaskReport) -> None:
        if report.saved.epoch == self.number and self.phase in (Phase.DRAINING, Phase.WRITING):
            self._give_up(report.epoch_failed)

    def _is_taken_for_another(self, report: wire_pb2.TaskReport) -> bool:
        return report.taken >= self.number and report.taken_by != self._leadership

    @property
    def _have_taken(self) -> bool:
        return all(task.taken >= self.number for task in self._tasks.values())

    def _begin_if_due(self, now_ms: float, runs: bool, version: int, last_pause: int) -> bool:
        is_last = last_pause > 0 and not self._is_last_taken(now_ms)
        is_due = not last_pause and runs and self._is_due(now_ms)
        if not self.all_are_there or not (is_last or is_due):
            return False
        self._newest += 1
        self.number = self._newest
        self._since_ms, self._due_ms = now_ms, now_ms + self._interval_ms
        for task in self._tasks.values():
            task.rows_before = task.rows_out
        self._move(Phase.DRAINING)
        self.pause, self._last = last_pause if is_last else version, self.number if is_last else 0
        return True

    def _is_due(self, now_ms: float) -> bool:
        handed = sum(
            max(0, task.rows_out - (task.rows_before or 0)) for task in map(self._tasks.get, self._results) if task
        )
        return now_ms >= (self._due_ms or 0.0) or handed >= RESULT_ROWS_MAX

    def _let_flow(self, now_ms: float) -> None:
        """A pause is over: after a long one the next does not come soon."""
        paused_ms = now_ms - self._since_ms
        if paused_ms > LONG_PAUSE_MS and not self._publishes:
            self._due_ms = max(self._due_ms or 0.0, now_ms + FLOW_TIMES * paused_ms)

    def _is_last_taken(self, now_ms: float) -> bool:
        """Whether the last epoch was taken, and is not to be tried again now."""
        if not self._publishes:
            return self.is_last_kept
        return self._last > 0 and (self.kept >= self._last or now_ms < self._since_ms + AGAIN_MS)

    def _is_written(self, task: _Task) -> bool:
        return task.files is not None and task.files.epoch == self.number

    def take_problem(self) -> str:
        """Why an epoch was given up, once; else an empty text."""
        taken, self._problem = self._problem, ""
        return taken

    def _give_up(self, problem: str) -> None:
        self._problem, self._has_given_up = f"epoch {self.number} is not kept: {problem}", True
        self._move(Phase.IDLE)

    def _move(self, phase: Phase) -> None:
        if phase is self.phase:
            return
        assert phase in MOVES[self.phase], f"{self.phase} to {phase}"
        self.phase = phase
        if phase is not Phase.DRAINING:
            self.pause = 0

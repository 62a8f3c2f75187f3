"""One task of a simulated world: its machine, what is kept for it while it is dead, and when it next has something to do."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from ouzel.connectors.writing import StagingWriter
from ouzel.errors import ConnectorError, OuzelError
from ouzel.exits import Death
from ouzel.planner.topology import Task
from ouzel.runtime.protocol.messages import Commit, Failed, Flush, Instruction, KeepUpTo, Message, Place, Write
from ouzel.runtime.protocol.quarantine import MemoryNote
from ouzel.runtime.protocol.task import TaskMachine
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.journal import Journal, MemoryJournal

TICK_MS = 50.0
"""How often a task is ticked."""

POLL_MS = 5.0
"""A spout that had nothing is asked again so soon, and then ever later, up to TICK_MS, until something comes to it or from it."""


class DeadlyNote(MemoryNote):
    """A task's note; one that is `deadly` kills the task once, as soon as something is in flight."""

    deadly = False

    def write(self, ids: Sequence[int], start: int, end: int) -> None:
        super().write(ids, start, end)
        if self.deadly:
            self.deadly = False
            raise Death


class OnItsWay(NamedTuple):
    """A message on a link: when it arrives, and the generation of the task that sent it."""

    due_ms: float
    message: Message
    generation: int = 0


@dataclass
class TaskPast:
    """What a task finds when it starts.

    Attributes:
        places: what its Commits have kept in this generation, and what the epoch did.
        journal: where its batches were cut in this generation.
        incarnation: how often it was started before.
        generation: grows with each roll back of the topology.
        restored: what it was in the epoch at which the generation begins, if it has not run in this generation yet.
    """

    places: dict[str, Place] = field(default_factory=dict)
    journal: Journal = field(default_factory=MemoryJournal)
    incarnation: int = 0
    generation: int = 0
    restored: Sequence[TaskSnapshot] = ()


@dataclass
class Host:
    """One task: its machine, what is kept for it over restarts, and when it next does what. All times are in milliseconds.

    Attributes:
        task: which task it is.
        machine: the machine of its present life.
        past: what is kept of its lives before.
        tick_at: when the machine is next told the time.
        poll_at: when a source is next asked for rows.
        poll_ms: the pause between two such questions.
        stalled_until: it does nothing before.
        starved_since_ms: since when it has had no core; None if it has one.
        finished: the machine has said that it is done.
        commits: what its source is to commit, each with the time at which that happens.
        orders: what its sink is to do, each with the time at which that happens.
        sink_stalled_until: its sink does nothing before.
        sink_refuses: its sink fails whatever it is told.
        published: the newest epoch up to which all that its sink was given is visible.
        arriving: messages on their way, a queue for each link.
        takes_in: the pause in which it is to be snapshotted once it rests.
        rolls_back_at: when it begins the next generation.
        is_dead: it has ended, and waits for that.
        due_ms: when it next has something to do; None if that may have changed since it was found: whoever changes it says so.
    """

    task: Task
    machine: TaskMachine
    past: TaskPast = field(default_factory=TaskPast)
    tick_at: float = 0.0
    poll_at: float = 0.0
    poll_ms: float = POLL_MS
    stalled_until: float = 0.0
    starved_since_ms: float | None = None
    finished: bool = False
    commits: deque[tuple[float, Commit]] = field(default_factory=deque)
    orders: deque[tuple[float, Write | Flush | KeepUpTo]] = field(default_factory=deque)
    sink_stalled_until: float = 0.0
    sink_refuses: bool = False
    published: int = 0
    arriving: list[deque[OnItsWay]] = field(default_factory=list)
    takes_in: int = 0
    rolls_back_at: float = math.inf
    is_dead: bool = False
    due_ms: float | None = None

    @property
    def places(self) -> dict[str, Place]:
        """What its Commits have kept."""
        return self.past.places

    @property
    def may_be_taken(self) -> bool:
        """Whether it is to be snapshotted, and rests."""
        return self.takes_in > 0 and self.machine.is_at_rest_in(self.takes_in)

    def poll_due_ms(self) -> float:
        """When it is next to be polled, if it is a spout that may have something."""
        return self.poll_at if self.machine.is_spout and not self.machine.is_exhausted else math.inf

    def find_due(self) -> float:
        """Find `due_ms`."""
        self.due_ms = self.rolls_back_at if self.is_dead else max(self._find_next(), self.stalled_until)
        return self.due_ms

    def _find_next(self) -> float:
        due = -math.inf if self.may_be_taken else min(self.tick_at, self.poll_due_ms(), self.rolls_back_at)
        if self.commits and self.commits[0][0] < due:
            due = self.commits[0][0]
        if self.orders:
            due = min(due, max(self.orders[0][0], self.sink_stalled_until))
        for messages in self.arriving:
            if messages and messages[0].due_ms < due:
                due = messages[0].due_ms
        return due

    def stall(self, until_ms: float) -> None:
        """It does nothing until then."""
        self.stalled_until, self.due_ms = until_ms, None

    def starve(self, now_ms: float, until_ms: float) -> None:
        """It has no core until then; when it goes on it says so."""
        self.stall(max(until_ms, self.stalled_until))
        if self.starved_since_ms is None:
            self.starved_since_ms = now_ms

    def go_on(self, now_ms: float) -> None:
        """It has a core: if it had none before, the machine hears for how long."""
        if self.starved_since_ms is not None:
            self.machine.on_starved(now_ms - self.starved_since_ms, now_ms)
            self.starved_since_ms = None

    def stall_sink(self, until_ms: float) -> None:
        """Its sink writes nothing until then."""
        self.sink_stalled_until, self.due_ms = until_ms, None

    def on_poll(self, now_ms: float, had_something: bool) -> None:
        """It has been polled, or handled what came."""
        self.poll_ms = POLL_MS if had_something else min(2 * self.poll_ms, TICK_MS)
        self.poll_at = now_ms if had_something else now_ms + self.poll_ms

    def write(self, now_ms: float, due_ms: float | None = None) -> list[Instruction] | None:
        """Carry out the next order of the sink, and give what the machine says to that; None if nothing is due by now, or by `due_ms`."""
        if not self.orders or max(self.orders[0][0], self.sink_stalled_until) > (now_ms if due_ms is None else due_ms):
            return None
        order, writer = self.orders.popleft()[1], self.machine.writer
        assert writer is not None
        try:
            if self.sink_refuses:
                raise ConnectorError("no space left")
            if isinstance(order, Write):
                writer.write(order.batch_id, order.frame)
                return []
            if isinstance(order, KeepUpTo):
                if isinstance(writer, StagingWriter):
                    writer.on_kept(order.epoch)
                self.published = order.epoch
                return []
            writer.flush()
        except OuzelError as error:
            return [Failed(f"{self.task.component}: {error}")]
        return self.machine.on_flushed(order.number, now_ms)

    def keep_offsets(self, now_ms: float) -> bool:
        """Carry out the next commit, if it is due."""
        if not self.commits or self.commits[0][0] > now_ms:
            return False
        commit = self.commits.popleft()[1]
        self.places.update(commit.places)
        self.machine.on_committed(commit.number, now_ms)
        return True

    def has_published(self, epoch: int) -> bool:
        """Whether all that its sink was given up to this epoch is visible."""
        return self.machine.writer is None or self.published >= epoch

    def keep_some(self, random: Random, now_ms: float) -> None:
        """It ends: of its orders and commits the first ones had been carried out."""
        for _ in range(random.randint(0, len(self.orders))):
            self.write(now_ms, math.inf)
        for _ in range(random.randint(0, len(self.commits))):
            self.places.update(self.commits.popleft()[1].places)
        self.let_go()

    def die(self) -> None:
        """It ends with nothing kept, and begins again when all go back."""
        self.is_dead = True
        self.let_go()

    def let_go(self) -> None:
        """What it holds of the machine that simulates goes, as it does when a process ends: files that are open."""
        if isinstance(self.machine.writer, StagingWriter):
            self.machine.writer.close()

    def close(self, now_ms: float) -> None:
        """Write what is left, then let go of everything."""
        while self.orders and self.write(now_ms, math.inf) is not None:
            pass
        if self.machine.writer is not None:
            self.machine.writer.close()
        self.machine.close()

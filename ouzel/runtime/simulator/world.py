"""A whole topology in one process: every task's real state machine, and between them links that are FIFO, slow, and may break.

Everything is drawn from one seed, so a failure is replayed exactly (TigerBeetle's VOPR and FoundationDB's simulation are the models).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from ouzel.connectors.writing import MarkedWriter
from ouzel.errors import TopologyError
from ouzel.exits import Death
from ouzel.planner.former import Former
from ouzel.planner.packing import repack
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Task, Topology
from ouzel.runtime.protocol.messages import Commit, Event, Failed, Finished, Flush, Instruction, KeepUpTo, Send, Write
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.protocol.trace_span import TraceSpan
from ouzel.runtime.simulator.epochs import Epoch, Epochs, sent_as_file
from ouzel.runtime.simulator.host import TICK_MS, DeadlyNote, Host, OnItsWay, TaskPast
from ouzel.runtime.simulator.links import SimulatedLinks, take_arrived
from ouzel.runtime.simulator.results import DeliverResult, SimulatedResults
from ouzel.runtime.tasks.factory import TaskContext, make_task
from ouzel.runtime.tasks.found import FoundInMemory
from ouzel.runtime.tasks.journal import Journal, MemoryJournal
from ouzel.runtime.tasks.partitions import SourceHistory

if TYPE_CHECKING:
    from ouzel.runtime.state.context import Snapshot, StateContext

_SPANS_KEPT = 10_000
"""The last spans that tasks have told, for who looks at them; a run in memory may never end."""

WALL_ZERO_US = 1_577_836_800_000_000
"""A simulated day begins on the first of January 2020, 00:00 UTC."""

Fault = Callable[["World"], object]
"""Something that goes wrong: see simulator.faults."""


class World:
    """All tasks and the links between them. `step` does one thing; time is `now_ms`, and passes only as steps say.

    `wall_zero_us` is what the wall clock shows, in microseconds UTC, when `now_ms` is 0.
    """

    def __init__(
        self, topology: Topology, packing: PackingPlan, directory: Path, seed: int, deliver: DeliverResult | None = None,
        monotonic_ms: Callable[[], float] = lambda: 0.0, history: Mapping[str, SourceHistory] | None = None,
    ) -> None:  # fmt: skip
        self._history = history
        self.topology, self.packing, self.directory = topology, packing, directory
        self.random = Random(seed)
        self.now_ms, self.wall_zero_us = 1.0, WALL_ZERO_US
        self._shell = Shell(wall_zero_us=lambda: self.wall_zero_us, monotonic_ms=monotonic_ms)
        self.links = SimulatedLinks()
        self.frames: dict[int, pl.DataFrame] = {}
        self.results = SimulatedResults(deliver or self.frames.__setitem__)
        self.events: list[Event] = []
        self.spans: deque[tuple[int, TraceSpan]] = deque(maxlen=_SPANS_KEPT)
        self.happened: list[str] = []
        self.snapshots: dict[StateContext, list[Snapshot]] = {}
        self.failed = ""
        self.delay_ms = self.commit_ms = self._due_ms = 0.0
        self.pause = self._pauses = self.generation = self._last_epoch = 0
        self.resumes_at: float | None = None
        self.stopping = self._users_pause = self.takes_epochs = False
        self.epochs = Epochs()
        self._restores = self.epochs.newest
        self._staged = TemporaryDirectory() if topology.settings.delivery.publishes else None
        self._abandons_at = math.inf
        self.after_epoch: list[Fault] = []
        self._becomes: tuple[Topology, Mapping[str, Former]] | None = None
        self._coming: list[tuple[float, Fault]] = []
        self.notes = {task.id: DeadlyNote() for task in topology.tasks()}
        self._found = FoundInMemory()
        self.hosts = {task.id: self._start(task, TaskPast()) for task in topology.tasks()}
        self.sinks = [task.id for task in topology.tasks() if not topology.readers_of(task.component)]

    def container_tasks(self, task: int) -> frozenset[int]:
        """The tasks that share the task's container."""
        return frozenset(member.id for member in self.packing.container_of(task).tasks)

    @property
    def done(self) -> bool:
        """Whether everything that nobody reads from has finished, or the topology has stopped or failed."""
        is_over = (self.stopping and self.at_rest) or (self.has_finished and self._is_published)
        return bool(self.failed) or is_over

    @property
    def has_finished(self) -> bool:
        """Whether every task has handled all that there will ever be: also one that was started again when the sinks had it all."""
        return not self.rolls_back and all(host.finished for host in self.hosts.values())

    @property
    def _is_published(self) -> bool:
        """Whether the last rows are, where they are published with epochs: with one that is taken when all have finished."""
        is_kept = 0 < self._last_epoch <= self.epochs.newest.number
        return self._staged is None or (is_kept and all(h.has_published(self._last_epoch) for h in self.hosts.values()))

    def stop(self) -> None:
        """Stop cleanly: pause, and be over when everything has come to rest."""
        self.stopping = True
        self.deactivate()

    def deactivate(self) -> None:
        """The user has all spouts read no more."""
        self._users_pause = True
        self._pause_all()

    def activate(self) -> None:
        """The user has all spouts read on: they do when no epoch is being taken, unless the topology is to stop."""
        self.resumes_at = None
        self._users_pause = False
        self._resume_all()

    def _pause_all(self) -> None:
        if not self.pause:
            self._pauses += 1
            self.pause = self._pauses
        for host in self._hosts_of_now():
            host.due_ms = None
            host.machine.deactivate(self.pause, self.now_ms)

    def _resume_all(self) -> None:
        if self.stopping or self._users_pause or self.epochs.taking:
            return
        self.pause = 0
        for host in self._hosts_of_now():
            host.due_ms = None
            host.machine.activate(self.now_ms)

    def _hosts_of_now(self) -> list[Host]:
        """Those that have begun the present generation: others hear nothing of its pauses."""
        return [host for host in self.hosts.values() if host.past.generation == self.generation and not host.is_dead]

    @property
    def at_rest(self) -> bool:
        """Whether the topology is paused, and all that was on its way has been handled."""
        return (
            self.pause > 0
            and not self.rolls_back
            and all(host.finished or host.machine.paused == self.pause for host in self.hosts.values())
        )

    def take_epoch(self, abandons_at: float = math.inf) -> bool:
        """Pause until each task has been snapshotted at rest, or until so many have: then the epoch is abandoned. False if it cannot be."""
        if self.epochs.taking or self.epochs.writing or self.rolls_back or not self.keeps_epochs:
            return False
        self.epochs.begin()
        self._abandons_at = abandons_at
        self._pause_all()
        for host in self.hosts.values():
            host.takes_in = self.pause
        return True

    def update(self, topology: Topology, formers: Mapping[str, Former] | None = None) -> bool:
        """Come to rest, and go on as this topology from the epoch that is taken then. False if it cannot be now.

        `formers` say what its components go on from; without them each does from the one of its name.
        """
        if not self.take_epoch():
            return False
        self._becomes = topology, formers or {}
        return True

    def _become(self, topology: Topology, formers: Mapping[str, Former]) -> None:
        """All tasks end; those of another topology begin, where the last epoch left it."""
        self.epochs.go_on_as(formers)
        incarnation = 1 + max(host.past.incarnation for host in self.hosts.values())
        for host in self.hosts.values():
            host.machine.close()
            host.let_go()
        self.topology, self.packing = topology, repack(topology, self.packing)
        self.generation += 1
        self.pause, self._restores = 0, self.epochs.newest
        self.links.clear()
        self.epochs.begin_anew()
        tasks = topology.tasks()
        self.notes = {task.id: DeadlyNote() for task in tasks}
        self.sinks = [task.id for task in tasks if not topology.readers_of(task.component)]
        begin = partial(self._restores.begin, topology=topology, incarnation=incarnation, generation=self.generation)
        self.hosts = {task.id: self._start(task, begin(task, MemoryJournal())) for task in tasks}
        self.happened.append(
            f"updated to {', '.join(f'{one.name} x {one.parallelism}' for one in topology.components)}"
        )
        if self._users_pause or self.stopping:
            self._pause_all()

    @property
    def keeps_epochs(self) -> bool:
        """Whether tasks go back to an epoch when one dies that keeps something."""
        return self.topology.settings.has_epochs

    @property
    def rolls_back(self) -> bool:
        """Whether some tasks have not come to the present generation yet."""
        return any(host.past.generation < self.generation for host in self.hosts.values())

    def roll_back(self) -> None:
        """Begin the next generation: every task is made anew from the last complete epoch, each in its time."""
        self.epochs.begin_anew()
        if self._becomes is not None:
            topology, formers = self._becomes
            self.let_come_soon(partial(World.update, topology=topology, formers=formers))
        self._end_epoch()
        self.generation += 1
        self._last_epoch = 0
        self._restores = self.epochs.newest
        self.happened.append(f"all go back to epoch {self._restores.number}")
        within_ms = self.random.choice([0.0, 10.0, 200.0, 2_000.0])
        for host in self.hosts.values():
            host.rolls_back_at, host.due_ms = self.now_ms + within_ms * self.random.random(), None

    def kill(self, task: int) -> None:
        """A task dies. One that keeps something, where there are epochs, takes all others back to the last one with it."""
        if not (self.keeps_epochs and self.hosts[task].machine.stateful):
            self.restart(task)
            return
        self.hosts[task].die()
        self._lose_links(task)
        self.roll_back()

    def restart(self, task: int) -> None:
        """Kill a task and start it anew: its memory and what was on its way to it are gone."""
        host = self.hosts[task]
        host.keep_some(self.random, self.now_ms)
        self._lose_links(task)
        past = replace(host.past, incarnation=host.past.incarnation + 1, restored=())
        self.hosts[task] = self._start(host.task, past)
        self.hosts[task].rolls_back_at = host.rolls_back_at

    def _begin_generation(self, host: Host) -> None:
        """Make the machine anew from the epoch to which all go back."""
        if not host.is_dead:
            host.keep_some(self.random, self.now_ms)
            host.machine.close()
        incarnation, journal = host.past.incarnation + 1, self._journal_after(host)
        past = self._restores.begin(host.task, journal, self.topology, incarnation, self.generation)
        self.hosts[host.task.id] = self._start(host.task, past)

    def _journal_after(self, host: Host) -> Journal:
        """A fresh one: after an epoch nothing is cut as it was before."""
        return MemoryJournal()

    def _lose_links(self, task: int) -> None:
        self.lose(lambda source, destination: task in (source, destination))

    def flush_on_pause(self, host: Host) -> None:
        """Have a task emit the rows that it only delays, so that its state can be snapshotted."""
        self._carry_out(host.task.id, host.machine.flush_on_pause(self.now_ms))

    def lose(self, matches: Callable[[int, int], bool]) -> int:
        """Drop what is on the links (from, to) that match; how many messages that were."""
        lost, destinations = self.links.lose(matches)
        for destination in destinations:
            self.hosts[destination].due_ms = None
        return lost

    def reconnect(self, tasks: Sequence[int]) -> None:
        """Tell these tasks that their way to the stream manager was lost and is back."""
        for task in tasks:
            if not self.hosts[task].is_dead:
                self._carry_out(task, self.hosts[task].machine.on_reconnected(self.now_ms))

    def step(self) -> bool:
        """Do one thing, chosen at random; False when there was nothing to do at this time."""
        if self.resumes_at is not None and self.now_ms >= self.resumes_at:
            self.activate()
        self._let_come()
        self._take_last_epoch()
        hosts, self._due_ms = list[Host](), math.inf
        for host in self.hosts.values():
            due_ms = host.find_due() if host.due_ms is None else host.due_ms
            if due_ms <= self.now_ms:
                hosts.append(host)
            elif due_ms < self._due_ms:
                self._due_ms = due_ms
        while hosts:
            host = hosts.pop(int(self.random.random() * len(hosts)))
            host.due_ms = None
            if self._roll_back(host):
                return True
            host.go_on(self.now_ms)
            if (
                self._take_snapshot(host)
                or host.keep_offsets(self.now_ms)
                or self._write(host)
                or self._deliver(host)
                or self._poll(host)
                or self._tick(host)
            ):
                return True
            self._due_ms = min(self._due_ms, host.find_due())
        return False

    def _take_last_epoch(self) -> None:
        """Where rows are published with epochs, one is taken when all have finished; one that is abandoned is taken again."""
        is_taken = 0 < self._last_epoch <= self.epochs.newest.number
        if self._staged is not None and not is_taken and self.has_finished and self.take_epoch():
            self._last_epoch = self.epochs.taking

    def rest(self) -> None:
        """There was nothing to do at this time: it passes until there may be."""
        due_ms = self._due_ms if self.resumes_at is None else min(self._due_ms, self.resumes_at)
        self.now_ms = max(due_ms, self.now_ms + self.random.random())

    def _start(self, task: Task, past: TaskPast) -> Host:
        setting = TaskContext(
            self.topology,
            self.directory,
            self.container_tasks(task.id),
            dict(past.places),
            self.results.of(task.id),
            past.incarnation,
            past.journal,
            in_flight=self.notes[task.id],
            shell=self._shell,
            found=self._found,
            restored=past.restored,
            goes_on=past.generation > 0 and self._restores.number > 0,
            staged=Path(self._staged.name) if self._staged is not None else None,
            history=self._history,
        )
        machine = make_task(task, setting)
        if self.epochs.newest.number:
            machine.on_epoch_kept()
        if self.keeps_epochs and isinstance(machine.writer, MarkedWriter):
            machine.writer.roll_back(self._restores.number, past.generation)
        current = past.generation == self.generation
        if self.pause and current:
            machine.deactivate(self.pause, self.now_ms)
        arriving = self.links.leading_to(task.id)
        takes_in = self.pause if self.epochs.taking and current and not self.epochs.has(task.id) else 0
        host = Host(task, machine, past, self.now_ms + TICK_MS, arriving=arriving, takes_in=takes_in)
        if machine.writer is not None and self._staged is not None:
            host.orders.append((self.now_ms, KeepUpTo(self.epochs.newest.number)))
        return host

    def _roll_back(self, host: Host) -> bool:
        if host.rolls_back_at > self.now_ms:
            return False
        self._begin_generation(host)
        return True

    def _take_snapshot(self, host: Host) -> bool:
        """Snapshot a task that rests, if it is to be and does not tarry."""
        if not host.may_be_taken or self.random.random() < _TARRIES:
            return False
        host.takes_in = 0
        try:
            snapshot = host.machine.snapshot(self.random.random() < _WHOLE)
        except TopologyError as error:
            self._abandon_epoch(str(error))
            return True
        if self.random.random() < _AS_FILES:
            snapshot = sent_as_file(self.epochs.taking, snapshot)
        self.epochs.take(host.task.id, snapshot)
        if isinstance(writer := host.machine.writer, MarkedWriter):
            writer.mark(self.epochs.taking, self.epochs.newest.number)
        if self.epochs.taken >= self._abandons_at:
            self._abandon_epoch()
        elif self.epochs.taken == len(self.hosts):
            self.epochs.write(self.topology.tasks())
            if self._becomes is not None:
                becomes, self._becomes = self._becomes, None
                self._complete_epoch(self.epochs.writing)
                self._become(*becomes)
                return True
            self._end_epoch()
            self.let_come_soon(partial(World._complete_epoch, written=self.epochs.writing))
        return True

    def _abandon_epoch(self, reason: str = "") -> None:
        self.events += [Event("epoch-failed", reason)] if reason else []
        self.epochs.abandon()
        self._end_epoch()
        self.let_come_soon(World.take_epoch)

    def _complete_epoch(self, written: Epoch | None) -> None:
        if self.epochs.writing is not written:
            return
        self.epochs.complete()
        for host in self._hosts_of_now():
            host.machine.on_epoch_kept()
            if host.machine.writer is not None and self._staged is not None:
                self._order(host, KeepUpTo(self.epochs.newest.number))
        for fault in [*self.after_epoch, *([World.take_epoch] if self.takes_epochs else [])]:
            self.let_come_soon(fault)
        self.after_epoch.clear()

    def let_come_soon(self, fault: Fault) -> None:
        """Something happens at a moment that is drawn."""
        within_ms = self.random.choice([0.0, 20.0, 500.0])
        self._coming.append((self.now_ms + within_ms * self.random.random(), fault))

    def _let_come(self) -> None:
        due = [one for one in self._coming if one[0] <= self.now_ms]
        for one in due:
            self._coming.remove(one)
            one[1](self)

    def _end_epoch(self) -> None:
        self._becomes = None
        for host in self.hosts.values():
            host.takes_in, host.due_ms = 0, None
        self._resume_all()

    def _deliver(self, host: Host) -> bool:
        taken = take_arrived(host.arriving, self.now_ms, self.random)
        messages = [one.message for one in taken if self._is_heard(one, host)]
        if messages:
            host.on_poll(self.now_ms, had_something=True)
            self._call(host, lambda: host.machine.handle(messages, self.now_ms))
        return bool(taken)

    def _is_heard(self, one: OnItsWay, host: Host) -> bool:
        """What was sent in another generation than the receiver's is dropped."""
        return one.generation == host.past.generation

    def _write(self, host: Host) -> bool:
        instructions = host.write(self.now_ms)
        self._carry_out(host.task.id, instructions or ())
        return instructions is not None

    def _poll(self, host: Host) -> bool:
        if host.poll_due_ms() > self.now_ms:
            return False
        had_something = self._call(host, lambda: host.machine.poll(self.now_ms))
        host.on_poll(self.now_ms, had_something)
        return had_something

    def _call(self, host: Host, call: Callable[[], list[Instruction]]) -> bool:
        """Carry out what the machine says; if it dies in the call, start it anew."""
        try:
            instructions = call()
        except Death:
            self.kill(host.task.id)
            return True
        self._carry_out(host.task.id, instructions)
        return bool(instructions)

    def _tick(self, host: Host) -> bool:
        if host.tick_at > self.now_ms:
            return False
        host.tick_at = self.now_ms + TICK_MS
        self._carry_out(host.task.id, host.machine.tick(self.now_ms))
        return True

    def _put(self, source: int, sent: OnItsWay) -> None:
        destination = self.hosts[sent.message.destination]
        link, is_new = self.links.find(source, destination.task.id)
        if is_new:
            destination.arriving.append(link)
        link.append(sent)
        destination.due_ms = None

    def _carry_out(self, task: int, instructions: Sequence[Instruction]) -> None:
        self.hosts[task].due_ms = None
        for instruction in instructions:
            match instruction:
                case Send(message):
                    due_ms = self.now_ms + self.random.random() * self.delay_ms
                    self._put(task, OnItsWay(due_ms, message, self.hosts[task].past.generation))
                case Commit():
                    due_ms = self.now_ms + self.random.random() * self.commit_ms
                    self.hosts[task].commits.append((due_ms, instruction))
                case Write() | Flush():
                    self._order(self.hosts[task], instruction)
                case Event():
                    self.events.append(instruction)
                case TraceSpan():
                    self.spans.append((task, instruction))
                case Finished():
                    self.hosts[task].finished = True
                case Failed(reason):
                    self.failed = self.failed or reason

    def _order(self, host: Host, order: Write | Flush | KeepUpTo) -> None:
        host.due_ms = None
        host.orders.append((self.now_ms + self.random.random() * self.delay_ms, order))


_TARRIES, _WHOLE, _AS_FILES = 0.5, 0.3, 0.05
"""How often a task that rests does something else before it is snapshotted, gives all of itself, and comes back from a file."""

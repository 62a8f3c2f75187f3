"""A whole topology in one process: every task's real state machine, and between them links that are FIFO, slow, and may break.

Everything is drawn from one seed, so a failure is replayed exactly (TigerBeetle's VOPR and FoundationDB's simulation are the models).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl

from ouzel.errors import ConnectorError, OuzelError, TopologyError
from ouzel.exits import Death
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Task, Topology
from ouzel.runtime.protocol.messages import (
    Commit,
    Event,
    Failed,
    Finished,
    Flush,
    Instruction,
    Message,
    Place,
    Send,
    Write,
)
from ouzel.runtime.protocol.quarantine import MemoryNote
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.protocol.task import TaskMachine
from ouzel.runtime.tasks.factory import Results, TaskContext, make_task
from ouzel.runtime.tasks.found import FoundInMemory
from ouzel.runtime.tasks.journal import MemoryJournal

if TYPE_CHECKING:
    from ouzel.runtime.state.context import Snapshot, StateContext

TICK_MS = 50.0
"""How often a task is ticked."""

POLL_MS = 5.0
"""A spout that had nothing is asked again so soon, and then ever later, up to TICK_MS, until something comes to it or from it."""

WALL_ZERO_US = 1_577_836_800_000_000
"""A simulated day begins on the first of January 2020, 00:00 UTC."""

Fault = Callable[["World"], None]
"""Something that goes wrong: see simulator.faults."""


class DeadlyNote(MemoryNote):
    """A task's note; one that is `deadly` kills the task once, as soon as something is in flight."""

    deadly = False

    def write(self, ids: Sequence[int], start: int, end: int) -> None:
        super().write(ids, start, end)
        if self.deadly:
            self.deadly = False
            raise Death


@dataclass
class Host:
    """One task: its machine, what is kept for it over restarts, and when it next does what.

    `due_ms` is when it next has something to do; None if that may have changed since it was found: whoever changes it says so.
    """

    task: Task
    machine: TaskMachine
    places: dict[str, Place] = field(default_factory=dict)
    epoch: int = 0
    tick_at: float = 0.0
    poll_at: float = 0.0
    poll_ms: float = POLL_MS
    stalled_until: float = 0.0
    starved_since_ms: float | None = None
    finished: bool = False
    commits: deque[tuple[float, Commit]] = field(default_factory=deque)
    orders: deque[tuple[float, Write | Flush]] = field(default_factory=deque)
    sink_stalled_until: float = 0.0
    sink_refuses: bool = False
    arriving: list[deque[tuple[float, Message]]] = field(default_factory=list)
    due_ms: float | None = None

    def poll_due_ms(self) -> float:
        """When it is next to be polled, if it is a spout that may have something."""
        return self.poll_at if self.machine.is_spout and not self.machine.is_exhausted else math.inf

    def find_due(self) -> float:
        """Find `due_ms`."""
        due = min(self.tick_at, self.poll_due_ms())
        if self.commits and self.commits[0][0] < due:
            due = self.commits[0][0]
        if self.orders:
            due = min(due, max(self.orders[0][0], self.sink_stalled_until))
        for messages in self.arriving:
            if messages and messages[0][0] < due:
                due = messages[0][0]
        self.due_ms = max(due, self.stalled_until)
        return self.due_ms

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

    def asked(self, now_ms: float, had_something: bool) -> None:
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
            writer.flush()
        except OuzelError as error:
            return [Failed(f"{self.task.component}: {error}")]
        return self.machine.on_flushed(order.number, now_ms)

    def close(self, now_ms: float) -> None:
        """Write what is left, then let go of everything."""
        while self.orders and self.write(now_ms, math.inf) is not None:
            pass
        if self.machine.writer is not None:
            self.machine.writer.close()
        self.machine.close()


@dataclass
class SimulatedRun:
    """What a finished simulation shows: the result sink's frames by batch id, in order, what was told to the user, and what was counted.

    `sources` are how many rows were read, acked and bad, as the tasks say that are there at the end.
    """

    frames: dict[int, pl.DataFrame]
    events: list[Event]
    faults: list[str]
    rows_late: int
    rows_failed: int
    sources: tuple[int, int, int]


class World:
    """All tasks and the links between them. `step` does one thing; time is `now_ms`, and passes only as steps say.

    `wall_zero_us` is what the wall clock shows, in microseconds UTC, when `now_ms` is 0.
    """

    def __init__(
        self, topology: Topology, packing: PackingPlan, directory: Path, seed: int, results: Results | None = None,
        monotonic_ms: Callable[[], float] = lambda: 0.0,
    ) -> None:  # fmt: skip
        self.results = results or self._keep
        self.topology, self.packing, self.directory = topology, packing, directory
        self.random = Random(seed)
        self.now_ms, self.wall_zero_us = 1.0, WALL_ZERO_US
        self._shell = Shell(wall_zero_us=lambda: self.wall_zero_us, monotonic_ms=monotonic_ms)
        self.links: dict[tuple[int, int], deque[tuple[float, Message]]] = {}
        self.frames: dict[int, pl.DataFrame] = {}
        self.events: list[Event] = []
        self.happened: list[str] = []
        self.snapshots: dict[StateContext, list[Snapshot]] = {}
        self.failed = ""
        self.delay_ms = self.commit_ms = 0.0
        self.pause = self._pauses = 0
        self.resumes_at: float | None = None
        self._due_ms = 0.0
        self.stopping = False
        self._journals = {task.id: MemoryJournal() for task in topology.tasks()}
        self.notes = {task.id: DeadlyNote() for task in topology.tasks()}
        self._found = FoundInMemory()
        self.hosts = {task.id: self._start(task, {}, 0) for task in topology.tasks()}
        self.sinks = [task.id for task in topology.tasks() if not topology.readers_of(task.component)]

    def container_tasks(self, task: int) -> frozenset[int]:
        """The tasks that share the task's container."""
        return frozenset(member.id for member in self.packing.container_of(task).tasks)

    @property
    def done(self) -> bool:
        """Whether everything that nobody reads from has finished, or the topology has stopped or failed."""
        stopped = self.stopping and self.at_rest
        return bool(self.failed) or stopped or self.has_finished

    @property
    def has_finished(self) -> bool:
        """Whether everything that nobody reads from has handled all that there will ever be."""
        return all(self.hosts[task].finished for task in self.sinks)

    def stop(self) -> None:
        """Stop cleanly: pause, and be over when everything has come to rest."""
        self.stopping = True
        self.deactivate()

    def deactivate(self) -> None:
        """Tell all spouts to read no more."""
        if not self.pause:
            self._pauses += 1
            self.pause = self._pauses
        for host in self.hosts.values():
            host.machine.deactivate(self.pause, self.now_ms)

    def activate(self) -> None:
        """Tell all spouts to read on, unless the topology is to stop."""
        self.resumes_at = None
        if self.stopping:
            return
        self.pause = 0
        for host in self.hosts.values():
            host.machine.activate(self.now_ms)

    @property
    def at_rest(self) -> bool:
        """Whether the topology is paused, and all that was on its way has been handled."""
        return self.pause > 0 and all(
            host.finished or host.machine.paused == self.pause for host in self.hosts.values()
        )

    def restart(self, task: int) -> None:
        """Kill a task and start it anew: its memory and what was on its way to it are gone."""
        host = self.hosts[task]
        for _ in range(self.random.randint(0, len(host.orders))):
            host.write(self.now_ms, math.inf)
        for link, messages in self.links.items():
            if task in link:
                messages.clear()
                self.hosts[link[1]].due_ms = None
        for _ in range(self.random.randint(0, len(host.commits))):  # the others had not been carried out yet
            host.places.update(host.commits.popleft()[1].places)
        self.hosts[task] = self._start(host.task, host.places, host.epoch + 1)

    def flush_on_pause(self, host: Host) -> None:
        """Have a task emit the rows that it only delays, so that its state can be snapshotted."""
        self._carry_out(host.task.id, host.machine.flush_on_pause(self.now_ms))

    def lose(self, matches: Callable[[int, int], bool]) -> int:
        """Drop what is on the links (from, to) that match; how many messages that were."""
        lost = 0
        for (source, destination), messages in self.links.items():
            if matches(source, destination):
                lost += len(messages)
                messages.clear()
                self.hosts[destination].due_ms = None
        return lost

    def reconnect(self, tasks: Sequence[int]) -> None:
        """Tell these tasks that their way to the stream manager was lost and is back."""
        for task in tasks:
            self._carry_out(task, self.hosts[task].machine.on_reconnected(self.now_ms))

    def step(self) -> bool:
        """Do one thing, chosen at random; False when there was nothing to do at this time."""
        if self.resumes_at is not None and self.now_ms >= self.resumes_at:
            self.activate()
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
            host.go_on(self.now_ms)
            if (
                self._keep_offsets(host)
                or self._write(host)
                or self._deliver(host)
                or self._poll(host)
                or self._tick(host)
            ):
                return True
            self._due_ms = min(self._due_ms, host.find_due())
        return False

    def rest(self) -> None:
        """There was nothing to do at this time: it passes until there may be."""
        due_ms = self._due_ms if self.resumes_at is None else min(self._due_ms, self.resumes_at)
        self.now_ms = max(due_ms, self.now_ms + self.random.random())

    def _start(self, task: Task, places: dict[str, Place], epoch: int) -> Host:
        local = self.container_tasks(task.id)
        journal = self._journals[task.id]
        setting = TaskContext(
            self.topology,
            self.directory,
            local,
            dict(places),
            self.results,
            epoch,
            journal,
            in_flight=self.notes[task.id],
            shell=self._shell,
            found=self._found,
        )
        machine = make_task(task, setting)
        if self.pause:
            machine.deactivate(self.pause, self.now_ms)
        arriving = [messages for (_, destination), messages in self.links.items() if destination == task.id]
        return Host(task, machine, places, epoch, self.now_ms + TICK_MS, arriving=arriving)

    def _keep(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Keep a result; one that comes again, with the same id, is the same."""
        self.frames.setdefault(batch_id, frame)

    def _keep_offsets(self, host: Host) -> bool:
        if not host.commits or host.commits[0][0] > self.now_ms:
            return False
        commit = host.commits.popleft()[1]
        host.places.update(commit.places)
        host.machine.on_committed(commit.number, self.now_ms)
        return True

    def _deliver(self, host: Host) -> bool:
        messages: list[Message] = []
        arriving = [waiting for waiting in host.arriving if waiting and waiting[0][0] <= self.now_ms]
        if len(arriving) > 1:
            self.random.shuffle(arriving)
        for waiting in arriving:
            for _ in range(self.random.randint(0 if messages else 1, len(waiting))):
                if waiting[0][0] > self.now_ms:
                    break
                messages.append(waiting.popleft()[1])
        if messages:
            host.asked(self.now_ms, had_something=True)
            self._call(host, lambda: host.machine.handle(messages, self.now_ms))
        return bool(messages)

    def _write(self, host: Host) -> bool:
        instructions = host.write(self.now_ms)
        self._carry_out(host.task.id, instructions or ())
        return instructions is not None

    def _poll(self, host: Host) -> bool:
        if host.poll_due_ms() > self.now_ms:
            return False
        had_something = self._call(host, lambda: host.machine.poll(self.now_ms))
        host.asked(self.now_ms, had_something)
        return had_something

    def _call(self, host: Host, call: Callable[[], list[Instruction]]) -> bool:
        """Carry out what the machine says; if it dies in the call, start it anew."""
        try:
            instructions = call()
        except Death:
            self.restart(host.task.id)
            return True
        self._carry_out(host.task.id, instructions)
        return bool(instructions)

    def _tick(self, host: Host) -> bool:
        if host.tick_at > self.now_ms:
            return False
        host.tick_at = self.now_ms + TICK_MS
        self._carry_out(host.task.id, host.machine.tick(self.now_ms))
        return True

    def _link(self, source: int, destination: int) -> deque[tuple[float, Message]]:
        link = self.links.get((source, destination))
        if link is None:
            link = self.links[source, destination] = deque()
            self.hosts[destination].arriving.append(link)
        return link

    def _carry_out(self, task: int, instructions: Sequence[Instruction]) -> None:
        self.hosts[task].due_ms = None
        for instruction in instructions:
            match instruction:
                case Send(message):
                    due_ms = self.now_ms + self.random.random() * self.delay_ms
                    self._link(task, message.destination).append((due_ms, message))
                    self.hosts[message.destination].due_ms = None
                case Commit():
                    due_ms = self.now_ms + self.random.random() * self.commit_ms
                    self.hosts[task].commits.append((due_ms, instruction))
                case Write() | Flush():
                    due = self.now_ms + self.random.random() * self.delay_ms
                    self.hosts[task].orders.append((due, instruction))
                case Event():
                    self.events.append(instruction)
                case Finished():
                    self.hosts[task].finished = True
                case Failed(reason):
                    self.failed = self.failed or reason


_REACH = (25, 100, 400)
"""Within so many steps a fault comes: half of the law's runs take a hundred, and one drawn later would not come at all."""


def simulate(
    topology: Topology,
    packing: PackingPlan,
    directory: Path,
    *,
    seed: int = 0,
    faults: Sequence[Fault] = (),
    steps: int = 200_000,
) -> SimulatedRun:
    """Run a bounded topology to its end, with batching, order and faults drawn from `seed`.

    Raises:
        TopologyError: it failed, or did not end within `steps`.
    """
    random = Random(seed)
    topology = replace(topology, settings=_random_batching(topology, random))
    world = World(topology, packing, directory, seed)
    world.delay_ms, world.commit_ms = random.choice([0.0, 5.0, 100.0]), random.choice([0.0, 50.0, 10_000.0])
    due = sorted(random.randint(1, random.choice(_REACH)) for _ in faults)
    coming = random.sample(list(faults), len(faults))
    for count in range(steps):
        if world.done:
            break
        if due and count >= due[0]:
            due.pop(0)
            coming.pop()(world)
        if world.step():
            world.now_ms += random.random()
        else:
            world.rest()
    if world.failed or not world.done:
        raise TopologyError(world.failed or f"did not end in {steps} steps; replay with seed={seed}")
    counts = [host.machine.metrics() for host in world.hosts.values()]
    late, failed = sum(count.rows_late for count in counts), sum(count.rows_failed for count in counts)
    told = [host.machine.metrics() for host in world.hosts.values() if host.machine.is_spout]
    sources = sum(one.rows_in for one in told), sum(one.rows_acked for one in told), sum(one.rows_bad for one in told)
    for host in world.hosts.values():
        host.close(world.now_ms)
    return SimulatedRun(world.frames, world.events, world.happened, late, failed, sources)


def _random_batching(topology: Topology, random: Random) -> Settings:
    rows = random.choice([100, 300, 1_000, 5_000])
    return replace(
        topology.settings,
        batch_rows=rows,
        handle_rows=random.choice([rows, 10 * rows]),
        max_pending_rows=rows * random.choice([1, 3, 20]),
        ack_timeout_ms=2_000,
        seed=random.getrandbits(62),
    )

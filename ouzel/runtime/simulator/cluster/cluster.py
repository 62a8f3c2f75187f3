"""A whole cluster from one seed: executors start processes again, processes get their turns in any order, and time passes as steps say."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import polars as pl

from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Topology
from ouzel.runtime.process.job import MASTER_CONTAINER, MASTERS, RunDescription
from ouzel.runtime.process.leading import leader_path
from ouzel.runtime.process.topology_master import TopologyMaster
from ouzel.runtime.protocol.cluster.epochs import Phase
from ouzel.runtime.protocol.cluster.executor import ExecutorMachine
from ouzel.runtime.protocol.cluster.leadership import Deposed
from ouzel.runtime.protocol.cluster.metrics_manager import MetricsManagerMachine
from ouzel.runtime.protocol.cluster.processes import ProcessEntry, Processes, begin_anew
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.protocol.cluster.supervision import Kill, Start
from ouzel.runtime.protocol.cluster.topology_master import ClientRequest
from ouzel.runtime.protocol.cluster.updating import UpdateStep
from ouzel.runtime.run import RunState
from ouzel.runtime.simulator.cluster.disk import EpochDisk
from ouzel.runtime.simulator.cluster.processes import (
    MasterProcess,
    MetricsManagerProcess,
    Process,
    StreamManagerProcess,
    TaskProcess,
)
from ouzel.runtime.simulator.cluster.state_manager import StateTree
from ouzel.runtime.simulator.cluster.updating import (
    ClusterUpdate,
    SimulatedCommand,
    start_what_was_left,
    update_topology,
)
from ouzel.runtime.simulator.results import SimulatedResults
from ouzel.runtime.simulator.world import WALL_ZERO_US
from ouzel.runtime.tasks.journal import Journal, MemoryJournal
from ouzel.runtime.wire import wire_pb2

ProcessKey = tuple[int, str]
"""Container and name of a process."""

LEADER: ProcessKey = (0, "leader")
"""Whichever topology master leads."""

_LOOK_AFTER_MS = 50.0


class Cluster:
    """All processes of one topology, and what holds between them.

    Attributes:
        now_ms: the time, on one clock for all.
        delay_ms, commit_ms: up to so long a sink, a plan or a snapshot takes, and a commit of offsets.
        lost_calls: how often a call to the topology master is thought to have failed.
        interleaves: how often a topology master loses its turn between two steps of what it does.
        wire_bytes: so much a connection holds.
        latency_ms: up to so long after each read of a connection the next comes.
        share: how often a process that acts has its turn.
        alive: the processes that run, and `hung` until when those do nothing that hang.
        errors: what no process may raise.
        updates: what faults may make of the topology.
        command: the last that changed it, or started it again.
    """

    def __init__(self, topology: Topology, packing: PackingPlan, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.job = RunDescription(
            "simulated", folder, folder, topology, packing, returning=topology.components[-1].name
        )
        self.now_ms, self.wall_zero_us = 1_000.0, WALL_ZERO_US
        self.delay_ms, self.commit_ms, self.lost_calls, self.interleaves = 10.0, 10.0, 0.02, 0.2
        self.wire_bytes, self.share, self.latency_ms = 1 << 20, 0.9, 0.0
        self.state, self.disk = StateTree(), EpochDisk()
        self.frames: list[pl.DataFrame] = []
        self.results = SimulatedResults(lambda _, frame: self.frames.append(frame))
        self.alive: dict[ProcessKey, Process] = {}
        self.hung: dict[ProcessKey, tuple[float, float]] = {}
        self.masters: dict[int, MasterProcess] = {}
        self.errors: list[BaseException] = []
        self.has_standby = topology.settings.topology_master_standby
        self._pids = 0
        self._journals: dict[Path, MemoryJournal] = {}
        self._exits: list[ProcessKey] = []
        self._later: deque[tuple[float, Callable[[], object]]] = deque()
        self._look_after_at, self._resumes_at_ms = 0.0, math.inf
        self._away_until_ms = {"state": 0.0, "disk": 0.0}
        self._lags_until_ms: dict[ProcessKey, float] = {}
        self._tables = {container: Processes() for container in self.job.containers}
        self._executors: dict[int, ExecutorMachine] = {}
        self._ended: TopologyMaster | None = None
        self.updates: Sequence[ClusterUpdate] = ()
        self.command: SimulatedCommand | None = None
        self._is_down = False
        self._begin()

    # What processes ask

    def clock(self) -> float:
        """The time."""
        return self.now_ms

    def next_pid(self) -> int:
        """A number that no process has had."""
        self._pids += 1
        return self._pids

    def is_acting(self, key: ProcessKey) -> bool:
        """Whether a process is there, and does not hang."""
        return key in self.alive and key not in self.hung

    def find_stream_manager(self, container: int) -> StreamManagerProcess | None:
        """That of a container, be it that it hangs."""
        found = self.alive.get((container, "stream-manager"))
        return found if isinstance(found, StreamManagerProcess) else None

    def find_metrics_manager(self, container: int) -> MetricsManagerMachine | None:
        """That of a container, if it takes reports."""
        found = self.alive.get((container, "metrics-manager"))
        return (
            found.machine
            if isinstance(found, MetricsManagerProcess) and self.is_acting((container, "metrics-manager"))
            else None
        )

    def find_leader(self, known: MasterProcess | None, asks: ProcessKey | None = None) -> MasterProcess | None:
        """Who leads as the state manager says; who was known to, while that is away; who led before, if the server that is asked lags."""
        if self.state.is_away:
            return known if known is not None and known.is_alive else None
        if asks is not None and self._lags_until_ms.get(asks, 0.0) > self.now_ms and (former := self._find_former()):
            return former
        led = self.state.led.get(leader_path(self.job.id))
        found = None if led is None else self.masters.get(int(led.data))
        return found if found is not None and found.is_alive and found.master is not None else None

    def _find_former(self) -> MasterProcess | None:
        """Who led before the one that leads, if it does not know that yet."""
        led = [one for one in self.masters.values() if one.is_alive and one.master is not None]
        return min(led, key=lambda one: one.leadership) if len(led) > 1 else None

    def draw_latency(self) -> float:
        """So long nothing is read of a connection that was read."""
        return self.random.random() * self.latency_ms if self.latency_ms else 0.0

    def table_of(self, container: int) -> Processes:
        """The processes of a container."""
        return self._tables[container]

    def open_journal(self, path: Path) -> Journal:
        """A journal that outlives its task."""
        return self._journals.setdefault(path, MemoryJournal())

    def load_program(self, home: Path, revision: int) -> Topology:
        """The whole topology."""
        return self.job.topology

    def later(self, thing: Callable[[], object]) -> None:
        """Something happens a little later."""
        self._later.append((self.now_ms + self.random.random() * self.delay_ms, thing))

    # What goes wrong

    def kill(self, key: ProcessKey) -> bool:
        """A process dies; `(container, "executor")` is that container's executor. False if it is not there."""
        container, name = key
        if name == "executor":
            return self._executors.pop(container, None) is not None
        process = self.alive.pop(key, None)
        if process is None:
            return False
        self.hung.pop(key, None)
        self._exits.append(key)
        process.end()
        return True

    def exit(self, key: ProcessKey, process: Process) -> None:
        """A process ends by itself, a little later."""
        self.later(lambda: self.alive.get(key) is process and self.kill(key))

    def hang(self, key: ProcessKey, for_ms: float) -> bool:
        """A process, or whoever leads, does nothing for so long, and shows no life. False if it is not there."""
        leader = self.find_leader(None) if key == LEADER else None
        key = key if leader is None else leader.key
        if key not in self.alive:
            return False
        self.hung.setdefault(key, (self.now_ms, self.now_ms + for_ms))
        return True

    def mislead(self, key: ProcessKey, for_ms: float) -> None:
        """A process asks a server of the state manager that lags behind the others, for so long."""
        self._lags_until_ms[key] = self.now_ms + for_ms

    def ask(self, request: ClientRequest) -> bool:
        """A client asks something; whether it was answered."""
        return self._ask(request) is not None

    def _ask(self, request: ClientRequest) -> wire_pb2.PlanReply | None:
        leader = self.find_leader(None)
        if leader is None or leader.master is None or not self.is_acting(leader.key):
            return None
        try:
            return leader.master.answer(request)
        except Deposed:
            return None

    def pause(self, for_ms: float) -> None:
        """A client has the topology come to rest, and go on again, as soon as he is answered."""
        if self.ask(ClientRequest.DEACTIVATE):
            self._resumes_at_ms = self.now_ms + for_ms

    def take_away(self, what: str, for_ms: float) -> None:
        """The state manager does not answer, or the disk has no room, for so long."""
        self._away_until_ms[what] = max(self._away_until_ms[what], self.now_ms + for_ms)

    # What commands do

    def update(self, number: int, fails_after_ms: float | None = None) -> None:
        """A client has the topology go on as another one, of `updates`; if it `fails_after_ms`, some task of that cannot begin."""
        if self.command is None or self.command.has_ended:
            self.command = SimulatedCommand(self, partial(update_topology, self.updates[number], fails_after_ms))

    def kill_command(self) -> None:
        """The command that changes the topology dies; if it does not run then, somebody starts it later."""
        if self.command is not None:
            self.command.die()

    @property
    def update_step(self) -> UpdateStep | None:
        """What a command that updates the topology does now."""
        return None if self.command is None or self.command.has_ended else self.command.step

    @property
    def said_at_end(self) -> wire_pb2.TopologyStatus | None:
        """How the topology has ended; None while it runs."""
        return None if self._ended is None else self._ended.status()

    def look(self) -> int | None:
        """A client asks that all tasks say how they stand; the plan that each answers, None if he was not answered."""
        reply = self._ask(ClientRequest.LOOK)
        return None if reply is None else reply.version

    @property
    def heard_of(self) -> int:
        """The plan that all tasks have answered, as far as topology masters know."""
        return max(
            (one.master.status().plan for one in self.masters.values() if one.is_alive and one.master), default=0
        )

    def end_processes(self, *, is_down: bool) -> None:
        """End all of them; if it `is_down`, it is started again, by this command or by another."""
        self.close()
        self.hung.clear()
        self._exits.clear()
        self._executors.clear()
        self._is_down = is_down

    def replace(self, job: RunDescription) -> None:
        """The run is of this description from its next start on."""
        self.job = job

    def forget_journals(self) -> None:
        """What sources have noted of a former revision goes."""
        self._journals.clear()

    def start(self) -> None:
        """Start the topology that is down."""
        known = {container: self._tables.get(container, Processes()) for container in self.job.containers}
        begin_anew(known, {number: [f"instance-{task.id}" for task in self.job.tasks_in(number)] for number in known})
        self._tables.update(known)
        self._ended, self._is_down = None, False
        self._begin()

    def _begin(self) -> None:
        for container in self.job.containers:
            self.job.container(container).mkdir(parents=True, exist_ok=True)
            self._start_executor(container)

    def _go_on_with_commands(self) -> None:
        """A command has its turn; a topology that none cares for is started."""
        if self.command is None:
            return
        if not self.command.has_ended:
            self.command.go_on()
        elif self._is_down or (self._ended is not None and self._ended.status().state == Condition.STOPPED.value):
            self.end_processes(is_down=True)
            self.command = SimulatedCommand(self, start_what_was_left)

    # How it goes on

    @property
    def keys(self) -> list[ProcessKey]:
        """Of all processes that there are to be, executors among them."""
        return [
            (container, name) for container in self.job.containers for name in ("executor", *self._names_in(container))
        ]

    @property
    def phase(self) -> Phase:
        """What is being done about epochs by whoever leads."""
        leaders = [one.master for one in self.masters.values() if one.is_alive and one.master is not None]
        return leaders[-1].phase if leaders else Phase.IDLE

    @property
    def ended(self) -> wire_pb2.TopologyStatus | None:
        """How the topology has ended for good; None while it goes on, or a command may start it again."""
        is_changed = self.command is not None and not self.command.has_ended
        said = self.said_at_end
        is_over = (
            said is not None and not self._is_down and not (self.command and said.state == Condition.STOPPED.value)
        )
        return said if is_over and not is_changed else None

    def step(self) -> None:
        """Time passes, and each process that acts has its turn, or misses it."""
        self.now_ms += self.random.choice([1.0, 5.0, 10.0, 20.0])
        if self.now_ms >= self._resumes_at_ms and self.ask(ClientRequest.ACTIVATE):
            self._resumes_at_ms = math.inf
        self.state.is_away = self._away_until_ms["state"] > self.now_ms
        self.disk.is_full = self._away_until_ms["disk"] > self.now_ms
        for key in [key for key, (_, until_ms) in self.hung.items() if until_ms <= self.now_ms]:
            del self.hung[key]
        while self._later and self._later[0][0] <= self.now_ms:
            self._later.popleft()[1]()
        self._go_on_with_commands()
        if not self._is_down and self.now_ms >= self._look_after_at:
            self._look_after_at = self.now_ms + _LOOK_AFTER_MS
            self._supervise()
        for key in self.random.sample(list(self.alive), len(self.alive)):
            if self.is_acting(key) and self.random.random() < self.share:
                self.alive[key].step()
        self._look_for_end()

    @property
    def last_plan(self) -> wire_pb2.PhysicalPlan:
        """That of the topology master with which the topology ended."""
        assert self._ended is not None
        return self._ended.plan

    def describe(self) -> str:
        """How it stands, for whoever looks why it does not end."""
        leaders = [one for one in self.masters.values() if one.is_alive and one.master is not None]
        told = [f"leadership {one.leadership}: {one.master.status()}" for one in leaders if one.master is not None]
        return f"at {self.now_ms:.0f} ms, alive {sorted(self.alive)}, hung {sorted(self.hung)}, {told}"

    def close(self) -> None:
        """End all processes."""
        for process in self.alive.values():
            process.end()
        self.alive.clear()

    def _look_for_end(self) -> None:
        for master in self.masters.values():
            if master.is_alive and master.master is not None and master.master.has_ended:
                self._ended = self._ended or master.master

    def _start_executor(self, container: int) -> None:
        names = self._names_in(container)
        components = {f"instance-{task.id}": task.component for task in self.job.tasks_in(container)}
        table = self._tables[container] = copy.deepcopy(self._tables[container])
        limit_ms = self.job.topology.settings.hang_timeout_ms
        executor = self._executors[container] = ExecutorMachine(container, names, components, limit_ms, "logs", table)
        executor.on_adopted({name for number, name in self.alive if number == container}, self.now_ms)

    def _names_in(self, container: int) -> tuple[str, ...]:
        if container == MASTER_CONTAINER:
            return MASTERS if self.has_standby else MASTERS[:1]
        return ("stream-manager", "metrics-manager", *(f"instance-{task.id}" for task in self.job.tasks_in(container)))

    def _supervise(self) -> None:
        for container in self.job.containers:
            if container not in self._executors:
                self._start_executor(container)
            self._look_after(container, self._executors[container])
        for container, name in self._exits:
            if (container, name) not in self.alive:
                self._executors[container].on_exited(name, "it was killed", self.now_ms)
        self._exits.clear()
        for container, executor in self._executors.items():
            for instruction in executor.on_tick(self.now_ms):
                if isinstance(instruction, Start):
                    self._start(container, executor, instruction)

    def _look_after(self, container: int, executor: ExecutorMachine) -> None:
        for key in [key for key in self.hung if key[0] == container]:
            name, age_ms = key[1], self.now_ms - self.hung[key][0]
            if executor.is_suspect(name, age_ms, self.now_ms):
                for kill in executor.on_silence(name, age_ms, self.now_ms, None, hangs=False):
                    if isinstance(kill, Kill):
                        executor.on_killing(name, kill.why, "")
                        self.kill(key)

    def _start(self, container: int, executor: ExecutorMachine, start: Start) -> None:
        key, pid = (container, start.name), self.next_pid()
        assert key not in self.alive, f"{key} runs already"
        executor.on_started(start.name, ProcessEntry(pid, pid, start.incarnation))
        self.alive[key] = self._make(container, start)

    def _make(self, container: int, start: Start) -> Process:
        if start.name in MASTERS:
            master = MasterProcess(self, start.name)
            self.masters[master.number] = master
            return master
        if start.name == "stream-manager":
            return StreamManagerProcess(self, container, start.incarnation)
        if start.name == "metrics-manager":
            return MetricsManagerProcess(self, container)
        (task,) = (one for one in self.job.topology.tasks() if f"instance-{one.id}" == start.name)
        return TaskProcess(self, container, task, start.incarnation)


def with_small_limits(topology: Topology, random: Random) -> Topology:
    """The topology with settings under which a cluster soon does all that it does: short times, small batches."""
    rows = random.choice([10, 20, 50])
    high = random.choice([2_000, 20_000, topology.settings.high_watermark_bytes])
    settings = replace(
        topology.settings,
        batch_rows=rows,
        max_pending_rows=rows * random.choice([1, 1, 2, 4]),
        high_watermark_bytes=high,
        low_watermark_bytes=high // 2,
        ack_timeout_ms=2_000,
        hang_timeout_ms=2_000,
        checkpoint_interval_ms=random.choice([50, 50, 150, 500]),
        topology_master_standby=random.random() < 0.5,
        seed=random.getrandbits(62),
    )
    return replace(topology, settings=settings)


def has_finished(status: wire_pb2.TopologyStatus) -> bool:
    """Whether the topology has handled all that there will ever be."""
    return status.state == RunState.FINISHED.value

"""A whole cluster of machines in one process, from one seed: executors, topology master, stream and metrics managers, and tasks of straw.

Whatever happens between two of them comes late, in any order, or not at all; and every process may die at any time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from ouzel.planner.settings import Settings
from ouzel.runtime.protocol.cluster.executor import ExecutorMachine
from ouzel.runtime.protocol.cluster.membership import Member
from ouzel.runtime.protocol.cluster.metrics_manager import MetricsManagerMachine
from ouzel.runtime.protocol.cluster.processes import ProcessEntry, Processes
from ouzel.runtime.protocol.cluster.supervision import Kill, Start
from ouzel.runtime.protocol.cluster.topology_master import ClientRequest, StoreRequest, TopologyMasterMachine
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2 import Report, TaskReport
from tests.protocol.cluster.wires import Cluster, TaskEnd

MASTER = (0, "topology-master")
HANG_MS = 2_000
Process = tuple[int, str]
"""Container and name."""


@dataclass
class StrawTask:
    """Does what the plan says at once, and counts its reports."""

    number: int
    incarnation: int
    end: TaskEnd | None = None
    version: int = 0
    pause: int = 0
    reports: int = 0
    told: tuple[object, ...] = ()

    def read(self) -> None:
        """Take in what the stream manager has sent; let go of one that has hung up."""
        if self.end is None:
            return
        self.end.read()
        for frame in self.end.frames:
            if frame.kind == wire_pb2.PLAN:
                self.version, self.pause = frame.header().plan.version, frame.header().plan.pause
        self.end = None if -1 in self.end.kinds() else self.end

    def report(self) -> Report:
        """How it stands."""
        self.reports += 1
        counts = TaskReport(
            task=self.number,
            incarnation=self.incarnation,
            plan=self.version,
            pause=self.pause,
            rows_in=10,
            batches_in=self.reports,
        )
        return Report(task=counts)


class World:
    """The cluster of `wires.Cluster` with all that belongs to it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.cluster = Cluster(Settings(), seed=seed)
        self.placement = self.cluster.placement
        self.cluster.machines.clear()
        self.stored = b""
        self.master: TopologyMasterMachine | None = None
        self.masters = self.restarts = self._pids = 0
        self.alive: set[Process] = set()
        self.hung: dict[Process, float] = {}
        self.executors: dict[int, ExecutorMachine] = {}
        self.managers: dict[int, MetricsManagerMachine] = {}
        self.tasks: dict[int, StrawTask] = {}
        self._members: dict[int, tuple[Member, int]] = {}
        self._left: list[tuple[Member, int]] = []
        self._plans: dict[int, int] = {}
        self._told: dict[int, int] = {}
        self._exits: list[Process] = []
        self._tables: dict[int, Processes] = {container: Processes() for container in (0, *self.placement.containers)}
        for container in self._tables:
            self._start_executor(container)

    def kill(self, victim: Process) -> None:
        """A process dies; `(container, "executor")` is that container's executor."""
        container, name = victim
        if name == "executor":
            self.restarts += self.executors.pop(container, None) is not None
        elif victim in self.alive:
            self.alive.remove(victim)
            self._exits.append(victim)
            self.hung.pop(victim, None)
            self._end(container, name)

    def hang(self, victim: Process) -> None:
        """A process does nothing any more, and shows no life."""
        if victim in self.alive:
            self.hung.setdefault(victim, self.cluster.now)
            if victim[1] == "stream-manager":
                self.cluster.hung.add(self.cluster.machines[victim[0]])

    def acts(self, container: int, name: str) -> bool:
        """Whether a process is there, and does not hang."""
        return (container, name) in self.alive and (container, name) not in self.hung

    def request(self, request: ClientRequest) -> bool:
        """A client asks; whether that was answered, and so is stored."""
        if self.master is None or not self.acts(*MASTER):
            return False
        instructions = self.master.on_request(request, self.cluster.now)
        if StoreRequest() in instructions:
            if self.random.random() < 0.3:
                self.kill(MASTER)  # just before it is stored
                return False
            self.stored = self.master.execution_state
        return True

    def step(self, share: float = 1.0) -> None:
        """Time passes, and each thing that can happen does, with this probability, in any order."""
        self.cluster.now += 50.0
        things: list[Callable[[], None]] = [
            self._reap, self._supervise, self._join, self._leave, self._send_plans, self._connect, self._report, self._publish,
        ]  # fmt: skip
        for thing in self.random.sample(things, len(things)):
            if self.random.random() < share:
                thing()
        self.cluster.run(rounds=self.random.randrange(20))

    def settle(self, steps: int = 500) -> None:
        """Nothing more goes wrong for a while."""
        for _ in range(steps):
            self.step(0.8)

    # Executors

    def _start_executor(self, container: int) -> None:
        names = [f"instance-{task.id}" for task in self.placement.tasks_in(container)]
        names = ["stream-manager", "metrics-manager", *names] if container else [MASTER[1]]
        table = self._tables[container] = copy.deepcopy(self._tables[container])
        components = {name: "straw" for name in names if name.startswith("instance-")}
        executor = self.executors[container] = ExecutorMachine(container, names, components, HANG_MS, "logs", table)
        executor.on_adopted({name for number, name in self.alive if number == container}, self.cluster.now)

    def _supervise(self) -> None:
        for container in self._tables:
            if container not in self.executors:
                self._start_executor(container)
            self._look_after(container)
            for instruction in self.executors[container].on_tick(self.cluster.now):
                assert isinstance(instruction, Start), instruction
                self._start(container, instruction)

    def _look_after(self, container: int) -> None:
        executor, now = self.executors[container], self.cluster.now
        for victim in [one for one in self.alive if one[0] == container]:
            name, age = victim[1], now - self.hung.get(victim, now)
            if executor.is_suspect(name, age, now):
                for kill in executor.on_silence(name, age, now, None, False):
                    assert isinstance(kill, Kill)
                    executor.on_killing(name, kill.why, "")
                    self.kill(victim)

    def _start(self, container: int, start: Start) -> None:
        assert (container, start.name) not in self.alive, "it runs already"
        self._pids += 1
        self.restarts += start.incarnation > 0
        self.executors[container].on_started(start.name, ProcessEntry(self._pids, self._pids, start.incarnation))
        self.alive.add((container, start.name))
        if start.name == "topology-master":
            self.masters += 1
            self.master = TopologyMasterMachine(self.placement, 1_000_000 * self.masters, self.stored)
        elif start.name == "stream-manager":
            self.cluster.start(container)
            self._members[container] = Member(container, self._pids, "host", 0, ""), 0
            self._plans.pop(container, None)
        elif start.name == "metrics-manager":
            self.managers[container] = MetricsManagerMachine(container)
            self._told.pop(container, None)
        else:
            number = int(start.name.removeprefix("instance-"))
            self.tasks[number] = StrawTask(number, start.incarnation)

    def _end(self, container: int, name: str) -> None:
        if name == "topology-master":
            self.master = None
        elif name == "stream-manager":
            self.cluster.cut(self.cluster.machines.pop(container))
            self._left.append(self._members.pop(container))
        elif name == "metrics-manager":
            del self.managers[container]
        else:
            task = self.tasks.pop(int(name.removeprefix("instance-")))
            if task.end is not None:
                task.end.outgoing.lose(0)

    def _reap(self) -> None:
        """An executor hears of an end of a child, if it lived then; else it finds it gone when it adopts."""
        for container, name in self._exits:
            if container in self.executors and (container, name) not in self.alive:
                self.executors[container].on_exited(name, "signal 9", self.cluster.now)
        self._exits.clear()

    # The topology master

    def _join(self) -> None:
        for container, (member, generation) in self._members.items():
            if self._hears(container) and self.master is not None and generation != self.masters:
                self.master.on_register(member)
                self._members[container] = member, self.masters

    def _hears(self, container: int) -> bool:
        """Whether a stream manager and the topology master hear each other."""
        return self.acts(*MASTER) and self.acts(container, "stream-manager")

    def _leave(self) -> None:
        """The topology master hears of the end of a stream manager, perhaps after the next one has registered."""
        for member, generation in self._left:
            if self.master is not None and generation == self.masters:
                self.master.on_leave(member)
        self._left.clear()

    def _send_plans(self) -> None:
        for container, (_, generation) in self._members.items():
            if not self._hears(container) or self.master is None or generation != self.masters:
                continue
            if self.random.random() < 0.7:
                if self._plans.get(container) != self.master.version:
                    self.cluster.machines[container].on_plan(self.master.plan)
                self._plans[container] = self.master.version

    def _publish(self) -> None:
        for container, manager in self.managers.items():
            if self.master is None or not self.acts(*MASTER) or not self.acts(container, "metrics-manager"):
                continue
            if self._told.get(container) != self.masters:
                manager.on_new_master()
                self._told[container] = self.masters
            for message in manager.messages(self._tables[container], self.cluster.now):
                if self.random.random() < 0.1:
                    del self._told[container]  # the call failed
                    break
                self.master.on_report(message, self.cluster.now)
            self.master.on_own_report(wire_pb2.ContainerReport(restarts=self._tables[0].count_restarts()))

    # Tasks and stream managers

    def _connect(self) -> None:
        for container, machine in self.cluster.machines.items():
            for dial in machine.next_dials() if self.acts(container, "stream-manager") else ():
                if dial.container in self.cluster.machines:
                    self.cluster.dial(machine, dial)
        for task in self._acting_tasks():
            if task.end is None and self.placement.places()[task.number] in self.cluster.machines:
                task.end = self.cluster.connect_task(task.number)

    def _acting_tasks(self) -> list[StrawTask]:
        places = self.placement.places()
        return [one for one in self.tasks.values() if self.acts(places[one.number], f"instance-{one.number}")]

    def _report(self) -> None:
        for task in self._acting_tasks():
            task.read()
            manager = self.managers.get(self.placement.places()[task.number])
            news = (manager, task.version, task.pause)  # said once, and again to a metrics manager that is new
            if manager is not None and news != task.told and self.random.random() < 0.8:
                manager.on_report(task.report())
                task.told = news

"""A machine with fewer cores than threads that want one, from one seed: who waits, what the kernel says of that, and who is killed.

The machines of the executor, of the server and of a task's watchdog run in it as in their shells, on threads that need a core themselves:
a watcher that has none looks late, and may lose its core between two things that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from heapq import heappop, heappush
from itertools import count
from math import inf
from random import Random

from ouzel.runtime.protocol.cluster.executor import ExecutorMachine
from ouzel.runtime.protocol.cluster.processes import ProcessEntry, Processes
from ouzel.runtime.protocol.cluster.starvation import Usage
from ouzel.runtime.protocol.cluster.supervision import Kill, Start, Supervision
from ouzel.runtime.protocol.watchdog import Watchdog

LIMIT_MS = 2_000.0
BEAT_MS = 100.0
TICK_MS = 50.0
SLICE_MS = 5.0
AMONG = 8
"""Who waits for a core gets it about in turn: one of the first so many does."""

Work = Generator["Run | Sleep", None, None]
"""What a thread does: it asks for a core, or sleeps."""


@dataclass(frozen=True)
class Run:
    """So much of a core, however long that takes."""

    ms: float


@dataclass(frozen=True)
class Sleep:
    """Nothing, for so long."""

    ms: float = inf


class State(Enum):
    """As the kernel tells it."""

    RUNNING, READY, ASLEEP, STOPPED = auto(), auto(), auto(), auto()


@dataclass
class Thread:
    """One thread of a process, with what the kernel keeps of it: a wait for a core that still lasts is not counted yet."""

    process: SimulatedProcess
    work: Work
    state: State = State.ASLEEP
    needs_ms: float = 0.0
    ready_ms: float = 0.0
    cpu_ms: float = 0.0
    waited_ms: float = 0.0


@dataclass
class SimulatedProcess:
    """A process: its threads, its place in the heartbeats, and whether it is meant to hang."""

    name: str
    threads: list[Thread] = field(default_factory=list)
    spoke_ms: float = 0.0
    says_hang: bool = False
    is_starved: bool = False
    hung_ms: float | None = None
    hangs_for: float = inf
    killed: str = ""
    longest_ms: float = 0.0

    def speak(self, now_ms: float) -> None:
        """It beats."""
        self.longest_ms = max(self.longest_ms, now_ms - self.spoke_ms)
        self.spoke_ms, self.says_hang = now_ms, False

    def hang(self) -> Work:
        """What its thread does from then on: it sleeps, or computes, without end."""
        while True:
            yield Sleep() if self.hangs_for == inf else Run(self.hangs_for)

    def usage(self, without: Thread | None = None) -> Usage:
        """What `read_usage` gives."""
        threads = [one for one in self.threads if one is not without]
        states = {one.state for one in threads}
        return Usage(
            sum(one.cpu_ms for one in threads),
            sum(one.waited_ms for one in threads),
            bool(states & {State.RUNNING, State.READY}),
            State.STOPPED in states,
        )


class Machine:
    """Cores, and threads that share them. Time goes on by events; who gets a core is drawn at random.

    While others wait for a core, one of `rarely` times a starved thread gets it.
    """

    def __init__(self, random: Random, cores: int) -> None:
        self.random, self.now_ms, self.rarely = random, 0.0, 1
        self._free, self._numbers = cores, count()
        self._ready: dict[bool, list[Thread]] = {True: [], False: []}
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def at(self, ms: float, event: Callable[[], None]) -> None:
        """Have something happen then."""
        heappush(self._events, (ms, next(self._numbers), event))

    def begin(self, process: SimulatedProcess, work: Work) -> Thread:
        """A thread of this process begins its work."""
        process.threads.append(thread := Thread(process, work))
        self._go_on(thread)
        return thread

    def run(self, until_ms: float, has_ended: Callable[[], bool] = lambda: False) -> None:
        """Let time pass."""
        while not has_ended():
            self._give_cores()
            if not self._events or self._events[0][0] > until_ms:
                break
            at_ms, _, event = heappop(self._events)
            self.now_ms = max(self.now_ms, at_ms)
            event()

    def stand_still(self, at_ms: float, for_ms: float) -> None:
        """Nothing runs then for so long, as in a virtual machine that is paused: the clock alone goes on."""
        self.at(at_ms, lambda: setattr(self, "now_ms", self.now_ms + for_ms))

    def end(self, process: SimulatedProcess) -> None:
        """All of its threads are gone."""
        for thread in process.threads:
            thread.state = State.STOPPED
        for ready in self._ready.values():
            ready[:] = [one for one in ready if one.process is not process]

    def _go_on(self, thread: Thread) -> None:
        """The thread has what it asked for last, and asks for more."""
        if thread.state is State.STOPPED:
            return
        asks = next(thread.work)
        if isinstance(asks, Run):
            thread.needs_ms = asks.ms
            self._wait(thread)
        else:
            thread.state = State.ASLEEP
            if asks.ms < inf:
                self.at(self.now_ms + asks.ms, lambda: self._go_on(thread))

    def _wait(self, thread: Thread) -> None:
        if thread.state is not State.STOPPED:
            thread.state, thread.ready_ms = State.READY, self.now_ms
            self._ready[thread.process.is_starved].append(thread)

    def _give_cores(self) -> None:
        while self._free and (thread := self._choose()) is not None:
            self._free -= 1
            thread.state = State.RUNNING
            thread.waited_ms += self.now_ms - thread.ready_ms
            lasts_ms = min(thread.needs_ms, SLICE_MS)
            self.at(self.now_ms + lasts_ms, lambda one=thread, ms=lasts_ms: self._leave_core(one, ms))

    def _choose(self) -> Thread | None:
        """One that waits: of those that starve only now and then one, while others wait."""
        others, starved = self._ready[False], self._ready[True]
        if starved and (not others or self.random.random() < 1 / self.rarely):
            others = starved
        return others.pop(self.random.randrange(min(len(others), AMONG))) if others else None

    def _leave_core(self, thread: Thread, ran_ms: float) -> None:
        self._free += 1
        thread.cpu_ms += ran_ms
        thread.needs_ms -= ran_ms
        if thread.needs_ms > 0:
            self._wait(thread)
        else:
            self._go_on(thread)


class Overloaded:
    """A topology on such a machine: a server, an executor a container, managers, and tasks that compute all the time."""

    def __init__(self, seed: str, tasks: int, containers: int = 2, cores: int = 2) -> None:
        self.random = Random(seed)
        self.machine = Machine(self.random, cores)
        self.processes: dict[tuple[int, str], SimulatedProcess] = {}
        self.kills: list[tuple[float, str, str]] = []
        self.server = self._add(-1, "server")
        self._supervision = Supervision([str(one) for one in range(containers + 1)], LIMIT_MS)
        names = [["topology-master"], *([*_MANAGERS, *_share(tasks, containers, one)] for one in range(containers))]
        for container, those in enumerate(names):
            self._add_container(container, those)
        self._supervision.tick(0.0)
        self.machine.begin(self.server, self._serve(containers + 1))

    @property
    def longest_silence_ms(self) -> float:
        """For how long a process was silent that spoke again."""
        return max(one.longest_ms for one in self.processes.values())

    def add_strangers(self, number: int) -> None:
        """Others on the machine compute without end."""
        for one in range(number):
            stranger = SimulatedProcess(f"stranger {one}", hangs_for=1_000.0)
            self.machine.begin(stranger, stranger.hang())

    def starve(self, processes: Iterable[SimulatedProcess], rarely: int, from_ms: float, for_ms: float) -> None:
        """From then on these hardly have a core, for so long."""
        self.machine.rarely = rarely
        for process in processes:
            self.machine.at(from_ms, lambda one=process: setattr(one, "is_starved", True))
            self.machine.at(from_ms + for_ms, lambda one=process: setattr(one, "is_starved", False))

    def stop(self, process: SimulatedProcess, at_ms: float) -> None:
        """It is stopped then, as by SIGSTOP."""

        def happen() -> None:
            process.hung_ms = self.machine.now_ms
            self.machine.end(process)

        self.machine.at(at_ms, happen)

    def hang(self, process: SimulatedProcess, at_ms: float) -> None:
        """From then on it waits for what never comes; a task does so in its next call, and its gateway goes on."""
        self.machine.at(at_ms, lambda: setattr(process, "hung_ms", self.machine.now_ms))

    def loop(self, process: SimulatedProcess, at_ms: float) -> None:
        """From then on it computes without end; a task does so in its next call, and its gateway goes on."""
        process.hangs_for = 1_000.0
        self.hang(process, at_ms)

    def run(self, until_ms: float) -> None:
        """Let time pass until then, or until somebody is killed."""
        self.machine.run(until_ms, lambda: bool(self.kills))

    def killed_for_nothing(self) -> list[tuple[float, str, str]]:
        """Who was killed although nothing was wrong with it: when, which, and what was said."""
        return [kill for kill in self.kills if kill[1] not in {one.name for one in self._hung()}]

    def overlooked(self) -> list[str]:
        """Who hangs and was not killed."""
        return [one.name for one in self._hung() if not one.killed]

    def _hung(self) -> list[SimulatedProcess]:
        return [one for one in self.processes.values() if one.hung_ms is not None]

    def _add(self, container: int, name: str) -> SimulatedProcess:
        process = self.processes[container, name] = SimulatedProcess(f"{container}/{name}")
        return process

    def _add_container(self, container: int, names: list[str]) -> None:
        executor = self._add(container, "executor")
        machine = ExecutorMachine(container, names, {}, int(LIMIT_MS), "logs", Processes())
        machine.on_adopted((), 0.0)
        for start in machine.on_tick(0.0):
            assert isinstance(start, Start)
            machine.on_started(start.name, ProcessEntry(1, 1, start.incarnation))
            process = self._add(container, start.name)
            if start.name.startswith("instance"):
                self._add_task(process)
            else:
                self.machine.begin(process, self._manage(process))
        self.machine.begin(executor, self._execute(executor, container, names, machine))

    def _manage(self, process: SimulatedProcess) -> Work:
        """A manager: it beats, and does what there is to do."""
        while True:
            yield Run(self.random.uniform(0.1, 3.0))
            if process.hung_ms is not None:
                yield from process.hang()
            process.speak(self.machine.now_ms)
            yield Sleep(self.random.uniform(0.0, BEAT_MS / 2))

    def _add_task(self, process: SimulatedProcess) -> None:
        watchdog = Watchdog(LIMIT_MS, lambda: self.machine.now_ms)
        self.machine.begin(process, self._compute(process, watchdog))
        self.machine.begin(process, self._watch(process, watchdog))

    def _compute(self, process: SimulatedProcess, watchdog: Watchdog) -> Work:
        """A task's own thread: calls, one after the other, that compute for a while, and some rest."""
        while True:
            watchdog.enter()
            yield Run(self.random.expovariate(1 / 30.0))
            if process.hung_ms is not None:
                yield from process.hang()
            watchdog.leave()
            yield Sleep(self.random.choice((0.0, 0.0, 20.0)))

    def _watch(self, process: SimulatedProcess, watchdog: Watchdog) -> Work:
        """A task's gateway: it asks whether the task hangs, and beats."""
        while True:
            yield Run(0.3)
            own = process.threads[1]
            now = self.machine.now_ms
            cpu_ms = sum(one.cpu_ms for one in process.threads if one is not own)
            usage = process.usage(own) if watchdog.is_suspect(now) else None
            yield Run(0.1)
            if watchdog.is_hanging(now, cpu_ms, usage):
                process.says_hang = True
            else:
                process.speak(self.machine.now_ms)
            yield Sleep(BEAT_MS / 2)

    def _execute(self, me: SimulatedProcess, container: int, names: list[str], machine: ExecutorMachine) -> Work:
        """What `Executor._supervise` does, with all the time that it takes."""
        while True:
            now = self.machine.now_ms
            me.speak(now)
            if me.hung_ms is not None:
                yield from me.hang()
            for name in names:
                process = self.processes[container, name]
                spoke_ms, hangs = process.spoke_ms, process.says_hang
                if not process.killed and machine.is_suspect(name, now - spoke_ms, now):
                    yield Run(0.2)
                    for kill in machine.on_silence(name, now - spoke_ms, now, process.usage(), hangs):
                        assert isinstance(kill, Kill)
                        self._kill(process, kill.why)
            machine.on_tick(now)
            yield Run(0.01 * len(names))
            yield Sleep(TICK_MS)

    def _serve(self, containers: int) -> Work:
        """What `Server._look_after` does."""
        while True:
            now = self.machine.now_ms
            for container in range(containers):
                executor = self.processes[container, "executor"]
                name, age_ms = str(container), now - executor.spoke_ms
                if not executor.killed and self._supervision.is_suspect(name, age_ms, now):
                    yield Run(0.2)
                    for kill in self._supervision.on_silence(name, age_ms, now, executor.usage()):
                        assert isinstance(kill, Kill)
                        self._kill(executor, kill.why)
            self._supervision.tick(now)
            yield Run(0.1)
            yield Sleep(2 * TICK_MS)

    def _kill(self, process: SimulatedProcess, why: str) -> None:
        process.killed = why
        self.kills.append((self.machine.now_ms, process.name, why))
        self.machine.end(process)


_MANAGERS = ("stream-manager", "metrics-manager")


def _share(tasks: int, containers: int, number: int) -> list[str]:
    return [f"instance-{task}" for task in range(number, tasks, containers)]

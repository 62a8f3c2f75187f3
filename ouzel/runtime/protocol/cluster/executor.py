"""An executor's machine: keeps the processes of one container running, each by itself, and tells how they ended.

Invariant: the table of processes is stored before a process that has been started does any work. An executor may die at any time: the one
after it adopts what the table names and still runs, and starts the rest. A process that works and is not in the table would run twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ouzel.runtime.protocol.cluster.processes import ProcessEntry, Processes
from ouzel.runtime.protocol.cluster.starvation import Usage
from ouzel.runtime.protocol.cluster.supervision import GiveUp, Kill, Start, Supervision, SupervisionInstruction

_UNSEEN = "it ended unseen"

SEE_LOG = "; see its log, "
"""Stands before the path of a log at the end of a reason: the client keeps logs elsewhere, and names that place."""


@dataclass(frozen=True)
class StoreProcesses:
    """Instruction: store the table now; nothing that follows may be done before."""


@dataclass(frozen=True)
class FailContainer:
    """Instruction: end all processes and this executor; `reason` is one sentence."""

    reason: str


ExecutorInstruction = Start | Kill | StoreProcesses | FailContainer


class ExecutorMachine:
    """One executor.

    Args:
        container: whose processes these are.
        names: of its processes.
        components: by process name, that of the component whose task it runs; none for the others.
        hang_timeout_ms: how long a process may show no life.
        logs: where users find the processes' logs.
        processes: what the executor before this one had stored.
    """

    def __init__(
        self,
        container: int,
        names: Iterable[str],
        components: Mapping[str, str],
        hang_timeout_ms: int,
        logs: str,
        processes: Processes,
    ) -> None:
        self._container, self._components, self._processes = container, components, processes
        self._hang_timeout_ms, self._logs = hang_timeout_ms, logs
        self._supervision = Supervision(names, hang_timeout_ms)
        self._how_it_ended: dict[str, str] = {}

    def on_adopted(self, running: Collection[str], now_ms: float) -> list[ExecutorInstruction]:
        """The executor comes up; of the processes in the table these still run."""
        self._processes.executors += 1
        if self._processes.executors > 1:
            self._processes.add_death(f"the executor of container {self._container} ended and was started again")
        for name, entry in self._processes.entries.items():
            self._supervision.adopt(name, entry.incarnation, name in running, now_ms)
        return [StoreProcesses()]

    def on_tick(self, now_ms: float) -> list[ExecutorInstruction]:
        """Start what is due, or give it up."""
        return self._carry_out(self._supervision.tick(now_ms))

    def next_ms(self) -> float | None:
        """When `on_tick` has something to do again; None if nothing waits."""
        return self._supervision.next_ms()

    def on_started(self, name: str, entry: ProcessEntry) -> list[ExecutorInstruction]:
        """A process has been forked, and waits for leave to work."""
        self._processes.note(name, entry)
        if entry.incarnation > self._processes.begins.get(name, 0):
            how = self._how_it_ended.pop(name, _UNSEEN)
            self._processes.add_death(f"{name} of container {self._container} was started again: {how}")
        return [StoreProcesses()]

    def on_exited(self, name: str, how: str, now_ms: float) -> None:
        """A process has ended, `how` in words; of one that was killed for its silence, that is known better."""
        self._how_it_ended.setdefault(name, how)
        self._supervision.on_exited(name, now_ms)

    def is_suspect(self, name: str, age_ms: float, now_ms: float) -> bool:
        """Whether a process whose last sign of life is `age_ms` old is to be looked at now, for `on_silence`."""
        return self._supervision.is_suspect(name, age_ms, now_ms)

    def on_silence(
        self, name: str, age_ms: float, now_ms: float, usage: Usage | None, hangs: bool
    ) -> list[ExecutorInstruction]:
        """A process was looked at; see Supervision.on_silence. Before a Kill is carried out, `on_killing` is to be told."""
        return self._carry_out(self._supervision.on_silence(name, age_ms, now_ms, usage, hangs))

    def on_killing(self, name: str, why: str, place: str) -> None:
        """A process is killed for its silence; `place` is where in its code it is, as far as it has said that."""
        where = f"; it was {place}" if place else ""
        self._how_it_ended[name] = f"{self._describe_silence(name)} ({why}){where}"

    def _carry_out(self, instructions: Iterable[SupervisionInstruction]) -> list[ExecutorInstruction]:
        return [self._give_up(one) if isinstance(one, GiveUp) else one for one in instructions]

    def _give_up(self, given_up: GiveUp) -> ExecutorInstruction:
        """The topology master hears of a task by the table. Without a manager it would hear nothing, so the container ends."""
        name, how = given_up.name, self._how_it_ended.get(given_up.name, _UNSEEN)
        if name not in self._components:
            return FailContainer(f"container {self._container} cannot be kept running: {given_up.reason}: {how}")
        self._processes.failed = f"'{self._components[name]}': {given_up.reason}: {how}{SEE_LOG}{self._logs}/{name}.log"
        return StoreProcesses()

    def _describe_silence(self, name: str) -> str:
        limit = f"hang.timeout.ms = {self._hang_timeout_ms}"
        if name in self._components:
            return f"'{self._components[name]}' neither computed nor showed any progress for longer than {limit}"
        return f"it had shown no life for longer than {limit}"

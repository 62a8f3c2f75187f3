"""The health manager: gives each topology's regulator what is seen of it, and carries out what that says, by the commands that users have.

It is a process beside the topologies, not a part of their topology masters: a rescale ends and starts all processes of a topology, and
whoever judges it, and undoes it, must outlive that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ouzel.errors import OuzelError
from ouzel.planner.settings import HealthPolicy
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.tracker.acting.action_files import Carried
from ouzel.tracker.asides import set_aside
from ouzel.tracker.health.diagnosers import diagnose
from ouzel.tracker.health.memory_file import load_memory, memory_path, store_memory
from ouzel.tracker.health.regulator import Patience, Regulator
from ouzel.tracker.health.resolvers import Bounds, Sighting, sight
from ouzel.tracker.health.sensors import YOUNG_S, read_sensors
from ouzel.tracker.health.telling import describe_aside
from ouzel.tracker.health.treatments import Treatment, TreatmentMemory
from ouzel.tracker.metrics.history import History
from ouzel.tracker.topologies.epochs import list_epochs
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher

CarryOutCommand = Callable[[str, str, Sequence[str]], Carried]
"""Runs a command on a topology, and waits for its end: topology, title, arguments after `ouzel`."""

See = Callable[[TopologySnapshot, float], Sighting | None]


def bounds_of(snapshot: TopologySnapshot) -> Bounds:
    """What may be done to a topology by itself."""
    settings = snapshot.job.topology.settings
    least, most = settings.health_tasks_min, settings.health_tasks_max
    return Bounds(settings.health_policy, min(least, most), most)


def see_topology(registry: Registry, snapshot: TopologySnapshot, history: History, now_s: float) -> Sighting | None:
    """How a topology stands; None if it does not run, or not for long enough to tell."""
    if snapshot.condition is not Condition.RUNNING:
        return None
    readings = read_sensors(snapshot, history, list_epochs(registry, snapshot), now_s)
    return sight(readings, tuple(diagnose(readings))) if readings.known_s >= YOUNG_S else None


def arguments_of(name: str, treatment: Treatment) -> list[str]:
    """The command that does it, after `ouzel`."""
    if treatment.is_restart:
        return ["restart", "--", name, treatment.place]
    return ["update", f"--parallelism={treatment.component}={treatment.tasks}", "--", name]


@dataclass
class HealthManager:
    """Acts on the topologies of a registry whose policies allow that.

    Attributes:
        watcher: knows how they stand.
        run: runs a command.
        see: how one topology stands; None for what the real sensors say.
        patience: how long things take.
    """

    watcher: TopologyWatcher
    run: CarryOutCommand
    see: See | None = None
    patience: Patience = Patience()
    _regulators: dict[str, Regulator] = field(default_factory=dict)
    _told: dict[str, dict[str, str]] = field(default_factory=dict)

    def look(self, now: Callable[[], float]) -> Iterator[str]:
        """Look at all topologies once, one after the other, and do what is to be done; what was done, and what could not, a line each."""
        names = set()
        for one in self.watcher.snapshots():
            if isinstance(one, TopologySnapshot) and bounds_of(one).policy is not HealthPolicy.OFF:
                names.add(one.name)
                yield from self._look_at(one, now)
        for gone in set(self._regulators) - names:
            del self._regulators[gone]
            self._told.pop(gone, None)

    def _look_at(self, one: TopologySnapshot, now: Callable[[], float]) -> Iterator[str]:
        try:
            if one.name not in self._regulators:
                yield from self._begin(one, now())
            regulator = self._regulators[one.name]
            regulator.bounds = bounds_of(one)
            before = regulator.memory.treatments[-1:]
            treatment = regulator.look(self._see(one, now()), now())
            yield from self._tell(one.name, regulator, before)
            if treatment is None:
                if regulator.memory.treatments[-1:] != before:
                    store_memory(self.watcher.registry, one.name, regulator.memory)
                return
            yield from self._carry_out(one.name, regulator, treatment, now)
        except (OuzelError, OSError) as error:
            self._regulators.pop(one.name, None)  # what is kept counts, not what could not be kept
            yield f"{one.name}: {error}"

    def _see(self, one: TopologySnapshot, now_s: float) -> Sighting | None:
        if self.see is not None:
            return self.see(one, now_s)
        return see_topology(self.watcher.registry, one, self.watcher.history(one), now_s)

    def _begin(self, one: TopologySnapshot, now_s: float) -> Iterator[str]:
        """Go on with a topology where its file says. A damaged one is set aside before another is written; that is told."""
        registry, memory = self.watcher.registry, TreatmentMemory()
        try:
            memory = load_memory(registry, one.name)
        except ValueError as error:
            yield f"{one.name}: {describe_aside(set_aside(memory_path(registry, one.name)))} ({error})"
        regulator = Regulator(bounds_of(one), self.patience, memory)
        regulator.resume(now_s)
        self._regulators[one.name] = regulator

    def _tell(self, name: str, regulator: Regulator, before: Sequence[Treatment]) -> Iterator[str]:
        """What became of the last treatment, and the verdicts that nothing is done about, each once."""
        judged = [
            one
            for one in regulator.memory.treatments
            for last in before
            if one.number == last.number != 0 and one != last
        ]
        yield from (f"{name}: {one.title}: {one.outcome.value}" for one in judged)
        told = self._told.get(name, {})
        yield from (f"{name}: {title}: {why}" for title, why in regulator.held.items() if title not in told)
        self._told[name] = dict(regulator.held)

    def _carry_out(
        self, name: str, regulator: Regulator, treatment: Treatment, now: Callable[[], float]
    ) -> Iterator[str]:
        store_memory(
            self.watcher.registry, name, regulator.memory
        )  # before it is done: after a death it is judged all the same
        yield f"{name}: {treatment.title}, for {treatment.verdict}: {treatment.evidence}"
        try:
            done = self.run(name, treatment.title, arguments_of(name, treatment))
            refusal = "" if done.code == 0 else done.said or f"its command ended with exit code {done.code}"
        except OuzelError as error:
            refusal = str(error)
        regulator.on_carried_out(now(), refusal)
        store_memory(self.watcher.registry, name, regulator.memory)
        if refusal:
            yield f"{name}: {treatment.title}: refused: {refusal}"

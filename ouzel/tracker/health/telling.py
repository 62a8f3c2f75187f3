"""What people are told of what is done to a topology by itself: its policy, whether anybody acts on it, and the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.planner.settings import HealthPolicy
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Submitted
from ouzel.tracker import words
from ouzel.tracker.alone import is_run
from ouzel.tracker.asides import list_asides
from ouzel.tracker.health.memory_file import load_memory, memory_path
from ouzel.tracker.health.treatments import Treatment, TreatmentMemory

SHOWN = 5


@dataclass(frozen=True)
class HealthLog:
    """The log of one topology.

    Attributes:
        policy: what may be done to it.
        is_held: whether `ouzel health` runs.
        treatments: what was done, the latest first.
        problems: what cannot be read of what was done, a sentence each.
    """

    policy: HealthPolicy
    is_held: bool
    treatments: tuple[Treatment, ...]
    problems: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """Why nothing is done, if its policy says that something may be."""
        if self.policy is HealthPolicy.OFF or self.is_held:
            return ""
        return f"'health.policy' is {self.policy.value}, but nobody acts on it: start `ouzel health`"

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        yield from self.problems
        if self.note:
            yield self.note
        for one in self.treatments:
            yield f"{words.time_text(int(one.began_s * 1e6))} {one.title}, for {one.verdict}: {outcome_text(one)}"


def outcome_text(treatment: Treatment) -> str:
    """What became of it, with what its command said if it was refused."""
    return treatment.outcome.value + (f": {treatment.said}" if treatment.said else "")


def read_health_log(registry: Registry, name: str, policy: HealthPolicy, most: int = SHOWN) -> HealthLog:
    """The log of a topology, of the latest treatments."""
    memory, problems = TreatmentMemory(), [describe_aside(path) for path in list_asides(memory_path(registry, name))]
    try:
        memory = load_memory(registry, name)
    except ValueError as error:
        problems.append(f"{memory_path(registry, name)} is damaged, and what was done is not known: {error}")
    except OuzelError as error:
        problems.append(str(error))
    latest = tuple(reversed(memory.treatments[-most:]))
    return HealthLog(policy, policy is HealthPolicy.OFF or is_run(registry.home, "health"), latest, tuple(problems))


def describe_aside(path: Path) -> str:
    """What people are told of a damaged file that was set aside, as long as it is there."""
    return (
        f"what was done before is in {path}, which is damaged: what was not to be done again may be done again; "
        "remove that file when you have looked at it"
    )


def describe_log(registry: Registry, record: Submitted) -> list[str]:
    """The same as lines; none if the topology's files cannot be read."""
    try:
        settings = registry.folder(record.name).load(record.run).topology.settings
    except (OuzelError, OSError):
        return []
    return list(read_health_log(registry, record.name, settings.health_policy).lines())

"""What people are told of what is done to a topology by itself: its policy, whether anybody acts on it, and the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ouzel.errors import OuzelError
from ouzel.planner.settings import HealthPolicy
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Submitted
from ouzel.tracker import words
from ouzel.tracker.alone import is_run
from ouzel.tracker.health.memory_file import load_memory
from ouzel.tracker.health.treatments import Treatment

SHOWN = 5


@dataclass(frozen=True)
class HealthLog:
    """The log of one topology.

    Attributes:
        policy: what may be done to it.
        is_held: whether `ouzel health` runs.
        treatments: what was done, the latest first.
    """

    policy: HealthPolicy
    is_held: bool
    treatments: tuple[Treatment, ...]

    @property
    def note(self) -> str:
        """Why nothing is done, if its policy says that something may be."""
        if self.policy is HealthPolicy.OFF or self.is_held:
            return ""
        return f"'health.policy' is {self.policy.value}, but nobody acts on it: start `ouzel health`"

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        if self.note:
            yield self.note
        for one in self.treatments:
            yield f"{words.time_text(int(one.began_s * 1e6))} {one.title}, for {one.verdict}: {outcome_text(one)}"


def outcome_text(treatment: Treatment) -> str:
    """What became of it, with what its command said if it was refused."""
    return treatment.outcome.value + (f": {treatment.said}" if treatment.said else "")


def read_health_log(registry: Registry, name: str, policy: HealthPolicy, most: int = SHOWN) -> HealthLog:
    """The log of a topology, of the latest treatments."""
    latest = tuple(reversed(load_memory(registry, name).treatments[-most:]))
    return HealthLog(policy, policy is HealthPolicy.OFF or is_run(registry.home, "health"), latest)


def describe_log(registry: Registry, record: Submitted) -> list[str]:
    """The same as lines; none if the topology's files cannot be read."""
    try:
        settings = registry.folder(record.name).load(record.run).topology.settings
    except (OuzelError, OSError):
        return []
    return list(read_health_log(registry, record.name, settings.health_policy).lines())

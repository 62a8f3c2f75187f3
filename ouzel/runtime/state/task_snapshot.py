"""What one task keeps in an epoch: the state of its operators, and where it stands in what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, Place
from ouzel.runtime.state.context import KeyGroups, Snapshot


@dataclass(frozen=True)
class TaskSnapshot:
    """All of one task that rests.

    Attributes:
        component: of which component it is a task.
        index: its place in its component.
        states: what each operator keeps that keeps something, in the order of the chain.
        places: of a source, by partition id: where its successor reads on.
        time_us: the last watermark that it had sent, in microseconds.
        counts: what it had counted, by name.
    """

    component: str
    index: int
    states: tuple[Snapshot, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    time_us: int = BEGINNING_OF_TIME
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether nothing before it is needed to restore the task."""
        return all(state.whole for state in self.states)


def empty_snapshot() -> Snapshot:
    """In place of the state of an operator that is to begin with nothing."""
    return Snapshot("nothing", KeyGroups(), 0, 1, True, {})


HANDED_ON = ""
"""In place of an operator's name: an update of the topology says who goes on from its state (see StateContext.adopt)."""


def transfer(snapshot: Snapshot) -> Snapshot:
    """State that another operator goes on from, which means the same and may have other names."""
    return replace(snapshot, operator=HANDED_ON)

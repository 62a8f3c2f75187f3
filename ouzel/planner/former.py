"""What a component of an updated topology goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

EMPTY = -1
"""In Former.states: the operator begins with nothing."""


class Former(NamedTuple):
    """What a component goes on from in epochs of the topology before an update.

    Attributes:
        component: its name there; empty if it goes on from none. What begins empty in its place takes event time from it: what was late
            stays late.
        states: for each operator that keeps something, in the order of the chain, the place of what it goes on from among those of the
            former component, or EMPTY; None if they are the same.
        notes: the former component that read the table which it reads on, or wrote the one that it writes on: what that has noted is its
            own now. Empty if there is none.
    """

    component: str = ""
    states: tuple[int, ...] | None = None
    notes: str = ""

    def before(self, earlier: Mapping[str, Former]) -> Former:
        """What it goes on from in epochs of one topology earlier: `earlier` says what the former component had gone on from."""
        former = earlier.get(self.component)
        if not self.component or former is None:
            return self
        if self.states is None:
            states = former.states
        elif former.states is None:
            states = self.states if former.component else tuple(EMPTY for _ in self.states)
        else:
            states = tuple(EMPTY if place == EMPTY else former.states[place] for place in self.states)
        return Former(former.component, states, self.notes)


def compose(formers: Mapping[str, Former], earlier: Mapping[str, Former]) -> Mapping[str, Former]:
    """What components go on from in epochs of before the former update, if that has left none of its own.

    Args:
        formers: by component, what it goes on from in epochs of the former topology; empty if all stay as they are.
        earlier: by component of that one, what it had gone on from.
    """
    return {name: one.before(earlier) for name, one in formers.items()} or earlier

"""What a component of an updated topology goes on from."""

from __future__ import annotations

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

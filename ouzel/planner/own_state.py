"""What a spout or bolt written by hand keeps in epochs: it says so, or says that it keeps nothing."""

from __future__ import annotations

from typing import Any


class KeepsState:
    """Base of spouts and bolts. In a topology with epochs each defines `snapshot` and `restore`, or says `stateless = True`."""

    stateless: bool = False
    """Whether nothing is lost with a task: its successor makes of the same batches what it would have made."""

    def snapshot(self) -> Any:
        """What the task keeps, while nothing is on its way. A spout's says where it reads on.

        It is bytes, or a plain value: None, numbers, texts, bytes, dates and times, tuples, lists, sets and dicts of them, a Counter, a
        deque or a defaultdict, frames and series of Polars, arrays of NumPy. What is given may change later: it is encoded before this
        task goes on. What this raises gives up the epoch.
        """
        raise NotImplementedError

    def restore(self, state: Any) -> None:
        """Go on from what `snapshot` gave: called after `open` and before anything else, in a fresh object; not where there is no past.

        What this raises ends the topology.
        """
        raise NotImplementedError


def gives_snapshot(component: object) -> bool:
    """Whether a spout or bolt has a snapshot of its own."""
    return isinstance(component, KeepsState) and _has_own(component, "snapshot")


def why_no_epochs(name: str, component: KeepsState) -> str:
    """Why a topology with this component cannot keep epochs, and what to write instead, or an empty text."""
    snapshots, restores = _has_own(component, "snapshot"), _has_own(component, "restore")
    if snapshots != restores:
        there, lacking = ("snapshot", "restore") if snapshots else ("restore", "snapshot")
        return f"'{name}' defines {there} and no {lacking}"
    if snapshots and component.stateless:
        return f"'{name}' says stateless = True and defines snapshot and restore"
    if not (snapshots or component.stateless):
        return f"'{name}' does not say what it keeps in memory"
    return ""


def _has_own(component: KeepsState, method: str) -> bool:
    return getattr(type(component), method) is not getattr(KeepsState, method)

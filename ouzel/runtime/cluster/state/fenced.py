"""Nodes that only the newest leader changes: each leadership has a node of its own below, and that of the highest number counts.

A leader may be stopped just before a write, and wake up when another leads. What it writes then stands in its own node, which nobody reads
any more. See `protocol/cluster/leadership.py` for what else a leader owes the next one.
"""

from __future__ import annotations

from ouzel.runtime.cluster.state.manager import StateManager
from ouzel.runtime.protocol.cluster.leadership import Deposed


def read_fenced(state: StateManager, path: str) -> bytes | None:
    """What counts; None if there is nothing."""
    while True:
        writers = _writers(state, path)
        if (found := _newest(state, path, writers)) is not None:
            return found
        if writers == _writers(state, path):  # else a new leader has copied what there was, and removed it
            return state.get(path)


def write_fenced(state: StateManager, path: str, data: bytes, leadership: int = 0) -> None:
    """Write as the leader of that number; 0 is whoever changes a node while the topology does not run."""
    newest = leadership or max(_writers(state, path), default=0)
    state.put(f"{path}/{newest}" if newest else path, data)


def take_over(state: StateManager, path: str, leadership: int) -> bytes | None:
    """A leadership has begun: what it finds, which no earlier one changes from now on.

    It is copied until it stands still, for tasks may have read what was written last before the copy was there.
    """
    found = _read_before(state, path, leadership)
    while True:
        state.put(f"{path}/{leadership}", found or b"")
        again = _read_before(state, path, leadership)
        if again == found:
            break
        found = again
    for former in _writers(state, path):
        if former < leadership:
            state.delete(f"{path}/{former}")
    return found


def check_leads(state: StateManager, path: str, leadership: int) -> None:
    """See that no later leadership has begun.

    Raises:
        Deposed: one has.
    """
    newest = state.leadership(path)
    if newest is not None and newest.number > leadership:
        raise Deposed(leadership, newest.number)


def _read_before(state: StateManager, path: str, leadership: int) -> bytes | None:
    before = [one for one in _writers(state, path) if one < leadership]
    found = _newest(state, path, before)
    return state.get(path) if found is None else found


def _newest(state: StateManager, path: str, writers: list[int]) -> bytes | None:
    """What the latest of these has written: who has died before it wrote has only a node."""
    found = (state.get(f"{path}/{writer}") for writer in reversed(writers))
    return next((data for data in found if data is not None), None)


def _writers(state: StateManager, path: str) -> list[int]:
    return sorted(int(name) for name in state.children(path) if name.isdecimal())

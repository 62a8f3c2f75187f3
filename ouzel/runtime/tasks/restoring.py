"""A task's past in an epoch, put back into its operators."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ouzel.errors import StateError
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.state.context import Snapshot
from ouzel.runtime.state.task_snapshot import TaskSnapshot


def restore_states(chain: Chain, snapshots: Sequence[TaskSnapshot]) -> None:
    """Fill the empty operators of a chain from what one task kept, or several, one after the other (see `past_in_epoch`).

    Raises:
        StateError: what was kept is not of this chain, or not whole.
    """
    states = chain.states
    if len(snapshots) > 1 and not snapshots[-1].states:
        snapshots = snapshots[:-1]
    for snapshot in snapshots:
        if len(snapshot.states) != len(states):
            kept = ", ".join(state.operator for state in snapshot.states) or "nothing"
            raise StateError(
                f"{snapshot.component} was kept with the state of {kept}, and its chain keeps something else now"
            )
    tasks = [list(group) for _, group in groupby(snapshots, key=lambda one: (one.component, one.index))]
    for place, state in enumerate(states):
        pasts = [_since_whole([snapshot.states[place] for snapshot in task]) for task in tasks]
        if any(past[-1].parts for past in pasts):
            state.restore(*pasts)
    chain.restored()


def _since_whole(snapshots: Sequence[Snapshot]) -> Sequence[Snapshot]:
    """Those that are needed: an operator may have given all of itself where others gave what had changed."""
    begin = max((place for place, snapshot in enumerate(snapshots) if snapshot.whole), default=0)
    return snapshots[begin:]

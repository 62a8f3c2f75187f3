"""A task's past in an epoch, put back into its operators."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ouzel.errors import StateError
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME
from ouzel.runtime.state.context import Snapshot, StateContext
from ouzel.runtime.state.task_snapshot import HANDED_ON, TaskSnapshot


def restore_states(chain: Chain, snapshots: Sequence[TaskSnapshot]) -> None:
    """Fill the empty operators of a chain from what one task kept, or several, one after the other (see `past_in_epoch`).

    Raises:
        StateError: what was kept is not of this chain, or not whole.
    """
    states, time_us = chain.states, snapshots[-1].time_us
    if len(snapshots) > 1 and not snapshots[-1].states:
        snapshots = snapshots[:-1]
    for snapshot in snapshots:
        if len(snapshot.states) != len(states):
            kept = ", ".join(state.operator for state in snapshot.states) or "nothing"
            raise StateError(
                f"{snapshot.component} was kept with the state of {kept}, and its chain keeps something else now"
            )
    tasks = [list(group) for _, group in groupby(snapshots, key=lambda one: (one.component, one.index))]
    empty = set(range(len(states)))
    for place, state in enumerate(states):
        pasts = [_since_whole([snapshot.states[place] for snapshot in task]) for task in tasks]
        if any(past[-1].parts for past in pasts):
            state.restore(*([_adopt(state, one) for one in past] for past in pasts))
            empty.discard(place)
    chain.on_restored()
    _tell_time(chain, empty, time_us)


def _adopt(state: StateContext, snapshot: Snapshot) -> Snapshot:
    return state.adopt(snapshot) if snapshot.operator == HANDED_ON else snapshot


def _tell_time(chain: Chain, empty: set[int], time_us: int) -> None:
    """Have operators that begin empty in place of others know what was late then: it is late for them, too."""
    stateful = [operator for operator in chain.operators if operator.state is not None]
    for place in empty if time_us > BEGINNING_OF_TIME else ():
        out = stateful[place].advance(time_us)
        assert out is None or not out.height, "what is empty has nothing to close"


def _since_whole(snapshots: Sequence[Snapshot]) -> Sequence[Snapshot]:
    """Those that are needed: an operator may have given all of itself where others gave what had changed."""
    begin = max((place for place, snapshot in enumerate(snapshots) if snapshot.whole), default=0)
    return snapshots[begin:]

"""What a task of a spout or bolt written by hand keeps in an epoch: how far it is, and what its own `snapshot` gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from ouzel.errors import StateError, TopologyError
from ouzel.planner.own_state import KeepsState, gives_snapshot
from ouzel.runtime.observe.state_summaries import OF_PYTHON, StateSummary
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME
from ouzel.runtime.protocol.task import TaskMachine, TaskMetrics, TaskSetup, carry_counts
from ouzel.runtime.state.context import KeyGroups, Snapshot
from ouzel.runtime.state.plain_values import decode_value, encode_value
from ouzel.runtime.state.summary import StateSize
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.user_code import blame_component

OWN_STATE = "own state"
"""The operator that a snapshot of a component written by hand names. It is of no key groups: only the same task can go on from it."""

_PROGRESS, _VALUE = "progress", "value"


class Progress(NamedTuple):
    """How far a task was: the event time that its spout had said, or its bolt heard of, and whether its input had ended."""

    time_us: int = BEGINNING_OF_TIME
    ended: bool = False


class UserTask(TaskMachine):
    """Base of the tasks of spouts and bolts written by hand: what they keep in epochs."""

    def __init__(self, setup: TaskSetup, component: KeepsState) -> None:
        super().__init__(setup)
        self.stateful = gives_snapshot(component)
        self._component = component
        self._time_us, self._ended = Progress()
        self._snapshots = 0
        self._size = StateSize()

    def metrics(self) -> TaskMetrics:
        if self.stateful:
            self.counts.states = {OWN_STATE: self._size}
        return super().metrics()

    def summarize_states(self) -> list[StateSummary]:
        return [StateSummary(OWN_STATE, note=OF_PYTHON)] if self.stateful else []

    def snapshot(self, whole: bool) -> TaskSnapshot:
        """With how far it is, and what the component's own `snapshot` gives.

        Raises:
            TopologyError: that fails, or gives what cannot be kept.
        """
        parts = {_PROGRESS: pl.DataFrame([Progress(self._time_us, self._ended)._asdict()])}
        if self.stateful:
            parts[_VALUE] = pl.DataFrame({_VALUE: [self._encode_own()]})
        self._snapshots += 1
        state = Snapshot(OWN_STATE, KeyGroups(), 0, self._snapshots, True, parts)
        return replace(super().snapshot(whole), states=(state,))

    def _encode_own(self) -> bytes:
        with blame_component(self.task):
            value = self._component.snapshot()
        try:
            return self._note_size(value, encode_value(value))
        except Exception as error:  # also of an object that is asked how it is pickled
            name = f"'{self.task.component}' (task {self.task.id})"
            raise TopologyError(f"what snapshot of {name} gives cannot be kept: {error}") from error

    def _note_size(self, value: object, encoded: bytes) -> bytes:
        self._size = StateSize(len(value) if isinstance(value, Mapping | Set) else None, bytes=len(encoded))
        return encoded

    def restore(self, snapshots: Sequence[TaskSnapshot]) -> None:
        """Have the component, which is opened, go on from what the one before it kept.

        Raises:
            StateError: what was kept is not of such a component.
            TopologyError: its own `restore` fails.
        """
        parts = snapshots[-1].states[0].parts if len(snapshots[-1].states) == 1 else {}
        if _PROGRESS not in parts or (_VALUE in parts) is not self.stateful:
            now = "defines snapshot and restore" if self.stateful else "keeps nothing of its own"
            raise StateError(f"'{self.task.component}' was kept otherwise than it is written now: it {now}")
        if self.stateful:
            encoded = parts[_VALUE][_VALUE][0]
            value = decode_value(encoded)
            self._note_size(value, encoded)
            with blame_component(self.task):
                self._component.restore(value)
        self._time_us, self._ended = parts[_PROGRESS].row(0)
        carry_counts(self.counts, snapshots[-1].counts)

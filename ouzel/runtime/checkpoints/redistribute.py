"""What a task goes on from in an epoch of a topology that had other tasks: the parts that are its own of what all of them kept.

State by key goes with the key's group, and each number of tasks deals the groups into ranges (see `key_groups_of`). Where a source stands
is known by partition, so each task of it is given the places of all; which partitions it reads is decided where they are dealt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from ouzel.errors import StateError
from ouzel.planner.former import EMPTY, Former
from ouzel.planner.topology import Task
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFiles
from ouzel.runtime.checkpoints.task_file import TaskHeader
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.state.context import KeyGroups, Snapshot, key_groups_of
from ouzel.runtime.state.task_snapshot import TaskSnapshot, empty_snapshot, transfer


class KeptTasks(Protocol):
    """Where the files of an epoch are: a CheckpointStore."""

    def read_task(self, files: TaskFiles) -> list[TaskSnapshot]:
        """What a task kept: a whole snapshot, and the changes after it."""

    def read_header(self, files: TaskFiles) -> TaskHeader:
        """The same but for its states."""


def past_in_epoch(
    task: Task, parallelism: int, manifest: Manifest, store: KeptTasks, former: Former | None = None
) -> Sequence[TaskSnapshot]:
    """What a task of a component with so many tasks goes on from; nothing if the epoch has nothing of it.

    The snapshots of one former task follow each other: a whole one, then the changes after it. If the tasks are others than they were, one
    without states comes last, and says where the task stands.

    Raises:
        StateError: a file is missing, torn, damaged or foreign.
    """
    name = task.component if former is None else former.component
    kept = sorted((one for one in manifest.tasks if one.component == name), key=lambda one: one.index)
    if len(kept) == parallelism:
        chains = store.read_task(kept[task.index])
    else:
        mine, chains, last = key_groups_of(task.index, parallelism), [], list[TaskSnapshot]()
        for files in kept:
            theirs = key_groups_of(files.index, len(kept))
            if theirs.first < mine.end and mine.first < theirs.end:
                chains += [_in_groups(snapshot, theirs) for snapshot in store.read_task(files)]
                last.append(chains[-1])
            else:
                last.append(_without_states(store.read_header(files)))
        if last:
            chains.append(_together(task, parallelism, last))
    if former is not None and former.states is not None:
        return [place_states(snapshot, former.states) for snapshot in chains]
    return chains


def _in_groups(snapshot: TaskSnapshot, groups: KeyGroups) -> TaskSnapshot:
    """The snapshot with the key groups that its task held: a version before this one did not note them."""
    return replace(snapshot, states=tuple(replace(state, groups=groups) for state in snapshot.states))


def _without_states(header: TaskHeader) -> TaskSnapshot:
    places = {partition: Place(*place) for partition, place in header.places.items()}
    return TaskSnapshot(header.component, header.index, (), places, header.time_us, header.counts)


def _together(task: Task, parallelism: int, former: Sequence[TaskSnapshot]) -> TaskSnapshot:
    """Where a task stands that takes the place of others.

    Time is the least of all that they have sent, for of the partitions which it reads some task had sent no later one. Each count goes on
    in one task.
    """
    places: dict[str, Place] = {}
    counts = Counter[str]()
    for one in former:
        places.update(one.places)
        if one.index % parallelism == task.index:
            counts.update(one.counts)
    time_us = min(one.time_us for one in former)
    return TaskSnapshot(task.component, task.index, (), places, time_us, dict(counts))


def place_states(snapshot: TaskSnapshot, places: Sequence[int]) -> TaskSnapshot:
    """The snapshot as another component goes on from it: of each of its operators the place of the state, or EMPTY.

    Raises:
        StateError: there is no such place.
    """
    if not snapshot.states:
        return snapshot
    if max(places, default=EMPTY) >= len(snapshot.states):
        raise StateError(
            f"'{snapshot.component}' was kept with the state of {len(snapshot.states)} operators, and number {max(places) + 1} is to go on"
        )
    states: tuple[Snapshot, ...] = tuple(
        empty_snapshot() if place == EMPTY else transfer(snapshot.states[place]) for place in places
    )
    return replace(snapshot, states=states)

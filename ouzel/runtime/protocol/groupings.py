"""Groupings, computed in the sender, on columns: which task gets which rows of a frame.

Whatever is chosen depends on the frame alone, not on what went before, so that a replayed frame goes where it went the first time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.loops import loop
from ouzel.planner.topology import Component, Grouping, GroupingKind, Topology
from ouzel.runtime.protocol.ids import mix, name_id
from ouzel.runtime.state.hashing import KEY_GROUPS, key_groups, row_hashes

RowPositions = npt.NDArray[Any]
"""One whole number for each row."""

Dealt = Iterable[tuple[int, pl.DataFrame]]
"""(index of the task, its rows), for those tasks that get any."""

Deal = Callable[[pl.DataFrame, int, int | None], Dealt]
"""(frame, its id, task named by the writer) -> who gets what."""


def stream_numbers(topology: Topology) -> dict[tuple[str, str], int]:
    """A number for each (component, stream) of the topology: what Data.stream holds."""
    pairs = [(component.name, output.stream) for component in topology.components for output in component.outputs]
    return {pair: number for number, pair in enumerate(pairs)}


def dealer(grouping: Grouping, tasks: int, local: Sequence[int], salt: str, seed: int = 0) -> Deal:
    """How frames are dealt to `tasks` tasks, of which those with an index in `local` share the sender's container; `salt` is who reads
    which stream."""
    everyone, reader = range(tasks), salt.rpartition("/")[0]
    match grouping.kind:
        case GroupingKind.ALL:
            return lambda frame, _id, _task: [(index, frame) for index in everyone]
        case GroupingKind.DIRECT:
            return lambda frame, _id, task: [(_check_named(task, tasks, reader), frame)]
        case GroupingKind.GLOBAL:
            return lambda frame, _id, _task: [(0, frame)]
    if tasks == 1:
        return lambda frame, _id, _task: [(0, frame)]
    match grouping.kind:
        case GroupingKind.FIELDS:
            return lambda frame, _id, _task: split_frame(frame, key_tasks(frame, grouping.fields, tasks, seed), tasks)
        case GroupingKind.PARTIAL_KEY:
            return lambda frame, _id, _task: split_frame(frame, two_choices(frame, grouping.fields, tasks, seed), tasks)
        case GroupingKind.CUSTOM:
            return lambda frame, _id, _task: split_frame(
                frame, _check_chosen(grouping.chooser(frame, tasks), frame.height, tasks, reader), tasks
            )
    chosen = list(local) if grouping.kind is GroupingKind.LOCAL_OR_SHUFFLE and local else list(everyone)
    salted = name_id(salt)
    return lambda frame, frame_id, _task: [(chosen[mix(frame_id, salted) % len(chosen)], frame)]


def _check_named(task: object, tasks: int, reader: str) -> int:
    """The task that a direct grouping sends to.

    Raises:
        ValueError: none is named, or one that is not there.
    """
    if isinstance(task, int) and 0 <= task < tasks:
        return task
    named = "no task is named" if task is None else f"task={task!r:.60} is none of its {tasks}"
    there = "0" if tasks == 1 else f"a number from 0 to {tasks - 1}"
    raise ValueError(
        f"'{reader}' reads by direct_grouping, and {named}; write collector.emit(frame, task=…) with {there}"
    )


def _check_chosen(made: object, rows: int, tasks: int, reader: str) -> RowPositions:
    """What a chooser has given, as each row's task.

    Raises:
        ValueError: it is no task's number for each row.
    """
    numbers = np.asarray(made)
    if numbers.shape != (rows,) or numbers.dtype.kind not in "iu":
        gave = f"{made!r:.60}" if numbers.ndim == 0 else f"{len(numbers)} values of {numbers.dtype}"
        raise ValueError(
            f"the chooser of the custom_grouping of '{reader}' gave {gave}, and is to give a whole number for each of {rows} rows; "
            "write lambda frame, tasks: frame['n'].to_numpy() % tasks"
        )
    if rows and not (numbers.min() >= 0 and numbers.max() < tasks):
        wrong = numbers[(numbers < 0) | (numbers >= tasks)][0]
        raise ValueError(
            f"the chooser of the custom_grouping of '{reader}' gave {wrong}, and its tasks are 0 to {tasks - 1}; write … % tasks"
        )
    return numbers


def key_tasks(frame: pl.DataFrame, fields: Sequence[str], tasks: int, seed: int = 0) -> RowPositions:
    """The task index of each row: its key's group, and the range of groups that task holds, so that rescaling moves whole groups."""
    return key_groups(row_hashes(frame, fields, seed)) * tasks // KEY_GROUPS


def two_choices(frame: pl.DataFrame, fields: Sequence[str], tasks: int, seed: int = 0) -> RowPositions:
    """Partial key grouping: of the two tasks a key may go to, the one with less load in this frame (Nasir et al., ICDE 2015)."""
    chosen = np.empty(frame.height, np.int64)
    _least_loaded(row_hashes(frame, fields, seed), tasks, chosen)
    return chosen


@loop()
def _least_loaded(hashes: RowPositions, tasks: int, chosen: RowPositions) -> None:
    load = np.zeros(tasks, np.int64)
    for row in range(hashes.size):
        first = np.int64(hashes[row] % np.uint64(tasks))
        second = (first + 1 + np.int64((hashes[row] >> np.uint64(32)) % np.uint64(tasks - 1))) % tasks
        index = first if load[first] <= load[second] else second
        load[index] += 1
        chosen[row] = index


def split_frame(frame: pl.DataFrame, chosen: RowPositions, tasks: int) -> Dealt:
    """The frame cut by each row's task index, rows in their order."""
    order, ends = np.empty(frame.height, np.uint32), np.zeros(tasks, np.int64)
    _sort_by_task(chosen.astype(np.int64, copy=False), ends, order)
    starts = [0, *ends.tolist()]
    if frame.height in np.diff(starts):
        return [(int(np.diff(starts).argmax()), frame)] if frame.height else []
    gathered = frame[pl.Series(order)]
    return [
        (index, gathered.slice(start, end - start))
        for index, (start, end) in enumerate(itertools.pairwise(starts))
        if end > start
    ]


@loop()
def _sort_by_task(chosen: RowPositions, ends: RowPositions, order: RowPositions) -> None:
    """A counting sort: `order` lists the rows by task, `ends` says where each task's rows end."""
    for row in range(chosen.size):
        ends[chosen[row]] += 1
    total = 0
    for task in range(ends.size):
        total += ends[task]
        ends[task] = total - ends[task]
    for row in range(chosen.size):
        place = ends[chosen[row]]
        order[place] = row
        ends[chosen[row]] = place + 1


class OutputStream:
    """One output stream of one task: its readers, and how each is dealt to."""

    def __init__(self, number: int, readers: Sequence[tuple[Sequence[int], Deal]]) -> None:
        self.number = number
        self._readers = readers

    @property
    def destinations(self) -> frozenset[int]:
        """All tasks that may get anything."""
        return frozenset(task for tasks, _ in self._readers for task in tasks)

    def route(self, frame: pl.DataFrame, frame_id: int, index: int | None) -> Iterable[tuple[int, pl.DataFrame]]:
        """(task id, rows) for every reader's tasks."""
        for tasks, route in self._readers:
            for chosen, rows in route(frame, frame_id, index):
                yield tasks[chosen], rows


def outlets(topology: Topology, component: Component, local_tasks: frozenset[int]) -> dict[str, OutputStream]:
    """The outlets of a component's tasks, by stream."""
    numbers, seed = stream_numbers(topology), topology.settings.seed
    ids: dict[str, list[int]] = {}
    for task in topology.tasks():
        ids.setdefault(task.component, []).append(task.id)
    made = {}
    for output in component.outputs:
        readers = []
        for reader, link in topology.readers(component.name, output.stream):
            tasks = ids[reader.name]
            local = [index for index, task in enumerate(tasks) if task in local_tasks]
            readers.append((tasks, dealer(link.grouping, len(tasks), local, f"{reader.name}/{output.stream}", seed)))
        made[output.stream] = OutputStream(numbers[component.name, output.stream], readers)
    return made

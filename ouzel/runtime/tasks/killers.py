"""Rows that kill the task that computes them: a batch is computed without them, and they are refused as `error.policy` says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

import polars as pl

from ouzel.connectors.dead_letters import RefusedRecord, rows_as_json
from ouzel.connectors.reading import ReadBatch
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import TaskMachine
from ouzel.runtime.tasks.origins import place_of
from ouzel.runtime.tasks.refusals import GO_ON


def process_in_parts(quarantine: Quarantine, batch: int, frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The rows of one batch that do not kill: at once, or in parts if it is suspected; each is noted as in hand until the next is taken."""
    for start, end in quarantine.parts(batch, frame.height):
        yield frame if end - start == frame.height else frame[start:end]


def drop_killers(killers: Collection[int], batch: ReadBatch, partition: str) -> ReadBatch:
    """The batch without these rows."""
    left = [row for row in range(batch.frame.height) if row not in killers]
    return replace(batch, frame=batch.frame[left], place=lambda row: place_of(batch, partition, left[row]))


def find_killers(
    killers: Mapping[int, int], frame: pl.DataFrame, task: str, place: Callable[[int], str]
) -> list[RefusedRecord]:
    """The rows of a batch that kill, with their places."""
    return [
        RefusedRecord(place(row), _reason(task, deaths), rows_as_json(frame[row])[0], GO_ON)
        for row, deaths in killers.items()
    ]


def name_task(machine: TaskMachine, chain: Chain) -> str:
    """The task's component, and what it calls of the user's."""
    called = ", ".join(call for operator in chain.operators for call in operator.calls)
    return f"'{machine.task.component}'" + (f", which calls {called}," if called else "")


def _reason(task: str, deaths: int) -> str:
    return f"this row ends the process of {task} whenever it is handled ({deaths} times: a crash, too much memory, or no end)"

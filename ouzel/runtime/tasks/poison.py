"""Handles batches around their poison records (see protocol.quarantine); those are refused as `error.policy` says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeVar

import polars as pl

from ouzel.connectors.dead_letters import RefusedRecord, rows_as_json
from ouzel.connectors.reading import ReadBatch
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.tasks.origins import place_of
from ouzel.runtime.tasks.refusals import GO_ON, TaskPart

Result = TypeVar("Result")


def process_in_parts(
    quarantine: Quarantine, batch: int, frame: pl.DataFrame, process: Callable[[pl.DataFrame], Result]
) -> list[Result]:
    """What `process` makes of the rows of one batch that are no poison records: of all at once, or of each part if it is suspected."""
    made = []
    for start, end in quarantine.parts(batch, frame.height):
        with quarantine.in_flight([batch], start, end):
            made.append(process(frame if end - start == frame.height else frame[start:end]))
    quarantine.on_handled(batch)
    return made


def without_poison(poison: Collection[int], batch: ReadBatch, partition: str) -> ReadBatch:
    """The batch without these rows."""
    left = [row for row in range(batch.frame.height) if row not in poison]
    return replace(batch, frame=batch.frame[left], place=lambda row: place_of(batch, partition, left[row]))


def poison_records(
    poison: Mapping[int, int], frame: pl.DataFrame, task: str, place: Callable[[int], str]
) -> list[RefusedRecord]:
    """The poison records of a batch, with their places."""
    return [
        RefusedRecord(place(row), _reason(task, deaths), rows_as_json(frame[row])[0], GO_ON)
        for row, deaths in poison.items()
    ]


def name_task(part: TaskPart, chain: Chain) -> str:
    """The task's component, and the user's functions that it calls."""
    called = ", ".join(call for operator in chain.operators for call in operator.calls)
    return f"'{part.task.component}'" + (f", which calls {called}," if called else "")


def _reason(task: str, deaths: int) -> str:
    return f"this row ends the process of {task} whenever it is handled ({deaths} times: a crash, too much memory, or no end)"

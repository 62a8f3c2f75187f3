"""Rows that cannot be read or computed: they fail the run, are skipped, or become lines of a dead-letter file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ouzel.connectors.dead_letters import RefusedRecord, write_dead_letters
from ouzel.connectors.reading import BadRow
from ouzel.errors import BadRecord
from ouzel.planner.settings import BadRecordPolicy
from ouzel.planner.topology import Task
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.messages import ADVICE
from ouzel.runtime.protocol.task import TaskMetrics
from ouzel.runtime.tasks.context import TaskContext

SHOWN = 200
"""Characters of a refused row that a message quotes."""


GO_ON = "SET 'error.policy' = 'skip' or 'dead-letter' goes on without such rows"
"""The advice for a row that cannot be computed."""

GO_ON_IN_PYTHON = "the setting error_policy='skip' or 'dead-letter' goes on without such records"
"""The same for what a step of a program cannot compute."""


class Refusals:
    """Carries out one policy. Appends whole lines, so several tasks may share a dead-letter file.

    Advice for what cannot be read is spelled as SQL does, or, of a source `in_python`, as a program; `null` is the text that the source
    reads as NULL.
    """

    def __init__(self, policy: BadRecordPolicy, dead_letters: Path, in_python: bool = False, null: str = "") -> None:
        self.policy, self.path, self._in_python, self._null = policy, dead_letters, in_python, null

    @property
    def is_fatal(self) -> bool:
        """Whether the first refused record ends the run."""
        return self.policy is BadRecordPolicy.FAIL

    def of_unread(self, bad: Iterable[BadRow], read: int) -> list[RefusedRecord]:
        """The records that a source could not read, beside so many that it could, with advice where the first of them ends the run."""
        records = list(map(RefusedRecord.of, bad))
        if records and self.is_fatal:
            from ouzel.runtime.tasks.unread import advise_of_unread

            records[0] = replace(records[0], detail=advise_of_unread(records, read, self._in_python, self._null))
        return records

    def take(self, records: Iterable[RefusedRecord], component: str = "") -> None:
        """Handle refused records. A place that is only the `component` is left out: the caller names the component.

        Raises:
            BadRecord: for the first of them, if the policy is to fail.
            ConnectorError: the dead-letter file cannot be written.
        """
        records = list(records)
        if not records:
            return
        if self.policy is BadRecordPolicy.FAIL:
            first = records[0]
            is_read = (
                first.raw.strip("{}") and first.where
            )  # what is in no place is the row that SELECT without FROM computes of
            reason = f"{first.reason}: {first.raw[:SHOWN]}" if is_read else first.reason
            where = "" if first.where == component else first.where
            raise BadRecord(where, "\n".join(part for part in (reason, first.detail) if part))
        if self.policy is BadRecordPolicy.DEAD_LETTER:
            write_dead_letters(self.path, records)


class TaskPart(Protocol):
    """A task's machine, or the part of it that reports for it."""

    task: Task
    counts: TaskMetrics

    def tell_user(self, kind: str, text: str, count: int = 1) -> None:
        """Report this to the user."""


def row_refusals(context: TaskContext) -> Refusals:
    """The policy of a topology's settings for rows that cannot be computed."""
    settings = context.topology.settings
    return Refusals(settings.error_policy, context.directory / settings.dead_letter_path)


def refuse_records(part: TaskPart, refusals: Refusals, records: Sequence[RefusedRecord]) -> None:
    """Count a task's refused records, carry out the policy, and tell the user of the first.

    Raises:
        BadRecord, ConnectorError: as Refusals.take.
    """
    if records:
        part.counts.rows_bad += len(records)
        refusals.take(records, part.task.component)
        part.tell_user("bad-record", f"{records[0].where}: {records[0].reason}", len(records))


def take_uncomputed(part: TaskPart, chain: Chain) -> list[RefusedRecord]:
    """The rows that a task's chain could not compute since the last call; the user is told of what it notes of others."""
    for note in chain.take_notes():
        part.tell_user(ADVICE, f"{part.task.component}: {note}")
    return [
        RefusedRecord(
            part.task.component,
            row.reason,
            row.row,
            "\n".join(filter(None, (row.detail, GO_ON_IN_PYTHON if row.in_python else GO_ON))),
        )
        for row in chain.take_refused()
    ]

"""Rows that cannot be read or computed: they fail the run, are skipped, or become lines of a dead-letter file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ouzel.connectors.dead_letters import RefusedRecord, write_dead_letters
from ouzel.connectors.misfits import (
    ForeignNumber,
    advise_utf8,
    find_decimal,
    find_foreign_number,
    find_null_word,
    quote_text,
)
from ouzel.connectors.reading import BadRow
from ouzel.errors import BadRecord
from ouzel.planner.settings import BadRecordPolicy
from ouzel.planner.topology import Task
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.task import TaskMetrics
from ouzel.runtime.tasks.context import TaskContext

SHOWN = 200
"""Characters of a refused row that a message quotes."""


GO_ON = "SET 'error.policy' = 'skip' or 'dead-letter' goes on without such rows"
"""The advice for a row that cannot be computed."""

GO_ON_IN_PYTHON = "the setting error_policy='skip' or 'dead-letter' goes on without such records"
"""The same for what a step of a program cannot compute."""

READ_ON = "the table's option 'bad.record' = 'skip' or 'dead-letter' goes on without such records"
"""The advice for a record that cannot be read."""

READ_ON_IN_PYTHON = (
    "the source's option bad_record='skip', or 'dead-letter' with dead_letter_path='path', goes on without such records"
)
"""The same for a source of a program."""


def _advise_of_unread(bad: RefusedRecord, in_python: bool) -> str:
    """What to write for a record that a source could not read."""
    read_on = READ_ON_IN_PYTHON if in_python else READ_ON
    if declared := find_decimal(bad.reason):
        column, kind = declared
        shown = f"{column}: Annotated[Decimal, '{kind}']" if in_python else f"{column} {kind}"
        return f"declare {shown}, which takes it; otherwise {read_on}"
    if number := find_foreign_number(bad.reason):
        return f"{_advise_of_number(number, in_python)}; otherwise {read_on}"
    if (file := bad.where.rpartition(":")[0]) and " not UTF-8" in bad.reason and Path(file).is_file():
        return f"if the file is Latin-1, `{advise_utf8(file)}` makes one of UTF-8; otherwise {read_on}"
    if word := find_null_word(bad.reason, bad.raw):
        option = f"the source's option csv_null='{word}'" if in_python else f"the table's option 'csv.null' = '{word}'"
        return f"if '{word}' stands for NULL, {option} reads it so; otherwise {read_on}"
    return read_on


def _advise_of_number(number: ForeignNumber, in_python: bool) -> str:
    """How a number with other signs is read as a text, and made a number."""
    column, read = number.column, f"record.{number.column}" if in_python else number.column
    for sign, own in number.signs:
        read = (
            f"{read}.replace({sign!r}, {own!r})"
            if in_python
            else f"REPLACE({read}, {quote_text(sign)}, {quote_text(own)})"
        )
    if in_python:
        return f"declare {column}: str, and write Decimal({read}) in a step"
    return f"declare {column} VARCHAR, and write CAST({read} AS {number.type}) in the query"


class Refusals:
    """Carries out one policy. Appends whole lines, so several tasks may share a dead-letter file.

    Advice for what cannot be read is spelled as SQL does, or, of a source `in_python`, as a program.
    """

    def __init__(self, policy: BadRecordPolicy, dead_letters: Path, in_python: bool = False) -> None:
        self.policy, self.path, self._in_python = policy, dead_letters, in_python

    @property
    def is_fatal(self) -> bool:
        """Whether the first refused record ends the run."""
        return self.policy is BadRecordPolicy.FAIL

    def of_unread(self, bad: Iterable[BadRow]) -> list[RefusedRecord]:
        """The records that a source could not read, with advice."""
        records = map(RefusedRecord.of, bad)
        return [replace(record, detail=_advise_of_unread(record, self._in_python)) for record in records]

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
    """The rows that a task's chain could not compute since the last call."""
    return [
        RefusedRecord(
            part.task.component,
            row.reason,
            row.row,
            "\n".join(filter(None, (row.detail, GO_ON_IN_PYTHON if row.in_python else GO_ON))),
        )
        for row in chain.take_refused()
    ]

"""What the tasks of a topology keep, by operator and table, with the largest keys, as text in a file of each task's container."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.files import put_bytes
from ouzel.runtime.observe.samples import row_texts

if TYPE_CHECKING:
    from ouzel.runtime.state.context import StateContext
    from ouzel.runtime.state.summary import TableCounts

ALIKE = "not supported: each key keeps one row of the same columns, so that none is larger"
OF_PYTHON = "not supported: a spout or bolt in Python keeps one value, and only it knows its keys"


@dataclass(frozen=True)
class LargeKey:
    """A key as text, a cell a column, and how many rows it has."""

    cells: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class StateSummary:
    """What one operator keeps in one of its tables.

    Attributes:
        operator: its name, as samples of rows have it.
        table: the table's name; empty if it is not known which there are.
        keys: how many it has; None if that is not known.
        rows: how many rows it keeps for them; None if it keeps none beside the key's own, or that is not known.
        columns: those of a key.
        largest: the keys with the most rows, the most first.
        note: why there are none; empty if there are.
        at_us: when that was so, in microseconds since 1970.
    """

    operator: str
    table: str = ""
    keys: int | None = None
    rows: int | None = None
    columns: tuple[str, ...] = ()
    largest: tuple[LargeKey, ...] = ()
    note: str = ""
    at_us: int = 0


def summarize_states(states: Iterable[tuple[str, StateContext]]) -> list[StateSummary]:
    """The summaries of operators, by name. One that cannot be summed up says so: looking at state never harms a task."""
    return [summary for operator, state in states for summary in _summarize(operator, state)]


def _summarize(operator: str, state: StateContext) -> Iterator[StateSummary]:
    try:
        counted = state.count_tables()
    except Exception as error:
        yield StateSummary(operator, note=f"cannot be counted: {type(error).__name__}: {error}")
        return
    for counts in counted:
        yield _of_table(operator, counts)


def _of_table(operator: str, counts: TableCounts) -> StateSummary:
    if counts.rows is None:
        return StateSummary(operator, counts.name, counts.keys, note=ALIKE)
    cells = row_texts(counts.largest) if counts.largest.width else [()] * len(counts.sizes)
    largest = tuple(LargeKey(key, rows) for key, rows in zip(cells, counts.sizes, strict=True))
    return StateSummary(operator, counts.name, counts.keys, counts.rows, tuple(counts.largest.columns), largest)


def summaries_path(folder: Path, task: int) -> Path:
    """Where those of a task stand, in the directory of its container."""
    return folder / f"state-{task}.json"


def write_state_summaries(folder: Path, task: int, summaries: Iterable[StateSummary], wall_us: int) -> None:
    """Put them there, for the user's eyes alone; where there is no room the ones before stay."""
    text = json.dumps([asdict(one) | {"at_us": wall_us} for one in summaries])
    with contextlib.suppress(OSError):
        put_bytes(summaries_path(folder, task), text.encode(), mode=0o600)


def read_state_summaries(folder: Path, task: int) -> list[StateSummary] | None:
    """Those of a task; None if they cannot be read, or there is no file."""
    try:
        return [_from_fields(one) for one in json.loads(summaries_path(folder, task).read_text())]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _from_fields(fields: dict[str, object]) -> StateSummary:
    largest = tuple(LargeKey(tuple(one["cells"]), one["rows"]) for one in fields["largest"])  # type: ignore[attr-defined]  # as asdict made it
    return StateSummary(**{**fields, "largest": largest, "columns": tuple(fields["columns"])})  # type: ignore[arg-type]

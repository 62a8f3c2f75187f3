"""Rows dropped as late, as lines of JSON: what dropped them, then their columns.

In a topology with epochs rows are read again behind the one that all go back to, and may then be late again, or not. So each line names
its task, and a task that begins or goes on says how many of the rows in its lines stand: those before the epoch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import polars as pl

from ouzel.compiler.plan.aggregates import ROWS

COMPONENT = "$component"
"""Name of the column that says which component dropped a row."""

TASK, STANDING = "$task", "$standing"
"""Names of the columns that say which task of the component it was, and that so many rows in its lines before this one stand."""


def late_lines(component: str, frame: pl.DataFrame, task: int | None = None) -> str:
    """The rows as JSON lines, each a whole value again when it is cast from text: bytes in hexadecimal, NaN and infinities by name.

    `task` is named where all may go back to an epoch.
    """
    told = [_tell(column) for column in frame.get_columns()]
    tasks = [] if task is None else [pl.Series(TASK, [task] * frame.height)]
    return pl.DataFrame([pl.Series(COMPONENT, [component] * frame.height), *tasks, *told]).write_ndjson()


def standing_line(component: str, task: int, rows: int) -> str:
    """The line of a task that goes on from where it had dropped so many rows."""
    return json.dumps({COMPONENT: component, TASK: task, STANDING: rows}) + "\n"


def lines_that_stand(lines: Iterable[str]) -> Iterator[str]:
    """Of a file's lines those of rows, without what was dropped behind an epoch that all went back to. What is no JSON stays."""
    kept: dict[tuple[object, object], list[tuple[int, str]]] = {}
    for line in lines:
        try:
            told = json.loads(line)
            task = told.get(COMPONENT), told.get(TASK)
        except (AttributeError, ValueError):
            yield line
            continue
        mine = kept.setdefault(task, [])
        if STANDING in told:
            kept[task] = mine[: _number_within(mine, told[STANDING])]
        else:
            mine.append((told.get(ROWS) or 1, line))
    yield from (line for mine in kept.values() for _, line in mine)


def _number_within(mine: list[tuple[int, str]], rows: int) -> int:
    """How many of the lines have no more than so many rows together."""
    left = rows
    for number, (count, _) in enumerate(mine):
        left -= count
        if left < 0:
            return number
    return len(mine)


def _tell(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Binary:
        return column.bin.encode("hex")
    if column.dtype.is_float() and not column.is_finite().all():
        return column.cast(pl.String)
    return column

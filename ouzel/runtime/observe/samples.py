"""Samples of the rows that pass the operators of a task: the last of each, within limits, as text."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.files import put_bytes

if TYPE_CHECKING:
    import polars as pl

ROWS_KEPT = 20
"""Of each operator so many rows are kept, and no more are taken in a second."""

COLUMNS_KEPT, CELL_CHARACTERS, OPERATORS_KEPT = 40, 200, 40


def cell_text(value: object) -> str:
    """A value as it is shown, at most CELL_CHARACTERS of it."""
    text = "NULL" if value is None else str(value)
    return text if len(text) <= CELL_CHARACTERS else text[:CELL_CHARACTERS] + "…"


@dataclass(frozen=True)
class OperatorSample:
    """The last rows of one operator, the latest row last.

    Attributes:
        operator: its name.
        columns: their names; rows that are given and taken back have their weight in the column `$weight`.
        rows: their cells as text.
        at_us: when the latest came, to a second, in microseconds since 1970.
    """

    operator: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    at_us: int


@dataclass
class _Kept:
    columns: tuple[str, ...]
    rows: deque[tuple[str, ...]]
    budget: int = ROWS_KEPT
    at_us: int = 0
    is_new: bool = False


class RowSampler:
    """Takes the last rows of what passes, and tells once a second what it has."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def take(self, operator: str, frame: pl.DataFrame) -> None:
        """A frame passes. Beyond ROWS_KEPT rows in a second nothing of it is looked at."""
        kept = self._kept.get(operator)
        if not frame.height or (kept is None and len(self._kept) == OPERATORS_KEPT):
            return
        columns = tuple(frame.columns[:COLUMNS_KEPT])
        if kept is None or kept.columns != columns:
            kept = self._kept[operator] = _Kept(columns, deque(maxlen=ROWS_KEPT), kept.budget if kept else ROWS_KEPT)
        rows = min(kept.budget, frame.height)
        if not rows:
            return
        kept.budget -= rows
        kept.is_new = True
        kept.rows.extend(_rows_of(frame.tail(rows).select(columns)))

    def on_second(self, wall_us: int) -> str:
        """A second has passed. What is known as text, if anything has come in it; else an empty text."""
        news = [kept for kept in self._kept.values() if kept.is_new]
        for kept in self._kept.values():
            kept.budget = ROWS_KEPT
        for kept in news:
            kept.is_new, kept.at_us = False, wall_us
        return self._to_text() if news else ""

    def _to_text(self) -> str:
        return json.dumps(
            [
                {"operator": name, "columns": kept.columns, "rows": list(kept.rows), "at_us": kept.at_us}
                for name, kept in self._kept.items()
            ]
        )


def row_texts(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """The rows with their cells as they are shown; times that Python has no value for are texts, too."""
    from ouzel.connectors.formats.far_times import python_values

    return list(zip(*(map(cell_text, python_values(column)) for column in frame.get_columns()), strict=True))


def _rows_of(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """The rows as texts, at once: a slice that is kept would keep the whole batch in memory."""
    try:
        return row_texts(frame)
    except Exception as error:  # looking at rows never harms a task
        return [(f"cannot be shown: {type(error).__name__}", *[""] * (frame.width - 1))]


def samples_path(folder: Path, task: int) -> Path:
    """Where the samples of a task stand, in the directory of its container."""
    return folder / f"samples-{task}.json"


def write_row_samples(folder: Path, task: int, text: str) -> None:
    """Put them there, for the user's eyes alone; where there is no room the ones before stay."""
    with contextlib.suppress(OSError):
        put_bytes(samples_path(folder, task), text.encode(), mode=0o600)


def read_row_samples(folder: Path, task: int) -> list[OperatorSample] | None:
    """The samples of a task; None if they cannot be read, or there is no file."""
    try:
        told = json.loads(samples_path(folder, task).read_text())
        return [
            OperatorSample(
                str(one["operator"]), tuple(one["columns"]), tuple(tuple(row) for row in one["rows"]), one["at_us"]
            )
            for one in told
        ]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None

"""A result as a table on the terminal: which rows, in which order, and how they look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ouzel.cli.values import is_number, texts
from ouzel.compiler.types import DateType, Field, Schema, TimestampType

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

MOST_ROWS = 50
"""A final table with more rows shows its first and last ones."""

ENDS = 20
"""How many rows of each end it shows then."""

GAP = 3
"""Cells between two columns."""

NULL = "NULL"

PIPE_WIDTH = 10_000
"""Width of what is no terminal: nothing is cut off there."""


def sort_for_reading(frame: pl.DataFrame, schema: Schema, retracts: bool) -> pl.DataFrame:
    """The rows in the order in which people read them.

    By the columns from left to right; but a table that changes and has no column of time is ranked by its last number, largest first.
    """
    rank = ranking_column(schema, retracts)
    if rank is None:
        return sort_by_columns(frame)
    others = [name for name in schema.names if name != rank]
    return frame.sort(
        rank, *others, descending=[True, *(False for _ in others)], nulls_last=[True, *(False for _ in others)]
    )


def ranking_column(schema: Schema, retracts: bool) -> str | None:
    """The column that a changing table is ranked by, if there is one."""
    if not retracts or any(isinstance(field.type, DateType | TimestampType) for field in schema):
        return None
    return next((field.name for field in reversed(schema.fields) if is_number(field.type)), None)


def sort_by_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """By the columns from left to right, NULL first."""
    return frame.sort(frame.columns) if frame.width and frame.height else frame


def draw_table(
    frame: pl.DataFrame, schema: Schema, changed: Sequence[bool] = (), gap_after: int = 0, hidden: int = 0
) -> Table:
    """A rich table of all rows of `frame`; those `changed` stand out; after `gap_after` rows a line says how many are `hidden`."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, header_style="bold cyan", pad_edge=False, show_edge=False)
    for field in schema:
        right = is_number(field.type)
        table.add_column(Text(field.name), justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
    cells = [cells_of(frame, field) for field in schema]
    for number, row in enumerate(zip(*cells, strict=True)):
        if gap_after and number == gap_after:
            table.add_row(*(Text("⋮", style="dim") for _ in row))
        bright = bool(changed) and changed[number]
        table.add_row(*(_cell(text) for text in row), style="bold bright_white" if bright else "")
    return table


def cells_of(frame: pl.DataFrame, field: Field) -> list[str | None]:
    """The texts of a column, None for NULL."""
    from ouzel.connectors.formats.far_times import python_values

    return texts(python_values(frame[field.name]), field.type)


def _cell(text: str | None) -> Text:
    from rich.text import Text

    return Text(NULL, style="dim italic") if text is None else Text(text)


def fitting(frame: pl.DataFrame, schema: Schema, width: int) -> Schema:
    """As many columns from the left as fit, whole, into `width`; at least the first."""
    fields: list[Field] = []
    used = -GAP
    for field in schema:
        used += GAP + _width(frame, field)
        if fields and used > width:
            break
        fields.append(field)
    return Schema(tuple(fields))


def _width(frame: pl.DataFrame, field: Field) -> int:
    from rich.cells import cell_len

    cells = cells_of(frame, field)
    return max(cell_len(text) for text in (field.name, *(NULL if text is None else text for text in cells)))


def records(frame: pl.DataFrame, schema: Schema, numbers: Sequence[int]) -> Table:
    """Each row of `frame` as a block, under its number: a line a column."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    cells = [cells_of(frame, field) for field in schema]
    for number, row in zip(numbers, zip(*cells, strict=True), strict=True):
        grid.add_row(Text(f"── row {number:,}", style="dim"))
        for field, text in zip(schema, row, strict=True):
            grid.add_row(Text(field.name, style="bold cyan"), _cell(text))
    return grid


def final(frame: pl.DataFrame, schema: Schema, height: int, width: int, vertical: bool = False) -> Group:
    """The whole table, or its two ends; then the number of rows, `height`, of which `frame` has at least the ends.

    It is drawn as records if `vertical` says so, or if not all of its columns fit into `width`.
    """
    import polars as pl
    from rich.console import Group
    from rich.text import Text

    count, gap = count_in_words(height), 0
    numbers: Sequence[int] = range(1, height + 1)
    if height > MOST_ROWS:
        frame, gap = pl.concat([frame.head(ENDS), frame.tail(ENDS)]), ENDS
        count = f"{count}: the first {ENDS} and the last {ENDS}; --format csv or jsonl prints all"
        numbers = [*numbers[:ENDS], *numbers[-ENDS:]]
    if vertical or fitting(frame, schema, width) != schema:
        return Group(records(frame, schema, numbers), Text(count, style="dim"))
    return Group(draw_table(frame, schema, gap_after=gap), Text(count, style="dim"))


def count_in_words(rows: int) -> str:
    """How many rows, in words."""
    return "1 row" if rows == 1 else f"{rows:,} rows"

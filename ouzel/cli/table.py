"""A result as a table on the terminal: which rows, in which order, and how they look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ouzel.cli.values import is_number, texts
from ouzel.compiler.types import DateType, Schema, TimestampType

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

MOST_ROWS = 50
"""A final table with more rows shows its first and last ones."""

ENDS = 20
"""How many rows of each end it shows then."""

PIPE_WIDTH = 10_000
"""Width of what is no terminal: nothing is cut off there."""


def ordered(frame: pl.DataFrame, schema: Schema, retracts: bool) -> pl.DataFrame:
    """The rows in the order in which people read them.

    By the columns from left to right; but a table that changes and has no column of time is ranked by its last number, largest first.
    """
    rank = ranked_by(schema, retracts)
    if rank is None:
        return sorted_by_columns(frame)
    others = [name for name in schema.names if name != rank]
    return frame.sort(
        rank, *others, descending=[True, *(False for _ in others)], nulls_last=[True, *(False for _ in others)]
    )


def ranked_by(schema: Schema, retracts: bool) -> str | None:
    """The column that ranks a changing table, if one does."""
    if not retracts or any(isinstance(field.type, DateType | TimestampType) for field in schema):
        return None
    return next((field.name for field in reversed(schema.fields) if is_number(field.type)), None)


def sorted_by_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """By the columns from left to right, NULL first."""
    return frame.sort(frame.columns) if frame.width and frame.height else frame


def drawn(
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
    cells = [texts(frame[field.name].to_list(), field.type) for field in schema]
    for number, row in enumerate(zip(*cells, strict=True)):
        if gap_after and number == gap_after:
            table.add_row(*(Text("⋮", style="dim") for _ in row))
        bright = bool(changed) and changed[number]
        table.add_row(*(_cell(text) for text in row), style="bold bright_white" if bright else "")
    return table


def _cell(text: str | None) -> Text:
    from rich.text import Text

    return Text("NULL", style="dim italic") if text is None else Text(text)


def final(frame: pl.DataFrame, schema: Schema, height: int) -> Group:
    """The whole table, or its two ends; then the number of rows, `height`, of which `frame` has at least the ends."""
    import polars as pl
    from rich.console import Group
    from rich.text import Text

    count = counted(height)
    if height <= MOST_ROWS:
        return Group(drawn(frame, schema), Text(count, style="dim"))
    ends = pl.concat([frame.head(ENDS), frame.tail(ENDS)])
    note = f"{count}: the first {ENDS} and the last {ENDS}; --format csv or jsonl prints all"
    return Group(drawn(ends, schema, gap_after=ENDS), Text(note, style="dim"))


def counted(rows: int) -> str:
    """How many rows, in words."""
    return "1 row" if rows == 1 else f"{rows:,} rows"

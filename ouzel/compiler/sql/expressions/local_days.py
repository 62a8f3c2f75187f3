"""The day of a window that is cut by the clock of a time zone: its start and end are UTC, and so lie in another day than the zone's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.plan import Node, walk
from ouzel.compiler.plan.window_grid import LocalGrid
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText

_OF_DAYS = frozenset(
    ["cast", "date", "to_date", "date_trunc", "date_format", "extract", "floor to", "ceil to", "last_day", "hour", "day", "week",
     "month", "quarter", "year", "dayofmonth", "dayofweek", "dayofyear", "doy", "dow"]
)  # fmt: skip
"""Functions that say the day or the hour of a time; CAST where it is to a DATE."""


def note_local_day(
    source: QueryText,
    relation: Node,
    node: exp.Expr,
    name: str,
    parts: Sequence[exp.Expr],
    values: Sequence[Expression],
) -> None:
    """Tell of CAST(window_start AS DATE) and its like where windows are cut by the clock of a zone."""
    for part, value in zip(parts, values, strict=False):
        if name in _OF_DAYS and isinstance(value, Column) and (zone := _zone_of(relation, value.name)):
            shown = source.text[slice(*place(part))]
            source.note(
                f"{shown} is UTC, and its window is a day of {zone}: the day and hour in UTC are not those of the zone",
                place(node),
                f"write FROM_UTC_TIMESTAMP({shown}, '{zone}') for {shown}",
            )


def note_instant(source: QueryText, relation: Node, node: exp.Expr, part: exp.Expr, value: Expression | None) -> None:
    """Tell of CAST(window_start AS TIMESTAMP_LTZ) where the session's time zone is not UTC, which `window_start` is."""
    grids = (grid for one in walk(relation) if (grid := one.window_grid))
    if (
        source.zone != "UTC"
        and isinstance(value, Column)
        and any(value.name in (grid.start, grid.end) for grid in grids)
    ):
        shown = source.text[slice(*place(part))]
        source.note(
            f"{shown} is UTC, and is cast as a time of '{source.zone}'",
            place(node),
            f"write {shown} AT TIME ZONE 'UTC'",
        )


def _zone_of(relation: Node, name: str) -> str:
    """The zone by whose clock the window is cut whose start or end the column is; empty if it is none such."""
    grids = (node.window_grid for node in walk(relation))
    return next((grid.zone for grid in grids if isinstance(grid, LocalGrid) and name in (grid.start, grid.end)), "")

"""What the terminal shows of a reconciliation: the verdict, how many rows are of which class, and some of those that nothing explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ouzel.cli.values import texts

if TYPE_CHECKING:
    from ouzel.reconcile import Reconciliation
    from ouzel.reconcile.reconciliation import Difference

SAMPLED = 5
"""Rows of each unexplained class that are shown."""


def summary(found: Reconciliation) -> RenderableType:
    """Print the whole summary."""
    parts: list[RenderableType] = [_verdict(found), Text(_totals(found), style="dim")]
    parts += [Text(f"{each}.", style="red") for each in found.tampered]
    if found.counts:
        parts += [Text(""), _counts(found)]
    parts += [Text(note, style="yellow") for note in found.notes]
    return Group(*parts, show_unexplained(found))


def show_unexplained(found: Reconciliation) -> RenderableType:
    """Some rows of each class that is no explanation."""
    parts: list[RenderableType] = []
    for kind, rows in found.samples.items():
        if not kind.explained:
            parts += [Text(""), Text(f"{kind.value}: {kind.meaning}", style="bold"), _rows(found, rows[:SAMPLED])]
    return Group(*parts)


def _verdict(found: Reconciliation) -> Text:
    from ouzel.reconcile.report import verdict

    style = "bold red" if found.unexplained else "bold yellow" if found.differing else "bold green"
    return Text(verdict(found), style=style)


def _totals(found: Reconciliation) -> str:
    keys = f", by {', '.join(found.facts.keys)}" if found.facts.keys else ", as multisets"
    part = f" · {found.cut}" if found.cut else ""
    return (
        f"stream {found.stream_rows:,} rows · batch {found.batch_rows:,} rows · matched {found.matched:,}{keys}{part}"
    )


def _counts(found: Reconciliation) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right")
    for kind, count in found.counts.items():
        style = "" if kind.explained else "red"
        table.add_row(Text(f"{count:,}", style=style), Text(kind.value, style=style), Text(kind.meaning, style="dim"))
    return table


def _rows(found: Reconciliation, rows: tuple[Difference, ...]) -> Table:
    """Each row once; a column that differs shows the stream's value, then the batch's."""
    from rich.box import SIMPLE_HEAD

    table = Table(box=SIMPLE_HEAD, header_style="bold cyan", pad_edge=False, show_edge=False)
    for field in found.facts.columns:
        table.add_column(Text(field.name), no_wrap=True, overflow="ellipsis")
    cells = [
        zip(
            *(texts([_cell(row, side, number) for row in rows], field.type) for side in ("stream", "batch")),
            strict=True,
        )
        for number, field in enumerate(found.facts.columns)
    ]
    for row, values in zip(rows, zip(*cells, strict=True), strict=True):
        pairs = enumerate(zip(found.facts.columns.names, values, strict=True))
        table.add_row(
            *(_show(*_tell_apart(row, number, pair), name in row.differing) for number, (name, pair) in pairs)
        )
    return table


def _tell_apart(row: Difference, number: int, pair: tuple[str | None, str | None]) -> tuple[str | None, str | None]:
    """Both values as text, with all digits if they would look the same in a table."""
    ours, theirs = (_cell(row, side, number) for side in ("stream", "batch"))
    return (repr(ours), repr(theirs)) if pair[0] == pair[1] and ours != theirs else pair


def _cell(row: Difference, side: str, number: int) -> object:
    values = row.stream if side == "stream" else row.batch
    return row.row[number] if values is None else values[number]


def _show(ours: str | None, theirs: str | None, differs: bool) -> Text:
    if differs:
        return Text.assemble(
            (ours or "NULL", "bold red"), (" stream  ", "dim"), (theirs or "NULL", "bold"), (" batch", "dim")
        )
    return Text("NULL", style="dim italic") if ours is None else Text(ours)

"""`ouzel top`: how submitted topologies stand, live in a terminal, or once as text."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli.choices import Debug
from ouzel.cli.columns import print_columns
from ouzel.cli.failure import Exit, report_errors

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ouzel.cli.sheets import Sheet

LINES_AROUND = 3
"""Of a terminal's lines: title, heads and rule."""


def top(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Show the components of this topology.", show_default=False)
    ] = "",
    once: Annotated[
        bool, typer.Option("--once", help="Print it once, as text; so it is where stdout is no terminal.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How often it is drawn anew.")] = 2.0,
    debug: Debug = False,
) -> None:
    """Show how the submitted topologies stand, live, until Ctrl-C.

    Rates are those of the last minute. BUSY is the share of a core that a component's busiest task had in the last three minutes.
    """
    with report_errors(debug):
        from ouzel.cli.sheets import sheet_of_all, sheet_of_one
        from ouzel.runtime.cluster.submitted.registry import Registry
        from ouzel.tracker.topologies.watching import TopologyWatcher

        watcher = TopologyWatcher(Registry())

        def look() -> Sheet:
            return sheet_of_one(watcher, name, time.time()) if name else sheet_of_all(watcher, time.time())

        try:
            if once or not sys.stdout.isatty():
                print_sheet(look())
            else:
                show_live(look, every)
        except KeyboardInterrupt:
            raise typer.Exit(Exit.INTERRUPTED) from None
        finally:
            watcher.close()


def print_sheet(sheet: Sheet) -> None:
    """Print it as text: a line a row, columns apart, for people and for `grep`."""
    typer.echo(sheet.title)
    print_columns(sheet.heads, sheet.rows)
    for note in sheet.notes:
        typer.echo(note)


def show_live(look: Callable[[], Sheet], every_s: float) -> None:
    """Draw it anew for ever, on a screen of its own."""
    from rich.console import Console
    from rich.live import Live

    from ouzel.interrupts import suspendable

    console = Console(highlight=False)
    with suspendable(console.file.fileno()), Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            live.update(draw_sheet(look(), console.width, console.height), refresh=True)
            time.sleep(every_s)


def draw_sheet(sheet: Sheet, width: int, height: int) -> RenderableType:
    """It as a table of as many columns and rows as there is room for."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from ouzel.cli.sheets import FIGURES, fit_width

    sheet = fit_width(sheet, width)
    table = Table(box=SIMPLE_HEAD, header_style="bold cyan", pad_edge=False, show_edge=False)
    for head in sheet.heads:
        table.add_column(Text(head), justify="right" if head in FIGURES else "left", overflow="ellipsis", no_wrap=True)
    room = max(1, height - LINES_AROUND - len(sheet.notes))
    shown = sheet.rows if len(sheet.rows) <= room else sheet.rows[: max(1, room - 1)]
    for row in shown:
        table.add_row(*map(Text, row))
    hidden = len(sheet.rows) - len(shown)
    more = [Text(f"{hidden:,} more do not fit", style="yellow")] if hidden else []
    notes = [Text(note, style="yellow", no_wrap=True, overflow="ellipsis") for note in sheet.notes]
    return Group(Text(sheet.title, style="bold"), table, *more, *notes)

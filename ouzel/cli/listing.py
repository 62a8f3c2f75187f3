"""What DESCRIBE and SHOW print: for people text to copy or a table of all rows; for programs lines in the --format asked for."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from ouzel.cli.answer import answer
from ouzel.cli.choices import ResultFormat
from ouzel.cli.output import StandardOutput
from ouzel.cli.table import PIPE_WIDTH
from ouzel.compiler.plan import Listing, Program
from ouzel.compiler.types import BIGINT, BOOLEAN, VARCHAR, DataType, Field, Schema


def print_before(program: Program, form: ResultFormat) -> bool:
    """Print the results of the program's DESCRIBE and SHOW on stdout; whether it asks for nothing else."""
    for number, listing in enumerate(program.listings):
        if form in (ResultFormat.TABLE, ResultFormat.VERTICAL):
            StandardOutput().write(("\n" if number else "") + (f"{listing.text}\n" if listing.text else _draw(listing)))
        else:
            _print_lines(listing, form)
    return not program.sinks


def _print_lines(listing: Listing, form: ResultFormat) -> None:
    import polars as pl

    kinds = (_kind([row[place] for row in listing.rows]) for place in range(len(listing.columns)))
    schema = Schema(tuple(Field(name, kind) for name, kind in zip(listing.columns, kinds, strict=True)))
    lines = answer(form, schema, False)
    lines.add(pl.DataFrame(list(listing.rows), schema=schema.polars(), orient="row"))
    lines.finish()


def _kind(values: Sequence[object]) -> DataType:
    value = next((value for value in values if value is not None), "")
    return BOOLEAN if isinstance(value, bool) else BIGINT if isinstance(value, int) else VARCHAR


def _draw(listing: Listing) -> str:
    """A table whose last column may take several lines."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, header_style="bold cyan", pad_edge=False, show_edge=False)
    for name in listing.columns:
        table.add_column(Text(name), overflow="fold", no_wrap=name == listing.columns[0])
    for row in listing.rows:
        table.add_row(*(Text("" if value is None else str(value)) for value in row))
    own = Console() if sys.stdout.isatty() else None
    console = Console(file=io.StringIO(), width=own.width if own else PIPE_WIDTH, highlight=False, color_system=None)
    with console.capture() as drawn:
        console.print(table)
    return drawn.get()

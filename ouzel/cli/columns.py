"""Rows in columns, as commands print them that are not about a result."""

from __future__ import annotations

from collections.abc import Sequence

import typer


def print_columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below their heads; nothing if there are none."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows) if rows else ():
        typer.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())

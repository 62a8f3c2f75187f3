"""Rows dropped as late, as lines of JSON: what dropped them, then their columns."""

from __future__ import annotations

import polars as pl

COMPONENT = "$component"
"""Name of the column that says which component dropped a row."""


def late_lines(component: str, frame: pl.DataFrame) -> str:
    """The rows as JSON lines, each a whole value again when it is cast from text: bytes in hexadecimal, NaN and infinities by name."""
    told = [_tell(column) for column in frame.get_columns()]
    return pl.DataFrame([pl.Series(COMPONENT, [component] * frame.height), *told]).write_ndjson()


def _tell(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Binary:
        return column.bin.encode("hex")
    if column.dtype.is_float() and not column.is_finite().all():
        return column.cast(pl.String)
    return column

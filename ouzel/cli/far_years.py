"""A warning of times far ahead in an answer, which milliseconds make that were read as seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.cli.speech import say_problem
from ouzel.compiler.types import Schema, TimestampType, VarcharType

if TYPE_CHECKING:
    import polars as pl

LAST_YEAR = 9999
LOOKED_AT = 1_000
"""So many rows of an answer are looked at."""
_FAR = r"^\+?(\d{5,6})-\d\d-\d\d(?:[ T]\d\d:\d\d|$)"
"""A time of a later year, as FROM_UNIXTIME and casts write it."""


def warn_of_far_years(frame: pl.DataFrame, schema: Schema) -> None:
    """Say on standard error which column of the answer has a year of five digits, and what to write instead."""
    head = frame.head(LOOKED_AT)
    for field in schema.fields:
        year = _last_year(head[field.name], isinstance(field.type, TimestampType), isinstance(field.type, VarcharType))
        if year > LAST_YEAR:
            text = f"{field.name} has times of the year {year}: milliseconds were read as seconds; divide them by 1000"
            say_problem("warning", text, "yellow")


def _last_year(values: pl.Series, is_time: bool, is_text: bool) -> int:
    if not (is_time or is_text):
        return 0
    years = values.dt.year() if is_time else values.str.extract(_FAR).cast(int)
    return max(years.drop_nulls().to_list(), default=0)

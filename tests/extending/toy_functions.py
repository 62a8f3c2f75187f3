"""Functions of the user's own, in one file: one over whole columns, one for each row."""

from __future__ import annotations

import os

import polars as pl

import ouzel


@ouzel.function(("VARCHAR", "BIGINT"), "VARCHAR")
def shout(text: pl.Series, times: pl.Series) -> pl.Series:
    """The text in capitals, with marks behind it."""
    frame = pl.DataFrame({"text": text, "times": times})
    marks = pl.lit("!").repeat_by("times").list.join("")
    return frame.select(pl.col("text").str.to_uppercase() + marks).to_series()


@ouzel.function(("BIGINT",), "BIGINT", by_row=True)
def halved(number: int | None) -> int | None:
    """Half of an even number; of an odd one there is none."""
    if number is None:
        return None
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


@ouzel.function(("BIGINT",), "BIGINT")
def strict(numbers: pl.Series) -> pl.Series:
    """Takes no columns at all."""
    raise ValueError("none of these")


@ouzel.function(("BIGINT",), "BIGINT", by_row=True)
def leave(number: int) -> int:
    """Ends its process."""
    return os._exit(3)

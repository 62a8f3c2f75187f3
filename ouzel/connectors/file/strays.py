"""Values of a column of text that most of its values are not like: `n/a` among 3,000 numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ouzel.connectors.formats.conversion import sql_name

FEWEST_VALUES, SHARE = 10, 20
"""Of at least so many values, one in so many, or one alone, may be a stray."""

_NAMED_BY_DIGITS = r"^[+-]?0[0-9]"


@dataclass(frozen=True)
class TextSample:
    """The beginning of one file, as texts; `lines` has the line of each row, and is None where that is not known."""

    path: str
    texts: pl.DataFrame
    lines: np.ndarray | None


@dataclass(frozen=True)
class Strays:
    """The values of a column that keep it from being of a type; the first of them is `value`, at `place`."""

    name: str
    kind: pl.DataType
    count: int
    total: int
    value: str
    place: str

    def __str__(self) -> str:
        be = "is" if self.count == 1 else "are"
        return (
            f"{self.count:,} of {self.total:,} values of {self.name} {be} no {sql_name(self.kind)}, and it is VARCHAR for that: "
            f"{self.place}'{self.value}'"
        )


def find_strays(
    name: str,
    samples: Sequence[TextSample],
    kinds: Sequence[pl.DataType],
    misfits: Callable[[pl.Series, pl.DataType], pl.Series],
) -> Strays | None:
    """What keeps a column from being of the first of these types that nearly all of its values are of; None if there is no such type.

    `misfits` says of texts which are no values of a type.
    """
    columns = [(sample, sample.texts[name]) for sample in samples if name in sample.texts.columns]
    values = pl.concat([column for _, column in columns])
    held = values.is_not_null() & (values != "")
    total = int(held.sum())
    if total < FEWEST_VALUES:
        return None
    for kind in kinds:
        wrong = held & misfits(values, kind)
        count = int(wrong.sum())
        if not 0 < count <= max(1, total // SHARE):
            continue
        if kind.is_numeric() and values.filter(wrong).str.contains(_NAMED_BY_DIGITS).any():
            continue  # digits that are a name and no number, such as a ZIP code
        row = int(wrong.arg_true()[0])
        return Strays(name, kind, count, total, str(values[row]), _place(columns, row))
    return None


def _place(columns: Sequence[tuple[TextSample, pl.Series]], row: int) -> str:
    """Where a row stands, with a colon behind it."""
    for sample, column in columns:
        if row < len(column):
            return f"{sample.path}: " if sample.lines is None else f"line {sample.lines[row]:,} of {sample.path}: "
        row -= len(column)
    return ""

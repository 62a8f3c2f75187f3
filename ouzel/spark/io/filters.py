"""Filters as a job's text has them, `("day", ">=", "2026-01-02")`: a column, a sign, and constants as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne

import polars as pl

from ouzel.connectors.formats.conversion import parse_column

SIGNS: dict[str, Callable[[pl.Expr, Sequence[pl.Expr]], pl.Expr]] = {
    "=": lambda column, values: eq(column, values[0]),
    "<>": lambda column, values: ne(column, values[0]),
    "<": lambda column, values: lt(column, values[0]),
    "<=": lambda column, values: le(column, values[0]),
    ">": lambda column, values: gt(column, values[0]),
    ">=": lambda column, values: ge(column, values[0]),
    "BETWEEN": lambda column, values: ge(column, values[0]) & le(column, values[1]),
    "IN": lambda column, values: pl.any_horizontal([column == value for value in values]),
    "IS NULL": lambda column, values: column.is_null(),
    "IS NOT NULL": lambda column, values: column.is_not_null(),
}
"""What a sign says of a column and its constants."""


def read_filters(filters: Iterable[Sequence[str]], columns: Mapping[str, pl.DataType]) -> pl.Expr | None:
    """What the filters say together, NULL counting as false; None without any.

    Raises:
        ValueError: a constant is no value of its column's type.
    """
    parts = [_read(name, sign, texts, columns[name]) for name, sign, *texts in filters]
    return reduce(and_, parts) if parts else None


def _read(name: str, sign: str, texts: Sequence[str], kind: pl.DataType) -> pl.Expr:
    values = parse_column(kind)(pl.Series(name, texts, pl.String))
    if values.has_nulls():
        raise ValueError(f"a filter of column '{name}' is {sign} {', '.join(texts)}, which is no {kind}")
    return SIGNS[sign](pl.col(name), [pl.lit(value, kind) for value in values])

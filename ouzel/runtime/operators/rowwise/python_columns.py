"""Columns of values that the user's Python has made. A value that the column's type cannot hold is reported, never changed or made NULL."""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from ouzel.compiler.functions.python import column_of
from ouzel.compiler.types import (
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntervalType,
    MapType,
    RowType,
    TimestampType,
    to_polars,
    walk_type,
)
from ouzel.runtime.operators.buffers import Mask

BENDING = (DecimalType, RowType, MapType, DateType, TimestampType, IntervalType)
"""Types for which Polars converts values of other types without a word."""


class ColumnMaker:
    """Makes columns of one type.

    Args:
        name: of the columns.
        kind: their type.
        write: turns a user's value into the one that a column stores; None if they are the same.
    """

    def __init__(self, name: str, kind: DataType, write: Callable[[Any], Any] | None) -> None:
        self.name, self.dtype = name, to_polars(kind)
        self._write = write
        parts = list(walk_type(kind))
        self._bends = any(isinstance(part, BENDING) for part in parts)
        self._rounds = any(isinstance(part, FloatType) for part in parts)
        self._may_have_decimals = any(isinstance(part, DecimalType) for part in parts)

    def make(self, values: list[Any]) -> tuple[pl.Series, Mask | None]:
        """The values as a column, and the rows whose value it cannot hold, if there are any: they are NULL there."""
        try:
            return self._exact(values), None
        except Exception:  # one of the values is of another type: each by itself says which
            bad, fitting = np.zeros(len(values), np.bool_), list[pl.Series]()
            for row, value in enumerate(values):
                try:
                    fitting.append(self._exact([value]))
                except Exception:
                    fitting.append(self._exact([None]))
                    bad[row] = True
            return pl.concat(fitting), bad

    def _exact(self, values: list[Any]) -> pl.Series:
        """The values as a column.

        Raises:
            Exception: one of them is of another type, or the column would hold another value.
        """
        written = values if self._write is None else list(map(self._write, values))
        if self._rounds and not self._may_have_decimals and _has_decimal(written):
            raise TypeError(f"a Decimal is no {self.dtype}, which would round it")
        series = column_of(self.name, written, self.dtype)
        if series.dtype != self.dtype or (self._bends and not _same(series.to_list(), written)):
            raise TypeError(f"no {self.dtype}")
        return series


def _has_decimal(values: Collection[Any]) -> bool:
    """Whether a value, or a part of one, is a Decimal."""
    classes = set(map(type, values))
    if Decimal in classes or not classes & {list, tuple, dict}:
        return Decimal in classes
    parts = (value.values() if isinstance(value, dict) else value for value in values)
    return any(
        _has_decimal(part) for part in parts if isinstance(part, Collection) and not isinstance(part, str | bytes)
    )


def _same(held: Any, given: Any) -> bool:
    """Whether a column holds the values that it was given; NaN equals NaN."""
    match given:
        case dict():
            return isinstance(held, dict) and all(_same(held[name], value) for name, value in given.items())
        case list():
            return len(held) == len(given) and all(map(_same, held, given))
    same: bool = held == given or (held != held and given != given)
    return same

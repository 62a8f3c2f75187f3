"""Columns as PostgreSQL has them, and which of its types hold all values of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from ouzel.connectors.formats.conversion import sql_name
from ouzel.errors import ConnectorError

_TYPES: Mapping[Any, str] = {
    pl.Int8: "smallint", pl.Int16: "smallint", pl.Int32: "integer", pl.Int64: "bigint", pl.Float32: "real",
    pl.Float64: "double precision", pl.String: "text", pl.Boolean: "boolean", pl.Binary: "bytea", pl.Date: "date", pl.Time: "time",
}  # fmt: skip

_EXACT_DIGITS = {"real": 6, "double precision": 15}
"""So many decimal digits a binary fraction keeps."""

_DIGITS: Mapping[Any, int] = {pl.Int8: 3, pl.Int16: 5, pl.Int32: 10, pl.Int64: 19}
_NUMERIC = re.compile(r"numeric\(\d+,(\d+)\)")
_SECONDS = re.compile(r"time(?:stamp)?\(([0-5])\)")


def type_name(table: str, column: str, kind: pl.DataType) -> str:
    """The type of a column that is made.

    Raises:
        ConnectorError: there is none.
    """
    if isinstance(kind, pl.Decimal):
        return f"numeric({kind.precision}, {kind.scale})"
    if isinstance(kind, pl.Datetime):
        return "timestamptz" if kind.time_zone else "timestamp"
    found = _TYPES.get(type(kind))
    if found is None:
        raise ConnectorError(
            f"table '{table}': column '{column}' is {kind}, which PostgreSQL is not given; write TO_JSON of it, or leave it out"
        )
    return found


def check_kept(table: str, columns: Mapping[str, pl.DataType], held: Mapping[str, str]) -> None:
    """See that the columns that are there keep what they are given: PostgreSQL rounds and cuts in silence.

    What is too long or too large for a column it refuses by itself.

    Raises:
        ConnectorError: one does not.
    """
    for name, kind in columns.items():
        if name in held and _rounds(kind, held[name]):
            raise ConnectorError(
                f"table '{table}': column '{name}' is {sql_name(kind)}, and PostgreSQL's is {held[name]}, which would round its values in "
                "silence; CAST it in the query, or alter the column"
            )


def _rounds(kind: pl.DataType, held: str) -> bool:
    """Whether a column of PostgreSQL's type `held` rounds or cuts values of ours."""
    numeric = _NUMERIC.fullmatch(held)
    if isinstance(kind, pl.Datetime):
        return held == "date" or _SECONDS.match(held) is not None
    if isinstance(kind, pl.Time):
        return _SECONDS.match(held) is not None
    if isinstance(kind, (pl.Float32, pl.Float64)):
        return numeric is not None or (held == "real" and isinstance(kind, pl.Float64))
    if isinstance(kind, pl.Decimal):
        return kind.precision > _EXACT_DIGITS.get(held, 38) or (numeric is not None and int(numeric[1]) < kind.scale)
    return _DIGITS.get(type(kind), 0) > _EXACT_DIGITS.get(held, 38)

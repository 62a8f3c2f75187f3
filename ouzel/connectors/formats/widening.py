"""Which types of a typed file (Parquet) a column of a table can take: those of which no value is lost.

The batch job has the same rule in Spark's terms (spark/lowering/parquet.py), and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ouzel.connectors.formats.conversion import sql_name
from ouzel.errors import ConnectorError

WIDER: dict[str, tuple[str, ...]] = {
    "SMALLINT": ("TINYINT",),
    "INT": ("TINYINT", "SMALLINT"),
    "BIGINT": ("TINYINT", "SMALLINT", "INT"),
    "DOUBLE": ("TINYINT", "SMALLINT", "INT", "FLOAT"),
    "BYTES": ("VARCHAR",),
    "TIMESTAMP": ("DATE", "TIMESTAMP_LTZ"),
    "TIMESTAMP_LTZ": ("TIMESTAMP",),
}
"""Declared type -> types of files that it takes besides itself; decimals and what is nested have rules of their own."""

INTEGER_DIGITS = {"TINYINT": 10, "SMALLINT": 10, "INT": 10, "BIGINT": 20}
"""How many digits before the point a DECIMAL has to have for an integer."""

_MAP: type[pl.DataType] | None = getattr(pl, "Map", None)
"""The class of maps, which Polars has from 2.1 on; None before."""

_SIGNED: dict[type[pl.DataType], pl.DataType] = {
    pl.UInt8: pl.Int16(),
    pl.UInt16: pl.Int32(),
    pl.UInt32: pl.Int64(),
    pl.UInt64: pl.Decimal(20, 0),
}
"""The signed type that holds all values of an unsigned one."""


def fits_column(held: pl.DataType, declared: pl.DataType) -> bool:
    """Whether a column of the declared type has a place for every value of the type that the file holds."""
    held = _SIGNED.get(type(held), _make(held))
    match held, declared:
        case pl.Null(), _:
            return True
        case pl.Struct(), pl.Struct():
            there = {field.name.lower(): field.dtype for field in held.fields}
            return all(
                field.name.lower() in there and fits_column(_make(there[field.name.lower()]), _make(field.dtype))
                for field in declared.fields
            )
        case pl.List(), pl.List():
            return fits_column(_make(held.inner), _make(declared.inner))
        case pl.Decimal(), pl.Decimal():
            return 0 <= declared.scale - held.scale <= declared.precision - held.precision
        case _, pl.Decimal():
            return INTEGER_DIGITS.get(sql_name(held), 39) <= declared.precision - declared.scale
        case ((pl.Categorical() | pl.Enum()), pl.String()):
            return True
    return sql_name(held) in (sql_name(declared), *WIDER.get(sql_name(declared), ()))


def _make(kind: object) -> pl.DataType:
    """An inner type as an instance: Polars may give the class. A map is the list of its entries."""
    made: Any = kind() if isinstance(kind, type) else kind
    is_map = _MAP is not None and isinstance(made, _MAP)
    return pl.List(pl.Struct({"key": made.key, "value": made.value})) if is_map else made


def match_columns(held: Mapping[str, pl.DataType], columns: Mapping[str, pl.DataType], where: str) -> dict[str, str]:
    """The file's name of each column that it has; names match whatever their case.

    Raises:
        ConnectorError: two of the file's names differ only in case, or a column's type would lose something.
    """
    there: dict[str, str] = {}
    for name in held:
        if name.lower() in there:
            raise ConnectorError(
                f"{where} has columns '{there[name.lower()]}' and '{name}', which SQL cannot tell apart"
            )
        there[name.lower()] = name
    found = {name: there[name.lower()] for name in columns if name.lower() in there}
    for name, own in found.items():
        if not fits_column(held[own], columns[name]):
            raise ConnectorError(
                f"{where} holds column '{own}' as {sql_name(held[own])}, and the table declares it {sql_name(columns[name])}, "
                "which cannot take every value of it; declare it as the file has it, and CAST it in the query"
            )
    return found


def require_columns(names: Sequence[str], columns: Mapping[str, pl.DataType], where: str) -> None:
    """See that each column is among the names.

    Raises:
        ConnectorError: one is not.
    """
    there = {name.lower() for name in names}
    for name in columns:
        if name.lower() not in there:
            raise ConnectorError(f"{where} has no column '{name}'; it has {', '.join(names)}")


def widen(column: pl.Expr, held: pl.DataType, declared: pl.DataType) -> pl.Expr:
    """The column in its declared type, which fits; NULL where it holds a time finer than microseconds."""
    if _make(held) != held:
        return widen(column.cast(_make(held)), _make(held), declared)
    finer = _finer(column, held, declared)
    made = _widen(column, held, declared)
    return made if finer is None else pl.when(~finer.fill_null(False)).then(made)


def _widen(column: pl.Expr, held: pl.DataType, declared: pl.DataType) -> pl.Expr:
    """Fields of structs go by their names, and those not declared are left out."""
    if _make(held) != held:
        return _widen(column.cast(_make(held)), _make(held), declared)
    match held, declared:
        case pl.Struct(), pl.Struct():
            made = [_widen(inner, of, to).alias(name) for name, inner, of, to in _fields(column, held, declared)]
            return pl.when(column.is_not_null()).then(pl.struct(made))
        case pl.List(), pl.List():
            return column.list.eval(_widen(pl.element(), _make(held.inner), _make(declared.inner)))
        case pl.Datetime(), pl.Datetime() if held.time_zone != declared.time_zone:
            return column.dt.replace_time_zone(declared.time_zone).cast(declared)
    return column.cast(declared)


def _finer(column: pl.Expr, held: pl.DataType, declared: pl.DataType) -> pl.Expr | None:
    """Which values hold a time finer than microseconds; None if no value of the type can."""
    match held, declared:
        case pl.Struct(), pl.Struct():
            found = [_finer(inner, of, to) for _, inner, of, to in _fields(column, held, declared)]
            parts = [part for part in found if part is not None]
            return pl.any_horizontal(parts) if parts else None
        case pl.List(), pl.List():
            inner = _finer(pl.element(), _make(held.inner), _make(declared.inner))
            return None if inner is None else column.list.eval(inner).list.any()
        case pl.Datetime(time_unit="ns"), _:
            return column.dt.nanosecond() % 1_000 != 0
    return None


def _fields(
    column: pl.Expr, held: pl.Struct, declared: pl.Struct
) -> Iterator[tuple[str, pl.Expr, pl.DataType, pl.DataType]]:
    """Each declared field: its name, its values, and its types in the file and in the table."""
    there = {field.name.lower(): field for field in held.fields}
    for field in declared.fields:
        own = there[field.name.lower()]
        yield field.name, column.struct.field(own.name), _make(own.dtype), _make(field.dtype)

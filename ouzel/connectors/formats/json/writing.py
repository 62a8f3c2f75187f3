"""Rows to JSON, whole columns at once: by Polars' own writer, or piece by piece, for it knows no MAP and leaves no NULL out."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl

from ouzel.connectors.formats.json.values import map_parts, may_be_odd

_QUOTED = (pl.String, pl.Binary, pl.Date, pl.Datetime, pl.Decimal)
"""Types whose values are JSON strings."""
_FAR_DAYS = 95_000_000
"""So many days from 1970 Polars still has text for a time: it knows the years -262143 to 262142."""
_ZONED = "%Y-%m-%d %H:%M:%S%.f%:z"


def write_objects(frame: pl.DataFrame, nulls: bool) -> bytes:
    """An object a line; NULL columns are left out unless `nulls`. All floats are finite."""
    if not frame.width or not frame.height:
        return b"{}\n" * frame.height
    schema = frame.schema
    if nulls and not any(_holds(kind, _is_map) for kind in schema.values()):
        columns = [_writable(pl.col(name), kind).alias(name) for name, kind in schema.items() if _holds(kind, _is_odd)]
        return frame.with_columns(columns).write_ndjson().encode()
    members = [_member(name, _write(pl.col(name), kind), nulls) for name, kind in schema.items()]
    objects = _enclose(pl.concat_str(members, separator=",", ignore_nulls=True), "{}")
    text: str = frame.select(objects.str.join("\n")).item()
    return text.encode() + b"\n"


def find_unwritable(frame: pl.DataFrame) -> pl.Series:
    """Which rows have a float that JSON has no number for, or a time that Polars has no text for."""
    asked = [_has_odd(pl.col(name), kind) for name, kind in frame.schema.items() if may_be_odd(kind)]
    found = pl.any_horizontal(asked) if asked else pl.lit(False)
    return frame.with_columns(found.alias("$odd"))["$odd"]


def _has_odd(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    if isinstance(kind, pl.List):
        return column.list.eval(_has_odd(pl.element(), kind.inner)).list.any().fill_null(False)  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return pl.any_horizontal(
            _has_odd(column.struct.field(field.name), field.dtype)  # type: ignore[arg-type]
            for field in kind.fields
            if may_be_odd(field.dtype)  # type: ignore[arg-type]
        )
    if isinstance(kind, pl.Date | pl.Datetime):
        most = _FAR_DAYS * (1 if isinstance(kind, pl.Date) else 86_400_000_000)
        return (~column.to_physical().is_between(-most, most)).fill_null(False)
    return (~column.is_finite()).fill_null(False)


def _holds(kind: object, asked: Callable[[object], bool]) -> bool:
    """Whether the type, or one inside it, is such a one."""
    if asked(kind):
        return True
    if isinstance(kind, pl.List):
        return _holds(kind.inner, asked)
    return isinstance(kind, pl.Struct) and any(_holds(field.dtype, asked) for field in kind.fields)


def _is_map(kind: object) -> bool:
    return isinstance(kind, pl.DataType) and map_parts(kind) is not None


def _is_odd(kind: object) -> bool:
    """Whether Polars' writer has no text for values of the type, or another one than we have."""
    return isinstance(kind, (pl.Binary, pl.Duration))


def _writable(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """The column in types that Polars' writer has the right texts for."""
    match kind:
        case pl.Binary():
            return column.bin.encode("base64")
        case pl.Duration():
            return column.dt.total_microseconds()
        case pl.List() if _holds(kind, _is_odd):
            return column.list.eval(_writable(pl.element(), kind.inner))  # type: ignore[arg-type]
        case pl.Struct() if _holds(kind, _is_odd):
            fields = [
                _writable(column.struct.field(field.name), field.dtype).alias(field.name)  # type: ignore[arg-type]
                for field in kind.fields
            ]
            return pl.when(column.is_not_null()).then(pl.struct(fields))
    return column


def _write(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """The JSON text of each value; NULL stays NULL."""
    parts = map_parts(kind)
    if parts:
        key, value = pl.element().struct.field("key"), pl.element().struct.field("value")
        pairs = pl.concat_str(_write_key(key, parts[0]), pl.lit(":"), _or_null(_write(value, parts[1])))
        return _enclose(column.list.eval(pairs).list.join(","), "{}")
    match kind:
        case pl.List() if _holds(kind, _is_map):
            return _enclose(column.list.eval(_or_null(_write(pl.element(), kind.inner))).list.join(","), "[]")  # type: ignore[arg-type]
        case pl.Struct() if _holds(kind, _is_map):
            members = [
                _member(field.name, _write(column.struct.field(field.name), field.dtype))  # type: ignore[arg-type]
                for field in kind.fields
            ]
            return pl.when(column.is_not_null()).then(_enclose(pl.concat_str(members, separator=","), "{}"))
        case pl.Datetime() if kind.time_zone:
            column = column.dt.strftime(_ZONED)
    text = pl.struct(_writable(column, kind).alias("x")).struct.json_encode()
    return pl.when(column.is_not_null()).then(text.str.strip_prefix('{"x":').str.strip_suffix("}"))


def _write_key(key: pl.Expr, kind: pl.DataType) -> pl.Expr:
    text = _write(key, kind)
    return text if isinstance(kind, _QUOTED) else _enclose(text, '""')


def _member(name: str, text: pl.Expr, nulls: bool = True) -> pl.Expr:
    return pl.concat_str(pl.lit(json.dumps(name, ensure_ascii=False) + ":"), _or_null(text) if nulls else text)


def _or_null(text: pl.Expr) -> pl.Expr:
    return text.fill_null("null")


def _enclose(text: pl.Expr, brackets: str) -> pl.Expr:
    return pl.concat_str(pl.lit(brackets[0]), text, pl.lit(brackets[1]))

"""From what a text format gives (text, 64-bit numbers) to the columns' types, whole columns at once, knowing which rows failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.connectors.formats.base import Decoded

Change = Callable[[pl.Series], pl.Series]
"""From raw values to a column's values; NULL where that is impossible."""

_TIMESTAMP = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)?)?$"
_FORMATS = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")
_ZONED = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z", "%Y-%m-%d %H:%M%#z")
_SCALE_KEPT = 12


def parse_column(kind: pl.DataType) -> Change:
    """How text becomes `kind`; NULL where it does not parse or does not fit.

    Timestamps are ISO-8601 or 'yyyy-MM-dd HH:mm:ss[.ffffff]', a zone in them is converted to UTC; bytes are base64; decimals round half up.
    """
    match kind:
        case pl.Datetime():
            return lambda text: _timestamps(text, kind)
        case pl.Date():
            return _dates
        case pl.Duration():
            return lambda text: text.cast(pl.Int64, strict=False).cast(kind)
        case pl.Decimal():
            return lambda text: _shorten(text, kind).to_frame().select(_decimal(pl.col(text.name), kind)).to_series()
    return lambda text: text.to_frame().select(_expression(pl.col(text.name), kind)).to_series()


def _expression(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    match kind:
        case pl.Binary():
            return column.str.decode("base64", strict=False)
        case pl.Boolean():
            lower = column.str.to_lowercase()
            return pl.when(lower == "true").then(True).when(lower == "false").then(False)
    return column.cast(kind, strict=False)


def _decimal(column: pl.Expr, kind: pl.Decimal) -> pl.Expr:
    # The cast itself rounds half to even; so more digits first, then the rounding that SQL has.
    wide = column.cast(pl.Decimal(38, _digits_kept(kind)), strict=False)
    return wide.round(kind.scale, mode="half_away_from_zero").cast(kind, strict=False)


def _digits_kept(kind: pl.Decimal) -> int:
    """How many digits of a fraction are looked at."""
    return kind.scale + min(_SCALE_KEPT, 38 - kind.precision)


def _shorten(text: pl.Series, kind: pl.Decimal) -> pl.Series:
    """Fractions cut off behind the digits kept, which rounds nothing twice; text without so many is left as it is."""
    kept = _digits_kept(kind)
    if not (text.str.len_bytes() > kept).any():
        return text
    return text.str.replace(rf"^([+-]?\d*\.\d{{{kept}}})\d+$", "$1")


def _dates(text: pl.Series) -> pl.Series:
    try:  # much faster than a format string, but all or nothing
        return pl.Series(text.name, pc.cast(text.to_arrow(compat_level=pl.CompatLevel.oldest()), pa.date32()))
    except pa.ArrowInvalid:
        return text.str.to_date("%Y-%m-%d", strict=False)


def _timestamps(text: pl.Series, kind: pl.Datetime) -> pl.Series:
    arrow = text.to_arrow(compat_level=pl.CompatLevel.oldest())
    for zone in (None, "UTC"):  # ten times as fast as a format string, but all or nothing
        try:
            parsed = pc.cast(arrow, pa.timestamp("us", zone))
            return pl.Series(text.name, parsed.view(pa.timestamp("us", kind.time_zone)))
        except pa.ArrowInvalid:
            continue
    return _parse_mixed_timestamps(text).dt.replace_time_zone(kind.time_zone)


def _parse_mixed_timestamps(text: pl.Series) -> pl.Series:
    column = pl.when(pl.col(text.name).str.contains(_TIMESTAMP)).then(pl.col(text.name))
    local = [column.str.to_datetime(form, time_unit="us", strict=False) for form in _FORMATS]
    zoned = [column.str.to_datetime(form, time_unit="us", strict=False).dt.replace_time_zone(None) for form in _ZONED]
    day = column.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
    return text.to_frame().select(pl.coalesce(*local, *zoned, day).alias(text.name)).to_series()


def convert_columns(
    raw: pl.DataFrame, columns: Mapping[str, pl.DataType], changes: Mapping[str, Change], required: Iterable[str] = ()
) -> Decoded:
    """The columns, in order, with `changes` applied.

    A row is bad where a value that was there became NULL, or where one of `required` is NULL.
    """
    made = [changes[name](raw[name]).alias(name) if name in changes else raw[name] for name in columns]
    frame = pl.DataFrame(made) if made else pl.DataFrame(height=raw.height)
    bad: dict[int, str] = {}
    for name in changes:
        if frame[name].null_count() > raw[name].null_count():
            for row in (frame[name].is_null() & raw[name].is_not_null()).arg_true().to_list():
                bad.setdefault(row, misfit(name, columns[name], raw[name][row]))
    for name in columns:
        if name in required and frame[name].null_count():
            for row in frame[name].is_null().arg_true().to_list():
                bad.setdefault(row, f"column '{name}' may not be NULL")
    return drop_bad_rows(frame, bad)


def drop_bad_rows(frame: pl.DataFrame, bad: Mapping[int, str]) -> Decoded:
    """The frame less its bad rows."""
    if not bad:
        return Decoded(frame)
    kept = _others(bad, frame.height)
    return Decoded(frame[kept] if frame.width else pl.DataFrame(height=len(kept)), kept, sorted(bad.items()))


def merge(decoded: Decoded, indices: Sequence[int], bad: Mapping[int, str], records: int) -> Decoded:
    """The decoded records at `indices` and the reasons of the bad ones, as one result for all `records`."""
    every = {**bad, **{indices[row]: reason for row, reason in decoded.bad}}
    return Decoded(decoded.frame, _others(every, records), sorted(every.items())) if every else decoded


def _others(bad: Mapping[int, str], rows: int) -> np.ndarray:
    good = np.ones(rows, bool)
    good[list(bad)] = False
    return np.flatnonzero(good)


def misfit(name: str, kind: pl.DataType, value: object) -> str:
    """Why a record is bad: this value is not of the column's type."""
    shown = repr(value) if type(value) is not str else f"'{value.encode(errors='backslashreplace').decode()}'"
    return f"{shown[:80]} does not fit column '{name}' of type {sql_name(kind)}"


def sql_name(kind: Any) -> str:
    """What SQL calls a Polars type."""
    match kind:
        case pl.Decimal():
            return f"DECIMAL({kind.precision}, {kind.scale})"
        case pl.Datetime():
            return "TIMESTAMP_LTZ" if kind.time_zone else "TIMESTAMP"
        case pl.List(inner=pl.Struct(fields=[key, value])) if (key.name, value.name) == ("key", "value"):
            return f"MAP<{sql_name(key.dtype)}, {sql_name(value.dtype)}>"
        case pl.List():
            return f"ARRAY<{sql_name(kind.inner)}>"
        case pl.Struct():
            return "ROW<" + ", ".join(f"{field.name} {sql_name(field.dtype)}" for field in kind.fields) + ">"
    names: dict[Any, str] = {
        pl.Int8: "TINYINT", pl.Int16: "SMALLINT", pl.Int32: "INT", pl.Int64: "BIGINT", pl.Float32: "FLOAT", pl.Float64: "DOUBLE",
        pl.String: "VARCHAR", pl.Binary: "BYTES", pl.Date: "DATE", pl.Boolean: "BOOLEAN",
    }  # fmt: skip
    return names.get(kind if isinstance(kind, type) else type(kind), str(kind))

"""Values as JSON, for programs, and as text, for people."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ouzel.compiler.types import (
    ArrayType,
    BytesType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    MapType,
    RowType,
    Schema,
    TimestampType,
    VarcharType,
)
from ouzel.printable import printable

if TYPE_CHECKING:
    import polars as pl

Encode = Callable[[Any], Any]

MAX_TEXT = 60
"""Longest text that a cell of a table shows whole."""

MAX_PLACES = 6
"""Most digits after the point that a table shows of a float, and of a DECIMAL though all of them are zeros."""

DECIMAL_PLACES = 2
"""Least digits after the point that a table shows of a DECIMAL with more than MAX_PLACES: one that Python made has 18."""


def json_rows(frame: pl.DataFrame, schema: Schema) -> Iterator[dict[str, Any]]:
    """Each row as what `json.dumps` takes; see `json_encoder`."""
    from ouzel.connectors.formats.far_times import python_values

    encoders = [_nullable(json_encoder(field.type)) for field in schema]
    columns = [python_values(frame[name]) for name in schema.names]
    for row in zip(*columns, strict=True):
        yield {name: encode(value) for name, encode, value in zip(schema.names, encoders, row, strict=True)}


def in_zone(frame: pl.DataFrame, zone: str) -> pl.DataFrame:
    """The frame with its instants as those of this time zone, also inside of arrays and rows."""
    kinds = {name: _in_zone(kind, zone) for name, kind in frame.schema.items()}
    changed = {name: kind for name, kind in kinds.items() if kind != frame.schema[name]}
    return frame.cast(changed) if changed else frame  # type: ignore[arg-type]


def _in_zone(kind: pl.DataType, zone: str) -> pl.DataType:
    import polars as pl

    match kind:
        case pl.Datetime() if kind.time_zone:
            return pl.Datetime(kind.time_unit, zone)
        case pl.List():
            return pl.List(_in_zone(kind.inner, zone))  # type: ignore[arg-type]
        case pl.Struct():
            return pl.Struct([pl.Field(field.name, _in_zone(field.dtype, zone)) for field in kind.fields])  # type: ignore[arg-type]
    return kind


def json_encoder(kind: DataType) -> Encode:
    """How a value of this type becomes JSON, losing nothing.

    Integers and finite floats are numbers, NaN and the infinities and DECIMALs are text, times are ISO 8601 text, BYTES base64, an
    INTERVAL its microseconds, ARRAY an array, ROW an object, MAP an object if its keys are text and else an array of {key, value}.
    """
    match kind:
        case FloatType(bits):
            return _json_float32 if bits == 32 else _json_float
        case DecimalType():
            return lambda value: format(value, "f")
        case DateType() | TimestampType():
            return lambda value: _iso_text(value).replace("+00:00", "Z")
        case BytesType():
            return lambda value: base64.b64encode(value).decode()
        case IntervalType():
            return lambda value: value // timedelta(microseconds=1)
        case ArrayType(element):
            inner = _nullable(json_encoder(element))
            return lambda values: [inner(value) for value in values]
        case RowType(fields):
            encoders = {name: _nullable(json_encoder(of)) for name, of in fields}
            return lambda row: {name: encode(row[name]) for name, encode in encoders.items()}
        case MapType(key, value):
            return _json_map(key, value)
    return lambda value: value


def _iso_text(value: date | str) -> str:
    """A time that Python has no year for is text already."""
    return value.replace(" ", "T") if isinstance(value, str) else value.isoformat()


def _json_map(key: DataType, value: DataType) -> Encode:
    key_of, value_of = _nullable(json_encoder(key)), _nullable(json_encoder(value))
    if isinstance(key, VarcharType):
        return lambda entries: {entry["key"]: value_of(entry["value"]) for entry in entries}
    return lambda entries: [{"key": key_of(entry["key"]), "value": value_of(entry["value"])} for entry in entries]


def _nullable(encode: Encode) -> Encode:
    return lambda value: None if value is None else encode(value)


def _json_float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _json_float32(value: float) -> float | str:
    import numpy as np

    return float(str(np.float32(value))) if math.isfinite(value) else _json_float(value)


def is_number(kind: DataType) -> bool:
    """Whether a table shows it flush right."""
    return isinstance(kind, IntegerType | FloatType | DecimalType)


def texts(values: list[Any], kind: DataType) -> list[str | None]:
    """A column's values as a table shows them, None for NULL.

    Digits are grouped if some value of the column has five of them before the point, all floats of a column have the same number of digits
    after it, those of a DECIMAL of many places as many as they need, and times are cut where all of them are round.
    """
    match kind:
        case IntegerType():
            show: Encode = _text_integer(values)
        case DecimalType(scale=scale):
            show = _text_decimal(values, scale)
        case FloatType():
            show = _text_float(values)
        case TimestampType(True):
            show = _text_instant(values)
        case DateType() | TimestampType():
            show = _text_time(values)
        case VarcharType():
            show = _text
        case IntervalType():
            show = _text_interval
        case _:
            show = _text_json(json_encoder(kind))
    return [None if value is None else show(value) for value in values]


def _text_integer(values: list[int | None]) -> Encode:
    return "{:,}".format if _needs_grouping(values) else str


def _needs_grouping(values: list[Any]) -> bool:
    return any(value is not None and abs(value) >= 10_000 for value in values)


def _text_json(encode: Encode) -> Encode:
    return lambda value: _text(json.dumps(encode(value), ensure_ascii=False))


def _text_decimal(values: list[Decimal | None], scale: int) -> Encode:
    comma = "," if _needs_grouping(values) else ""
    needed = max((_decimal_places(value) for value in values if value is not None), default=0)
    places = scale if scale <= MAX_PLACES else max(needed, DECIMAL_PLACES)
    return f"{{:{comma}.{places}f}}".format


def _decimal_places(value: Decimal) -> int:
    """Digits after the point that are not trailing zeros."""
    return len(f"{value:f}".rstrip("0").partition(".")[2])


def _text_float(values: list[float | None]) -> Encode:
    comma = "," if _needs_grouping(values) else ""
    places = max((_places(value) for value in values if value is not None and math.isfinite(value)), default=0)

    def show(value: float) -> str:
        if not math.isfinite(value):
            return str(_json_float(value))
        if value and not 10**-MAX_PLACES <= abs(value) < 1e15:
            return f"{value:.6g}"
        return format(value, f"{comma}.{places}f")

    return show


def _places(value: float) -> int:
    """Digits after the point that are not trailing zeros."""
    return len(f"{value:.{MAX_PLACES}f}".rstrip("0").partition(".")[2])


def _text_interval(value: timedelta) -> str:
    """As Postgres shows it: `2 days 03:04:05.5`."""
    days, rest = divmod(abs(value), timedelta(days=1))
    minutes, seconds = divmod(rest, timedelta(minutes=1))
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{seconds.seconds:02}"
    fraction = f".{seconds.microseconds:06}".rstrip("0") if seconds.microseconds else ""
    in_days = f"{days} {'day' if days == 1 else 'days'} " if days else ""
    return f"{'-' if value < timedelta(0) else ''}{in_days}{clock}{fraction}"


def _text_time(values: list[date | str | None]) -> Encode:
    if any(isinstance(value, str) for value in values):
        return str
    moments = [value for value in values if isinstance(value, datetime)]
    if not any((at.hour, at.minute, at.second, at.microsecond) != (0, 0, 0, 0) for at in moments):
        return lambda value: value.isoformat()[:10]
    unit = _needed_unit(moments)
    return lambda value: value.isoformat(" ", unit)


def _needed_unit(moments: list[datetime]) -> str:
    """The least part of these times that is not 0 in all of them, but minutes at least."""
    if any(at.microsecond for at in moments):
        return "microseconds"
    return "seconds" if any(at.second for at in moments) else "minutes"


def _text_instant(values: list[datetime | str | None]) -> Encode:
    """What clocks show in the values' time zone, and how far they are ahead of UTC then."""
    if any(isinstance(value, str) for value in values):
        return str
    unit = _needed_unit([value for value in values if isinstance(value, datetime)])
    return lambda value: value.isoformat(" ", unit)


def _text(value: str) -> str:
    clean = printable(value[: MAX_TEXT + 1])
    return clean if len(clean) <= MAX_TEXT else clean[: MAX_TEXT - 1] + "…"

"""One JSON value against one type, in Python: what every value means, and too slow for all but the few records that are bad or odd."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Collection
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

import polars as pl

from ouzel.connectors.formats.conversion import parse_column
from ouzel.connectors.formats.json.names import match_fields

_EXACT = Context(prec=80)
_BITS: dict[Any, int] = {pl.Int8: 8, pl.Int16: 16, pl.Int32: 32, pl.Int64: 64}

FLOAT_WORDS = {
    "NaN": math.nan,
    **dict.fromkeys(("Infinity", "+Infinity", "+INF"), math.inf),
    **dict.fromkeys(("-Infinity", "-INF"), -math.inf),
}
"""Floats that JSON has no numbers for, as text."""


class Whole(int):
    """An integer that knows how it was written."""

    text = ""

    def __new__(cls, text: str) -> Whole:
        made = super().__new__(cls, text)
        made.text = text
        return made


class Number(str):
    """A number with a fraction or an exponent, as it was written, so that no digit of a DECIMAL is lost."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Object(dict[str, Any]):
    """An object that knows how it was written."""

    text = ""


class WrittenArray(list[Any]):
    """An array that knows how it was written."""

    text = ""


class Unwritten(ValueError):
    """An object or array is wanted as text, and nobody has kept how it was written."""


class WrittenDecoder(json.JSONDecoder):
    """`json.loads` in Python, much slower, whose objects and arrays know how they were written."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.parse_object, self.parse_array = _read_object, _read_array
        self.scan_once = py_make_scanner(self)


def _read_object(place: tuple[str, int], *options: Any) -> tuple[Object, int]:
    found, end = JSONObject(place, *options)
    made = Object(found)
    made.text = place[0][place[1] - 1 : end]
    return made, end


def _read_array(place: tuple[str, int], scan: Any) -> tuple[WrittenArray, int]:
    found, end = JSONArray(place, scan)
    made = WrittenArray(found)
    made.text = place[0][place[1] - 1 : end]
    return made, end


def map_parts(kind: pl.DataType) -> tuple[pl.DataType, pl.DataType] | None:
    """Types of key and value if `kind` is how a MAP is held: list<struct<key, value>>."""
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct):
        fields = kind.inner.fields
        if [field.name for field in fields] == ["key", "value"]:
            return fields[0].dtype, fields[1].dtype  # type: ignore[return-value]
    return None


def may_be_odd(kind: pl.DataType) -> bool:
    """Whether Polars' writer of JSON may have no text for a value of the type: floats that are no numbers, and times far away."""
    if isinstance(kind, pl.List):
        return may_be_odd(kind.inner)  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return any(may_be_odd(field.dtype) for field in kind.fields)  # type: ignore[arg-type]
    return isinstance(kind, (pl.Float32, pl.Float64, pl.Date, pl.Datetime))


def json_to_python(value: Any, kind: pl.DataType, exact: Collection[str] = ()) -> Any:
    """What `json.loads` gave (fractions as Number) as the Python value of a column of `kind`.

    A field of a ROW that is not among the `exact` ones is found whatever its case.

    Raises:
        ValueError: it is of another type or does not fit.
    """
    if value is None:
        return None
    parts = map_parts(kind)
    if parts:
        pairs = _expect(value, dict).items()
        return [{"key": _key(key, parts[0]), "value": json_to_python(inner, parts[1], exact)} for key, inner in pairs]
    if isinstance(kind, pl.List):
        return [json_to_python(inner, kind.inner, exact) for inner in _expect(value, list)]  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        found = _expect(value, dict)
        fields = match_fields(found, [field.name for field in kind.fields], exact)
        return {
            field.name: json_to_python(found.get(fields[field.name]), field.dtype, exact)  # type: ignore[arg-type]
            for field in kind.fields
        }
    return _READERS[type(kind)](value, kind)


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ValueError(value)
    return value


def _key(text: str, kind: pl.DataType) -> Any:
    """A map's key: JSON has only text there."""
    parsed = parse_column(kind)(pl.Series("key", [text])) if not isinstance(kind, pl.String) else [_whole(text)]
    if parsed[0] is None:
        raise ValueError(text)
    return parsed[0]


def _integer(value: Any, kind: pl.DataType) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(value)
    size = _BITS[type(kind)]
    if not -(1 << (size - 1)) <= value < 1 << (size - 1):
        raise ValueError(value)
    return value


def _float(value: Any, kind: pl.DataType) -> float:
    if isinstance(value, str) and value in FLOAT_WORDS:
        return FLOAT_WORDS[value]
    if isinstance(value, bool) or not isinstance(value, (int, Number)):
        raise ValueError(value)
    return float(value.text if isinstance(value, Whole) and value else value)


def _text(value: Any, kind: pl.DataType) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Object, WrittenArray, Whole)):
        return value.text
    if isinstance(value, (dict, list)):
        raise Unwritten(value)
    return _whole(value) if isinstance(value, str) else str(value)


def _whole(text: str) -> str:
    """The text; JSON may hold half of a surrogate pair, which no column can."""
    text.encode()  # UnicodeEncodeError is a ValueError
    return text


def _decimal(value: Any, kind: pl.DataType) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(value)
    assert isinstance(kind, pl.Decimal)
    exact = Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP, _EXACT)
    if exact.copy_abs() >= Decimal(10) ** ((kind.precision or 38) - kind.scale):
        raise ValueError(value)
    return exact


def _parse(value: Any, kind: pl.DataType) -> Any:
    if isinstance(value, Number) or not isinstance(value, str):
        raise ValueError(value)
    parsed = parse_column(kind)(pl.Series("value", [value]))[0]
    if parsed is None:
        raise ValueError(value)
    return parsed


def _bytes(value: Any, kind: pl.DataType) -> bytes:
    try:
        return base64.b64decode(_expect(value, str), validate=True)
    except binascii.Error:
        raise ValueError(value) from None


def _duration(value: Any, kind: pl.DataType) -> timedelta:
    return timedelta(microseconds=_integer(value, pl.Int64()))


_READERS: dict[type[Any], Callable[[Any, pl.DataType], Any]] = {
    **dict.fromkeys((pl.Int8, pl.Int16, pl.Int32, pl.Int64), _integer),
    **dict.fromkeys((pl.Float32, pl.Float64), _float),
    **dict.fromkeys((pl.Date, pl.Datetime), _parse),
    pl.Boolean: lambda value, kind: _expect(value, bool),
    pl.String: _text,
    pl.Decimal: _decimal,
    pl.Binary: _bytes,
    pl.Duration: _duration,
}


def to_json(value: Any, kind: pl.DataType) -> Any:
    """A column's Python value as `json.dumps` takes it: a MAP is an object, a DECIMAL text, and numbers that JSON lacks are text too."""
    if value is None:
        return None
    parts = map_parts(kind)
    if parts:
        return {_key_text(pair["key"], parts[0]): to_json(pair["value"], parts[1]) for pair in value}
    if isinstance(kind, pl.List):
        return [to_json(part, kind.inner) for part in value]  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return {field.name: to_json(value[field.name], field.dtype) for field in kind.fields}  # type: ignore[arg-type]
    return _simple(value)


def _simple(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case Decimal():
            return f"{value:f}"
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            return value.isoformat(" ")
        case date():
            return value.isoformat()
        case timedelta():
            return value // timedelta(microseconds=1)
    return value


def _key_text(key: Any, kind: pl.DataType) -> str:
    plain = to_json(key, kind)
    return str(plain).lower() if isinstance(plain, bool) else str(plain)

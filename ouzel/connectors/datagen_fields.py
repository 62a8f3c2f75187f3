"""One made-up field: row numbers in, a column out; everything by hashing (SplitMix64; Steele, Lea, Flood, OOPSLA 2014), nothing kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.formats.conversion import sql_name
from ouzel.connectors.options import timestamp_us
from ouzel.errors import ConnectorError, QueryError

Made = Callable[[np.ndarray], pl.Series]
"""Row numbers to values."""

_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz012345", np.uint8)
_PAIRS = np.stack([np.tile(_LETTERS, 32), np.repeat(_LETTERS, 32)], axis=1).view(np.uint16).ravel()
"""Two letters by ten bits, the first by the lower five."""
_PAIRS_A_WORD = 6
_DAY_US = 86_400_000_000


def mix_bits(numbers: np.ndarray, seed: np.uint64) -> np.ndarray:
    """64 random bits for each number: SplitMix64's output function."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + seed * np.uint64(
            0xD1B54A32D192ED03
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _is_no_number_and_no_time(text: str) -> bool:
    for read in (float, timestamp_us):
        try:
            read(text)
        except ValueError:
            continue
        return False
    return True


class FieldOptions:
    """The settings of one field, `fields.<name>.<setting>`."""

    def __init__(self, options: Mapping[str, str], name: str) -> None:
        self.name, self._prefix, self._options = name, f"fields.{name}.", options

    @staticmethod
    def check(name: str, setting: str, value: str) -> None:
        """Look at a number's range at plan time.

        Raises:
            QueryError: it can never be right.
        """
        if name.endswith(".null.rate") and not 0 <= float(value) <= 1:
            raise QueryError(f"'{name}' cannot be '{value}'", instead="write a share from 0 to 1")
        if setting in ("min", "max", "start", "step") and _is_no_number_and_no_time(value):
            raise QueryError(
                f"'{name}' cannot be '{value}'", instead="write a number, or a time such as 2024-01-31 12:30:00"
            )
        if setting in ("length", "cardinality") and int(value) < 1:
            raise QueryError(f"'{name}' cannot be '{value}'", instead="write a whole number from 1 on")

    def get(self, setting: str, default: str = "") -> str:
        """The setting's text."""
        return self._options.get(self._prefix + setting, default)

    def number(self, setting: str, default: float) -> float:
        """The setting as a number."""
        return self._read(setting, default, float)

    def integer(self, setting: str, default: int) -> int:
        """The setting as a whole number."""
        return int(self._read(setting, default, int))

    def time_us(self, setting: str, default: str) -> int:
        """The setting as microseconds since the epoch."""
        return int(self._read(setting, timestamp_us(default), timestamp_us))

    def _read(self, setting: str, default: float, parse: Callable[[str], float]) -> float:
        text = self.get(setting)
        try:
            return parse(text) if text else default
        except ValueError:
            raise ConnectorError(f"datagen: '{self._prefix}{setting}' cannot be '{text}'") from None


def make_field(name: str, kind: pl.DataType, options: FieldOptions, seed: np.uint64) -> Made:
    """How the values of a column are made.

    Raises:
        ConnectorError: the type cannot be made, or a setting does not suit it.
    """
    made = _sequence(kind, options) if options.get("kind") == "sequence" else _random(kind, options, seed)
    share = options.number("null.rate", 0)
    return _with_nulls(made, share, seed ^ np.uint64(0x4E554C4C)) if share else made


def _with_nulls(made: Made, share: float, seed: np.uint64) -> Made:
    def nullable(numbers: np.ndarray) -> pl.Series:
        values = made(numbers)
        null = pl.Series(mix_bits(numbers, seed) < np.uint64(min(share * 2.0**64, 2.0**64 - 1025)))
        return values.to_frame("v").select(pl.when(~null).then(pl.col("v"))).to_series()

    return nullable


def _sequence(kind: pl.DataType, options: FieldOptions) -> Made:
    if isinstance(kind, (pl.Datetime, pl.Date)):
        start = options.time_us("start", options.get("min") or "2024-01-01")
        step = options.number("step", 1) * (_DAY_US if isinstance(kind, pl.Date) else 1000)
        return lambda numbers: _times((start + numbers * step).astype(np.int64), kind)
    if isinstance(kind, pl.String):
        return lambda numbers: pl.Series(numbers).cast(pl.String)
    if not kind.is_numeric():
        raise ConnectorError(
            f"datagen: column '{options.name}' of type {sql_name(kind)} cannot be a sequence; leave out its 'kind'"
        )
    if kind.is_integer():
        first, by = options.integer("start", options.integer("min", 0)), options.integer("step", 1)
        return lambda numbers: pl.Series(first + numbers * by).cast(kind)
    origin, step = options.number("start", options.number("min", 0)), options.number("step", 1)
    return lambda numbers: pl.Series(origin + numbers * step).cast(kind)


def _times(microseconds: np.ndarray, kind: pl.DataType) -> pl.Series:
    moments = pl.Series(microseconds).cast(pl.Datetime("us"))
    return moments.dt.replace_time_zone(kind.time_zone) if isinstance(kind, pl.Datetime) else moments.cast(kind)


def _random(kind: pl.DataType, options: FieldOptions, seed: np.uint64) -> Made:
    draw = _draw(options, seed)
    match kind:
        case pl.Boolean():
            return lambda numbers: pl.Series(draw(numbers) & np.uint64(1) == 1)
        case pl.String() | pl.Binary():
            return _text(kind, options, draw)
        case pl.Datetime() | pl.Date():
            low, high = options.time_us("min", "2024-01-01"), options.time_us("max", "2024-12-31 23:59:59.999999")
            return lambda numbers: _times(_between(draw(numbers), low, high), kind)
        case pl.List():
            return _list(kind, options, seed)
        case pl.Struct():
            parts = {
                field.name: _inner(field.dtype, field.name, options, seed, place)
                for place, field in enumerate(kind.fields)
            }
            return lambda numbers: pl.DataFrame({name: made(numbers) for name, made in parts.items()}).to_struct("v")
        case _ if kind.is_integer():
            low, high = options.integer("min", 0), options.integer("max", _largest(kind))
            return lambda numbers: pl.Series(_between(draw(numbers), low, high)).cast(kind)
        case _ if kind.is_numeric():
            return _fraction(kind, options, draw)
    raise ConnectorError(f"datagen cannot make column '{options.name}' of type {sql_name(kind)}")


def _draw(options: FieldOptions, seed: np.uint64) -> Callable[[np.ndarray], np.ndarray]:
    """Random bits by row number; with a cardinality, of that many different values only."""
    cardinality = options.integer("cardinality", 0)
    if not cardinality:
        return lambda numbers: mix_bits(numbers, seed)
    return lambda numbers: mix_bits(mix_bits(numbers, seed) % np.uint64(cardinality), ~seed)


def _between(bits: np.ndarray, low: int, high: int) -> np.ndarray:
    if high < low:
        raise ConnectorError(f"datagen: the largest value {high} is less than the smallest, {low}")
    width = high - low + 1
    offset = bits % np.uint64(width) if width < 1 << 64 else bits
    with np.errstate(over="ignore"):
        return (offset + np.uint64(low % (1 << 64))).astype(np.int64)


def _largest(kind: pl.DataType) -> int:
    return 127 if isinstance(kind, pl.Int8) else 32_767 if isinstance(kind, pl.Int16) else 2_147_483_647


def _fraction(kind: pl.DataType, options: FieldOptions, draw: Callable[[np.ndarray], np.ndarray]) -> Made:
    scale = kind.scale if isinstance(kind, pl.Decimal) else None
    top = 10 ** min(6, kind.precision - kind.scale) - 1 if isinstance(kind, pl.Decimal) else 1
    low, high = options.number("min", 0), options.number("max", top)

    def made(numbers: np.ndarray) -> pl.Series:
        values = low + (draw(numbers) >> np.uint64(11)).astype(np.float64) * 2.0**-53 * (high - low)
        return pl.Series(values if scale is None else np.round(values, min(scale, 15))).cast(kind)

    return made


def _text(kind: pl.DataType, options: FieldOptions, draw: Callable[[np.ndarray], np.ndarray]) -> Made:
    if options.get("values"):
        words = pl.Series([word.strip() for word in options.get("values").split(",")]).cast(kind)
        return lambda numbers: words.gather(draw(numbers) % np.uint64(len(words)))
    length = options.integer("length", 10)

    def made(numbers: np.ndarray) -> pl.Series:
        bits = draw(numbers)
        pairs = np.empty((bits.size, math.ceil(length / 2)), np.uint16)
        for place in range(pairs.shape[1]):
            part, within = divmod(place, _PAIRS_A_WORD)
            if within == 0:
                word = mix_bits(bits, np.uint64(part))
            pairs[:, place] = _PAIRS[((word >> np.uint64(10 * within)) & np.uint64(1023)).astype(np.int64)]
        return _texts_of(np.ascontiguousarray(pairs.view(np.uint8)[:, :length])).cast(kind)

    return made


def _texts_of(letters: np.ndarray) -> pl.Series:
    """A text for each row of letters."""
    rows, length = letters.shape
    buffers = [None, pa.py_buffer(np.arange(rows + 1, dtype=np.int64) * length), pa.py_buffer(letters)]
    return pl.Series(pa.Array.from_buffers(pa.large_string(), rows, buffers))


def _inner(kind: Any, name: str, options: FieldOptions, seed: np.uint64, place: int) -> Made:
    inner = FieldOptions({}, f"{options.name}.{name}")
    return _random(kind, inner, mix_bits(np.array([place]), seed)[0])


def _list(kind: pl.List, options: FieldOptions, seed: np.uint64) -> Made:
    length = options.integer("length", 3)
    element = _inner(kind.inner, "element", options, seed, 0)

    def made(numbers: np.ndarray) -> pl.Series:
        inside = element((numbers[:, None] * length + np.arange(length)).ravel())
        return inside.reshape((len(numbers), length)).arr.to_list().cast(kind)

    return made

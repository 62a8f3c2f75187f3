"""Polars columns as NumPy arrays and back, without a copy where there can be none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from ouzel.compiler.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    TimestampType,
    to_polars,
)

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def has_numbers(kind: DataType) -> bool:
    """Whether values of this type are held as an int64 or float64 each."""
    return isinstance(kind, BooleanType | IntegerType | FloatType | DateType | TimestampType | IntervalType)


_WIDTHS: dict[type[pl.DataType], npt.DTypeLike] = {
    pl.Int8: np.int8, pl.Int16: np.int16, pl.Int32: np.int32, pl.Int64: np.int64, pl.Float32: np.float32, pl.Float64: np.float64,
    pl.Date: np.int32, pl.Datetime: np.int64, pl.Duration: np.int64, pl.Decimal: np.int64,
}  # fmt: skip


def pick_rows(frame: pl.DataFrame, names: Sequence[str], rows: Ints) -> pl.DataFrame:
    """These rows of these columns; column by column, for a frame would wake Polars' pool for it."""
    places = pl.Series(rows.astype(np.uint32))
    return pl.DataFrame([frame.get_column(name)[places] for name in names])


def keep_rows(frame: pl.DataFrame, mask: pl.Series) -> pl.DataFrame:
    """The rows where the mask is TRUE; column by column, for of a frame Polars makes a lazy one first."""
    return pl.DataFrame([column.filter(mask) for column in frame.get_columns()])


def without_sign_of_zero(name: str) -> pl.Expr:
    """The column with -0.0 as 0.0, which is the same key; Polars takes `+ 0.0` for nothing at all."""
    return pl.when(pl.col(name) == 0).then(0.0).otherwise(pl.col(name)).alias(name)


def valid_rows(series: pl.Series) -> Mask | None:
    """Which rows are not NULL; None when all are."""
    if not series.null_count():
        return None
    data = series.to_arrow()
    bitmap = data.buffers()[0]
    return np.zeros(len(series), np.bool_) if bitmap is None else _bits(bitmap, data)


def true_rows(series: pl.Series) -> Mask:
    """Which rows of a BOOLEAN column are TRUE, neither FALSE nor NULL."""
    data = series.to_arrow()
    bitmap, bits = data.buffers()
    return _bits(bits, data) if bitmap is None else _bits(bits, data) & _bits(bitmap, data)


def numbers(series: pl.Series) -> Array:
    """The physical values as int64, or float64 for floating point; anything stands where a row is NULL."""
    if series.dtype == pl.Boolean:
        return true_rows(series).astype(np.int64)
    if series.dtype == pl.Null:
        return np.zeros(len(series))
    data = series.to_arrow()
    width = _WIDTHS[type(series.dtype)]
    found = np.frombuffer(data.buffers()[1], width)[data.offset : data.offset + len(data)]
    return found.astype(np.float64 if found.dtype.kind == "f" else np.int64, copy=False)


def wide_words(series: pl.Series) -> tuple[Ints, Ints]:
    """The unscaled values of decimals in two words, low and high."""
    data = series.to_arrow()
    words = np.frombuffer(data.buffers()[1], np.int64)[2 * data.offset : 2 * (data.offset + len(data))]
    return np.ascontiguousarray(words[0::2]), np.ascontiguousarray(words[1::2])


def _bits(buffer: pa.Buffer, data: pa.Array) -> Mask:
    packed = np.frombuffer(buffer, np.uint8)
    bits = np.unpackbits(packed, count=min(data.offset + len(data), 8 * packed.size), bitorder="little")
    return bits[data.offset :].view(np.bool_)


@dataclass(slots=True)
class Values:
    """Results of one call for some groups: physical numbers, or words of decimals, or a series; which are not NULL; which cannot be had.

    `data` is an int64 or float64 array, an (n, 2) array of words, or a `pl.Series`. `valid` None means all. `refused` marks totals that
    the type cannot hold.
    """

    kind: DataType
    data: Array | pl.Series
    valid: Mask | None = None
    refused: Mask | None = None

    def differ(self, other: Values) -> Mask:
        """Where two results for the same groups are not the same value."""
        if isinstance(self.data, pl.Series) and isinstance(other.data, pl.Series):
            return self.data.ne_missing(other.data).to_numpy()
        assert isinstance(self.data, np.ndarray)
        assert isinstance(other.data, np.ndarray)
        unequal: Mask = self.data.view(np.int64) != other.data.view(np.int64)
        if unequal.ndim == 2:
            unequal = np.logical_or(unequal[:, 0], unequal[:, 1])
        if self.valid is None and other.valid is None:
            return unequal
        here, there = _mask(self.valid, len(unequal)), _mask(other.valid, len(unequal))
        changed: Mask = (unequal & here & there) | (here != there)
        return changed


def _mask(valid: Mask | None, size: int) -> Mask:
    return np.ones(size, np.bool_) if valid is None else valid


def concatenate_picked(parts: list[tuple[Values, Array]], name: str) -> pl.Series:
    """The picked rows (positions) of each part, one after the other, as one column."""
    first = parts[0][0]
    if isinstance(first.data, pl.Series):
        picked = [values.data[rows] for values, rows in parts if isinstance(values.data, pl.Series)]
        return pl.concat(picked).alias(name)
    data = np.concatenate([values.data[rows] for values, rows in parts])
    valid = None
    if any(values.valid is not None for values, _ in parts):
        valid = np.concatenate([_mask(values.valid, len(values.data))[rows] for values, rows in parts])
    return to_series(name, first.kind, data, valid)


def to_series(name: str, kind: DataType, data: Array, valid: Mask | None = None) -> pl.Series:
    """Physical numbers, or (n, 2) words of decimals, as a column of this type; NULL where not `valid`."""
    if isinstance(kind, DecimalType):
        return _decimals(name, kind, data, valid)
    series = pl.Series(name, data if valid is None or valid.all() else pl.from_arrow(_with_gaps(data, valid)))
    target = _polars(kind)
    return series if series.dtype == target else series.cast(target)


def _with_gaps(data: Array, valid: Mask) -> pa.Array:
    """NULL where not `valid`; not by pa.array, which looks for Pandas and imports it: 0.4 s in each process that has it."""
    flat = np.packbits(data, bitorder="little") if data.dtype == np.bool_ else np.ascontiguousarray(data)
    buffers = [pa.py_buffer(np.packbits(valid, bitorder="little")), pa.py_buffer(flat)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(data.dtype), len(data), buffers)


def _decimals(name: str, kind: DecimalType, words: Array, valid: Mask | None) -> pl.Series:
    bitmap = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    arrow = pa.decimal128(kind.precision, kind.scale)
    data = pa.py_buffer(np.ascontiguousarray(words))
    return pl.Series(name, pl.from_arrow(pa.Array.from_buffers(arrow, len(words), [bitmap, data])))


@cache
def _polars(kind: DataType) -> pl.DataType:
    return to_polars(kind)


def count_array(series: pl.Series) -> Ints:
    """An Int64 column without NULLs as an array."""
    return np.ascontiguousarray(numbers(series), dtype=np.int64)

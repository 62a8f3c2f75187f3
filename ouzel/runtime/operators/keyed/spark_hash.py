"""Spark's hash of single values: XXH64 with the seed 42 (Collet, the xxHash specification), of what Spark holds of each type."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import polars as pl
import pyarrow as pa
from numba import types

from ouzel.compiler.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
)
from ouzel.runtime.operators.buffers import numbers, wide_words
from ouzel.runtime.state.hashing import Words
from ouzel.runtime.state.kernels import INT, INT_OUT, WORD, WORD_OUT, kernel

BYTES = types.Array(types.uint8, 1, "C", readonly=True)

_PRIME1, _PRIME2 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)
_PRIME3, _PRIME4 = np.uint64(0x165667B19E3779F9), np.uint64(0x85EBCA77C2B2AE63)
_PRIME5 = np.uint64(0x27D4EB2F165667C5)
_SEED = np.uint64(42)
_LOW = np.uint64(0xFFFFFFFF)
_BITS = np.uint64(64)
_EIGHT = np.uint64(8)


def spark_hashes(series: pl.Series, kind: DataType) -> Words:
    """A word a row, of values of a type that is no collection; anything where a row is NULL."""
    out = np.zeros(len(series), np.uint64)
    match kind:
        case NullType():
            pass
        case FloatType():
            floats = numbers(series) + 0.0
            floats[np.isnan(floats)] = np.nan
            single = series.dtype == pl.Float32
            words = floats.astype(np.float32).view(np.uint32).astype(np.uint64) if single else floats.view(np.uint64)
            hash_words(words, 4 if single else 8, out)
        case BooleanType() | DateType():
            hash_words(_words(series), 4, out)
        case IntegerType(bits=bits):
            hash_words(_words(series), 8 if bits == 64 else 4, out)
        case DecimalType(precision=precision) if precision > 18:
            _hash_texts(_least_bytes(series), out)
        case DecimalType():
            hash_words(np.ascontiguousarray(wide_words(series)[0]).view(np.uint64), 8, out)
        case _ if series.dtype in (pl.String, pl.Binary):
            _hash_texts(series.cast(pl.Binary), out)
        case _:
            hash_words(_words(series), 8, out)
    return out


def _words(series: pl.Series) -> Words:
    return np.ascontiguousarray(numbers(series)).view(np.uint64)


def _hash_texts(series: pl.Series, out: Words) -> None:
    data = series.to_arrow().cast(pa.large_binary())
    _, ends, buffer = data.buffers()
    offsets = np.frombuffer(ends, np.int64)[data.offset : data.offset + len(data) + 1]
    held = np.frombuffer(buffer, np.uint8) if buffer is not None and buffer.size else np.empty(0, np.uint8)
    hash_texts(offsets, held, out)


def _least_bytes(series: pl.Series) -> pl.Series:
    """Unscaled numbers in as few bytes of two's complement as can be, the highest first."""
    low, high = wide_words(series)
    whole = np.stack([high, low], axis=1).astype(">i8").view(np.uint8).reshape(-1, 16)
    sign = np.where(high < 0, 255, 0)[:, None]
    spare = (whole[:, :-1] == sign) & ((whole[:, 1:] >= 128) == (sign == 255))
    first = np.cumprod(spare, axis=1).sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(16 - first)])
    kept = whole[np.arange(16) >= first[:, None]].tobytes()
    return pl.Series([kept[start:end] for start, end in pairwise(ends.tolist())], dtype=pl.Binary)


@numba.njit(inline="always")
def _turn(word, bits):  # type: ignore[no-untyped-def]
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@numba.njit(inline="always")
def _finish(word):  # type: ignore[no-untyped-def]
    word ^= word >> np.uint64(33)
    word *= _PRIME2
    word ^= word >> np.uint64(29)
    word *= _PRIME3
    return word ^ (word >> np.uint64(32))


@numba.njit(inline="always")
def _round(lane, word):  # type: ignore[no-untyped-def]
    return _turn(lane + word * _PRIME2, 31) * _PRIME1


@numba.njit(inline="always")
def _take_eight(word, eight):  # type: ignore[no-untyped-def]
    return _turn(word ^ _round(np.uint64(0), eight), 27) * _PRIME1 + _PRIME4


@numba.njit(inline="always")
def _take_four(word, four):  # type: ignore[no-untyped-def]
    return _turn(word ^ (four * _PRIME1), 23) * _PRIME2 + _PRIME3


@numba.njit(inline="always")
def _read(held, place, size):  # type: ignore[no-untyped-def]
    word = np.uint64(0)
    for byte in range(size):
        word |= np.uint64(held[place + byte]) << np.uint64(8 * byte)
    return word


@kernel(types.void(WORD, types.int64, WORD_OUT))
def hash_words(words, size, out):  # type: ignore[no-untyped-def]
    """Of numbers of four or eight bytes."""
    start = _SEED + _PRIME5 + np.uint64(size)
    for row in range(words.size):
        if size == 8:
            out[row] = _finish(_take_eight(start, words[row]))
        else:
            out[row] = _finish(_take_four(start, words[row] & _LOW))


@kernel(types.void(INT, BYTES, WORD_OUT))
def hash_texts(offsets, held, out):  # type: ignore[no-untyped-def]
    """Of texts that lie one after the other."""
    for row in range(out.size):
        place, end = offsets[row], offsets[row + 1]
        size = end - place
        word = _SEED + _PRIME5
        if size >= 32:
            a, b, c, d = _SEED + _PRIME1 + _PRIME2, _SEED + _PRIME2, _SEED, _SEED - _PRIME1
            while place + 32 <= end:
                a, b = _round(a, _read(held, place, 8)), _round(b, _read(held, place + 8, 8))
                c, d = _round(c, _read(held, place + 16, 8)), _round(d, _read(held, place + 24, 8))
                place += 32
            word = _turn(a, 1) + _turn(b, 7) + _turn(c, 12) + _turn(d, 18)
            for lane in (a, b, c, d):
                word = (word ^ _round(np.uint64(0), lane)) * _PRIME1 + _PRIME4
        word += np.uint64(size)
        while place + 8 <= end:
            word = _take_eight(word, _read(held, place, 8))
            place += 8
        if place + 4 <= end:
            word = _take_four(word, _read(held, place, 4))
            place += 4
        while place < end:
            word = _turn(word ^ (np.uint64(held[place]) * _PRIME5), 11) * _PRIME1
            place += 1
        out[row] = _finish(word)


@kernel(types.void(WORD, types.int64, INT_OUT))
def registers(words, bits, out):  # type: ignore[no-untyped-def]
    """Of hashes the register, told by their first bits, times 64, and the rank: where the first 1 of the others is, from 1."""
    first, least = np.uint64(bits), np.uint64(1) << np.uint64(bits - 1)
    for row in range(words.size):
        rest, rank = (words[row] << first) | least, 1
        while rest >> np.uint64(63) == np.uint64(0):
            rest <<= np.uint64(1)
            rank += 1
        out[row] = np.int64(words[row] >> (_BITS - first)) * 64 + rank

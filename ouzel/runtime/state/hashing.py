"""Hashes of keys: equal for equal keys (NULLs; -0.0 and 0.0; any NaN), and the same in every version, process and run.

Two lanes of 64 bits a row start from words of the seed. Each column is folded in as blocks of two words (w, v):
lane = multiply(w ^ key, v ^ lane), where `multiply` XORs both halves of the 128-bit product and each lane has a key of its own. The blocks:

- numbers, dates, times and booleans: the value widened to 64 bits, VALUE; a floating-point number as a DOUBLE, with one zero and one NaN;
- decimals: the unscaled number in two words, the lower first;
- text and bytes of up to 12 bytes: their Arrow view (length and bytes); longer ones: their length and LONG, then all bytes by 16, of
  which the last 16 may overlap (of 13 to 15 bytes: the first and the last eight);
- a ROW: the finished hash of its fields; a list: its length and LIST, then the finished hash of each element;
- NULL: two words of the seed, which no value can be known to equal.

The key words come from the seed by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), so nobody who does not know it can choose keys that
collide. It is drawn once for a topology and kept with its state, whose files also name HASH_VERSION: whoever changes what is computed here
raises it. Both words together are trusted: equal hashes are taken for equal keys. With 10^12 keys the chance that any two collide is
10^-14.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from ouzel.runtime.state import hash_kernels as kernels

Words = npt.NDArray[np.uint64]

HASH_VERSION = 1
"""Raised with every change of what the hash computes."""

KEY_GROUPS = 1024
"""State is split and moved by key group: the top bits of the first word of the routing key's hash."""

PRIVATE_SEED = secrets.randbits(63)
"""For tables that never leave this process."""

_WORD = 0xFFFFFFFFFFFFFFFF
_ALL_VALID = np.empty(0, np.uint8)


def row_hashes(frame: pl.DataFrame, columns: Sequence[str], seed: int) -> Words:
    """One word a row over `columns`, for groupings; the first word of `key_hashes`."""
    return key_hashes(frame, columns, seed)[0]


def key_hashes(frame: pl.DataFrame, columns: Sequence[str], seed: int) -> tuple[Words, Words]:
    """Two independent words a row over `columns`; without columns all rows are equal."""
    secret = _secret(seed)
    low, high = _begin(frame.height, secret)
    return _extend(low, high, frame, columns, secret)


def extend_hashes(
    key: tuple[Words, Words], frame: pl.DataFrame, columns: Sequence[str], seed: int
) -> tuple[Words, Words]:
    """The hashes of (key, `columns`), given those of the key."""
    return _extend(key[0].copy(), key[1].copy(), frame, columns, _secret(seed))


def key_groups(low: Words) -> npt.NDArray[np.int64]:
    """Which of the KEY_GROUPS each first word belongs to."""
    return (low >> np.uint64(54)).astype(np.int64)


@lru_cache(256)
def _secret(seed: int) -> Words:
    """Eight words of a seed, by SplitMix64; their places are in `hash_kernels`."""
    words, state = [], seed & _WORD
    for _ in range(8):
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        word = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
        words.append(word ^ (word >> 31))
    return np.array(words, np.uint64)


def _begin(size: int, secret: Words) -> tuple[Words, Words]:
    return np.full(size, secret[kernels.START]), np.full(size, secret[kernels.START + 1])


def _extend(low: Words, high: Words, frame: pl.DataFrame, columns: Sequence[str], secret: Words) -> tuple[Words, Words]:
    if frame.height:
        newest = pl.CompatLevel.newest()
        for name in columns:
            _fold(low, high, secret, frame[name].to_arrow(compat_level=newest))
        kernels.finish(low, high, secret)
    return low, high


def _fold(low: Words, high: Words, secret: Words, data: pa.Array) -> None:
    """Fold one column in, whatever its type."""
    kind = data.type
    if pa.types.is_null(kind):
        absent = np.zeros(-(-len(data) // 8), np.uint8)
        kernels.fold_words(low, high, secret, low, absent, 0)
        return
    validity = data.buffers()[0]
    bits = (_ALL_VALID if validity is None else np.frombuffer(validity, np.uint8), data.offset)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        views, *buffers = data.buffers()[1:]
        addresses = np.array([buffer.address for buffer in buffers], np.uint64)
        kernels.fold_views(low, high, secret, _pairs(views, data), addresses, *bits)
    elif pa.types.is_struct(kind):
        kernels.fold_pairs(low, high, secret, *_finish(_fields(data), len(data), secret), *bits)
    elif pa.types.is_large_list(kind):
        ends = np.frombuffer(data.buffers()[1], np.int64)[data.offset : data.offset + len(data) + 1]
        elements = _finish([data.values], len(data.values), secret)
        kernels.fold_lists(low, high, secret, ends, *elements, *bits)
    elif pa.types.is_decimal128(kind):
        words = _pairs(data.buffers()[1], data)
        kernels.fold_pairs(low, high, secret, *np.ascontiguousarray(words.reshape(-1, 2).T), *bits)
    else:
        kernels.fold_words(low, high, secret, _numbers(data), *bits)


def _pairs(buffer: pa.Buffer, data: pa.Array) -> Words:
    """Two words a row, as they lie."""
    return np.frombuffer(buffer, np.uint64)[2 * data.offset : 2 * (data.offset + len(data))]


def _fields(data: pa.StructArray) -> list[pa.Array]:
    return [data.field(place) for place in range(data.type.num_fields)]


def _finish(columns: Sequence[pa.Array], size: int, secret: Words) -> tuple[Words, Words]:
    """The hashes of what stands inside another column."""
    low, high = _begin(size, secret)
    for column in columns if size else ():
        _fold(low, high, secret, column)
    kernels.finish(low, high, secret)
    return low, high


def _numbers(data: pa.Array) -> Words:
    """Values of up to 64 bits as words; of floating-point ones those of a DOUBLE, -0.0 as 0.0 and every NaN as one.

    Raises:
        TypeError: there is no hash of values of this type.
    """
    kind, buffer = data.type, data.buffers()[1]
    if pa.types.is_boolean(kind):
        bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=data.offset + len(data), bitorder="little")
        return bits[data.offset :].astype(np.uint64)
    if pa.types.is_floating(kind):
        floats = np.frombuffer(buffer, f"f{kind.bit_width // 8}")[data.offset : data.offset + len(data)] + 0.0
        words = floats.astype(np.float64, copy=False)
        words[np.isnan(words)] = np.nan
        return words.view(np.uint64)
    if not (pa.types.is_integer(kind) or pa.types.is_temporal(kind)):
        raise TypeError(f"there is no hash of {kind} values")
    letter = "u" if pa.types.is_unsigned_integer(kind) else "i"
    held = np.frombuffer(buffer, f"{letter}{kind.bit_width // 8}")[data.offset : data.offset + len(data)]
    return held.astype(np.int64, copy=False).view(np.uint64)

"""Values of one kind at places of a blob, as columns: texts with their escapes undone, and decimals. Loops compiled by Numba."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.formats.compiled import compiled
from ouzel.connectors.formats.json_scan import ESCAPED, NULL, read_hex

_BACKSLASH, _U, _MINUS, _PLUS, _POINT, _ZERO, _NINE, _SMALL_E = map(ord, "\\u-+.09e")
_ESCAPES = np.zeros(256, np.uint8)
for _letter, _meant in zip(b"bfnrt", b"\b\f\n\r\t", strict=True):
    _ESCAPES[_letter] = _meant
_DIGITS_MAX = 38
_EXPONENT_MAX = 1_000


def make_texts(data: np.ndarray, kind: np.ndarray, begin: np.ndarray, size: np.ndarray) -> pl.Series:
    """The text at each place; NULL where the entry is."""
    offsets, text = _gather(data, kind, begin, size)
    buffers = [_validity(kind != NULL), pa.py_buffer(offsets), pa.py_buffer(text)]
    made = pl.from_arrow(pa.Array.from_buffers(pa.large_string(), len(kind), buffers))
    assert isinstance(made, pl.Series)
    return made


def make_decimals(
    data: np.ndarray, kind: np.ndarray, begin: np.ndarray, size: np.ndarray, type_: pl.Decimal
) -> pl.Series:
    """The number at each place, rounded half up; NULL where there is none that fits."""
    values, good = _decimals(data, kind, begin, size, type_.precision or _DIGITS_MAX, type_.scale)
    decimal = pa.decimal128(type_.precision or _DIGITS_MAX, type_.scale)
    made = pl.from_arrow(pa.Array.from_buffers(decimal, len(kind), [_validity(good), pa.py_buffer(values)]))
    assert isinstance(made, pl.Series)
    return made


def _validity(good: np.ndarray) -> pa.Buffer | None:
    return None if good.all() else pa.py_buffer(np.packbits(good, bitorder="little"))


@compiled()
def _gather(data, kind, begin, size):  # type: ignore[no-untyped-def]
    """The texts one behind the other, and where each begins."""
    offsets = np.zeros(kind.size + 1, np.int64)
    for entry in range(kind.size):
        offsets[entry + 1] = offsets[entry] + (size[entry] if kind[entry] != NULL else 0)
    text = np.empty(offsets[-1], np.uint8)
    at = 0
    for entry in range(kind.size):
        offsets[entry] = at
        if kind[entry] == ESCAPED:
            at = _unescape(data, begin[entry], begin[entry] + size[entry], text, at)
        elif kind[entry] != NULL:
            start = begin[entry]
            for place in range(size[entry]):
                text[at + place] = data[start + place]
            at += size[entry]
    offsets[kind.size] = at
    return offsets, text


@compiled()
def _unescape(data, at, end, text, to):  # type: ignore[no-untyped-def]
    """Write a string without its escapes, which are right; where it ends. It gets shorter."""
    while at < end:
        byte = data[at]
        if byte != _BACKSLASH:
            text[to] = byte
            at, to = at + 1, to + 1
        elif data[at + 1] != _U:
            meant = _ESCAPES[data[at + 1]]
            text[to] = meant if meant else data[at + 1]
            at, to = at + 2, to + 1
        else:
            code = read_hex(data, at + 2, end)
            at += 6
            if 0xD800 <= code < 0xDC00:
                code = 0x10000 + ((code - 0xD800) << 10) + read_hex(data, at + 2, end) - 0xDC00
                at += 6
            to = _write_letter(code, text, to)
    return to


@compiled()
def _write_letter(code, text, to):  # type: ignore[no-untyped-def]
    """In UTF-8."""
    if code < 0x80:
        text[to] = code
        return to + 1
    more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    text[to] = (0xF00 >> more + 1 & 0xFF) | code >> 6 * more
    for place in range(1, more + 1):
        text[to + place] = 0x80 | (code >> 6 * (more - place) & 0x3F)
    return to + more + 1


@compiled()
def _decimals(data, kind, begin, size, precision, scale):  # type: ignore[no-untyped-def]
    """128-bit integers, low half first, and which entries have one."""
    values = np.zeros((kind.size, 2), np.uint64)
    good = np.zeros(kind.size, np.bool_)
    for entry in range(kind.size):
        if kind[entry] != NULL and kind[entry] != ESCAPED:
            good[entry] = _decimal(data, begin[entry], begin[entry] + size[entry], precision, scale, values[entry])
    return values, good


@compiled()
def _decimal(data, at, end, precision, scale, value):  # type: ignore[no-untyped-def]
    """Whether it is a number that fits, which then is in `value`."""
    negative = at < end and data[at] == _MINUS
    if at < end and (data[at] == _MINUS or data[at] == _PLUS):
        at += 1
    start, digits, point = at, 0, -1
    while at < end and (data[at] == _POINT or _ZERO <= data[at] <= _NINE):
        if data[at] == _POINT:
            if point >= 0:
                return False
            point = digits
        else:
            digits += 1
        at += 1
    exponent = _exponent(data, at, end)
    if digits == 0 or exponent == _EXPONENT_MAX:
        return False
    wanted = (point if point >= 0 else digits) + exponent + scale  # so many digits count
    high, low = np.uint64(0), np.uint64(0)
    taken, count = 0, 0
    while count < wanted or (count == wanted and count < digits):
        digit = 0
        if count < digits:
            at = start + count + (0 <= point <= count)
            digit = data[at] - _ZERO
        if count == wanted:
            high, low = _add(high, low, np.uint64(digit >= 5))
            break
        if taken or digit:
            taken += 1
        elif count >= digits:
            break
        if taken > _DIGITS_MAX:
            return False
        high, low = _ten_times(high, low)
        high, low = _add(high, low, np.uint64(digit))
        count += 1
    if not _is_below(high, low, precision):
        return False
    if negative:
        low = ~low + np.uint64(1)
        high = ~high + np.uint64(low == 0)
    value[0], value[1] = low, high
    return True


@compiled()
def _exponent(data, at, end):  # type: ignore[no-untyped-def]
    """What stands behind the digits, 0 for nothing; _EXPONENT_MAX for what is no exponent, or a large one."""
    if at == end:
        return 0
    if data[at] | 32 != _SMALL_E or at + 1 == end:
        return _EXPONENT_MAX
    at += 1
    sign = -1 if data[at] == _MINUS else 1
    if data[at] == _MINUS or data[at] == _PLUS:
        at += 1
    exponent = 0
    if at == end or end - at > 3:
        return _EXPONENT_MAX
    while at < end:
        if not _ZERO <= data[at] <= _NINE:
            return _EXPONENT_MAX
        exponent = exponent * 10 + data[at] - _ZERO
        at += 1
    return sign * exponent


@compiled()
def _ten_times(high, low):  # type: ignore[no-untyped-def]
    ten, half, mask = np.uint64(10), np.uint64(32), np.uint64(0xFFFFFFFF)
    lower = (low & mask) * ten
    upper = (low >> half) * ten + (lower >> half)
    return high * ten + (upper >> half), (upper << half) | (lower & mask)


@compiled()
def _add(high, low, number):  # type: ignore[no-untyped-def]
    made = low + number
    return high + np.uint64(made < low), made


@compiled()
def _is_below(high, low, power):  # type: ignore[no-untyped-def]
    """Whether the number is below this power of ten."""
    of_high, of_low = np.uint64(0), np.uint64(1)
    for _ in range(power):
        of_high, of_low = _ten_times(of_high, of_low)
    return high < of_high or (high == of_high and low < of_low)

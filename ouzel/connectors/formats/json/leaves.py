"""Values of one kind at places of a blob, as columns: texts with their escapes undone, and decimals. Loops compiled by Numba."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.formats.compiled import compiled
from ouzel.connectors.formats.json.escapes import unescape
from ouzel.connectors.formats.json.scan import ESCAPED, NULL
from ouzel.connectors.formats.wide import WIDTH, copy_bytes

_MINUS, _PLUS, _POINT, _ZERO, _NINE, _SMALL_E = map(ord, "-+.09e")
_DIGITS_MAX = 38
_EXPONENT_MAX = 1_000
_SHORT_MAX = 18
_TENS = 10 ** np.arange(_SHORT_MAX + 1)
_LONG = np.iinfo(np.int64).min
"""No number of so few digits."""


def make_texts(data: np.ndarray, kind: np.ndarray, begin: np.ndarray, size: np.ndarray) -> pl.Series:
    """The text at each place; NULL where the entry is."""
    offsets = np.empty(len(kind) + 1, np.int64)
    text = np.empty(size.sum(where=kind != NULL) + WIDTH, np.uint8)
    _gather(data, kind, begin, size, offsets, text)
    buffers = [_validity(kind != NULL), pa.py_buffer(offsets), pa.py_buffer(text)]
    made = pl.from_arrow(pa.Array.from_buffers(pa.large_string(), len(kind), buffers))
    assert isinstance(made, pl.Series)
    return made


def make_decimals(
    data: np.ndarray, kind: np.ndarray, begin: np.ndarray, size: np.ndarray, type_: pl.Decimal
) -> pl.Series:
    """The number at each place, rounded half up; NULL where there is none that fits."""
    values, good = np.zeros((len(kind), 2), np.uint64), np.zeros(len(kind), np.bool_)
    precision = type_.precision or _DIGITS_MAX
    limit = 10 ** min(precision, _SHORT_MAX)
    _decimals(data, kind, begin, size, precision, type_.scale, limit, values, good)
    decimal = pa.decimal128(precision, type_.scale)
    made = pl.from_arrow(pa.Array.from_buffers(decimal, len(kind), [_validity(good), pa.py_buffer(values)]))
    assert isinstance(made, pl.Series)
    return made


def _validity(good: np.ndarray) -> pa.Buffer | None:
    return None if good.all() else pa.py_buffer(np.packbits(good, bitorder="little"))


@compiled()
def _gather(data, kind, begin, size, offsets, text):  # type: ignore[no-untyped-def]
    """The texts one behind the other, and where each begins."""
    at = 0
    for entry in range(kind.size):
        offsets[entry] = at
        if kind[entry] == ESCAPED:
            at = unescape(data, begin[entry], begin[entry] + size[entry], text, at)
        elif kind[entry] != NULL:
            _copy(data, begin[entry], size[entry], text, at)
            at += size[entry]
    offsets[kind.size] = at


@compiled(inline=True)
def _copy(data, begin, size, text, to):  # type: ignore[no-untyped-def]
    """Copy a text, and perhaps some of what is behind it, for which `text` has room."""
    if begin + size + WIDTH <= data.size:
        for place in range(0, size, WIDTH):
            copy_bytes(data, begin + place, text, to + place)
    else:
        for place in range(size):
            text[to + place] = data[begin + place]


@compiled()
def _decimals(data, kind, begin, size, precision, scale, limit, values, good):  # type: ignore[no-untyped-def]
    """128-bit integers, low half first, and which entries have one. Those within the limit are made in a shorter way."""
    for entry in range(kind.size):
        if kind[entry] == NULL or kind[entry] == ESCAPED:
            continue
        value = _short_decimal(data, begin[entry], begin[entry] + size[entry], scale)
        if -limit < value < limit:
            values[entry, 0], values[entry, 1] = np.uint64(value), np.uint64(value >> 63)
            good[entry] = True
        else:
            good[entry] = _decimal(data, begin[entry], begin[entry] + size[entry], precision, scale, values, entry)


@compiled(inline=True)
def _short_decimal(data, at, end, scale):  # type: ignore[no-untyped-def]
    """The number in units of its scale, if it is written plainly, with no digit too many; else _LONG."""
    negative = at < end and data[at] == _MINUS
    at += negative
    if end - at > _SHORT_MAX:
        return _LONG
    value, digits, behind = np.int64(0), 0, -1
    while at < end:
        byte = data[at]
        if byte == _POINT and behind < 0:
            behind = digits
        elif _ZERO <= byte <= _NINE:
            value = value * 10 + (byte - _ZERO)
            digits += 1
        else:
            return _LONG
        at += 1
    more = scale - (digits - behind if behind >= 0 else 0)
    if digits == 0 or more < 0 or digits + more > _SHORT_MAX:
        return _LONG
    value *= _TENS[more]
    return -value if negative else value


@compiled(inline=True)
def _decimal(data, at, end, precision, scale, values, entry):  # type: ignore[no-untyped-def]
    """Whether it is a number that fits, which then is among the values."""
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
    values[entry, 0], values[entry, 1] = low, high
    return True


@compiled(inline=True)
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


@compiled(inline=True)
def _ten_times(high, low):  # type: ignore[no-untyped-def]
    ten, half, mask = np.uint64(10), np.uint64(32), np.uint64(0xFFFFFFFF)
    lower = (low & mask) * ten
    upper = (low >> half) * ten + (lower >> half)
    return high * ten + (upper >> half), (upper << half) | (lower & mask)


@compiled(inline=True)
def _add(high, low, number):  # type: ignore[no-untyped-def]
    made = low + number
    return high + np.uint64(made < low), made


@compiled(inline=True)
def _is_below(high, low, power):  # type: ignore[no-untyped-def]
    """Whether the number is below this power of ten."""
    of_high, of_low = np.uint64(0), np.uint64(1)
    for _ in range(power):
        of_high, of_low = _ten_times(of_high, of_low)
    return high < of_high or (high == of_high and low < of_low)

"""Dates and timestamps at places of a blob, as they are mostly written. Loops compiled by Numba."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.connectors.formats.compiled import compiled
from ouzel.connectors.formats.json.scan import STRING

_MINUS, _POINT, _COLON, _SPACE, _T, _Z, _ZERO, _NINE = map(ord, "-.: TZ09")
_ZERO_ZONE = np.frombuffer(b"+00:00", np.uint8)
_NO_DAY = -(1 << 40)
_DAY_US = 86_400_000_000
_TENS = 10 ** np.arange(7)
_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


def make_times(
    data: np.ndarray, kind: np.ndarray, begin: np.ndarray, size: np.ndarray, type_: pl.Date | pl.Datetime
) -> tuple[pl.Series, np.ndarray]:
    """The value at each place, and which of them are to be taken: `yyyy-MM-dd`, and for a timestamp a `T` or a space, `HH:mm:ss`, at most
    six digits more, and perhaps `Z` or `+00:00`. Any other way to write one is for others to read."""
    values, good = np.zeros(kind.size, np.int64), np.zeros(kind.size, np.bool_)
    if isinstance(type_, pl.Date):
        _dates(data, kind, begin, size, values, good)
        return pl.Series(values.astype(np.int32)).cast(type_), good
    _timestamps(data, kind, begin, size, values, good)
    return pl.Series(values).cast(type_), good


@compiled()
def _dates(data, kind, begin, size, values, good):  # type: ignore[no-untyped-def]
    for entry in range(kind.size):
        if kind[entry] == STRING and size[entry] == 10:
            day = _day(data, begin[entry])
            if day != _NO_DAY:
                values[entry], good[entry] = day, True


@compiled()
def _timestamps(data, kind, begin, size, values, good):  # type: ignore[no-untyped-def]
    for entry in range(kind.size):
        if kind[entry] == STRING and size[entry] >= 19:
            at = begin[entry]
            day, second = _day(data, at), _second(data, at + 11)
            micros = _micros(data, at + 19, at + size[entry])
            is_apart = data[at + 10] == _T or data[at + 10] == _SPACE
            if is_apart and day != _NO_DAY and second >= 0 and micros >= 0:
                values[entry], good[entry] = day * _DAY_US + second * 1_000_000 + micros, True


@compiled(inline=True)
def _number(data, at, digits):  # type: ignore[no-untyped-def]
    """The number that so many digits make; a negative one if they are none."""
    number = np.int64(0)
    for place in range(at, at + digits):
        digit = np.int64(data[place]) - _ZERO
        if digit < 0 or digit > 9:
            return -1_000_000
        number = number * 10 + digit
    return number


@compiled(inline=True)
def _day(data, at):  # type: ignore[no-untyped-def]
    """Days since 1970 of `yyyy-MM-dd`."""
    year, month, day = _number(data, at, 4), _number(data, at + 5, 2), _number(data, at + 8, 2)
    if data[at + 4] != _MINUS or data[at + 7] != _MINUS or year < 1 or not 1 <= month <= 12:
        return _NO_DAY
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _MONTH_DAYS[month] + (month == 2 and is_leap):
        return _NO_DAY
    since_march = (month + 9) % 12  # years that begin in March have their leap day at the end
    year -= month <= 2
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * since_march + 2) // 5 + day - 719_469


@compiled(inline=True)
def _second(data, at):  # type: ignore[no-untyped-def]
    """The second of the day of `HH:mm:ss`; negative for none."""
    hour, minute, second = _number(data, at, 2), _number(data, at + 3, 2), _number(data, at + 6, 2)
    if (
        data[at + 2] != _COLON
        or data[at + 5] != _COLON
        or not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60)
    ):
        return -1
    return hour * 3_600 + minute * 60 + second


@compiled(inline=True)
def _micros(data, at, end):  # type: ignore[no-untyped-def]
    """Microseconds of what stands behind the seconds; negative if it is neither a fraction nor UTC."""
    micros = 0
    if at < end and data[at] == _POINT:
        digits = 0
        while digits < 6 and at + 1 + digits < end and _ZERO <= data[at + 1 + digits] <= _NINE:
            digits += 1
        if not digits:
            return -1
        micros = _number(data, at + 1, digits) * _TENS[6 - digits]
        at += 1 + digits
    if at == end or (at + 1 == end and data[at] == _Z):
        return micros
    if at + _ZERO_ZONE.size != end:
        return -1
    for place in range(_ZERO_ZONE.size):
        if data[at + place] != _ZERO_ZONE[place]:
            return -1
    return micros

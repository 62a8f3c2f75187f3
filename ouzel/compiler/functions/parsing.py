"""Text to values, as Spark's ANSI casts read it. The usual spellings convert as whole columns; what is left, once per distinct text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from datetime import date as Date
from decimal import Decimal
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ouzel.compiler.functions.lowering import call_on_frame, map_rows
from ouzel.compiler.types import DATE, DecimalType, TimestampType, to_polars

if TYPE_CHECKING:
    import polars as pl

BLANKS = "".join(map(chr, [*range(33), 127]))
"""What Spark trims before it reads a value: white space and control characters of ASCII."""

WORDS_OF_BOOLEAN = {
    **dict.fromkeys(("t", "true", "y", "yes", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "0"), False),
}
"""What a cast to BOOLEAN reads, whatever its case."""

_SPECIAL = {
    "inf": "inf", "+inf": "inf", "infinity": "inf", "+infinity": "inf", "-inf": "-inf", "-infinity": "-inf", "nan": "nan",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_JAVA_FLOAT = re.compile(r"([+-]?)(NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_JAVA_HEX = re.compile(r"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_DATE = re.compile(r"([+-]?)(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)
_TIMESTAMP = re.compile(
    r"([+-]?)(\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](?:(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?\s*(\S.*)?)?)?)?)?",
    re.ASCII,
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2})(?::?(\d{1,2}))?)?", re.ASCII)
_EPOCH_DAY = Date(1970, 1, 1).toordinal()

Outcome = tuple["pl.Expr", "pl.Expr | None"]
"""A converted value and where converting failed."""


def boolean(text: pl.Expr) -> Outcome:
    """t, true, y, yes, 1 and their opposites, in any case."""
    import polars as pl

    word = text.str.strip_chars(BLANKS).str.to_lowercase()
    value = word.replace_strict(
        list(WORDS_OF_BOOLEAN), list(WORDS_OF_BOOLEAN.values()), default=None, return_dtype=pl.Boolean
    )
    return value, value.is_null() & text.is_not_null()


def integer(text: pl.Expr, kind: pl.DataType) -> Outcome:
    """Digits with an optional sign."""
    value = text.str.strip_chars(BLANKS).cast(kind, strict=False)
    return value, value.is_null() & text.is_not_null()


def parse_float(text: pl.Expr, kind: pl.DataType) -> Outcome:
    """Java's floating-point literals, and inf, infinity and nan in any case."""
    return _two_steps(
        text, kind, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$", lambda s: s.cast(kind, strict=False), _to_float
    )


def _to_float(text: str) -> float:
    trimmed = text.strip("".join(map(chr, range(33))))
    if special := _SPECIAL.get(text.strip(BLANKS).lower()):
        return float(special)
    if _JAVA_HEX.fullmatch(trimmed.rstrip("fFdD") if "p" in trimmed.lower() else ""):
        return float.fromhex(trimmed.rstrip("fFdD"))
    found = _JAVA_FLOAT.fullmatch(trimmed)
    if not found:
        raise ValueError(text)
    return float(found[1] + found[2])


def to_decimal(text: str, kind: DecimalType) -> Decimal:
    """A decimal number, rounded HALF_UP to the scale. Raises ValueError or ArithmeticError if it is none or has too many digits."""
    from ouzel.compiler.functions.decimals import round_decimal

    trimmed = text.strip(BLANKS)
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError(text)
    number = Decimal(trimmed)
    if number and number.adjusted() < -kind.scale - 1:
        number = Decimal(0)
    if number.adjusted() > 100:
        raise ArithmeticError(text)
    return round_decimal(number, kind)


def date(text: pl.Expr) -> Outcome:
    """yyyy, yyyy-[m]m, yyyy-[m]m-[d]d, and anything after a blank or T."""
    return _two_steps(
        text, to_polars(DATE), r"^\d{4}-\d\d-\d\d$", lambda s: s.str.to_date("%Y-%m-%d", strict=False), to_day
    )


def to_day(text: str) -> int:
    """Days since 1970 of a date in Spark's spelling. Raises ValueError."""
    found = _DATE.fullmatch(text.strip(BLANKS))
    if not found:
        raise ValueError(text)
    sign, year, month, day = found.groups()
    return days(int(sign + year), int(month or 1), int(day or 1))


def days(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day in the proleptic Gregorian calendar, in any year. Raises ValueError for a day that is none."""
    shift = (year - 2000) // 400
    return Date(year - 400 * shift, month, day).toordinal() - _EPOCH_DAY + shift * 146_097


def parse_timestamp(text: pl.Expr, local: bool) -> Outcome:
    """yyyy-[m]m-[d]d[ T][h]h:[m]m:[s]s.ffffff and a zone, each part from the right optional; a TIMESTAMP ignores the zone."""

    def fast(series: pl.Series) -> pl.Series:
        point = series.str.replace("T", " ", literal=True).str.to_datetime(
            "%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False
        )
        return point.cast(to_polars(TimestampType(local)))

    usual = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:[0-5]\d(\.\d{1,6})?$"
    return _two_steps(text, to_polars(TimestampType(local)), usual, fast, lambda value: to_micros(value, local))


def to_micros(text: str, local: bool) -> int:
    """Microseconds since 1970 (UTC) of a timestamp in Spark's spelling. Raises ValueError."""
    found = _TIMESTAMP.fullmatch(text.strip(BLANKS))
    if not found:
        raise ValueError(text)
    sign, year, month, day, hour, minute, second, fraction, zone = found.groups()
    clock = [int(part or 0) for part in (hour, minute, second)]
    if clock[0] > 23 or clock[1] > 59 or clock[2] > 59:
        raise ValueError(text)
    day_number = days(int(sign + year), int(month or 1), int(day or 1))
    micros = int((fraction or "")[:6].ljust(6, "0"))
    local_us = ((day_number * 24 + clock[0]) * 3600 + clock[1] * 60 + clock[2]) * 1_000_000 + micros
    offset = _offset_us(zone, local_us) if zone else 0
    result = local_us - offset if local else local_us
    if not -(2**63) <= result < 2**63:
        raise ValueError(text)
    return result


def _offset_us(zone: str, local_us: int) -> int:
    """How far a zone is ahead of UTC at a local time."""
    if zone in ("Z", "UTC", "GMT", "UT"):
        return 0
    if found := _OFFSET.fullmatch(zone):
        seconds = int(found[2]) * 3600 + int(found[3] or 0) * 60 + int(found[4] or 0)
        if int(found[3] or 0) > 59 or int(found[4] or 0) > 59 or seconds > 18 * 3600:
            raise ValueError(zone)
        return (seconds if found[1] == "+" else -seconds) * 1_000_000
    try:
        region = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(zone) from error
    moment = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None) + timedelta(microseconds=local_us)
    return (moment.replace(tzinfo=region).utcoffset() or timedelta()) // timedelta(microseconds=1)


def _two_steps(
    text: pl.Expr, kind: pl.DataType, usual: str, fast: Callable[[pl.Series], pl.Series], slow: Callable[[str], object]
) -> Outcome:
    """Texts of the `usual` shape by `fast` as a column, the others by `slow` one by one; and where neither can read it."""
    import polars as pl

    def batch(rows: pl.DataFrame) -> pl.Series:
        column = rows.to_series().alias("value")
        quick = fast(column.set(~column.str.contains(usual), None))
        rest = column.is_not_null() & quick.is_null()
        if not rest.any():
            return quick
        both = rows.select(both=map_rows((pl.col("0"),), slow, kind))["both"]
        return quick.zip_with(~rest, both.struct.field("value"))

    value = call_on_frame((text,), batch, kind)
    return value, value.is_null() & text.is_not_null()

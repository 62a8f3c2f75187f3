"""Typed literals and numbers as Spark in ANSI mode reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TypeVar
from zoneinfo import ZoneInfo

from ouzel.compiler.coercion import MAX_PRECISION
from ouzel.compiler.expressions import Literal
from ouzel.compiler.functions.operands import decimal_of_digits
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens
from ouzel.compiler.sql.syntax.words import is_numeral, is_text
from ouzel.compiler.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    INTERVAL_MONTHS,
    TIMESTAMP,
    TIMESTAMP_LTZ,
)  # fmt: skip
from ouzel.errors import NotSupported, QueryError

_Parsed = TypeVar("_Parsed", date, datetime)

UNIT_US = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000, "DAY": 86_400_000_000,
    "WEEK": 7 * 86_400_000_000,
}  # fmt: skip
"""Microseconds of each unit of a DAY TO SECOND interval."""
MOST_US = 1 << 62
"""Microseconds of the longest window, gap, lateness or life of a key: any time and such a span or two add up within 64 bits."""
MOST_ROWS = (1 << 31) - 1
"""So many rows are counted at most by LIMIT, a frame of ROWS, LAG and their like: as many as Spark counts."""
_UNIT_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
UNITS = frozenset(unit + plural for unit in (*UNIT_US, *_UNIT_MONTHS) for plural in ("", "S"))
"""What may stand behind INTERVAL '5'."""
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")


def row_count(source: QueryText, text: str, span: Span) -> int:
    """A number of rows, as digits.

    Raises:
        QueryError: it is more than is counted.
    """
    if int(text) > MOST_ROWS:
        problem = f"{text} rows are more than can be counted, {MOST_ROWS}"
        raise source.error(problem, span, f"write {MOST_ROWS}, or leave the bound out")
    return int(text)


def number(text: str) -> Literal:
    """INT if it fits, else BIGINT, else DECIMAL; `1.5` is DECIMAL(2, 1); with an exponent DOUBLE.

    Raises:
        QueryError: more than 38 digits.
    """
    if "e" in text.lower():
        return Literal(DOUBLE, float(text))
    if "." not in text:
        value = int(text)
        if -(1 << 31) <= value < 1 << 31:
            return Literal(INT, value)
        if -(1 << 63) <= value < 1 << 63:
            return Literal(BIGINT, value)
    exact = Decimal(text)
    kind = decimal_of_digits(exact)
    if kind.precision > MAX_PRECISION:
        raise QueryError(
            f"the number {text} has more than 38 digits", instead="write it with an exponent, which makes it a DOUBLE"
        )
    return Literal(kind, exact)


def parse_typed_literal(kind: str, text: str, zone: str) -> Literal:
    """`DATE '2013-01-01'`, `TIMESTAMP '2013-01-01 10:00:00'`; `kind` is the lower-case type.

    The instant of a text that names no time zone is that of the session's `zone`.

    Raises:
        QueryError: the text is not of that type.
    """
    if kind.startswith("time") and not kind.startswith("timestamp"):
        advice = f"write TIMESTAMP '2013-01-31 {text}' with a day, or the text '{text}'"
        raise NotSupported("the type TIME is not supported", instead=advice)
    if kind == "date":
        return Literal(DATE, _parse(kind, text, date.fromisoformat, "DATE '2013-01-31'"))
    if kind not in ("timestamp", "timestamp_ntz", "timestamp without time zone"):
        instant = partial(_parse_instant, zone)
        return Literal(TIMESTAMP_LTZ, _parse(kind, text, instant, "TIMESTAMP_LTZ '2013-01-31 23:59:59+02:00'"))
    value = _parse(kind, text, datetime.fromisoformat, "TIMESTAMP '2013-01-31 23:59:59'")
    if value.tzinfo:
        raise QueryError(f"TIMESTAMP '{text}' names a time zone", instead=f"write TIMESTAMP_LTZ '{text}'")
    return Literal(TIMESTAMP, value)


def _parse_instant(zone: str, text: str) -> datetime:
    value = datetime.fromisoformat(text)
    return (value if value.tzinfo else value.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)


def instant_us(text: str) -> int:
    """Microseconds since the epoch of an ISO 8601 time, in UTC unless it names another zone; of a date its first moment.

    Raises:
        QueryError: it is not a time.
    """
    value = _parse("timestamp", text, datetime.fromisoformat, "2013-01-31 or 2013-01-31T23:59:59")
    return microseconds((value if value.tzinfo else value.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC))


def _parse(kind: str, text: str, parse: Callable[[str], _Parsed], example: str) -> _Parsed:
    try:
        if not re.match(r"\d{4}-\d\d-\d\d([ T]|$)", text):
            raise ValueError
        return parse(text)
    except (ValueError, OverflowError):
        raise QueryError(f"'{text}' is not a {kind.upper()}", instead=f"write it like {example}") from None


def interval(text: str, units: tuple[str, ...]) -> Literal:
    """`INTERVAL '5' SECOND`, `INTERVAL '1:30' HOUR TO MINUTE`, `INTERVAL '1 day 2 hours'`; months are an int, other units a timedelta.

    Raises:
        QueryError: the text does not fit the units.
    """
    names = tuple(unit.upper().removesuffix("S") for unit in units)
    if not names:
        return _postgres_interval(text)
    if len(names) == 1:
        return _of_units(text, [(text, names[0])])
    if len(names) > 2:
        raise _bad_interval(text)
    return _of_range(text, *names)


def _postgres_interval(text: str) -> Literal:
    parts = re.findall(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)", text)
    left = re.sub(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)", "", text).strip()
    if not parts or left:
        raise _bad_interval(text)
    return _of_units(text, [(amount, unit.upper().removesuffix("S")) for amount, unit in parts])


def _of_units(text: str, parts: list[tuple[str, str]]) -> Literal:
    if not all(re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", amount) for amount, _ in parts):
        raise _bad_interval(text)
    if all(unit in _UNIT_MONTHS for _, unit in parts) and all("." not in amount for amount, _ in parts):
        return _of_months(text, sum(int(amount) * _UNIT_MONTHS[unit] for amount, unit in parts))
    if all(unit in UNIT_US for _, unit in parts):
        return _of_us(text, int(sum(Decimal(amount) * UNIT_US[unit] for amount, unit in parts)))
    raise _bad_interval(text)


def _of_range(text: str, first: str, last: str) -> Literal:
    if (first, last) == ("YEAR", "MONTH"):
        parts = re.fullmatch(r"([+-]?)(\d+)-(\d+)", text.strip())
        if not parts:
            raise _bad_interval(text)
        months = int(parts[2]) * 12 + int(parts[3])
        return _of_months(text, -months if parts[1] == "-" else months)
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        raise _bad_interval(text)
    units = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    sign, amounts = (-1 if text.strip().startswith("-") else 1), re.split(r"[\s:]+", text.strip().lstrip("+-"))
    if len(amounts) != len(units) or not all(re.fullmatch(r"\d+(\.\d+)?", amount) for amount in amounts):
        raise _bad_interval(text)
    us = sum(Decimal(amount) * UNIT_US[unit] for amount, unit in zip(amounts, units, strict=True))
    return _of_us(text, sign * int(us))


def _of_us(text: str, us: int) -> Literal:
    if abs(us) >> 63:
        raise QueryError(f"'{text}' is longer than an interval can be", instead="write at most 106751991 days")
    return Literal(INTERVAL, timedelta(microseconds=us))


def _of_months(text: str, months: int) -> Literal:
    if abs(months) >> 31:
        raise QueryError(f"'{text}' is longer than an interval can be", instead="write at most 178956970 years")
    return Literal(INTERVAL_MONTHS, months)


def _bad_interval(text: str) -> QueryError:
    return QueryError(
        f"'{text}' is not an interval",
        instead="write for example INTERVAL '5' SECOND or INTERVAL '1:30' HOUR TO MINUTE",
    )


def interval_us(source: QueryText, tokens: Tokens, span: Span) -> int:
    """Microseconds of an interval given as tokens (`INTERVAL '5' SECOND`, or `5 SECONDS`).

    Raises:
        QueryError: the tokens are not a positive interval of days or less.
    """
    words = [token for token in tokens if token.text.upper() not in ("INTERVAL", "TO")]
    if words and (is_text(words[0]) or is_numeral(words[0])):
        try:
            literal = interval(words[0].text, tuple(token.text for token in words[1:]))
        except QueryError as error:
            raise error.located(source.text, span[0], span[1] - span[0]) from None
        if isinstance(literal.value, timedelta) and literal.value > timedelta(0):
            return span_us(source, microseconds(literal.value), span)
    raise source.error("a positive interval is needed here", span, "write for example INTERVAL '5' SECOND")


def span_us(source: QueryText, us: int, span: Span) -> int:
    """Microseconds that are to be added to times.

    Raises:
        QueryError: they are more than can be.
    """
    if abs(us) > MOST_US:
        days = MOST_US // UNIT_US["DAY"]
        raise source.error("this is longer than what can be added to any time", span, f"write at most {days} days")
    return us


def microseconds(value: timedelta) -> int:
    """The exact number of microseconds of `value`."""
    return value // timedelta(microseconds=1)

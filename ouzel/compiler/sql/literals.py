"""Typed literals and numbers as Spark in ANSI mode reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TypeVar

from sqlglot.tokenizer_core import TokenType

from ouzel.compiler.expressions import Literal
from ouzel.compiler.sql.source import QueryText, Span, Tokens
from ouzel.compiler.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    INTERVAL_MONTHS,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    DecimalType,
)  # fmt: skip
from ouzel.errors import QueryError

_Parsed = TypeVar("_Parsed", date, datetime)

UNIT_US = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000, "DAY": 86_400_000_000,
    "WEEK": 7 * 86_400_000_000,
}  # fmt: skip
"""Microseconds of each unit of a DAY TO SECOND interval."""
_UNIT_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")


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
    scale = max(0, -int(exact.as_tuple().exponent))
    precision = max(len(exact.as_tuple().digits), scale)
    if precision > 38:
        raise QueryError(
            f"the number {text} has more than 38 digits", instead="write it with an exponent, which makes it a DOUBLE"
        )
    return Literal(DecimalType(precision, scale), exact)


def parse_typed_literal(kind: str, text: str) -> Literal:
    """`DATE '2013-01-01'`, `TIMESTAMP '2013-01-01 10:00:00'`; `kind` is the lower-case type.

    Raises:
        QueryError: the text is not of that type.
    """
    if kind == "date":
        return Literal(DATE, _parse(kind, text, date.fromisoformat, "DATE '2013-01-31'"))
    local = kind not in ("timestamp", "timestamp_ntz", "timestamp without time zone")
    value = _parse(kind, text, datetime.fromisoformat, "TIMESTAMP '2013-01-31 23:59:59'")
    if local:
        return Literal(TIMESTAMP_LTZ, value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))
    if value.tzinfo:
        raise QueryError(f"TIMESTAMP '{text}' names a time zone", instead=f"write TIMESTAMP_LTZ '{text}'")
    return Literal(TIMESTAMP, value)


def instant_us(text: str) -> int:
    """Microseconds since the epoch of an ISO 8601 time, in UTC unless it names another zone; of a date its first moment.

    Raises:
        QueryError: it is not a time.
    """
    value = _parse("timestamp", text, datetime.fromisoformat, "2013-01-31 or 2013-01-31T23:59:59")
    return microseconds((value if value.tzinfo else value.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC))


def _parse(kind: str, text: str, parse: Callable[[str], _Parsed], example: str) -> _Parsed:
    try:
        if not re.match(r"\d{4}-\d\d-\d\d", text):
            raise ValueError
        return parse(text)
    except ValueError:
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
        return Literal(INTERVAL_MONTHS, sum(int(amount) * _UNIT_MONTHS[unit] for amount, unit in parts))
    if all(unit in UNIT_US for _, unit in parts):
        return Literal(
            INTERVAL, timedelta(microseconds=int(sum(Decimal(amount) * UNIT_US[unit] for amount, unit in parts)))
        )
    raise _bad_interval(text)


def _of_range(text: str, first: str, last: str) -> Literal:
    if (first, last) == ("YEAR", "MONTH"):
        parts = re.fullmatch(r"([+-]?)(\d+)-(\d+)", text.strip())
        if not parts:
            raise _bad_interval(text)
        months = int(parts[2]) * 12 + int(parts[3])
        return Literal(INTERVAL_MONTHS, -months if parts[1] == "-" else months)
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        raise _bad_interval(text)
    units = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    sign, amounts = (-1 if text.strip().startswith("-") else 1), re.split(r"[\s:]+", text.strip().lstrip("+-"))
    if len(amounts) != len(units) or not all(re.fullmatch(r"\d+(\.\d+)?", amount) for amount in amounts):
        raise _bad_interval(text)
    us = sum(Decimal(amount) * UNIT_US[unit] for amount, unit in zip(amounts, units, strict=True))
    return Literal(INTERVAL, timedelta(microseconds=sign * int(us)))


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
    if words and words[0].token_type in (TokenType.STRING, TokenType.NUMBER):
        try:
            literal = interval(words[0].text, tuple(token.text for token in words[1:]))
        except QueryError as error:
            raise error.located(source.text, span[0], span[1] - span[0]) from None
        if isinstance(literal.value, timedelta) and literal.value > timedelta(0):
            return microseconds(literal.value)
    raise source.error("a positive interval is needed here", span, "write for example INTERVAL '5' SECOND")


def microseconds(value: timedelta) -> int:
    """The exact number of microseconds of `value`."""
    return value // timedelta(microseconds=1)

"""Parts of dates and timestamps, and moving them. The session time zone is UTC, so TIMESTAMP and TIMESTAMP_LTZ read alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.functions.formats import check_seconds
from ouzel.compiler.functions.lowering import by_row, constant_of, plain, quote, spark_call, with_errors
from ouzel.compiler.functions.parsing import days
from ouzel.compiler.functions.registry import Function, Lowered, Signature, SparkLowering
from ouzel.compiler.functions.search import literal_at, text_at
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.functions.time_arithmetic import DAY_US, OVERFLOW, add_months
from ouzel.compiler.types import BIGINT, DATE, INT, TIMESTAMP, TIMESTAMP_LTZ, VARCHAR, DataType, to_polars
from ouzel.errors import QueryError

if TYPE_CHECKING:
    import polars as pl

POINTS = (DATE, TIMESTAMP, TIMESTAMP_LTZ)
_SPANS = {
    "microsecond": 1, "millisecond": 1_000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000,
    "day": DAY_US, "week": 7 * DAY_US,
}  # fmt: skip
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_TRUNCATED = {
    "microsecond": "1us", "millisecond": "1ms", "second": "1s", "minute": "1m", "hour": "1h", "day": "1d", "week": "1w",
    "month": "1mo", "quarter": "1q", "year": "1y",
}  # fmt: skip


def _part(
    name: str,
    doc: str,
    usage: str,
    build: Callable[[pl.Expr], pl.Expr],
    *aliases: str,
    kinds: Sequence[DataType] = POINTS,
) -> Function:
    rule = overloads(*(((kind,), INT) for kind in kinds))
    return Function(
        name, rule, plain(lambda a: build(a).cast(to_polars(INT))), spark_call(name), doc, usage, aliases=aliases
    )


def unit_of(text: object) -> str:
    """The canonical name of a unit of time."""
    return str(text).lower().removesuffix("s")


def _check_unit(name: str, position: int, units: Sequence[str]) -> Callable[[Sequence[Expression]], None]:
    literal = literal_at(name, position)

    def check(arguments: Sequence[Expression]) -> None:
        literal(arguments)
        unit = text_at(arguments, position)
        if unit is not None and unit_of(unit) not in units:
            raise QueryError(f"{name.upper()} knows no unit '{unit}'", instead=f"use one of {', '.join(units).upper()}")

    return check


def _date_trunc(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    unit, value = arguments
    return with_errors(value.value.dt.truncate(_TRUNCATED[unit_of(unit.literal)]), arguments)


def _spark_date_trunc(arguments: Sequence[str], signature: Signature) -> str:
    text = f"F.date_trunc({_unit_text(arguments[0])}, {arguments[1]})"
    return (
        text
        if signature.result == TIMESTAMP_LTZ
        else f'{text}.cast("{"date" if signature.result == DATE else "timestamp_ntz"}")'
    )


def _unit_text(text: str) -> str:
    import ast

    return quote(unit_of(ast.literal_eval(constant_of(text))).upper())


def _micros(value: pl.Expr) -> pl.Expr:
    return value.to_physical()


def months_between(start: pl.Expr, end: pl.Expr) -> pl.Expr:
    """Whole months from one timestamp to another, cut towards zero."""
    import polars as pl

    first, last = _day_of(start), _day_of(end)
    early, late = _clock_of(end) < _clock_of(start), _clock_of(end) > _clock_of(start)
    # as Java's LocalDateTime.until: a day that is not whole is taken off before months are counted
    last = last - ((last > first) & early).cast(pl.Int64) + ((last < first) & late).cast(pl.Int64)
    return (_pack_month(last) - _pack_month(first)).truncdiv(32)


def _day_of(value: pl.Expr) -> pl.Expr:
    return _micros(value).floordiv(DAY_US)


def _clock_of(value: pl.Expr) -> pl.Expr:
    return _micros(value) - _day_of(value) * DAY_US


def _pack_month(day: pl.Expr) -> pl.Expr:
    import polars as pl

    date = day.cast(pl.Int32).cast(to_polars(DATE))
    return (date.dt.year().cast(pl.Int64) * 12 + date.dt.month()) * 32 + date.dt.day()


def _timestampdiff(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    unit = unit_of(arguments[0].literal)
    start, end = arguments[1].value, arguments[2].value
    if unit in _MONTHS:
        return with_errors(months_between(start, end).truncdiv(_MONTHS[unit]), arguments)
    a, b = _micros(end), _micros(start)
    rest = a - b
    error = ((a ^ b) & (a ^ rest)) < 0
    return with_errors(rest.truncdiv(_SPANS[unit]), arguments, error, OVERFLOW)


def _timestampadd(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    unit, count, value = arguments
    name = unit_of(unit.literal)
    if name in _MONTHS:
        number = count.value.cast(pl.Int64).clip(-(10**8), 10**8)  # beyond is beyond the calendar anyhow
        moved = add_months(value.value, number * _MONTHS[name])
        lost = moved.is_null() & value.value.is_not_null() & count.value.is_not_null()
        return with_errors(moved, arguments, lost, OVERFLOW)
    total = _micros(value.value).cast(pl.Int128) + count.value.cast(pl.Int128) * _SPANS[name]
    error = ~total.is_between(-(2**63), 2**63 - 1)
    return with_errors(total.cast(pl.Int64, strict=False).cast(to_polars(signature.result)), arguments, error, OVERFLOW)


def _spark_units(name: str) -> SparkLowering:
    def lower(arguments: Sequence[str], signature: Signature) -> str:
        return f"F.{name}({_unit_text(arguments[0])}, {arguments[1]}, {arguments[2]})"

    return lower


def _days_on(sign: int) -> Callable[[pl.Expr, pl.Expr], pl.Expr]:
    def build(value: pl.Expr, count: pl.Expr) -> pl.Expr:
        number = value.to_physical()
        return (number + count if sign > 0 else number - count).cast(to_polars(DATE))

    return build


def _make_date(year: int, month: int, day: int) -> int:
    number = days(year, month, day)
    if not -(2**31) <= number < 2**31:
        raise ValueError("beyond the calendar")
    return number


def _add_months(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    value, count = arguments
    moved = add_months(value.value, count.value)
    lost = moved.is_null() & value.value.is_not_null() & count.value.is_not_null()
    return with_errors(moved, arguments, lost, OVERFLOW)


def _seconds(value: pl.Expr) -> pl.Expr:
    return _micros(value).floordiv(1_000_000)


def _to_ltz(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    precision = arguments[1].literal
    assert isinstance(precision, int)
    value, step = arguments[0].value, 10 ** (6 - precision)
    limit = (2**63 - 1) // step
    error = None if step == 1 else ~value.is_between(-limit, limit)
    return with_errors((value * step).cast(to_polars(TIMESTAMP_LTZ)), arguments, error, OVERFLOW)


def _check_precision(arguments: Sequence[Expression]) -> None:
    precision = arguments[1] if len(arguments) > 1 else None
    if isinstance(precision, Expression) and not (isinstance(precision, Literal) and precision.value in (0, 3, 6)):
        raise QueryError(
            "the precision of TO_TIMESTAMP_LTZ is the literal 0 (seconds), 3 (milliseconds) or 6 (microseconds)",
            instead="write TO_TIMESTAMP_LTZ(epoch, 3)",
        )
    if isinstance(precision, Literal) and precision.value == 0:
        check_seconds(arguments)


def _spark_ltz(arguments: Sequence[str], signature: Signature) -> str:
    name = {"0": "timestamp_seconds", "3": "timestamp_millis", "6": "timestamp_micros"}[constant_of(arguments[1])]
    return f"F.{name}({arguments[0]})"


_ANY_UNIT = (*_SPANS, *_MONTHS)
_UNIT_EXAMPLES: tuple[tuple[int, tuple[object, ...]], ...] = ((0, _ANY_UNIT),)
_DIFFERENCES = overloads(*(((VARCHAR, kind, kind), BIGINT) for kind in (TIMESTAMP, TIMESTAMP_LTZ)))
_STAMPS = (TIMESTAMP, TIMESTAMP_LTZ)
FUNCTIONS: tuple[Function, ...] = (
    _part("year", "The year.", "YEAR(t), EXTRACT(YEAR FROM t)", lambda a: a.dt.year()),
    _part("quarter", "The quarter, 1 to 4.", "QUARTER(t)", lambda a: a.dt.quarter()),
    _part("month", "The month, 1 to 12.", "MONTH(t)", lambda a: a.dt.month()),
    _part("weekofyear", "The week of ISO 8601.", "WEEK(t)", lambda a: a.dt.week(), "week"),
    _part("dayofmonth", "The day of the month.", "DAYOFMONTH(t)", lambda a: a.dt.day(), "day"),
    _part("dayofyear", "The day of the year.", "DAYOFYEAR(t)", lambda a: a.dt.ordinal_day(), "doy"),
    _part("dayofweek", "The day of the week, 1 is Sunday.", "DAYOFWEEK(t)", lambda a: a.dt.weekday() % 7 + 1, "dow"),
    _part("weekday", "The day of the week, 0 is Monday.", "WEEKDAY(t)", lambda a: a.dt.weekday() - 1),
    _part("hour", "The hour, 0 to 23.", "HOUR(t)", lambda a: a.dt.hour(), kinds=_STAMPS),
    _part("minute", "The minute, 0 to 59.", "MINUTE(t)", lambda a: a.dt.minute(), kinds=_STAMPS),
    _part("second", "The whole second, 0 to 59.", "SECOND(t)", lambda a: a.dt.second(), kinds=_STAMPS),
    Function(
        "date_trunc", overloads(*(((VARCHAR, kind), kind) for kind in POINTS)), _date_trunc, _spark_date_trunc,
        "The start of the unit that holds it; weeks start on Monday.", "DATE_TRUNC(unit, t), FLOOR(t TO unit)",
        check=_check_unit("date_trunc", 0, tuple(_TRUNCATED)), examples=_UNIT_EXAMPLES,
    ),
    Function(
        "timestampdiff", _DIFFERENCES, _timestampdiff, _spark_units("timestamp_diff"),
        "Whole units from `a` to `b`. So a span becomes a number: `b - a` is an INTERVAL, which is none. "
        "The seconds of an INTERVAL column are `UNIX_SECONDS(TIMESTAMP '1970-01-01 00:00:00' + span)`.",
        "TIMESTAMPDIFF(unit, a, b)", check=_check_unit("timestampdiff", 0, _ANY_UNIT), examples=_UNIT_EXAMPLES, aliases=("timestamp_diff",),
    ),
    Function(
        "timestampadd", overloads(*(((VARCHAR, BIGINT, kind), kind) for kind in _STAMPS)), _timestampadd, _spark_units("timestamp_add"),
        "Some units later.", "TIMESTAMPADD(unit, count, t)", check=_check_unit("timestampadd", 0, _ANY_UNIT), examples=_UNIT_EXAMPLES,
        aliases=("timestamp_add",),
    ),
    Function(
        "date_add", overloads(((DATE, INT), DATE)), plain(_days_on(1)), spark_call("date_add"), "Some days later.",
        "DATE_ADD(date, days)",
    ),
    Function(
        "date_sub", overloads(((DATE, INT), DATE)), plain(_days_on(-1)), spark_call("date_sub"), "Some days earlier.",
        "DATE_SUB(date, days)",
    ),
    Function(
        "datediff", overloads(((DATE, DATE), INT)), plain(lambda a, b: a.to_physical() - b.to_physical()), spark_call("datediff"),
        "Days from `start` to `end`.", "DATEDIFF(end, start)",
    ),
    Function(
        "add_months", overloads(((DATE, INT), DATE)), _add_months, spark_call("add_months"),
        "Some months later, at most the last day of that month.", "ADD_MONTHS(date, months)",
    ),
    Function(
        "last_day", overloads(((DATE,), DATE)), plain(lambda a: a.dt.month_end()), spark_call("last_day"),
        "The last day of its month.", "LAST_DAY(date)",
    ),
    Function(
        "dayname", overloads(*(((kind,), VARCHAR) for kind in POINTS)), plain(lambda a: a.dt.to_string("%a")),
        spark_call("dayname"), "The day's short English name.", "DAYNAME(t)",
    ),
    Function(
        "monthname", overloads(*(((kind,), VARCHAR) for kind in POINTS)), plain(lambda a: a.dt.to_string("%b")),
        spark_call("monthname"), "The month's short English name.", "MONTHNAME(t)",
    ),
    Function(
        "make_date", overloads(((INT, INT, INT), DATE)), by_row(_make_date, "a day that is none"),
        spark_call("make_date"), "The date of a year, month and day. A day that is none fails.", "MAKE_DATE(year, month, day)",
    ),
    Function(
        "unix_date", overloads(((DATE,), INT)), plain(lambda a: a.to_physical()), spark_call("unix_date"), "Days since 1970-01-01.",
        "UNIX_DATE(date)",
    ),
    Function(
        "date_from_unix_date", overloads(((INT,), DATE)), plain(lambda a: a.cast(to_polars(DATE))),
        spark_call("date_from_unix_date"), "The date some days after 1970-01-01.", "DATE_FROM_UNIX_DATE(days)",
    ),
    Function(
        "unix_seconds", overloads(((TIMESTAMP_LTZ,), BIGINT)), plain(_seconds), spark_call("unix_seconds"),
        "Whole seconds since 1970.", "UNIX_SECONDS(t)",
    ),
    Function(
        "unix_millis", overloads(((TIMESTAMP_LTZ,), BIGINT)), plain(lambda a: _micros(a).floordiv(1000)), spark_call("unix_millis"),
        "Whole milliseconds since 1970.", "UNIX_MILLIS(t)",
    ),
    Function(
        "unix_micros", overloads(((TIMESTAMP_LTZ,), BIGINT)), plain(_micros), spark_call("unix_micros"), "Microseconds since 1970.",
        "UNIX_MICROS(t)",
    ),
    Function(
        "to_timestamp_ltz", overloads(((BIGINT, INT), TIMESTAMP_LTZ)), _to_ltz, _spark_ltz,
        "The instant of a number of seconds (0), milliseconds (3) or microseconds (6) since 1970. Overflow fails.",
        "TO_TIMESTAMP_LTZ(epoch, precision)", check=_check_precision, examples=((1, (0, 3, 6)),),
    ),
)  # fmt: skip

"""Dates, timestamps and intervals under `+ - *`, in microseconds and months; the session time zone is UTC, so every day has 24 hours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.functions.lowering import parenthesize, spark_operator, with_errors
from ouzel.compiler.functions.registry import Lowered, Signature
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.types import (
    BIGINT,
    DATE,
    INTERVAL,
    INTERVAL_MONTHS,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    DateType,
    IntervalType,
    to_polars,
)  # fmt: skip
from ouzel.errors import NotSupported

if TYPE_CHECKING:
    import polars as pl

DAY_US = 86_400_000_000
OVERFLOW = "timestamp or interval overflow"

_MOVES = [
    ((point, interval), point) for point in (DATE, TIMESTAMP, TIMESTAMP_LTZ) for interval in (INTERVAL, INTERVAL_MONTHS)
]
_SUMS = [((interval, interval), interval) for interval in (INTERVAL,)]
ADD = overloads(*_MOVES, *(((b, a), result) for (a, b), result in _MOVES), *_SUMS)
SUBTRACT = overloads(
    *_MOVES,
    *_SUMS,
    ((DATE, DATE), INTERVAL),
    ((TIMESTAMP, TIMESTAMP), INTERVAL),
    ((TIMESTAMP_LTZ, TIMESTAMP_LTZ), INTERVAL),
)
MULTIPLY = overloads(((INTERVAL, BIGINT), INTERVAL), ((BIGINT, INTERVAL), INTERVAL))
NEGATE = overloads(((INTERVAL,), INTERVAL))


def check_whole_days(arguments: Sequence[Expression]) -> None:
    """A DATE moves by whole days or by months only."""
    kinds = {argument.type for argument in arguments}
    if kinds != {DATE, INTERVAL}:
        return
    interval = next(argument for argument in arguments if argument.type == INTERVAL)
    value = interval.value if isinstance(interval, Literal) else None
    if isinstance(interval, Literal) and (
        value is None or (isinstance(value, timedelta) and not value % timedelta(days=1))
    ):
        return
    raise NotSupported(
        f"a DATE moves by a literal of whole days or months, not by {interval}",
        instead=f"write CAST({next(a for a in arguments if a.type == DATE)} AS TIMESTAMP) + the interval",
    )


def add_months(value: pl.Expr, months: pl.Expr) -> pl.Expr:
    """A date or timestamp some months on, at most the last day of that month; NULL beyond the years -9999 to 99999."""
    import polars as pl

    count = months.cast(pl.Int64)
    near = count.is_between(-1_200_000, 1_200_000)
    # the year is bounded first, for offset_by panics beyond what a calendar holds
    year = value.dt.year().cast(pl.Int64) + count.floordiv(12)
    safe = pl.when(near & year.is_between(-9999, 99999)).then(count)
    return value.dt.offset_by(pl.format("{}mo", safe))


def add_times(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """`a + b`, at least one of them an interval."""
    if isinstance(signature.parameters[0], IntervalType):
        swapped = Signature(signature.parameters[::-1], signature.result)
        return _move(arguments[::-1], swapped, 1)
    return _move(arguments, signature, 1)


def subtract_times(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """`a - b`: a point less an interval, or two points or intervals apart."""
    if signature.parameters[0] == signature.parameters[1] == DATE:
        days = arguments[0].value.to_physical().cast(_int64()) - arguments[1].value.to_physical().cast(_int64())
        return with_errors((days * DAY_US).cast(to_polars(INTERVAL)), arguments)
    return _move(arguments, signature, -1)


def _move(arguments: Sequence[Lowered], signature: Signature, sign: int) -> Lowered:
    point, interval = arguments
    if signature.parameters[1] == INTERVAL_MONTHS:
        moved = add_months(point.value, interval.value if sign > 0 else -interval.value)
        lost = moved.is_null() & point.value.is_not_null() & interval.value.is_not_null()
        return with_errors(moved, arguments, lost, OVERFLOW)
    step = interval.value.to_physical()
    start = point.value.to_physical()
    if isinstance(signature.parameters[0], DateType):
        days = start.cast(_int64()) + step.floordiv(DAY_US) * sign
        return with_errors(days.cast(_int32(), strict=False).cast(to_polars(DATE)), arguments)
    total = start + step if sign > 0 else start - step
    return with_errors(
        total.cast(to_polars(signature.result)), arguments, _overflows(point, interval, total, sign), OVERFLOW
    )


def _overflows(point: Lowered, interval: Lowered, total: pl.Expr, sign: int) -> pl.Expr:
    start = point.value.to_physical()
    if isinstance(interval.literal, timedelta):
        step = sign * (interval.literal // timedelta(microseconds=1))
        return start > 2**63 - 1 - step if step >= 0 else start < -(2**63) - step
    step_us = interval.value.to_physical()
    return ((start ^ total) & ((step_us ^ total) if sign > 0 else (start ^ step_us))) < 0


def multiply_interval(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """An interval times a whole number."""
    import polars as pl

    a, b = (argument.value.to_physical() for argument in arguments)
    wide = a.cast(pl.Int128) * b.cast(pl.Int128)
    error = ~wide.is_between(-(2**63), 2**63 - 1)
    return with_errors((a * b).cast(to_polars(INTERVAL)), arguments, error, OVERFLOW)


def _int64() -> pl.DataType:
    import polars as pl

    return pl.Int64()


def _int32() -> pl.DataType:
    import polars as pl

    return pl.Int32()


def spark_add(arguments: Sequence[str], signature: Signature) -> str:
    """`a + b`; Spark makes a timestamp of a date plus days, hence the cast."""
    return _narrow(f"{spark_operator('+')(arguments, signature)}", signature)


def spark_subtract(arguments: Sequence[str], signature: Signature) -> str:
    """`a - b`; the difference of dates is INTERVAL DAY in Spark, hence the cast."""
    return _narrow(f"{spark_operator('-')(arguments, signature)}", signature)


def _narrow(text: str, signature: Signature) -> str:
    if signature.result == DATE and INTERVAL in signature.parameters:
        return f'{parenthesize(text)}.cast("date")'
    if signature.parameters == (DATE, DATE):
        return f'{parenthesize(text)}.cast("interval day to second")'
    return text

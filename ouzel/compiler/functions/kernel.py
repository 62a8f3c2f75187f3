"""Expressions to Polars: the streaming kernel's lowering, and the evaluation of lowered expressions on a frame.

A lowered expression never raises; `Lowered.error` says which rows Spark in ANSI mode would fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, GetField, Literal
from ouzel.compiler.functions import function_of
from ouzel.compiler.functions.casts import cast
from ouzel.compiler.functions.conditional import choose
from ouzel.compiler.functions.lowering import any_of, unscale_int
from ouzel.compiler.functions.registry import Lowered, Signature
from ouzel.compiler.types import DataType, DecimalType, IntervalType, to_polars
from ouzel.errors import NotSupported

if TYPE_CHECKING:
    import polars as pl


def lower(expression: Expression) -> Lowered:
    """The expression in Polars. A constant's value is a scalar that broadcasts; `evaluate` gives it the frame's height.

    Raises:
        NotSupported: the expression has no streaming lowering.
    """
    import polars as pl

    match expression:
        case Column(name=name):
            return Lowered(pl.col(name))
        case Literal(value=value):
            return Lowered(lower_literal(value, expression.type), literal=value)
        case Call():
            return _call(expression)
        case Cast(operand=operand, safe=safe):
            return cast(lower(operand), operand.type, expression.type, safe)
        case Case(branches=branches, otherwise=otherwise):
            lowered = [(lower(condition), lower(value)) for condition, value in branches]
            return choose(lowered, lower(otherwise))
        case GetField(operand=operand, field=field):
            row = lower(operand)
            return Lowered(row.value.struct.field(field), row.error, row.reason)
    raise NotSupported(f"{type(expression).__name__} cannot be computed in a stream")


def _call(call: Call) -> Lowered:
    function = function_of(call)
    if function is None:
        raise NotSupported(f"{call.function.upper()} cannot be computed in a stream")
    signature = Signature(tuple(argument.type for argument in call.arguments), call.type)
    return function.kernel([lower(argument) for argument in call.arguments], signature)


def lower_literal(value: object, kind: DataType) -> pl.Expr:
    """A typed constant."""
    import polars as pl

    if kind == IntervalType(months=True):
        return pl.lit(value, dtype=pl.Int32)
    polars_type = to_polars(kind)
    match value:
        case Decimal() if isinstance(kind, DecimalType):
            return pl.lit(unscale_int(value, kind.scale), dtype=pl.Int128).reinterpret(dtype=polars_type)
        case datetime():
            return pl.lit(_micros(value), dtype=pl.Int64).cast(polars_type)
        case timedelta():
            return pl.lit(value // timedelta(microseconds=1), dtype=pl.Int64).cast(polars_type)
        case date():
            return pl.lit(value, dtype=pl.Date)
    return pl.lit(value, dtype=polars_type)


def _micros(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def evaluate(frame: pl.DataFrame, items: Sequence[tuple[str, Lowered]]) -> tuple[pl.DataFrame, pl.Series | None]:
    """The frame of `items`, with the height of `frame` even if all are constants; and, if a row can fail, which rows did.

    Values of rows that failed mean nothing. A mask without a single TRUE comes back as None.
    """
    error = any_of(*(lowered.error for _, lowered in items))
    columns = [lowered.value.alias(name) for name, lowered in items]
    if error is None:
        return frame.with_columns(*columns).select(name for name, _ in items), None
    mask = "$error"
    computed = frame.lazy().with_columns(*columns, error.alias(mask)).collect()
    failed = computed[mask]
    return computed.select(name for name, _ in items), failed if failed.any() else None

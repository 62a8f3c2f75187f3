"""CAST and TRY_CAST between the types, as Spark in ANSI mode: what does not fit fails its row (TRY_CAST: gives NULL)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from ouzel.compiler.functions import decimals, parsing, printing
from ouzel.compiler.functions.lowering import any_of, map_rows, reasons, ufunc
from ouzel.compiler.functions.parsing import Outcome
from ouzel.compiler.functions.registry import Lowered
from ouzel.compiler.types import (
    ArrayType,
    BooleanType,
    BytesType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    MapType,
    NullType,
    RowType,
    TimestampType,
    VarcharType,
    to_polars,
)  # fmt: skip
from ouzel.errors import NotSupported

if TYPE_CHECKING:
    import polars as pl

SECOND_US = 1_000_000


def cast(operand: Lowered, source: DataType, target: DataType, safe: bool) -> Lowered:
    """`operand`, of type `source`, as `target`. With `safe` a value that does not convert is NULL instead of an error.

    Raises:
        NotSupported: Spark has no such cast either, or it is not here yet.
    """
    value, error = convert_value(operand.value, source, target, safe)
    error = None if error is None else error.fill_null(False)
    if safe and error is not None:
        import polars as pl

        value, error = pl.when(~error).then(value), None
    reason = reasons(operand.reason, f"a {source} that does not fit {target}" if error is not None else "")
    return Lowered(value, any_of(operand.error, error), reason)


def convert_value(value: pl.Expr, source: DataType, target: DataType, safe: bool) -> Outcome:
    """The conversion itself; elements of arrays, maps and rows convert one by one."""
    kind = to_polars(target)
    if source == target or isinstance(source, NullType):
        return value.cast(kind), None
    match source, target:
        case ArrayType(a), ArrayType(b):
            return _elements(value, lambda item: convert_value(item, a, b, safe), safe)
        case MapType(k, v), MapType(m, w):
            return _elements(value, lambda item: _entry(item, ((k, m), (v, w)), safe), safe)
        case RowType(old_fields), RowType(new_fields):
            both = zip(old_fields, new_fields, strict=True)
            pairs = tuple((old, new, name, label) for (name, old), (label, new) in both)
            return _row(value, pairs, safe)
    to = _TARGETS.get(type(target))
    outcome = to(value, source, target) if to else None
    if outcome is None:
        raise NotSupported(f"{source} does not convert to {target}")
    return outcome


def _settle(outcome: Outcome, safe: bool) -> Outcome:
    value, error = outcome
    if not safe or error is None:
        return outcome
    import polars as pl

    return pl.when(~error.fill_null(False)).then(value), None


def _elements(value: pl.Expr, change: Callable[[pl.Expr], Outcome], safe: bool) -> Outcome:
    import polars as pl

    item, error = _settle(change(pl.element()), safe)
    return value.list.eval(item), None if error is None else value.list.eval(error.fill_null(False)).list.any()


def _entry(item: pl.Expr, kinds: tuple[tuple[DataType, DataType], ...], safe: bool) -> Outcome:
    pairs = tuple((old, new, name, name) for (old, new), name in zip(kinds, ("key", "value"), strict=True))
    return _row(item, pairs, safe)


def _row(value: pl.Expr, pairs: tuple[tuple[DataType, DataType, str, str], ...], safe: bool) -> Outcome:
    import polars as pl

    outcomes = [_settle(convert_value(value.struct.field(name), old, new, safe), safe) for old, new, name, _ in pairs]
    fields = [part.alias(label) for (part, _), (*_, label) in zip(outcomes, pairs, strict=True)]
    row = pl.when(value.is_not_null()).then(pl.struct(*fields))
    return row, any_of(*(error for _, error in outcomes if error is not None))


def _to_boolean(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    match source:
        case IntegerType() | FloatType():
            return value != 0, None
        case DecimalType():
            return decimals.unscale(value) != 0, None
        case VarcharType():
            return parsing.boolean(value)
    return None


def _to_integer(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    import polars as pl

    assert isinstance(target, IntegerType)
    kind = to_polars(target)
    low, high = -(2 ** (target.bits - 1)), 2 ** (target.bits - 1) - 1
    match source:
        case BooleanType():
            return value.cast(kind), None
        case IntegerType(bits):
            return value.cast(kind, strict=False), None if bits <= target.bits else ~value.is_between(low, high)
        case FloatType():
            # high + 1 is a float exactly, high is not; a NaN is not between
            wide = value.cast(pl.Float64)
            inside = (wide > low - 1 if target.bits < 64 else wide >= low) & (wide < high + 1)
            return pl.when(inside).then(wide.truncate()).cast(kind, strict=False), ~inside
        case DecimalType(_, scale):
            whole = decimals.unscale(value).truncdiv(pl.lit(10**scale, pl.Int128))
            return whole.cast(kind, strict=False), ~whole.is_between(low, high)
        case VarcharType():
            return parsing.integer(value, kind)
        case TimestampType(True):
            seconds = value.to_physical().floordiv(SECOND_US)
            return seconds.cast(kind, strict=False), ~seconds.is_between(low, high)
    return None


def _to_float(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    import polars as pl

    kind = to_polars(target)
    match source:
        case BooleanType() | IntegerType() | FloatType() | DecimalType():
            return value.cast(kind), None
        case VarcharType():
            return parsing.parse_float(value, kind)
        case TimestampType(True):
            return ufunc("divide")(value.to_physical().cast(pl.Float64), pl.lit(float(SECOND_US))).cast(kind), None
    return None


def _to_decimal(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    import polars as pl

    assert isinstance(target, DecimalType)
    match source:
        case BooleanType():
            return _rescale(value.cast(pl.Int128), 0, target, 1)
        case IntegerType(bits):
            return _rescale(value.cast(pl.Int128), 0, target, {8: 3, 16: 5, 32: 10, 64: 19}[bits])
        case DecimalType(precision, scale):
            return _rescale(decimals.unscale(value), scale, target, precision)
        case TimestampType(True):
            return _rescale(value.to_physical().cast(pl.Int128), 6, target)
        case FloatType():
            wide = value.cast(pl.Float64)
            finite = pl.when(wide.is_finite()).then(wide)  # Spark gives NULL for the others
            both = map_rows((finite,), lambda number: parsing.to_decimal(repr(number), target), to_polars(target))
            return both.struct.field("value"), both.struct.field("failed")
        case VarcharType():
            both = map_rows((value,), lambda text: parsing.to_decimal(text, target), to_polars(target))
            return both.struct.field("value"), both.struct.field("failed")
    return None


def _rescale(number: pl.Expr, scale: int, target: DecimalType, digits: int = 38) -> Outcome:
    """An unscaled number of at most `digits` digits as `target`; it cannot fail if its integral digits fit."""
    import polars as pl

    if target.precision - target.scale >= digits - scale + (1 if target.scale < scale else 0):
        return decimals.rescale(number, scale, target.scale).reinterpret(dtype=to_polars(target)), None
    safe = number
    if target.scale > scale:  # multiply only what then still fits 38 digits
        safe = pl.when(decimals.fits_precision(number, 38 - (target.scale - scale))).then(number)
    moved = decimals.rescale(safe, scale, target.scale)
    inside = decimals.fits_precision(moved, target.precision).fill_null(False)
    return decimals.from_unscaled(moved, target), number.is_not_null() & ~inside


def _to_varchar(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    import polars as pl

    match source:
        case BooleanType() | IntegerType() | DecimalType():
            return value.cast(pl.String), None
        case FloatType(bits):
            return printing.print_float(value, bits), None
        case DateType():
            return value.dt.to_string("%Y-%m-%d"), None
        case TimestampType():
            return printing.print_timestamp(value), None
        case BytesType():
            return printing.text_of_bytes(value), None
    return None


def _to_bytes(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    import polars as pl

    return (value.cast(pl.Binary), None) if isinstance(source, VarcharType) else None


def _to_date(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    match source:
        case TimestampType():
            return value.dt.date(), None
        case VarcharType():
            return parsing.date(value)
    return None


def _to_timestamp(value: pl.Expr, source: DataType, target: DataType) -> Outcome | None:
    import polars as pl

    assert isinstance(target, TimestampType)
    kind = to_polars(target)
    match source:
        case DateType():
            wide = value.to_physical().cast(pl.Int64)
            return (wide * 86_400 * SECOND_US).cast(kind), ~wide.is_between(-106_751_991, 106_751_991)
        case TimestampType():
            return value.to_physical().cast(kind), None
        case VarcharType():
            return parsing.parse_timestamp(value, target.local)
        case IntegerType() if target.local:
            seconds = value.cast(pl.Int64)
            limit = 2**63 // SECOND_US
            clipped = seconds.clip(-limit, limit) * SECOND_US  # Spark saturates here
            clipped = pl.when(seconds > limit).then(2**63 - 1).when(seconds < -limit).then(-(2**63)).otherwise(clipped)
            return clipped.cast(kind), None
        case DecimalType() if target.local:
            return map_rows((value,), _wrap_micros, kind).struct.field("value"), None
        case FloatType() if target.local:
            micros = value.cast(pl.Float64) * SECOND_US
            inside = (micros >= -(2.0**63)) & (micros < 2.0**63)
            return pl.when(inside).then(micros.truncate()).cast(pl.Int64).cast(kind), ~inside
    return None


def _wrap_micros(seconds: Decimal) -> int:
    """Microseconds in 64 bits; what is beyond wraps round, as Java's BigDecimal.longValue does in Spark's cast."""
    micros = decimals.truncate_to_micros(seconds)
    return (micros + 2**63) % 2**64 - 2**63


_TARGETS: dict[type[DataType], Callable[[pl.Expr, DataType, DataType], Outcome | None]] = {
    BooleanType: _to_boolean, IntegerType: _to_integer, FloatType: _to_float, DecimalType: _to_decimal,
    VarcharType: _to_varchar, BytesType: _to_bytes, DateType: _to_date, TimestampType: _to_timestamp,
}  # fmt: skip

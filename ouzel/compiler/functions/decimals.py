"""Exact decimal arithmetic on unscaled 128-bit integers, with Spark's precision, rounding (HALF_UP) and overflow.

Results that fit 38 digits without giving up scale are a few integer operations on the column; wider ones, whose intermediate needs more
than 128 bits, go through Python's decimal once per distinct pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from ouzel.compiler.coercion import MAX_PRECISION, adjust_decimal
from ouzel.compiler.functions.lowering import map_rows, with_errors, with_errors_right_first
from ouzel.compiler.functions.registry import Lowered, Signature
from ouzel.compiler.types import DecimalType, to_polars

if TYPE_CHECKING:
    import polars as pl

_EXACT = Context(prec=120)
_QUOTIENT = Context(prec=MAX_PRECISION + 1, rounding=ROUND_DOWN)  # Spark's MATH_CONTEXT of Decimal
SIGN_DIGITS = 34
_SCALA = Context(prec=SIGN_DIGITS, rounding=ROUND_HALF_EVEN)
OVERFLOW = "decimal overflow"


def unscale(value: pl.Expr) -> pl.Expr:
    """The 128-bit integer behind a decimal."""
    return value.to_physical()


def fits_precision(number: pl.Expr, precision: int) -> pl.Expr:
    """Whether an unscaled number has at most `precision` digits; NULL for NULL."""
    import polars as pl

    limit = pl.lit(10**precision, pl.Int128)
    return (number < limit) & (number > -limit)


def from_unscaled(number: pl.Expr, kind: DecimalType) -> pl.Expr:
    """An unscaled number as a decimal; NULL where it has too many digits."""
    import polars as pl

    return pl.when(fits_precision(number, kind.precision)).then(number).reinterpret(dtype=to_polars(kind))


def as_decimal(number: pl.Expr, kind: DecimalType) -> pl.Expr:
    """An unscaled number as a decimal, where the operands' types leave it no way to have too many digits."""
    return number.reinterpret(dtype=to_polars(kind))


def divide_half_up(number: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """`number / divisor` rounded half away from zero; the divisor is at most 10**37."""
    quotient = number.truncdiv(divisor)
    rest = number - quotient * divisor
    return quotient + (rest.abs() * 2 >= divisor.abs()).cast(int_type()) * number.sign() * divisor.sign()


def int_type() -> pl.DataType:
    """The 128-bit integer of Polars."""
    import polars as pl

    return pl.Int128()


def rescale(number: pl.Expr, source: int, target: int) -> pl.Expr:
    """An unscaled number of scale `source` at scale `target`, HALF_UP; the caller sees to it that digits suffice."""
    import polars as pl

    if source == target:
        return number
    step = pl.lit(10 ** abs(target - source), pl.Int128)
    return number * step if target > source else divide_half_up(number, step)


def round_decimal(value: Decimal, kind: DecimalType) -> Decimal:
    """`value` at the scale of `kind`, HALF_UP. Raises ArithmeticError when it has too many digits."""
    result = value.quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP, _EXACT)
    if result.copy_abs() >= Decimal(1).scaleb(kind.precision - kind.scale):
        raise ArithmeticError(OVERFLOW)
    return result


def negate_decimal(number: Decimal) -> Decimal:
    """The number with the other sign, as Spark does it: through Scala's BigDecimal, which keeps 34 digits and rounds the last half even."""
    return _SCALA.minus(number)


def by_value(function: Callable[[Decimal], Decimal], arguments: Sequence[Lowered], kind: DecimalType) -> Lowered:
    """A decimal function of one argument done in Python, rounded to `kind`."""
    both = map_rows((arguments[0].value,), lambda number: round_decimal(function(number), kind), to_polars(kind))
    return with_errors_of((both.struct.field("value"), both.struct.field("failed")), arguments)


def negate(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """`-a`."""
    assert isinstance(signature.result, DecimalType)
    if signature.result.precision > SIGN_DIGITS:
        return by_value(negate_decimal, arguments, signature.result)
    return with_errors(-arguments[0].value, arguments)


def truncate_to_micros(seconds: Decimal) -> int:
    """Seconds as whole microseconds, cut towards zero."""
    return int(seconds.scaleb(6, _EXACT))


def add_type(a: DecimalType, b: DecimalType) -> DecimalType:
    """The type of `a + b` and `a - b`."""
    scale = max(a.scale, b.scale)
    return adjust_decimal(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)


def multiply_type(a: DecimalType, b: DecimalType) -> DecimalType:
    """The type of `a * b`."""
    return adjust_decimal(a.precision + b.precision + 1, a.scale + b.scale)


def divide_type(a: DecimalType, b: DecimalType) -> DecimalType:
    """The type of `a / b`."""
    scale = max(6, a.scale + b.precision + 1)
    return adjust_decimal(a.precision - a.scale + b.scale + scale, scale)


def modulo_type(a: DecimalType, b: DecimalType) -> DecimalType:
    """The type of `a % b`."""
    scale = max(a.scale, b.scale)
    return adjust_decimal(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def _types(signature: Signature) -> tuple[DecimalType, DecimalType, DecimalType]:
    (a, b), result = signature.parameters, signature.result
    assert isinstance(a, DecimalType)
    assert isinstance(b, DecimalType)
    assert isinstance(result, DecimalType)
    return a, b, result


def by_pair(
    function: Callable[[Decimal, Decimal], Decimal], arguments: Sequence[Lowered], kind: DecimalType
) -> tuple[pl.Expr, pl.Expr]:
    """Value and error of a decimal operation done in Python, rounded to `kind`."""
    row = [argument.value for argument in arguments]
    both = map_rows(row, lambda a, b: round_decimal(function(a, b), kind), to_polars(kind))
    return both.struct.field("value"), both.struct.field("failed")


def add_decimals(arguments: Sequence[Lowered], signature: Signature, sign: int = 1) -> Lowered:
    """`a + b`, or `a - b` with `sign` -1."""
    a, b, result = _types(signature)
    scale = max(a.scale, b.scale)
    if max(a.precision - a.scale, b.precision - b.scale) + scale + 1 <= MAX_PRECISION:
        left = rescale(unscale(arguments[0].value), a.scale, scale)
        right = rescale(unscale(arguments[1].value), b.scale, scale)
        return with_errors(as_decimal(left + right if sign > 0 else left - right, result), arguments)
    exact = _EXACT.add if sign > 0 else _EXACT.subtract
    return with_errors_of(by_pair(exact, arguments, result), arguments)


def subtract_decimals(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """`a - b`."""
    return add_decimals(arguments, signature, -1)


def multiply_decimals(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """`a * b`."""
    a, b, result = _types(signature)
    if a.precision + b.precision + 1 <= MAX_PRECISION:
        product = unscale(arguments[0].value) * unscale(arguments[1].value)
        return with_errors(as_decimal(product, result), arguments)
    return with_errors_of(by_pair(_EXACT.multiply, arguments, result), arguments)


def divide(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """`a / b`; by zero fails."""
    a, b, result = _types(signature)
    divisor = unscale(arguments[1].value)
    zero = (divisor == 0) & arguments[0].value.is_not_null()
    shift = result.scale + b.scale - a.scale
    if a.precision + shift <= MAX_PRECISION and b.precision < MAX_PRECISION and shift >= 0:
        number = divide_half_up(rescale(unscale(arguments[0].value), 0, shift), divisor)
        return with_errors_right_first(from_unscaled(number, result), arguments, zero, "division by zero")
    value, failed = by_pair(_QUOTIENT.divide, arguments, result)
    return with_errors_right_first(value, arguments, zero | failed, f"division by zero or {OVERFLOW}")


def modulo(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """`a % b`, with the sign of `a`; by zero fails."""
    a, b, result = _types(signature)
    scale = max(a.scale, b.scale)
    divisor = unscale(arguments[1].value)
    zero = (divisor == 0) & arguments[0].value.is_not_null()
    if max(a.precision - a.scale, b.precision - b.scale) + scale <= MAX_PRECISION:
        left, right = rescale(unscale(arguments[0].value), a.scale, scale), rescale(divisor, b.scale, scale)
        value = as_decimal(left - left.truncdiv(right) * right, result)
        return with_errors_right_first(value, arguments, zero, "division by zero")
    value, failed = by_pair(_EXACT.remainder, arguments, result)
    return with_errors_right_first(value, arguments, zero | failed, f"division by zero or {OVERFLOW}")


def with_errors_of(outcome: tuple[pl.Expr, pl.Expr], arguments: Sequence[Lowered]) -> Lowered:
    """A Lowered of `(value, failed)`, failing for overflow."""
    value, failed = outcome
    return with_errors(value, arguments, failed, OVERFLOW)

"""`+ - * / %` and unary minus on numbers; on dates, timestamps and intervals they go to `time_arithmetic`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.coercion import common_type, decimal_of, is_numeric
from ouzel.compiler.functions import decimals, time_arithmetic
from ouzel.compiler.functions.lowering import (
    call_on_frame,
    plain,
    spark_builtin,
    spark_call,
    spark_operator,
    ufunc,
    with_errors,
    with_errors_right_first,
)  # fmt: skip
from ouzel.compiler.functions.registry import Function, KernelLowering, Lowered, Signature, TypeRule
from ouzel.compiler.functions.signatures import first_of, numeric
from ouzel.compiler.types import (
    BIGINT,
    DOUBLE,
    FLOAT,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    to_polars,
)  # fmt: skip

if TYPE_CHECKING:
    import polars as pl

OVERFLOW, ZERO = "integer overflow", "division by zero"
_DECIMAL_TYPES = {
    "add": decimals.add_type, "subtract": decimals.add_type, "multiply": decimals.multiply_type,
    "divide": decimals.divide_type, "modulo": decimals.modulo_type,
}  # fmt: skip


def arithmetic(operation: str) -> TypeRule:
    """The type rule of a binary operator on numbers: integers and floats meet; a decimal and an exact number keep their own types."""

    def resolve(types: Sequence[DataType]) -> Signature | None:
        if len(types) != 2 or not all(is_numeric(kind) or isinstance(kind, NullType) for kind in types):
            return None
        a, b = (other if isinstance(kind, NullType) else kind for kind, other in zip(types, types[::-1], strict=True))
        a, b = (DOUBLE if isinstance(kind, NullType) else kind for kind in (a, b))
        left, right = decimal_of(a), decimal_of(b)
        if left and right and DecimalType in (type(a), type(b)):
            return Signature((left, right), _DECIMAL_TYPES[operation](left, right))
        kind = common_type(a, b) or DOUBLE
        return Signature((kind, kind), BIGINT if operation == "divide" and isinstance(kind, IntegerType) else kind)

    return resolve


def _divide_types(types: Sequence[DataType]) -> Signature | None:
    """As other operators, but a FLOAT divides as a DOUBLE, and integers give a BIGINT: Spark has no other division."""
    found = arithmetic("divide")(types)
    return Signature((DOUBLE, DOUBLE), DOUBLE) if found and found.result == FLOAT else found


def _div_types(types: Sequence[DataType]) -> Signature | None:
    """Whole numbers alone: of DECIMALs Spark gives a BIGINT that wraps round, and of floats nothing."""
    found = arithmetic("divide")(types)
    return found if found and isinstance(found.parameters[0], IntegerType) else None


def bounds(kind: DataType) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    assert isinstance(kind, IntegerType)
    return -(2 ** (kind.bits - 1)), 2 ** (kind.bits - 1) - 1


def _add(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    a, b = arguments[0].value, arguments[1].value
    total = a + b
    if isinstance(signature.result, FloatType):
        return with_errors(_by_numpy("add", arguments, signature) if _has_zero(arguments) else total, arguments)
    limit = _beyond(arguments, signature.result, 1)
    # without a literal: the sum wraps round; it did so if its sign differs from that of both operands
    error = ((a ^ total) & (b ^ total)) < 0 if limit is None else limit
    return with_errors(total, arguments, error, OVERFLOW)


def _has_zero(arguments: Sequence[Lowered]) -> bool:
    """Whether one is the constant 0.0: Polars takes `x + 0.0` for `x`, and so -0.0 stays what it is, and `0.0 - x` for `-x`."""
    return any(argument.literal == 0.0 for argument in arguments)


def _by_numpy(name: str, arguments: Sequence[Lowered], signature: Signature) -> pl.Expr:
    return ufunc(name)(*(argument.value for argument in arguments)).cast(to_polars(signature.result))


def _subtract(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    a, b = arguments[0].value, arguments[1].value
    rest = a - b
    if isinstance(signature.result, FloatType):
        return with_errors(_by_numpy("subtract", arguments, signature) if _has_zero(arguments) else rest, arguments)
    limit = _beyond(arguments, signature.result, -1) if arguments[0].literal is None else None
    error = ((a ^ b) & (a ^ rest)) < 0 if limit is None else limit
    return with_errors(rest, arguments, error, OVERFLOW)


def _beyond(arguments: Sequence[Lowered], kind: DataType, sign: int) -> pl.Expr | None:
    """The overflow of adding a literal is one comparison with a bound."""
    first, second = arguments if arguments[1].literal is not None else arguments[::-1]
    if not isinstance(second.literal, int):
        return None
    step = second.literal * sign
    low, high = bounds(kind)
    return first.value > high - step if step >= 0 else first.value < low - step


def _multiply(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    a, b = (argument.value for argument in arguments)
    if isinstance(signature.result, FloatType):
        return with_errors(a * b, arguments)
    assert isinstance(signature.result, IntegerType)
    if signature.result.bits < 64:
        wide = a.cast(pl.Int64) * b.cast(pl.Int64)
        error = ~wide.is_between(*bounds(signature.result))
        return with_errors(wide.cast(to_polars(signature.result), strict=False), arguments, error, OVERFLOW)
    error = call_on_frame((a, b), _product_overflows, pl.Boolean())
    return with_errors(a * b, arguments, error, OVERFLOW)


def _product_overflows(pair: pl.DataFrame) -> pl.Series:
    """Rows whose 64-bit product wraps; two maxima rule that out for most batches."""
    import polars as pl

    a, b = pair.get_columns()
    if _magnitude(a) * _magnitude(b) < 2**63:
        return pl.repeat(False, pair.height, dtype=pl.Boolean, eager=True)
    wide = a.cast(pl.Int128) * b.cast(pl.Int128)
    return ~wide.is_between(-(2**63), 2**63 - 1)


def _magnitude(column: pl.Series) -> int:
    low, high = column.min(), column.max()
    return max(abs(low), abs(high)) if isinstance(low, int) and isinstance(high, int) else 0


def _divide(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    a, b = (argument.value for argument in arguments)
    zero = (b == 0) & a.is_not_null()  # Spark's NULL / 0 is NULL
    if isinstance(signature.result, FloatType):
        quotient = ufunc("divide")(a, b)
        return _unless_literal(with_errors_right_first(quotient, arguments, zero, ZERO), arguments, quotient)
    wide = a.cast(pl.Int64).truncdiv(b.cast(pl.Int64))
    error = zero
    reason = ZERO
    if signature.parameters[0] == BIGINT:
        error, reason = error | ((b == -1) & (a == -(2**63))), f"{ZERO} or {OVERFLOW}"
    return _unless_literal(with_errors_right_first(wide, arguments, error, reason), arguments, wide)


def _unless_literal(lowered: Lowered, arguments: Sequence[Lowered], value: pl.Expr) -> Lowered:
    """Dividing by a literal other than 0 and -1 cannot fail."""
    return lowered if arguments[1].literal in (None, 0, -1) else with_errors_right_first(value, arguments)


def _modulo(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    a, b = (argument.value for argument in arguments)
    floats = isinstance(signature.result, FloatType)
    rest = call_on_frame((a, b), _float_rest, to_polars(signature.result)) if floats else a - a.truncdiv(b) * b
    return _unless_literal(with_errors_right_first(rest, arguments, (b == 0) & a.is_not_null(), ZERO), arguments, rest)


def _float_rest(pair: pl.DataFrame) -> pl.Series:
    import numpy as np
    import polars as pl

    a, b = pair.get_columns()
    with np.errstate(invalid="ignore"):
        rest = pl.Series(np.fmod(a.fill_null(0).to_numpy(), b.fill_null(1).to_numpy()), dtype=a.dtype)
    return rest.set(a.is_null() | b.is_null(), None)


def _negate(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    value = arguments[0].value
    if isinstance(signature.result, IntegerType):
        return with_errors(-value, arguments, value == bounds(signature.result)[0], OVERFLOW)
    return with_errors(-value, arguments)


def by_kind(integers_and_floats: KernelLowering, exact: KernelLowering, temporal: KernelLowering) -> KernelLowering:
    """Choose the lowering by the types of the parameters."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        kinds = signature.parameters
        if not all(map(is_numeric, kinds)):
            return temporal(arguments, signature)
        return (exact if isinstance(kinds[0], DecimalType) else integers_and_floats)(arguments, signature)

    return lower


def _spark_divide(arguments: Sequence[str], signature: Signature) -> str:
    whole = isinstance(signature.parameters[0], IntegerType)
    return (spark_builtin("div") if whole else spark_operator("/"))(arguments, signature)


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "add", first_of(arithmetic("add"), time_arithmetic.ADD), by_kind(_add, decimals.add_decimals, time_arithmetic.add_times),
        time_arithmetic.spark_add, "Sum; moves a date or timestamp by an interval. Overflow fails.", "a + b",
        check=time_arithmetic.check_whole_days,
    ),
    Function(
        "subtract", first_of(arithmetic("subtract"), time_arithmetic.SUBTRACT),
        by_kind(_subtract, decimals.subtract_decimals, time_arithmetic.subtract_times), time_arithmetic.spark_subtract,
        "Difference; of two timestamps, the interval between them. Overflow fails.", "a - b",
        check=time_arithmetic.check_whole_days,
    ),
    Function(
        "multiply", first_of(arithmetic("multiply"), time_arithmetic.MULTIPLY),
        by_kind(_multiply, decimals.multiply_decimals, time_arithmetic.multiply_interval), spark_operator("*"),
        "Product. Overflow fails.", "a * b",
    ),
    Function(
        "divide", _divide_types, by_kind(_divide, decimals.divide, _divide), _spark_divide,
        "Quotient; integers divide to a BIGINT, cut towards zero. Division by zero fails.", "a / b",
    ),
    Function(
        "div", _div_types, _divide, spark_builtin("div"),
        "Quotient of whole numbers as a BIGINT, cut towards zero. Division by zero fails.", "a DIV b",
    ),
    Function(
        "modulo", arithmetic("modulo"), by_kind(_modulo, decimals.modulo, _modulo), spark_operator("%"),
        "Remainder, with the sign of the dividend. Division by zero fails.", "a % b, MOD(a, b)", aliases=("mod",),
    ),
    Function(
        "negate", first_of(numeric(), time_arithmetic.NEGATE), by_kind(_negate, decimals.negate, plain(lambda a: -a)),
        spark_call("negative"), "The number with the other sign.", "-a",
        aliases=("negative",),
    ),
)  # fmt: skip

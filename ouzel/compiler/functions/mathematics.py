"""Numbers: rounding, roots, logarithms, angles, bits. A logarithm of what has none is NULL, as in Spark; other domain errors give NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from ouzel.compiler.coercion import adjust_decimal, is_numeric
from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.functions import decimals
from ouzel.compiler.functions.arithmetic import OVERFLOW, ZERO, bounds
from ouzel.compiler.functions.lowering import (
    apply_ufunc,
    bare,
    by_row,
    call_on_frame,
    map_rows,
    parenthesize,
    plain,
    spark_builtin,
    spark_call,
    ufunc,
    with_errors,
    with_errors_right_first,
)  # fmt: skip
from ouzel.compiler.functions.registry import Function, KernelLowering, Lowered, Signature
from ouzel.compiler.functions.search import literal_at
from ouzel.compiler.functions.signatures import alike, numeric, overloads
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    VARCHAR,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
    to_polars,
)

if TYPE_CHECKING:
    import polars as pl

_WIDE = Context(prec=800)


def _abs(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    value = arguments[0].value
    if isinstance(signature.result, IntegerType):
        return with_errors(value.abs(), arguments, value == bounds(signature.result)[0], OVERFLOW)
    if isinstance(signature.result, DecimalType) and signature.result.precision > decimals.SIGN_DIGITS:
        return decimals.by_value(
            lambda number: number if number >= 0 else decimals.negate_decimal(number), arguments, signature.result
        )
    return with_errors(value.abs(), arguments)


def _whole_types(types: Sequence[DataType]) -> Signature | None:
    """CEIL and FLOOR give a BIGINT, of a decimal a decimal without fraction."""
    found = numeric()(types)
    if found is None:
        return None
    kind = found.parameters[0]
    if isinstance(kind, DecimalType):
        return Signature((kind,), adjust_decimal(kind.precision - kind.scale + 1, 0) if kind.scale else kind)
    return Signature((BIGINT if isinstance(kind, IntegerType) else DOUBLE,), BIGINT)


def _to_long(value: pl.Expr, arguments: Sequence[Lowered]) -> Lowered:
    """A whole double as a BIGINT; beyond its range the row fails, NaN is 0."""
    import polars as pl

    number = value.fill_nan(0.0)
    inside = (number >= -(2.0**63)) & (number < 2.0**63)
    return with_errors(pl.when(inside).then(number).cast(pl.Int64), arguments, ~inside, OVERFLOW)


def _whole(up: bool) -> KernelLowering:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        import polars as pl

        value, kind = arguments[0].value, signature.parameters[0]
        if isinstance(kind, IntegerType):
            return with_errors(value, arguments)
        if isinstance(kind, FloatType):
            return _to_long(value.ceil() if up else value.floor(), arguments)
        assert isinstance(kind, DecimalType)
        assert isinstance(signature.result, DecimalType)
        number, step = decimals.unscale(value), pl.lit(10**kind.scale, pl.Int128)
        whole = number.truncdiv(step)
        rest = number - whole * step
        moved = whole + (rest > 0).cast(pl.Int128) if up else whole - (rest < 0).cast(pl.Int128)
        return with_errors(decimals.from_unscaled(moved, signature.result), arguments)

    return lower


def _round_types(types: Sequence[DataType]) -> Signature | None:
    if not types or len(types) > 2 or (len(types) == 2 and types[1] != INT) or not is_numeric(types[0]):
        return None
    return Signature(tuple(types), types[0])


def _round_to(arguments: Sequence[Expression], signature: Signature) -> Signature:
    """A decimal has as many digits behind its point as it is rounded to, and one more before it."""
    kind, digits = signature.result, arguments[1] if len(arguments) == 2 else Literal(INT, 0)
    if not isinstance(kind, DecimalType):
        return signature
    assert isinstance(digits, Literal)
    assert isinstance(digits.value, int)
    whole = max(kind.precision - kind.scale + 1, 1 - digits.value)
    scale = min(kind.scale, max(digits.value, 0))
    return Signature(signature.parameters, DecimalType(min(38, whole + scale), scale))


def _round(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    value, kind = arguments[0].value, signature.result
    digits = arguments[1].value if len(arguments) == 2 else pl.lit(0, pl.Int32)
    if isinstance(kind, DecimalType):
        both = map_rows(
            (value, digits), lambda a, n: decimals.round_decimal(round_half_up(a, n), kind), to_polars(kind)
        )
        return with_errors(both.struct.field("value"), arguments, both.struct.field("failed"), decimals.OVERFLOW)
    if isinstance(kind, IntegerType):
        if len(arguments) == 1:
            return with_errors(value, arguments)
        low, high = bounds(kind)
        both = map_rows(
            (value, digits), lambda a, n: _within(int(round_half_up(Decimal(a), min(n, 0))), low, high), to_polars(kind)
        )
        return with_errors(both.struct.field("value"), arguments, both.struct.field("failed"), OVERFLOW)
    return with_errors(call_on_frame((value, digits), _round_floats, to_polars(kind)), arguments)


def _within(number: int, low: int, high: int) -> int:
    if not low <= number <= high:
        raise ArithmeticError(OVERFLOW)
    return number


def round_half_up(number: Decimal, digits: int) -> Decimal:
    """Rounded half away from zero to so many digits after the point (before it, if negative)."""
    if digits < -100 or digits > 400:
        return number if digits > 0 else Decimal(0)
    return number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _WIDE)


def _round_floats(rows: pl.DataFrame) -> pl.Series:
    """Spark rounds the shortest decimal that a float prints as; floats far from a tie need no decimal."""
    import polars as pl

    value, digits = rows.get_columns()
    wide = value.cast(pl.Float64)
    scale = pl.Series([10.0]).new_from_index(0, len(value)).pow(digits.cast(pl.Float64))
    moved = wide.abs() * scale
    tie = ((moved - moved.floor()) - 0.5).abs() < 1e-4
    quick = (digits.is_between(0, 22) & (moved < 2.0**40) & ~tie & (value.dtype == pl.Float64)).fill_null(False)
    near = apply_ufunc("divide", (moved + 0.5).floor(), scale) * wide.sign()
    near = near.set(near == 0, 0.0)  # Java's BigDecimal has no -0.0
    if quick.all():
        return near.cast(value.dtype)
    wide_rows = pl.DataFrame([wide.alias("0"), digits.alias("1")])
    slow = wide_rows.select(both=map_rows((pl.col("0"), pl.col("1")), _round_float, pl.Float64()))["both"]
    return near.zip_with(quick, slow.struct.field("value")).cast(value.dtype)


def _round_float(number: float, digits: int) -> float:
    return (float(round_half_up(Decimal(repr(number)), digits)) or 0.0) if math.isfinite(number) else number


def _doubles(build: Callable[..., pl.Expr], name: str, doc: str, usage: str, *aliases: str, count: int = 1) -> Function:
    rule = overloads(((DOUBLE,) * count, DOUBLE))
    return Function(name, rule, plain(build), spark_call(name), doc, usage, aliases=aliases)


def _only(condition: Callable[[pl.Expr], pl.Expr], build: Callable[[pl.Expr], pl.Expr]) -> Callable[[pl.Expr], pl.Expr]:
    def build_guarded(value: pl.Expr) -> pl.Expr:
        import polars as pl

        return pl.when(condition(value)).then(build(value))

    return build_guarded


def _positive_zero(value: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(value == 0).then(0.0).otherwise(value)


def _log(base: pl.Expr, value: pl.Expr | None = None) -> pl.Expr:
    import polars as pl

    if value is None:
        return pl.when(base > 0).then(base.log())
    return pl.when((base > 0) & (value > 0)).then(ufunc("divide")(value.log(), base.log()))


def _power(base: pl.Expr, exponent: pl.Expr) -> pl.Expr:
    return ufunc("power")(base, exponent)


def _bits(operation: str) -> KernelLowering:
    import operator

    return plain({"&": operator.and_, "|": operator.or_, "^": operator.xor}[operation])


def _spark_bits(name: str) -> Callable[[Sequence[str], Signature], str]:
    return lambda arguments, signature: f"{parenthesize(arguments[0])}.{name}({arguments[1]})"


def _shift(value: int, count: int, bits: int) -> int:
    moved = (value << (count % bits)) & ((1 << bits) - 1)
    return moved - (1 << bits) if moved >= 1 << (bits - 1) else moved


def _lower_shift(function: Callable[[int, int, int], int]) -> KernelLowering:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        assert isinstance(signature.result, IntegerType)
        bits = signature.result.bits
        return by_row(lambda value, count: function(value, count, bits))(arguments, signature)

    return lower


def _pmod(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    # Spark computes in Java's int or long, so that only those wrap round
    wide = pl.Int64 if signature.result == BIGINT else pl.Int32
    a, b = (argument.value.cast(wide) for argument in arguments)
    rest = a - a.truncdiv(b) * b
    again = rest + b
    return with_errors_right_first(
        pl.when(rest < 0).then(again - again.truncdiv(b) * b).otherwise(rest).cast(to_polars(signature.result)),
        arguments,
        (b == 0) & a.is_not_null(),
        ZERO,
    )


def _constant(value: float) -> KernelLowering:
    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        import polars as pl

        return Lowered(pl.lit(value, pl.Float64), literal=value)

    return lower


def _spark_log(arguments: Sequence[str], signature: Signature) -> str:
    return spark_builtin("log")(arguments, signature) if len(arguments) == 2 else f"F.ln({arguments[0]})"


def _is_integer(kind: DataType) -> bool:
    return isinstance(kind, IntegerType)


def _factorial(number: int) -> int | None:
    return math.factorial(number) if 0 <= number <= 20 else None


_TWO_INTEGERS = alike(2, 2, None, _is_integer)
_SHIFT = overloads(((INT, INT), INT), ((BIGINT, INT), BIGINT))
FUNCTIONS: tuple[Function, ...] = (
    Function("abs", numeric(), _abs, spark_call("abs"), "Without its sign. Overflow fails.", "ABS(x)"),
    Function(
        "ceil", _whole_types, _whole(True), spark_call("ceil"), "The least whole number that is not less.", "CEIL(x)",
        aliases=("ceiling",),
    ),
    Function("floor", _whole_types, _whole(False), spark_call("floor"), "The greatest whole number that is not greater.", "FLOOR(x)"),
    Function(
        "round", _round_types, _round, lambda a, s: _spark_round(a, s),
        "Rounded half away from zero, to digits after the point. Overflow fails.", "ROUND(x [, digits])",
        refine=_round_to, check=literal_at("round", 1), examples=((1, (0, 1, 2, -1, -3)),),
    ),
    Function(
        "sign", overloads(((DOUBLE,), DOUBLE)), plain(lambda a: a.sign()), spark_call("sign"), "-1, 0 or 1.", "SIGN(x)",
        aliases=("signum",),
    ),
    _doubles(lambda a: a.sqrt(), "sqrt", "Square root; NaN for a negative number.", "SQRT(x)"),
    _doubles(lambda a: a.cbrt(), "cbrt", "Cube root.", "CBRT(x)"),
    _doubles(lambda a: a.exp(), "exp", "e to the power.", "EXP(x)"),
    _doubles(ufunc("expm1"), "expm1", "e to the power, less 1.", "EXPM1(x)"),
    _doubles(_log, "ln", "Natural logarithm; NULL unless x > 0.", "LN(x)"),
    Function(
        "log", overloads(((DOUBLE, DOUBLE), DOUBLE), ((DOUBLE,), DOUBLE)), plain(_log), _spark_log,
        "Logarithm to a base, without one the natural one; NULL unless both > 0.", "LOG([base,] x)",
    ),
    _doubles(_only(lambda a: a > 0, lambda a: a.log10()), "log10", "Logarithm to the base 10; NULL unless x > 0.", "LOG10(x)"),
    _doubles(_only(lambda a: a > 0, lambda a: a.log(2)), "log2", "Logarithm to the base 2; NULL unless x > 0.", "LOG2(x)"),
    _doubles(_only(lambda a: a > -1, lambda a: a.log1p()), "log1p", "Natural logarithm of 1 + x; NULL unless x > -1.", "LOG1P(x)"),
    _doubles(_power, "power", "The first to the power of the second.", "POWER(x, y)", "pow", count=2),
    _doubles(ufunc("sin"), "sin", "Sine of radians.", "SIN(x)"),
    _doubles(ufunc("cos"), "cos", "Cosine of radians.", "COS(x)"),
    _doubles(ufunc("tan"), "tan", "Tangent of radians.", "TAN(x)"),
    _doubles(lambda a: ufunc("reciprocal")(ufunc("tan")(a)), "cot", "Cotangent of radians.", "COT(x)"),
    _doubles(ufunc("arcsin"), "asin", "Arc sine; NaN beyond -1 to 1.", "ASIN(x)"),
    _doubles(ufunc("arccos"), "acos", "Arc cosine; NaN beyond -1 to 1.", "ACOS(x)"),
    _doubles(ufunc("arctan"), "atan", "Arc tangent.", "ATAN(x)"),
    _doubles(
        lambda y, x: ufunc("arctan2")(_positive_zero(y), _positive_zero(x)), "atan2",
        "Angle of the point (x, y) in radians.", "ATAN2(y, x)", count=2,
    ),
    _doubles(ufunc("sinh"), "sinh", "Hyperbolic sine.", "SINH(x)"),
    _doubles(ufunc("cosh"), "cosh", "Hyperbolic cosine.", "COSH(x)"),
    _doubles(ufunc("tanh"), "tanh", "Hyperbolic tangent.", "TANH(x)"),
    _doubles(ufunc("hypot"), "hypot", "Square root of the sum of squares.", "HYPOT(x, y)", count=2),
    _doubles(lambda a: a.degrees(), "degrees", "Radians in degrees.", "DEGREES(x)"),
    _doubles(lambda a: a.radians(), "radians", "Degrees in radians.", "RADIANS(x)"),
    _doubles(ufunc("rint"), "rint", "The nearest whole number, ties to the even one.", "RINT(x)"),
    Function("pi", overloads(((), DOUBLE)), _constant(math.pi), spark_call("pi"), "The number pi.", "PI()"),
    Function("e", overloads(((), DOUBLE)), _constant(math.e), spark_call("e"), "The number e.", "E()"),
    Function(
        "pmod", _TWO_INTEGERS, _pmod, spark_call("pmod"),
        "Remainder that is never negative for a positive divisor. Division by zero fails.", "PMOD(a, b)",
    ),
    Function(
        "bitand", _TWO_INTEGERS, _bits("&"), _spark_bits("bitwiseAND"), "Bitwise and.", "a & b, BITAND(a, b)", aliases=("bitwise_and",),
    ),
    Function("bitor", _TWO_INTEGERS, _bits("|"), _spark_bits("bitwiseOR"), "Bitwise or.", "a | b, BITOR(a, b)", aliases=("bitwise_or",)),
    Function(
        "bitxor", _TWO_INTEGERS, _bits("^"), _spark_bits("bitwiseXOR"), "Bitwise exclusive or.", "a ^ b, BITXOR(a, b)",
        aliases=("bitwise_xor",),
    ),
    Function(
        "bitnot", alike(1, 1, None, _is_integer), plain(lambda a: ~a), spark_call("bitwise_not"), "Bitwise not.", "~a, BITNOT(a)",
        aliases=("bitwise_not",),
    ),
    Function(
        "bit_count", alike(1, 1, INT, _is_integer), by_row(lambda a: (a & (2**64 - 1)).bit_count()), spark_call("bit_count"),
        "Number of bits set, of 64.", "BIT_COUNT(a)",
    ),
    Function(
        "shiftleft", _SHIFT, _lower_shift(_shift), spark_builtin("shiftleft"), "Bits moved left, the count taken modulo the width.",
        "SHIFTLEFT(a, count)",
    ),
    Function(
        "shiftright", _SHIFT, _lower_shift(lambda a, n, bits: a >> (n % bits)), spark_builtin("shiftright"),
        "Bits moved right, keeping the sign.", "SHIFTRIGHT(a, count)",
    ),
    Function(
        "factorial", overloads(((INT,), BIGINT)), by_row(_factorial), spark_call("factorial"),
        "Product of 1 to n; NULL beyond 0 to 20.", "FACTORIAL(n)",
    ),
    Function(
        "bin", overloads(((BIGINT,), VARCHAR)), by_row(lambda a: format(a & (2**64 - 1), "b")), spark_call("bin"),
        "In binary digits, two's complement.", "BIN(a)",
    ),
    Function(
        "is_nan", overloads(((FLOAT,), BOOLEAN), ((DOUBLE,), BOOLEAN)), plain(lambda a: a.is_nan().fill_null(False)),
        spark_call("isnan"), "Whether it is NaN; FALSE for NULL.", "IS_NAN(x)", aliases=("isnan",), null_in_null_out=False,
    ),
)  # fmt: skip


def _spark_round(arguments: Sequence[str], signature: Signature) -> str:
    return f"F.round({', '.join([arguments[0], *map(bare, arguments[1:])])})"

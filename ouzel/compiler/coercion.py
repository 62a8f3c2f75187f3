"""The type lattice: the common type of two types, what is converted implicitly, and what an explicit CAST may convert.

The rules are Spark's in ANSI mode (least common type, implicit cast, explicit cast), but for one: text is never converted to or from
another type unasked, since a wrong column is more likely than a wanted conversion; the error says which CAST to write.
"""

from __future__ import annotations

from decimal import Decimal

from ouzel.compiler.expressions import Cast, Expression, Literal
from ouzel.compiler.types import (
    DOUBLE,
    TIMESTAMP_LTZ,
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
)  # fmt: skip

MAX_PRECISION = 38
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def is_numeric(kind: DataType) -> bool:
    """Whether `kind` is an integer, a decimal or a float."""
    return isinstance(kind, IntegerType | DecimalType | FloatType)


def decimal_of(kind: DataType) -> DecimalType | None:
    """The decimal that holds every value of an integer type; a decimal itself; None for others."""
    if isinstance(kind, IntegerType):
        return DecimalType(_DIGITS[kind.bits], 0)
    return kind if isinstance(kind, DecimalType) else None


def adjust_decimal(precision: int, scale: int) -> DecimalType:
    """The decimal of an arithmetic result: beyond 38 digits the scale gives way, down to 6 (Spark's DecimalType.adjustPrecisionScale)."""
    if precision <= MAX_PRECISION:
        return DecimalType(precision, scale)
    return DecimalType(MAX_PRECISION, max(MAX_PRECISION - (precision - scale), min(scale, 6)))


def wider_decimal(a: DecimalType, b: DecimalType) -> DecimalType:
    """The decimal that holds both; beyond 38 digits the scale gives way, so that integral digits are kept."""
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    return DecimalType(min(precision, MAX_PRECISION), max(0, scale - max(0, precision - MAX_PRECISION)))


def common_type(a: DataType, b: DataType) -> DataType | None:
    """The least type that both convert to implicitly (Spark's least common type), or None."""
    if a == b or isinstance(b, NullType):
        return a
    match a, b:
        case NullType(), _:
            return b
        case ((IntegerType() | DecimalType() | FloatType()), (IntegerType() | DecimalType() | FloatType())):
            return _common_number(a, b)
        case DateType(), TimestampType():
            return b
        case TimestampType(), DateType():
            return a
        case TimestampType(), TimestampType():
            return TimestampType(True)
        case ArrayType(x), ArrayType(y):
            element = common_type(x, y)
            return element and ArrayType(element)
        case MapType(k, v), MapType(l, w):
            key, value = common_type(k, l), common_type(v, w)
            return MapType(key, value) if key and value else None
        case RowType(left), RowType(right):
            return _common_row(left, right)
    return None


def _common_number(a: DataType, b: DataType) -> DataType:
    if isinstance(a, IntegerType) and isinstance(b, IntegerType):
        return max(a, b, key=lambda kind: kind.bits)
    left, right = decimal_of(a), decimal_of(b)
    # FLOAT meets integers and decimals in DOUBLE: Spark's rule, so that fewer digits are lost
    return wider_decimal(left, right) if left and right else DOUBLE


def _common_row(a: tuple[tuple[str, DataType], ...], b: tuple[tuple[str, DataType], ...]) -> DataType | None:
    if [name.lower() for name, _ in a] != [name.lower() for name, _ in b]:
        return None
    kinds = [common_type(x, y) for (_, x), (_, y) in zip(a, b, strict=True)]
    return (
        RowType(tuple((name, kind) for (name, _), kind in zip(a, kinds, strict=True) if kind)) if all(kinds) else None
    )


def can_coerce(source: DataType, target: DataType) -> bool:
    """Whether `source` converts to `target` implicitly: only where nothing but float precision can be lost."""
    match source, target:
        case _ if source == target or isinstance(source, NullType):
            return True
        case IntegerType(a), IntegerType(b):
            return a <= b
        case ((IntegerType() | DecimalType()), FloatType()):
            return True
        case FloatType(a), FloatType(b):
            return a <= b
        case ((IntegerType() | DecimalType()), DecimalType()):
            return wider_decimal(decimal_of(source) or target, target) == target
        case DateType(), TimestampType():
            return True
        case TimestampType(a), TimestampType(b):
            return b or not a
        case ArrayType(a), ArrayType(b):
            return can_coerce(a, b)
        case MapType(k, v), MapType(l, w):
            return can_coerce(k, l) and can_coerce(v, w)
        case RowType(a), RowType(b):
            return len(a) == len(b) and all(can_coerce(x, y) for (_, x), (_, y) in zip(a, b, strict=True))
    return False


def can_cast(source: DataType, target: DataType) -> bool:
    """Whether an explicit CAST is allowed: Spark's ANSI table. TIMESTAMP (without zone) meets no number there, and DATE neither."""
    match source, target:
        case _ if source == target or isinstance(source, NullType):
            return True
        case ArrayType(a), ArrayType(b):
            return can_cast(a, b)
        case MapType(k, v), MapType(l, w):
            return can_cast(k, l) and can_cast(v, w)
        case RowType(a), RowType(b):
            return len(a) == len(b) and all(can_cast(x, y) for (_, x), (_, y) in zip(a, b, strict=True))
        case _, BooleanType():
            return is_numeric(source) or isinstance(source, VarcharType)
        case _, (IntegerType() | FloatType() | DecimalType()):
            return is_numeric(source) or isinstance(source, BooleanType | VarcharType) or source == TIMESTAMP_LTZ
        case _, (DateType() | TimestampType()):
            simple = isinstance(source, DateType | TimestampType | VarcharType)
            return simple or (is_numeric(source) and target == TIMESTAMP_LTZ)
        case _, VarcharType():
            simple = isinstance(source, BooleanType | DateType | TimestampType | BytesType)
            return simple or is_numeric(source)
        case VarcharType(), BytesType():
            return True
    return False


def cast_to(expression: Expression, target: DataType) -> Expression:
    """`expression` as `target`: itself if it is that already, a literal folded where that is exact, else a Cast.

    Whether the cast is allowed is the caller's question: `can_coerce` or `can_cast`.
    """
    if expression.type == target:
        return expression
    if isinstance(expression, Literal):
        folded = _fold(expression.value, expression.type, target)
        if folded is not None or expression.value is None:
            return Literal(target, folded)
    return Cast(target, expression)


def _fold(value: object, source: DataType, target: DataType) -> object:
    """The literal's value in the wider type, or None where only the engine should convert."""
    if value is None or not can_coerce(source, target):
        return None
    match value, target:
        case bool(), _:
            return None
        case int(), IntegerType():
            return value
        case int(), DecimalType(_, scale):
            return _rescale(Decimal(value), scale)
        case ((int() | Decimal()), FloatType(64)):
            return float(value)
        case Decimal(), DecimalType(_, scale):
            return _rescale(value, scale)
    return None


def _rescale(value: Decimal, scale: int) -> Decimal:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "a decimal literal is finite"
    return Decimal((sign, (*digits, *(0,) * (scale + exponent)), -scale))

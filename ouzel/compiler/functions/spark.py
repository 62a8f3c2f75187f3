"""Expressions to PySpark: the text of a Column, with `F` = pyspark.sql.functions in scope, and type names in Spark's DDL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, GetField, Literal
from ouzel.compiler.functions import function_of
from ouzel.compiler.functions.lowering import bare, parenthesize, quote
from ouzel.compiler.functions.lowering import column_name as column_name
from ouzel.compiler.functions.operands import ARITHMETIC, decimal_of_digits
from ouzel.compiler.functions.registry import Signature
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.types import (
    DOUBLE,
    INT,
    BooleanType,
    BytesType,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    VarcharType,
)  # fmt: skip
from ouzel.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class InSpark(Expression):
    """What is written in PySpark already: the variable of a lambda, or a part of it."""

    text: str


def to_spark(expression: Expression) -> str:
    """Text of a PySpark Column that computes `expression`.

    Raises:
        NotSupported: Spark has nothing for it.
    """
    match expression:
        case Column(name=name):
            return f"F.col({quote(column_name(name))})"
        case Literal(value=value):
            return spark_literal(value, expression.type)
        case InSpark(text=text):
            return text
        case Call():
            return _call(expression, [to_spark(argument) for argument in _uncast_widening(expression)])
        case Cast(operand=operand, safe=safe):
            name = "try_cast" if safe else "cast"
            return f"{parenthesize(to_spark(operand))}.{name}({quote(to_spark_type(expression.type))})"
        case Case(branches=branches, otherwise=otherwise):
            whens = ".".join(f"when({to_spark(condition)}, {bare(to_spark(value))})" for condition, value in branches)
            return f"F.{whens}.otherwise({bare(to_spark(otherwise))})"
        case GetField() if is_path(expression):
            return f"F.col({quote('.'.join(map(column_name, _path(expression))))})"
        case GetField(operand=operand, field=field):
            return f"{parenthesize(to_spark(operand))}.getField({quote(field)})"
    raise NotSupported(f"{type(expression).__name__} has no Spark form")


def is_path(expression: Expression) -> bool:
    """Whether it is a column, or a field of one, or of that: what Spark finds by names with dots between them."""
    while isinstance(expression, GetField):
        expression = expression.operand
    return isinstance(expression, Column)


def _path(expression: Expression) -> list[str]:
    if isinstance(expression, GetField):
        return [*_path(expression.operand), expression.field]
    assert isinstance(expression, Column)
    return [expression.name]


def _uncast_widening(call: Call) -> tuple[Expression, ...]:
    """The arguments without casts that Spark makes by itself: of an integer beside a DOUBLE, and of whole numbers in a comparison."""
    types = [argument.type for argument in call.arguments]
    if call.function in ARITHMETIC and all(isinstance(kind, DecimalType) for kind in types):
        return _as_whole_numbers(call.arguments)
    if (
        call.function in COMPARING
        and isinstance(types[0], IntegerType | DecimalType)
        and types == types[:1] * len(types)
    ):
        return _uncast_integers(call.arguments)
    if call.function not in WIDENING or types != [DOUBLE, DOUBLE]:
        return call.arguments
    plain = tuple(
        argument.operand
        if isinstance(argument, Cast) and not argument.safe and isinstance(argument.operand.type, IntegerType)
        else argument
        for argument in call.arguments
    )
    return plain if any(argument.type == DOUBLE for argument in plain) else call.arguments


def _as_whole_numbers(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Constants with the digits of a whole number, as such: beside a DECIMAL Spark counts those digits too."""
    plain = tuple(map(_written_whole, arguments))
    return plain if any(isinstance(one.type, DecimalType) for one in plain) else arguments


def _written_whole(argument: Expression) -> Expression:
    if not (isinstance(argument, Literal) and isinstance(argument.value, Decimal)):
        return argument
    number = int(argument.value)
    fits = -(2**31) <= number < 2**31 and argument.type == decimal_of_digits(number)
    return Literal(INT, number) if fits else argument


def _uncast_integers(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """One value and whole numbers, without their casts to what both fit into; the same arguments if they are anything else."""
    plain = tuple(map(_plain_integer, arguments))
    values = [argument for argument in arguments if not isinstance(argument, Literal)]
    return arguments if None in plain or len(values) != 1 else tuple(each for each in plain if each)


def _plain_integer(argument: Expression) -> Expression | None:
    """A whole number as an INT, a value without a cast of a DECIMAL to a wider one; None for other constants."""
    if isinstance(argument, Literal):
        number = argument.value
        if not isinstance(number, int | Decimal) or number != int(number) or not -(2**31) <= number < 2**31:
            return None
        return Literal(INT, int(number))
    if isinstance(argument, Cast) and not argument.safe:
        wide, held = argument.type, argument.operand.type
        if isinstance(wide, DecimalType) and isinstance(held, DecimalType):
            return argument.operand if 0 <= wide.scale - held.scale <= wide.precision - held.precision else argument
    return argument


COMPARING = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "in", "between"})
"""Functions for which Spark finds the type that all of their arguments fit into, as the binder does."""

WIDENING = frozenset({"add", "subtract", "multiply", "divide", "eq", "ne", "lt", "le", "gt", "ge"})
"""Functions of two arguments that Spark computes in DOUBLE if one is."""


def _call(call: Call, arguments: Sequence[str]) -> str:
    function = function_of(call)
    if function is None:
        raise NotSupported(f"{call.function.upper()} has no Spark form")
    signature = Signature(tuple(argument.type for argument in call.arguments), call.type)
    return function.spark(arguments, signature)


def spark_literal(value: object, kind: DataType) -> str:
    """A typed constant."""
    if value is None:
        return "F.lit(None)" if isinstance(kind, NullType) else f'F.lit(None).cast("{to_spark_type(kind)}")'
    match kind:
        case BooleanType() | IntegerType(32) | VarcharType():
            return f"F.lit({quote(value) if isinstance(value, str) else repr(value)})"
        case FloatType(64) if isinstance(value, float):
            plain = value == value and abs(value) != float("inf")
            return f"F.lit({value!r})" if plain else f'F.lit(float("{value}"))'
        case BytesType() if isinstance(value, bytes):
            return f"F.unhex(F.lit({quote(value.hex().upper())}))"
        case IntervalType(months):
            return _interval(value, months)
    return f"F.lit({_plain(value, kind)}).cast({quote(to_spark_type(kind))})"


def _plain(value: object, kind: DataType) -> str:
    match value:
        case datetime():
            shown = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return quote(shown.isoformat(" "))
        case date():
            return quote(value.isoformat())
        case float():
            return repr(value) if value == value and abs(value) != float("inf") else f'float("{value}")'
        case int() if isinstance(kind, IntegerType):
            return repr(value)
    return quote(str(value))


def _interval(value: object, months: bool) -> str:
    if months:
        assert isinstance(value, int)
        sign, count = "-" if value < 0 else "", abs(value)
        return f"F.expr(\"INTERVAL '{sign}{count // 12}-{count % 12}' YEAR TO MONTH\")"
    assert isinstance(value, timedelta)
    sign, span = ("-", -value) if value < timedelta() else ("", value)
    clock = f"{span.seconds // 3600:02}:{span.seconds // 60 % 60:02}:{span.seconds % 60:02}.{span.microseconds:06}"
    return f"F.expr(\"INTERVAL '{sign}{span.days} {clock.removesuffix('.000000')}' DAY TO SECOND\")"

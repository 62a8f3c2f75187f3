"""Expressions in plain Python: what SQL's most used functions mean for single values, by none of the code that the engines have.

A function that is not listed here, or is given types that these do not cover, is refused: no guess stands for what SQL says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, Literal
from ouzel.compiler.records import RecordType
from ouzel.compiler.types import (
    FLOAT,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    TimestampType,
    VarcharType,
)
from ouzel.dsl.windows import value_at
from ouzel.errors import NotSupported

Computed = Callable[[Any], Any]
"""What an expression gives for a record."""

NUMBERS = (IntegerType, FloatType, NullType)
ORDERED = (IntegerType, FloatType, VarcharType, BooleanType, DateType, TimestampType, DecimalType, NullType)
TEXTS = (VarcharType, IntegerType, NullType)


def is_plainly_ordered(kind: DataType) -> bool:
    """Whether values of a type have an order that plain Python knows."""
    return isinstance(kind, ORDERED)


def interpret(expression: Expression, record: RecordType) -> Computed:
    """The expression as a function of a record.

    Raises:
        NotSupported: it has no form here; says what has none.
    """
    match expression:
        case Literal(value=value):
            return lambda _: value
        case Column(name=name):
            place = record.schema.names.index(name)
            return lambda given: value_at(given, record.form, place, name)
        case Cast(operand=operand, type=kind, safe=False):
            return _cast(operand.type, kind, interpret(operand, record))
        case Case(branches=branches, otherwise=otherwise):
            cases = [(interpret(when, record), interpret(value, record)) for when, value in branches]
            return _choose(cases, interpret(otherwise, record))
        case Call(row=None):
            return _call(expression, [interpret(one, record) for one in expression.arguments])
    raise _refuse(str(expression))


def _refuse(what: str) -> NotSupported:
    return NotSupported(f"plain Python does not compute {what}", instead="use table('memory')")


def _call(call: Call, arguments: Sequence[Computed]) -> Computed:
    lazy = LAZY.get(call.function)
    if lazy is not None:
        return lazy(arguments)
    function, kinds = STRICT.get(call.function, (None, ()))
    if function is None or not all(isinstance(one.type, kinds) and one.type != FLOAT for one in call.arguments):
        types = ", ".join(str(one.type) for one in call.arguments)
        raise _refuse(f"{call.function.upper()}({types})")
    strict, step = function, -1 if call.function in RIGHT_FIRST else 1

    def computed(given: Any) -> Any:
        values = []
        for one in arguments[::step]:
            if (value := one(given)) is None:
                return None  # what comes behind a NULL is not looked at, and cannot fail
            values.append(value)
        return _within(call.type, strict(*values[::step]))

    return computed


def _within(kind: DataType, value: Any) -> Any:
    """The value, which an integer type must hold.

    Raises:
        ArithmeticError: it does not.
    """
    if isinstance(kind, IntegerType) and not -(2 ** (kind.bits - 1)) <= value < 2 ** (kind.bits - 1):
        raise ArithmeticError(f"{value} is no {kind}")
    return value


# What looks at an argument only if it must, or makes something of NULL


def _until(decisive: bool, arguments: Sequence[Computed]) -> Computed:
    """AND, which FALSE decides, and OR, which TRUE decides: unknown if nothing does and one is NULL."""

    def computed(given: Any) -> Any:
        found: bool | None = not decisive
        for one in arguments:
            value = one(given)
            if value is decisive:
                return decisive
            found = None if value is None else found
        return found

    return computed


def _coalesce(arguments: Sequence[Computed]) -> Computed:
    def computed(given: Any) -> Any:
        return next((value for one in arguments if (value := one(given)) is not None), None)

    return computed


def _choose(cases: Sequence[tuple[Computed, Computed]], otherwise: Computed) -> Computed:
    def computed(given: Any) -> Any:
        return next((value for when, value in cases if when(given) is True), otherwise)(given)

    return computed


def _null_if(arguments: Sequence[Computed]) -> Computed:
    def computed(given: Any) -> Any:
        value, other = (one(given) for one in arguments)
        return None if value is not None and other is not None and order_key(value) == order_key(other) else value

    return computed


LAZY: dict[str, Callable[[Sequence[Computed]], Computed]] = {
    "and": partial(_until, False),
    "or": partial(_until, True),
    "coalesce": _coalesce,
    "ifnull": _coalesce,
    "nullif": _null_if,
    "if": lambda three: _choose([(three[0], three[1])], three[2]),
    "is_null": lambda one: lambda given: one[0](given) is None,
    "is_not_null": lambda one: lambda given: one[0](given) is not None,
    "is_true": lambda one: lambda given: one[0](given) is True,
    "is_false": lambda one: lambda given: one[0](given) is False,
}
"""Functions of their arguments as yet uncomputed."""

# What gives NULL for NULL


def order_key(value: Any) -> Any:
    """What orders a value: NaN equals itself and is the greatest number."""
    return (math.isnan(value), 0.0 if math.isnan(value) else value) if isinstance(value, float) else value


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, float):
        return a / b
    cut = abs(a) // abs(b)
    return cut if (a < 0) == (b < 0) else -cut


def _modulo(a: Any, b: Any) -> Any:
    if isinstance(a, float):
        if b == 0:
            raise ZeroDivisionError("float modulo by zero")
        return math.nan if math.isinf(a) else math.fmod(a, b)
    return a - _divide(a, b) * b


def _substring(text: str, start: int, length: int | None = None) -> str:
    if length is not None and length <= 0:
        return ""
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


RIGHT_FIRST = frozenset({"divide", "modulo"})
"""Functions whose right side is computed first, as in Spark."""

Strict = tuple[Callable[..., Any], tuple[type, ...]]

STRICT: dict[str, Strict] = {
    "add": (lambda a, b: a + b, NUMBERS),
    "subtract": (lambda a, b: a - b, NUMBERS),
    "multiply": (lambda a, b: a * b, NUMBERS),
    "divide": (_divide, NUMBERS),
    "modulo": (_modulo, NUMBERS),
    "negate": (lambda a: -a, NUMBERS),
    "abs": (abs, NUMBERS),
    "eq": (lambda a, b: order_key(a) == order_key(b), ORDERED),
    "ne": (lambda a, b: order_key(a) != order_key(b), ORDERED),
    "lt": (lambda a, b: order_key(a) < order_key(b), ORDERED),
    "le": (lambda a, b: order_key(a) <= order_key(b), ORDERED),
    "gt": (lambda a, b: order_key(a) > order_key(b), ORDERED),
    "ge": (lambda a, b: order_key(a) >= order_key(b), ORDERED),
    "not": (lambda a: not a, (BooleanType, NullType)),
    "upper": (str.upper, TEXTS),
    "lower": (str.lower, TEXTS),
    "trim": (lambda text, sought=" ": text.strip(sought), TEXTS),
    "ltrim": (lambda text, sought=" ": text.lstrip(sought), TEXTS),
    "rtrim": (lambda text, sought=" ": text.rstrip(sought), TEXTS),
    "char_length": (len, TEXTS),
    "concat": (lambda *texts: "".join(texts), TEXTS),
    "substring": (_substring, TEXTS),
    "left": (lambda text, count: text[: max(count, 0)], TEXTS),
    "right": (lambda text, count: text[-count:] if count > 0 else "", TEXTS),
    "replace": (lambda text, sought, new="": text.replace(sought, new) if sought else text, TEXTS),
    "repeat": (lambda text, count: text * max(count, 0), TEXTS),
    "reverse": (lambda text: text[::-1], TEXTS),
    "startswith": (str.startswith, TEXTS),
    "endswith": (str.endswith, TEXTS),
    "contains": (lambda text, sought: sought in text, TEXTS),
    "instr": (lambda text, sought: text.find(sought) + 1, TEXTS),
}
"""Functions of values that are there, and the types that they take."""

# Casts


def _cast(given: DataType, to: DataType, operand: Computed) -> Computed:
    if given == to or isinstance(given, NullType):
        return operand
    match given, to:
        case IntegerType(), IntegerType():
            return _strict(lambda value: _within(to, value), operand)
        case IntegerType() | FloatType(), FloatType(bits=64):
            return _strict(float, operand)
        case FloatType(), IntegerType():
            return _strict(lambda value: _within(to, math.trunc(value)), operand)
        case IntegerType() | DateType(), VarcharType():
            return _strict(str, operand)
        case BooleanType(), VarcharType():
            return _strict(lambda value: str(value).lower(), operand)
        case DateType(), TimestampType():
            return _strict(_midnight, operand)
    raise _refuse(f"CAST of {given} AS {to}")


def _strict(function: Callable[[Any], Any], operand: Computed) -> Computed:
    return lambda given: None if (value := operand(given)) is None else function(value)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)

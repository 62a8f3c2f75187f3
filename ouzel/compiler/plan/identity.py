"""Digests of what a plan computes: the same in every process, run and version of Ouzel."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import blake2b

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, GetField, Literal
from ouzel.compiler.types import DataType


def digest(*parts: object) -> str:
    """32 hexadecimal digits of plain values: None, bool, int, float, Decimal, str, bytes, times, types, enums and tuples of them."""
    return blake2b(_canonical(parts).encode(), digest_size=16).hexdigest()


def meaning(expression: Expression, columns: Mapping[str, object]) -> object:
    """An expression in plain values, its columns replaced by what `columns` says of them."""
    match expression:
        case Column(name=name):
            return columns[name]
        case Literal(type=kind, value=value):
            return ("literal", kind, value)
        case Call(type=kind, function=function, arguments=arguments):
            return ("call", kind, function, *(meaning(part, columns) for part in arguments))
        case Cast(type=kind, operand=operand, safe=safe):
            return ("cast", kind, safe, meaning(operand, columns))
        case Case(type=kind, branches=branches, otherwise=otherwise):
            parts = [part for branch in branches for part in branch]
            return ("case", kind, *(meaning(part, columns) for part in (*parts, otherwise)))
        case GetField(field=field, operand=operand):
            return ("field", field, meaning(operand, columns))
    raise TypeError(f"an expression of a class without a meaning: {type(expression).__name__}")


def _canonical(value: object) -> str:
    """The value as text from which it could be read back, so that no two values have the same."""
    match value:
        case None | bool() | int():
            return repr(value)
        case str():
            return f"{len(value)}:{value}"
        case float():
            return value.hex()
        case bytes():
            return f"x{value.hex()}"
        case Enum():
            return f"enum {value.name}"
        case Decimal() | date() | time() | timedelta() | DataType():
            return f"{type(value).__name__} {_canonical(str(value))}"
        case tuple():
            return f"({','.join(map(_canonical, value))})"
    raise TypeError(f"a value without a digest: {type(value).__name__}")

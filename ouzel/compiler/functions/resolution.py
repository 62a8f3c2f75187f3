"""What a call means: which function, with its arguments cast to which types, and what it gives."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ouzel.compiler.coercion import can_cast, cast_to, is_numeric
from ouzel.compiler.expressions import Call, Case, Expression, Literal
from ouzel.compiler.functions import by_name, lookup
from ouzel.compiler.functions.aggregates import aggregate_names
from ouzel.compiler.functions.elsewhere import unknown_function
from ouzel.compiler.functions.operands import OPERATORS, are_of_two_types, compares_apart, with_written_digits
from ouzel.compiler.functions.registry import Function
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    TIMESTAMP,
    VARCHAR,
    DataType,
    DateType,
    TimestampType,
)
from ouzel.errors import QueryError, TypeMismatch


def resolve_call(name: str, arguments: Sequence[Expression], own: Function | None = None) -> Expression:
    """The typed call of a function, its arguments cast to the parameters' types. `own` is the user's, if it is theirs.

    Raises:
        QueryError: there is no such function, or it does not take these types; without a position, which the binder knows.
    """
    function = own or lookup(name)
    if function is None:
        raise unknown_function(name, (*by_name(), *aggregate_names()))
    if own is None:
        if (parts := _parts_of(function.name, arguments)) is not None:
            return parts
        if function.name in OPERATORS:
            arguments = with_written_digits(arguments)
    if function.name in _COMPARING:
        arguments = _with_times(arguments)
    signature = function.resolve([argument.type for argument in arguments])
    if signature is None:
        raise _refusal(name, function, arguments)
    if function.check is not None:
        function.check(arguments)
    if function.refine is not None:
        signature = function.refine(arguments, signature)
    cast = tuple(cast_to(argument, kind) for argument, kind in zip(arguments, signature.parameters, strict=True))
    return Call(signature.result, function.name, cast, own)


def _parts_of(name: str, arguments: Sequence[Expression]) -> Expression | None:
    """What a call of values of several types is made of, where each comparison is of types of its own; None where one type is for all."""
    match name, arguments:
        case "between", (value, low, high) if compares_apart(value, low, high):
            return resolve_call("and", [resolve_call("ge", [value, low]), resolve_call("le", [value, high])])
        case "nullif", (value, other) if are_of_two_types(value, other):
            try:
                equal = resolve_call("eq", arguments)
            except TypeMismatch:  # the refusal of the call itself says what was written
                return None
            return Case(value.type, ((equal, Literal(value.type, None)),), value)
    return None


_COMPARING = frozenset(
    {"eq", "ne", "lt", "le", "gt", "ge", "between", "in", "is_distinct_from", "is_not_distinct_from"}
)


def _with_times(arguments: Sequence[Expression]) -> Sequence[Expression]:
    """Text constants that are compared with a date or a timestamp are read as one: `ts >= '2013-01-01'`."""
    kinds = [one.type for one in arguments if isinstance(one.type, DateType | TimestampType)]
    return [_as_time(one, kinds[0]) if kinds and _is_text(one) else one for one in arguments]


def _is_text(expression: Expression) -> bool:
    return isinstance(expression, Literal) and isinstance(expression.value, str)


def _is_failing(cast: Expression) -> bool:
    """Whether a constant cannot be cast so."""
    import polars as pl

    from ouzel.compiler.functions.kernel import evaluate, lower

    _, failed = evaluate(pl.DataFrame({"": [0]}), [("cast", lower(cast))])
    return failed is not None and bool(failed.any())


def _as_time(text: Expression, kind: DataType) -> Expression:
    cast = cast_to(text, kind)
    if _is_failing(cast):
        shown = str(kind).removesuffix("(6)")
        form = "'2013-01-31'" if isinstance(kind, DateType) else "'2013-01-31 12:30:00'"
        raise QueryError(f"{text} is not a {shown}", instead=f"write it like {form}")
    return cast


def _refusal(name: str, function: Function, arguments: Sequence[Expression]) -> TypeMismatch:
    """Which argument to cast, if a cast to text or to a number would help; else the call's signature."""
    types = [argument.type for argument in arguments]
    shown = f"({', '.join(map(str, types))})" if len(types) != 1 else str(types[0])
    if spelled := _spell_constants(function, arguments):
        problem = f"{_SIGNS.get(name.lower(), name.upper())} does not take {shown}"
        return TypeMismatch(problem, instead=f"write {_as_written(name, spelled)}")
    for number, argument in enumerate(arguments):
        for wanted in (VARCHAR, BIGINT, INT, DOUBLE, BOOLEAN, DATE, TIMESTAMP):
            if _may_be(argument, wanted) and function.resolve([*types[:number], wanted, *types[number + 1 :]]):
                takes = str(wanted)
                if wanted == BIGINT and len(types) == 1 and function.resolve([DOUBLE]):
                    wanted, takes = DOUBLE, "a number"
                cast = [other.written.part if other.written else str(other) for other in arguments]
                cast[number] = f"CAST({cast[number]} AS {str(wanted).removesuffix('(6)')})"
                called = _SIGNS.get(name.lower(), name.upper())
                problem = (
                    f"{called} takes {takes}, not {argument.type}"
                    if len(types) == 1
                    else f"{called} does not take {shown}"
                )
                return TypeMismatch(problem, instead=f"write {_as_written(name, cast)}")
    return TypeMismatch(
        f"{_SIGNS.get(name.lower(), name.upper())} does not take {shown}", instead=f"write {function.usage}"
    )


def _spell_constants(function: Function, arguments: Sequence[Expression]) -> list[str]:
    """The arguments with constants as what is not constant among them: numbers in quotes, or without; none if that does not help."""
    beside = {argument.type for argument in arguments if not isinstance(argument, Literal)}
    is_text, is_number = beside == {VARCHAR}, bool(beside) and all(map(is_numeric, beside))
    spelled: list[str] = []
    types: list[DataType] = []
    for argument in arguments:
        kind = argument.type
        text = argument.written.part if argument.written else str(argument)
        constant = isinstance(argument, Literal) and argument.value is not None
        if constant and is_text and is_numeric(argument.type):
            text, kind = f"'{text}'", VARCHAR
        elif constant and is_number and argument.type == VARCHAR and re.fullmatch(r"'-?\d{1,9}(\.\d+)?'", text):
            text, kind = text.strip("'"), INT if "." not in text else DOUBLE
        elif constant and is_number and function.name == "in" and re.fullmatch(r"'-?\d{1,9}(?: *, *-?\d{1,9})+'", text):
            text, kind = re.sub(" *, *", ", ", text.strip("'")), INT  # '1,2,3' is meant as three items
        spelled.append(text)
        types.append(kind)
    changed = types != [argument.type for argument in arguments]
    return spelled if changed and function.resolve(types) else []


def _may_be(argument: Expression, wanted: DataType) -> bool:
    """Whether it can be cast so; a constant text only if it reads as one."""
    return can_cast(argument.type, wanted) and not (_is_text(argument) and _is_failing(cast_to(argument, wanted)))


_SIGNS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%", "eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "and": "AND", "or": "OR", "concat": "||", "||": "||", "like": "LIKE",
    "div": "DIV",
}  # fmt: skip


def _as_written(name: str, arguments: Sequence[str]) -> str:
    sign = _SIGNS.get(name.lower())
    match name.lower(), arguments:
        case "in", (value, *items):
            return f"{value} IN ({', '.join(items)})"
        case "between", (value, low, high):
            return f"{value} BETWEEN {low} AND {high}"
        case "ilike", (value, pattern):
            return f"{value} ILIKE {pattern}"
    return f" {sign} ".join(arguments) if sign and len(arguments) > 1 else f"{name.upper()}({', '.join(arguments)})"

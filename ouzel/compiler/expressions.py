"""Typed expressions: what the binder makes of SQL text and of DSL calls, and what both engines lower.

Columns are named, and names are unique within a node's schema, so an expression needs no table qualifier. Every operator of SQL
(`+`, `AND`, `LIKE`, `IS NULL` ...) is a `Call` of a registered function; only what needs a shape of its own is a class here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from ouzel.compiler.types import BOOLEAN, DataType, Schema

if TYPE_CHECKING:
    from ouzel.compiler.functions.registry import Function


@dataclass(frozen=True)
class SourceLocation:
    """Where an expression stands in the user's text: the line, its number (from 1), and the part of it (columns from 0)."""

    line: str
    number: int
    column: int
    length: int

    def __str__(self) -> str:
        return f"{self.part} (line {self.number}, column {self.column + 1})"

    @property
    def part(self) -> str:
        """What is written there."""
        return self.line[self.column : self.column + self.length]

    @property
    def shown(self) -> str:
        """The line, and carets under the part."""
        return f"  {self.line}\n  {' ' * self.column}{'^' * self.length}"


@dataclass(frozen=True)
class Expression:
    """Base of all expressions; `type` is what evaluating it gives, `str()` is SQL. Where it was `written` is no part of what it is."""

    type: DataType
    written: SourceLocation | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Column(Expression):
    """A column of the node's input, by name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Literal(Expression):
    """A constant as a Python value: None, bool, int, float, Decimal, str, bytes, date, datetime, timedelta.

    An interval of months is an int.
    """

    value: object

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        return "NULL" if self.value is None else str(self.value)


@dataclass(frozen=True)
class Call(Expression):
    """A call of a scalar function by its canonical name; `row` is the function itself where it is the user's and not in the registry."""

    function: str
    arguments: tuple[Expression, ...]
    row: Function | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Cast(Expression):
    """CAST (fails its row where Spark's ANSI cast fails) or, if `safe`, TRY_CAST (NULL instead)."""

    operand: Expression
    safe: bool = False

    def __str__(self) -> str:
        return f"{'TRY_CAST' if self.safe else 'CAST'}({self.operand} AS {self.type})"


@dataclass(frozen=True)
class Case(Expression):
    """CASE WHEN c THEN v ... ELSE e END: branches are (condition, value); only the branch taken can fail its row."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression

    def __str__(self) -> str:
        whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in self.branches)
        return f"CASE {whens} ELSE {self.otherwise} END"


@dataclass(frozen=True)
class GetField(Expression):
    """A field of a ROW."""

    operand: Expression
    field: str

    def __str__(self) -> str:
        return f"{self.operand}.{self.field}"


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands, left to right."""
    match expression:
        case Call(arguments=arguments):
            return arguments
        case Cast(operand=operand) | GetField(operand=operand):
            return (operand,)
        case Case(branches=branches, otherwise=otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
    return ()


def walk_expression(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, parents first."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(children(part))


def columns_of(expression: Expression) -> frozenset[str]:
    """Names of the columns it reads."""
    return frozenset(part.name for part in walk_expression(expression) if isinstance(part, Column))


def rewrite(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to every part, operands first."""
    match expression:
        case Call(arguments=arguments):
            expression = replace(expression, arguments=tuple(rewrite(part, change) for part in arguments))
        case Cast(operand=operand) | GetField(operand=operand):
            expression = replace(expression, operand=rewrite(operand, change))
        case Case(branches=branches, otherwise=otherwise):
            changed = tuple((rewrite(when, change), rewrite(value, change)) for when, value in branches)
            expression = replace(expression, branches=changed, otherwise=rewrite(otherwise, change))
    return change(expression)


def substitute(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with columns replaced by what computes them."""
    return rewrite(expression, lambda part: values.get(part.name, part) if isinstance(part, Column) else part)


def is_trivial(expression: Expression) -> bool:
    """A column or a constant: computing it twice costs nothing."""
    return isinstance(expression, Column | Literal)


def columns(schema: Schema) -> tuple[Column, ...]:
    """One `Column` for each field of `schema`."""
    return tuple(Column(field.type, field.name) for field in schema)


def conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    """The operands of nested ANDs, left to right."""
    found, waiting = [], [predicate]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call) and part.function == "and":
            waiting += reversed(part.arguments)
        else:
            found.append(part)
    return tuple(found)


def conjunction(parts: Sequence[Expression]) -> Expression:
    """All parts joined by AND, the first one evaluated first."""
    return make_chain("and", BOOLEAN, parts)


Operand = TypeVar("Operand")
LONG_CHAIN = 64
"""From so many operands on a chain is a tree that is not deep: thousands would be deeper than recursion and Spark's stack go."""


def make_chain(function: str, kind: DataType, parts: Sequence[Expression]) -> Expression:
    """All parts joined by an associative operator, left to right; short chains lean to the left, as they are read."""
    return join_balanced(parts, lambda left, right: Call(kind, function, (left, right)))


def join_balanced(parts: Sequence[Operand], join: Callable[[Operand, Operand], Operand]) -> Operand:
    """All parts joined two by two, in their order; short chains lean to the left."""
    if len(parts) < LONG_CHAIN:
        return reduce(join, parts)
    half = len(parts) // 2
    return join(join_balanced(parts[:half], join), join_balanced(parts[half:], join))

"""Do not compute what constants keep from being asked for: `SUM(x) FILTER (WHERE FALSE)`, `CASE WHEN FALSE THEN x END`."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import TypeVar

from ouzel.compiler.expressions import Call, Case, Expression, Literal, columns, rewrite
from ouzel.compiler.expressions import Column as ColumnExpression
from ouzel.compiler.plan import Aggregate, AggregateCall, Filter, Node, Over, OverCall, Project
from ouzel.compiler.types import BOOLEAN
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.fold_constants import fold_constant

C = TypeVar("C", AggregateCall, OverCall)

NOTHING = "$nothing"
"""Prefix of the columns that are read instead of values which no row is asked for."""


def leave_out_unasked_values(dag: Dag) -> Dag:
    """Let aggregates whose FILTER no row meets read NULL, and drop branches and operands that no row comes to.

    It is no rule of the topology: Spark's optimizer does the same, and what nobody asks for may fail a row further down. So both engines
    get what it makes of a plan as it was written, and neither fails.
    """
    return dag.rewritten(_leave_out)


def _leave_out(node: Node, shared: Set[int]) -> Node:
    match node:
        case Project():
            items = tuple((name, rewrite(value, _without_unasked)) for name, value in node.items)
            return node if items == node.items else replace(node, items=items)
        case Filter():
            predicate = rewrite(node.predicate, _without_unasked)
            return node if predicate == node.predicate else replace(node, predicate=predicate)
        case Aggregate():
            calls = tuple(_without_argument(call, node.input) for call in node.calls)
            return node if calls == node.calls else replace(node, calls=calls, input=_with_nothing(node.input, calls))
        case Over():
            shown = tuple(_without_argument(call, node.input) for call in node.calls)
            return node if shown == node.calls else replace(node, calls=shown, input=_with_nothing(node.input, shown))
    return node


def _without_argument(call: C, below: Node) -> C:
    """The call of NULL, if its filter is met by no row and it is of something else now."""
    if call.filter is None or call.argument is None:
        return call
    condition, value = _trace(below, call.filter), _trace(below, call.argument)
    if condition is None or not _is_never(condition) or isinstance(value, Literal):
        return call
    return replace(call, argument=NOTHING + call.argument)


def _with_nothing(below: Node, calls: tuple[AggregateCall, ...] | tuple[OverCall, ...]) -> Node:
    """The node with the columns of NULL that these calls read."""
    names = dict.fromkeys(call.argument for call in calls if call.argument and call.argument not in below.schema.names)
    kinds = ((name, below.schema[name.removeprefix(NOTHING)].type) for name in names)
    kept = ((column.name, column) for column in columns(below.schema))
    return Project(below, (*kept, *((name, Literal(kind, None)) for name, kind in kinds)))


def _trace(node: Node, name: str) -> Expression | None:
    """What computes a column; None if no projection does."""
    while True:
        if isinstance(node, Project):
            value = dict(node.items)[name]
            if not isinstance(value, ColumnExpression):
                return value
            node, name = node.input, value.name
        elif name in node.origins:
            place, name = node.origins[name]
            node = node.inputs[place]
        else:
            return None


def _without_unasked(expression: Expression) -> Expression:
    """The expression without what no row comes to; the kind of value that it gives stays."""
    match expression:
        case Case():
            return _case(expression)
        case Call(function="and", arguments=arguments) if any(map(_is_false, arguments)):
            return Literal(BOOLEAN, False)
        case Call(function="or", arguments=arguments) if any(map(_is_true, arguments)):
            return Literal(BOOLEAN, True)
        case Call(function="coalesce", arguments=arguments):
            return _coalesce(expression, arguments)
    return expression


def _case(case: Case) -> Expression:
    branches: list[tuple[Expression, Expression]] = []
    otherwise = case.otherwise
    for condition, value in case.branches:
        if _is_true(condition):
            otherwise = value
            break
        if not _is_never(condition):
            branches.append((condition, value))
    if not branches and otherwise.type == case.type:
        return otherwise
    if not branches or otherwise.type != case.otherwise.type:
        return case
    return replace(case, branches=tuple(branches), otherwise=otherwise)


def _coalesce(call: Call, arguments: tuple[Expression, ...]) -> Expression:
    """Up to the first constant that is not NULL."""
    for number, value in enumerate(arguments):
        if isinstance(value, Literal) and value.value is not None:
            if not number:
                return value if value.type == call.type else call
            return replace(call, arguments=arguments[: number + 1])
    return call


def _is_true(condition: Expression) -> bool:
    return fold_constant(condition) == Literal(BOOLEAN, True)


def _is_false(condition: Expression) -> bool:
    return fold_constant(condition) == Literal(BOOLEAN, False)


def _is_never(condition: Expression) -> bool:
    """Whether it is FALSE or NULL for every row."""
    found = fold_constant(condition)
    return isinstance(found, Literal) and not found.value

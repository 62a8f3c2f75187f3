"""Compute once what is the same for every row."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite

from ouzel.compiler.expressions import (
    Call,
    Column,
    Expression,
    Literal,
    conjunction,
    conjuncts,
    rewrite,
    walk_expression,
)
from ouzel.compiler.plan import Filter, Node, Project
from ouzel.compiler.types import (
    BOOLEAN,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    TimestampType,
)
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.predicates import is_deterministic

_FOLDED = (BooleanType, DateType, DecimalType, FloatType, IntegerType, IntervalType, TimestampType)
"""Types of which a constant is no longer than what computes it."""


_TRUE = Literal(BOOLEAN, True)


def fold_constants(dag: Dag) -> Dag:
    """In filters and projections, put values in place of expressions that read no column; drop filters that all rows pass.

    What fails its row goes on failing each, and so stays. Functions of the user are not called here.
    """
    return dag.rewritten(_fold)


def _fold(node: Node, shared: Set[int]) -> Node:
    if isinstance(node, Project):
        items = tuple((name, rewrite(value, _value_of)) for name, value in node.items)
        return node if items == node.items else replace(node, items=items)
    if not isinstance(node, Filter):
        return node
    parts = tuple(_needed_parts(conjuncts(rewrite(node.predicate, _value_of))))
    if not parts:
        return node.input
    predicate = conjunction(parts)
    return node if predicate == node.predicate else replace(node, predicate=predicate)


def fold_constant(expression: Expression) -> Expression:
    """The expression as a constant, if it reads no column and fails no row; else as it is."""
    return expression if isinstance(expression, Literal) or _has_column(expression) else rewrite(expression, _value_of)


def _needed_parts(parts: tuple[Expression, ...]) -> Iterator[Expression]:
    """Those that are not TRUE, up to the first that is FALSE: what stands behind it is never asked."""
    for part in parts:
        if not (isinstance(part, Literal) and part.value is True):
            yield part
        if isinstance(part, Literal) and part.value is False:
            return


def _value_of(expression: Expression) -> Expression:
    """The expression as a constant, if it is one: an OR too that begins with TRUE, for nothing behind that is asked."""
    if isinstance(expression, Call) and expression.function == "or" and expression.arguments[0] == _TRUE:
        return _TRUE
    if isinstance(expression, Literal) or not isinstance(expression.type, _FOLDED) or _has_column(expression):
        return expression
    if any(isinstance(part, Call) and part.row for part in walk_expression(expression)):
        return expression
    return _compute(expression) if is_deterministic(expression) else expression


def _has_column(expression: Expression) -> bool:
    """Whether it reads a column; told at the first, for this is asked of each part."""
    return any(isinstance(part, Column) for part in walk_expression(expression))


def _compute(expression: Expression) -> Expression:
    import polars as pl

    from ouzel.compiler.functions.kernel import evaluate, lower

    frame, failed = evaluate(pl.DataFrame({"$row": [0]}), [("$value", lower(expression))])
    try:
        value = frame.item()
    except (OverflowError, ValueError):  # a time beyond the years of Python's
        return expression
    if failed is not None or (isinstance(value, float) and not isfinite(value)):
        return expression
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(UTC)
    return Literal(expression.type, value, written=expression.written)

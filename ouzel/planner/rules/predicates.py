"""What rules ask of expressions: whether a row can fail, and whether it gives the same value each time."""

from __future__ import annotations

from ouzel.compiler.expressions import Call, Expression, walk_expression
from ouzel.compiler.functions.guards import can_fail


def is_deterministic(expression: Expression) -> bool:
    """Whether the same row always gives the same value."""
    from ouzel.compiler.functions import function_of

    calls = (function_of(part) for part in walk_expression(expression) if isinstance(part, Call))
    return all(function is None or function.deterministic for function in calls)


def can_move(predicate: Expression) -> bool:
    """Whether a filter may be applied earlier than written.

    A rule may evaluate an expression on fewer rows than the query says, never on more: a row that another filter drops must not fail.
    """
    return is_deterministic(predicate) and not can_fail(predicate)

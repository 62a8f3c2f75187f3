"""Numbers that a query must know when it is planned, as how far LAG looks: they may be computed of constants."""

from __future__ import annotations

from ouzel.compiler.expressions import Call, Column, Expression, Literal, walk_expression
from ouzel.compiler.functions import function_of
from ouzel.compiler.types import IntegerType


def reads_a_row(expression: Expression) -> bool:
    """Whether it may be another for each row."""
    return any(isinstance(part, Column) or _may_vary(part) for part in walk_expression(expression))


def constant_number(expression: Expression) -> int | None:
    """The whole number that it is for every row; None if it is none, or fails."""
    if not isinstance(expression.type, IntegerType) or reads_a_row(expression):
        return None
    value = expression.value if isinstance(expression, Literal) else _compute(expression)
    return value if isinstance(value, int) else None


def _may_vary(part: Expression) -> bool:
    """Whether it calls what gives other answers for the same arguments, or the user's own."""
    function = function_of(part) if isinstance(part, Call) else None
    return isinstance(part, Call) and (part.row is not None or function is None or not function.deterministic)


def _compute(expression: Expression) -> object:
    import polars as pl

    from ouzel.compiler.functions.kernel import evaluate, lower

    frame, failed = evaluate(pl.DataFrame({"$row": [0]}), [("$value", lower(expression))])
    return None if failed is not None else frame.item()

"""Values that are asked for only where a condition is TRUE, as FILTER does with an aggregate's argument."""

from __future__ import annotations

from ouzel.compiler.expressions import Case, Expression, Literal
from ouzel.errors import NotSupported


def can_fail(expression: Expression) -> bool:
    """Whether some row makes it a bad record (overflow, a bad cast, a division by zero): the kernel's lowering knows.

    Raises:
        NotSupported: the expression has no streaming lowering.
    """
    from ouzel.compiler.functions.kernel import lower

    return lower(expression).error is not None


def may_fail(value: Expression) -> bool:
    """The same of any expression: what only a batch job computes may fail."""
    try:
        return can_fail(value)
    except NotSupported:
        return True


def guard(value: Expression, condition: Expression) -> Expression:
    """The value where the condition is TRUE and NULL elsewhere, so that it fails no other row; itself if it cannot fail."""
    if not may_fail(value):
        return value
    return Case(value.type, ((condition, value),), Literal(value.type, None), written=value.written)

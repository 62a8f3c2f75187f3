"""The clock, which a query may not read."""

from __future__ import annotations

from sqlglot import exp

from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import NotSupported, QueryError

_CHOSEN = ", or write the time itself: ts > TIMESTAMP '2026-01-31 00:00:00'"


def clock_error(source: QueryText, node: exp.Expr, name: str) -> QueryError:
    """Why there is no NOW()."""
    return source.error(
        f"{name.upper()} is not supported: the clock would make the stream and the batch job disagree",
        place(node),
        "use a time column of the table" + (_CHOSEN if node.find_ancestor(exp.Where) else ""),
        NotSupported,
    )

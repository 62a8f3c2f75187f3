"""The order in which a query's clauses stand: one that comes too late would be computed as if it stood before."""

from __future__ import annotations

from sqlglot.tokenizer_core import TokenType

from ouzel.compiler.sql.syntax.source import QueryText, Tokens, span_of

_CLAUSES = {
    TokenType.WHERE: "WHERE",
    TokenType.GROUP_BY: "GROUP BY",
    TokenType.HAVING: "HAVING",
    TokenType.QUALIFY: "QUALIFY",
    TokenType.ORDER_BY: "ORDER BY",
    TokenType.LIMIT: "LIMIT",
}
"""In the order in which they stand."""

_PLACES = {kind: place for place, kind in enumerate(_CLAUSES)}
_BEGINS = (TokenType.SELECT, TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT)
"""What begins another query at the same depth of parentheses."""


def check_order_of_clauses(source: QueryText, tokens: Tokens) -> None:
    """See that no clause stands behind one that is computed after it.

    Raises:
        QueryError: one does.
    """
    before: list[TokenType | None] = [None]
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            before.append(None)
        elif kind is TokenType.R_PAREN and len(before) > 1:
            before.pop()
        elif kind in _BEGINS:
            before[-1] = None
        elif kind in _PLACES:
            last = before[-1]
            if last is not None and _PLACES[last] > _PLACES[kind]:
                also = (
                    ", or write HAVING to choose groups"
                    if kind is TokenType.WHERE and last is not TokenType.QUALIFY
                    else ""
                )
                raise source.error(
                    f"{_CLAUSES[kind]} stands behind {_CLAUSES[last]}",
                    span_of([token]),
                    f"write it before {_CLAUSES[last]}{also}",
                )
            before[-1] = kind

"""The check of how deep a query is nested, before the parser and the binder go down into it."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from ouzel.compiler.depth import MOST_LEVELS
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, depth_change, is_word, span_of
from ouzel.errors import QueryError

_CHAINS = (exp.And, exp.Or, exp.DPipe, exp.SetOperation)
"""What is no deeper for being long."""
_SIGNS = (TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.NOT)
MOST_VALUES = 20_000
"""Values of one IN."""


def check_tokens(source: QueryText, tokens: Tokens) -> None:
    """Refuse parentheses, CASE and signs that are nested too deep, and IN with too many values.

    Raises:
        QueryError: at the first that is one too many.
    """
    depth, signs = 0, 0
    lists: list[tuple[int, int]] = []
    for index, token in enumerate(tokens):
        change = depth_change(token) + is_word(token, "CASE") - is_word(token, "END")
        depth += change
        signs = signs + 1 if token.token_type in _SIGNS else 0
        if depth + signs > MOST_LEVELS:
            raise _too_deep(source, span_of([token]))
        if change > 0 and index and tokens[index - 1].token_type is TokenType.IN:
            lists.append((depth, 1))
        elif change < 0 and lists and lists[-1][0] > depth:
            lists.pop()
        elif token.token_type is TokenType.COMMA and lists and lists[-1][0] == depth:
            lists[-1] = (depth, lists[-1][1] + 1)
            _check_values(source, token.start, lists[-1][1])


def _check_values(source: QueryText, at: int, count: int) -> None:
    if count > MOST_VALUES:
        raise source.error(
            f"IN has more than {MOST_VALUES} values",
            (at, at + 1),
            "put them into a file, and write IN (SELECT value FROM 'values.csv') or a JOIN with it",
        )


def check_tree(source: QueryText, tree: exp.Expr) -> None:
    """Refuse operators and queries that are nested too deep; AND, OR, || and UNION may be as long as one likes.

    Raises:
        QueryError: at what is one level too deep.
    """
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MOST_LEVELS:
            raise _too_deep(source, place(node))
        for part in node.iter_expressions():
            within = type(part) is type(node) and isinstance(part, _CHAINS)
            waiting.append((part, depth + (isinstance(part, exp.Condition | exp.Query) and not within)))


def _too_deep(source: QueryText, span: Span) -> QueryError:
    return source.error(
        f"this is nested more than {MOST_LEVELS} levels deep",
        span,
        "compute parts of it in views or subqueries of their own, write a long + as SUM over rows, and a long CASE as a JOIN",
    )

"""The terminals of `statements.lark`: our tokens, queries and groups folded into one terminal each, so that the grammar stays small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lark
from lark.lexer import Lexer
from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, matching, span_of

_PUNCTUATION = {
    TokenType.L_PAREN: "LPAR", TokenType.R_PAREN: "RPAR", TokenType.COMMA: "COMMA", TokenType.DOT: "DOT", TokenType.EQ: "EQ",
    TokenType.DASH: "MINUS", TokenType.STRING: "STRING", TokenType.NUMBER: "NUMBER", TokenType.IDENTIFIER: "QUOTED",
}  # fmt: skip
_KEYWORD_LIST = (
    "CREATE TEMPORARY TABLE SOURCE IF NOT EXISTS COMMENT AS NULL PRIMARY KEY METADATA FROM VIRTUAL WATERMARK FOR IDLE AFTER NEVER "
    "CONSTRAINT ENFORCED WITH OR REPLACE VIEW INSERT INTO SET EXPLAIN RECONCILE BETWEEN AND LIKE MATERIALIZED PARTITIONED"
)
_KEYWORDS = frozenset(_KEYWORD_LIST.split())
_GENERIC = ("ARRAY", "MAP", "ROW", "STRUCT")


class TerminalLexer(Lexer):
    """Hands terminals that are ready to lark."""

    def __init__(self, conf: Any) -> None:
        pass

    def lex(self, data: Any) -> Iterator[lark.Token]:  # type: ignore[override]
        yield from data


def terminals(source: QueryText, tokens: Tokens) -> Iterator[lark.Token]:
    """The terminals of one statement.

    Raises:
        QueryError: a parenthesis inside a column list is never closed.
    """
    depth = at = 0
    while at < len(tokens):
        token, end = tokens[at], at
        if depth == 0 and _starts_query(tokens, at):
            end = len(tokens) - 1
            yield _fold("QUERY", tokens[at:])
        elif _opens_group(tokens, at, depth):
            end = _closing(source, tokens, at)
            yield _fold("GROUP", tokens[at : end + 1])
        else:
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            yield from _terminals(token)
        at = end + 1


def _starts_query(tokens: Tokens, at: int) -> bool:
    token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
    if token.token_type is TokenType.L_PAREN:
        return after is not None and _starts_query(tokens, at + 1)
    if is_word(token, "WITH"):  # of a CTE, not of options
        return after is not None and after.token_type is not TokenType.L_PAREN
    return is_word(token, "SELECT", "VALUES")


def _opens_group(tokens: Tokens, at: int, depth: int) -> bool:
    if tokens[at].token_type is TokenType.LT:
        return is_word(tokens[at - 1], *_GENERIC)
    return tokens[at].token_type is TokenType.L_PAREN and depth > 0 and not is_word(tokens[at - 1], "KEY")


def _closing(source: QueryText, tokens: Tokens, at: int) -> int:
    if tokens[at].token_type is TokenType.LT:
        depth = 0
        for end in range(at, len(tokens)):
            depth += (tokens[end].token_type is TokenType.LT) - (tokens[end].token_type is TokenType.GT)
            if depth == 0:
                return end
    elif (found := matching(tokens, at)) is not None:
        return found
    sign = tokens[at].text
    raise source.error(
        f"{sign} is opened here and never closed",
        span_of(tokens[at : at + 1]),
        f"write {')' if sign == '(' else '>'} where it ends",
    )


def _fold(kind: str, tokens: Tokens) -> lark.Token:
    start, end = span_of(tokens)
    return lark.Token(kind, "", start_pos=start, end_pos=end)


def _terminals(token: Token) -> Iterator[lark.Token]:
    """One token; of several words (`ORDER BY`) one for each."""
    kind = _PUNCTUATION.get(token.token_type)
    words = [token.text] if kind else token.text.split()
    for word in words:
        plain = "NAME" if word[:1].isalpha() or word[:1] == "_" else "OTHER"
        keyword = word.upper() if word.upper() in _KEYWORDS else plain
        yield lark.Token(kind or keyword, word, start_pos=token.start, end_pos=token.end + 1)

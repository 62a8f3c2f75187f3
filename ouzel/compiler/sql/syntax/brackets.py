"""What others write in brackets, refused where it stands: T-SQL's names, DuckDB's list comprehensions; and quotes of word processors."""

from __future__ import annotations

import re
from itertools import pairwise

from sqlglot.tokenizer_core import TokenType

from ouzel.compiler.sql.syntax.source import QueryText, Tokens, matching, span_of
from ouzel.compiler.sql.syntax.words import bare_word, is_bare, is_kind, is_operand, is_word
from ouzel.errors import NotSupported

_BEFORE_A_NAME = ("FROM", "JOIN", "AS", "INTO")
_EACH = "write CROSS JOIN UNNEST(array) AS u (element), and ARRAY_AGG of what is computed"


def refuse_brackets(source: QueryText, tokens: Tokens) -> None:
    """See that brackets hold an index or the elements of an ARRAY.

    Raises:
        NotSupported: a list comprehension.
        QueryError: a name in brackets. Where one certainly is, the first that may be one is pointed at.
    """
    names = []
    for at, token in enumerate(tokens):
        if token.token_type is not TokenType.L_BRACKET or (end := matching(tokens, at)) is None:
            continue
        inside = tokens[at + 1 : end]
        if _is_comprehension(inside):
            raise source.error(
                "a list comprehension is not supported", span_of(tokens[at : end + 1]), _EACH, NotSupported
            )
        is_index = is_operand(tokens, at - 1) and bare_word(tokens, at - 1) not in _BEFORE_A_NAME
        if (
            inside
            and not is_index
            and all(is_bare(word) or is_kind([word], 0, TokenType.IDENTIFIER) for word in inside)
        ):
            names.append((at, end))
    if not any(_is_certain(tokens, at, end) for at, end in names):
        return
    at, end = names[0]
    written = source.text[tokens[at].end + 1 : tokens[end].start].strip()
    shown = written if written.isidentifier() else f'"{written}"'
    raise source.error("names do not stand in brackets", span_of(tokens[at : end + 1]), f"write {shown}")


def _is_certain(tokens: Tokens, at: int, end: int) -> bool:
    return end - at > 2 or bare_word(tokens, at - 1) in _BEFORE_A_NAME or is_kind(tokens, at - 1, TokenType.DOT)


def _is_comprehension(inside: Tokens) -> bool:
    return any(is_word(a, "FOR") and is_bare(b) for a, b in pairwise(inside)) and any(is_word(a, "IN") for a in inside)


def refuse_curly_quotes(source: QueryText, tokens: Tokens) -> None:
    """See that no text stands between the quotes of a word processor.

    Raises:
        QueryError: one does.
    """
    for token in tokens:
        if token.token_type is TokenType.VAR and token.text[:1] in "‘’“”„":
            found = re.match("[‘’“”„]([^‘’“”„\n]*)[‘’“”„]?", source.text[token.start :])
            assert found is not None
            advice = f"write straight quotes: '{found[1]}'"
            raise source.error(f"{found[0][0]} is no quote", (token.start, token.start + found.end()), advice)

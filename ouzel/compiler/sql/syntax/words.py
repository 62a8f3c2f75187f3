"""Which words are structure: the keywords of our language, and those that are one only beside certain others.

All other words are names, so that columns and functions may be called `date`, `first` or `values`. Token kinds are sqlglot's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

_ALWAYS_LIST = (
    "SELECT FROM WHERE HAVING AS AND OR NOT IN IS NULL TRUE FALSE LIKE ILIKE BETWEEN CASE WHEN THEN ELSE END DISTINCT UNION INTERSECT "
    "EXCEPT ALL CROSS LEFT RIGHT FULL INNER OUTER JOIN LATERAL ON WITH EXISTS UNNEST ORDINALITY DIV ANY SOME QUALIFY LIMIT ASC DESC"
)
_PAIRS = ("GROUP BY", "ORDER BY", "PARTITION BY", "PARTITIONED BY", "GROUPING SETS", "SIMILAR TO")
_ALWAYS = frozenset({*_ALWAYS_LIST.split(), *_PAIRS})
KEYWORDS: dict[str, TokenType] = {
    text: kind for text, kind in Tokenizer.KEYWORDS.items() if text in _ALWAYS or not text[0].isalpha()
}
"""Words and signs that are structure wherever they stand."""

Tokens = Sequence[Token]
_BEGINS_A_QUERY = frozenset({"SELECT", "ALL", "DISTINCT", "VALUES", "WITH"})
BEFORE_JOIN = frozenset({"JOIN", "LEFT", "RIGHT", "FULL", "INNER"})
_OPERANDS = (
    TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.VAR
)  # fmt: skip
_FRAMES = frozenset({"ROWS", "RANGE", "GROUPS"})
_FRAME_BOUNDS = frozenset({"BETWEEN", "UNBOUNDED", "CURRENT", "INTERVAL"})
_NO_WORDS = (TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.HEX_STRING, TokenType.SENTINEL)


def is_word(token: Token, *words: str) -> bool:
    """Whether the token is one of these words, unquoted."""
    return token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING) and token.text.upper() in words


def is_quoted(token: Token) -> bool:
    """Whether the token is a name in quotes."""
    return token.token_type is TokenType.IDENTIFIER


def is_text(token: Token) -> bool:
    """Whether the token is a string."""
    return token.token_type is TokenType.STRING


def is_numeral(token: Token) -> bool:
    """Whether the token is a number without sign."""
    return token.token_type is TokenType.NUMBER


def is_kind(tokens: Tokens, index: int, *kinds: TokenType) -> bool:
    """Whether there is a token of one of these kinds at `index`."""
    return 0 <= index < len(tokens) and tokens[index].token_type in kinds


def bare_word(tokens: Tokens, index: int) -> str:
    """The word at `index` in upper case; empty if there is none."""
    if not 0 <= index < len(tokens) or not is_bare(tokens[index]):
        return ""
    return tokens[index].text.upper()


def is_bare(token: Token) -> bool:
    """Whether the token is a word, not in quotes."""
    return token.token_type not in _NO_WORDS and (token.text[:1].isalpha() or token.text[:1] in ("_", "$"))


def is_operand(tokens: Tokens, at: int) -> bool:
    """Whether the token at `at` can be a value, or end one."""
    return is_kind(tokens, at, *_OPERANDS)


def _is_between_values(tokens: Tokens, at: int) -> bool:
    """Not the call `REGEXP(text, pattern)`, which may follow NOT, and no name."""
    before = at - 2 if bare_word(tokens, at - 1) == "NOT" else at - 1
    value = is_operand(tokens, before) or bare_word(tokens, before) == "END"
    return value and (is_operand(tokens, at + 1) or is_kind(tokens, at + 1, TokenType.L_PAREN))


def _is_call(tokens: Tokens, at: int) -> bool:
    return is_kind(tokens, at + 1, TokenType.L_PAREN)


def _is_join(tokens: Tokens, at: int) -> bool:
    return bare_word(tokens, at + 1) == "JOIN"


def _is_count(tokens: Tokens, at: int) -> bool:
    return is_kind(tokens, at + 1, TokenType.NUMBER)


def _follows_fetch(tokens: Tokens, at: int) -> bool:
    return bare_word(tokens, at - 1) == "FETCH"


def _opens_window(tokens: Tokens, at: int) -> bool:
    """OVER is no alias: a call stands before it, and a window or its name behind."""
    named = is_kind(tokens, at + 1, TokenType.L_PAREN, TokenType.IDENTIFIER, TokenType.VAR)
    return named and (is_kind(tokens, at - 1, TokenType.R_PAREN) or bare_word(tokens, at - 1) == "NULLS")


def _names_window(tokens: Tokens, at: int) -> bool:
    return bare_word(tokens, at + 2) == "AS" and is_kind(tokens, at + 3, TokenType.L_PAREN)


def _opens_frame(tokens: Tokens, at: int) -> bool:
    return bare_word(tokens, at + 1) in _FRAME_BOUNDS or _is_count(tokens, at)


def _is_set_operation(tokens: Tokens, at: int) -> bool:
    return bare_word(tokens, at + 1 + _is_call(tokens, at)) in _BEGINS_A_QUERY


SOMETIMES: dict[str, tuple[TokenType, Callable[[Tokens, int], bool]]] = {
    "FILTER": (TokenType.FILTER, _is_call),
    "USING": (TokenType.USING, _is_call),
    "VALUES": (TokenType.VALUES, _is_call),
    "CUBE": (TokenType.CUBE, _is_call),
    "ROLLUP": (TokenType.ROLLUP, _is_call),
    "MATCH_CONDITION": (TokenType.MATCH_CONDITION, _is_call),
    "SEMI": (TokenType.SEMI, _is_join),
    "ANTI": (TokenType.ANTI, _is_join),
    "NATURAL": (TokenType.NATURAL, lambda tokens, at: bare_word(tokens, at + 1) in BEFORE_JOIN),
    "RLIKE": (TokenType.RLIKE, _is_between_values),
    "REGEXP": (TokenType.RLIKE, _is_between_values),
    "ASOF": (TokenType.ASOF, lambda tokens, at: bare_word(tokens, at + 1) in BEFORE_JOIN),
    "FOR": (TokenType.FOR, lambda tokens, at: bare_word(tokens, at + 1) == "SYSTEM_TIME"),
    "MINUS": (TokenType.EXCEPT, _is_set_operation),
    "INTERVAL": (
        TokenType.INTERVAL,
        lambda tokens, at: is_kind(tokens, at + 1, TokenType.STRING, TokenType.NUMBER, TokenType.DASH),
    ),
    "ESCAPE": (TokenType.ESCAPE, lambda tokens, at: is_kind(tokens, at + 1, TokenType.STRING, TokenType.NULL)),
    "OFFSET": (TokenType.OFFSET, _is_count),
    "FETCH": (TokenType.FETCH, lambda tokens, at: bare_word(tokens, at + 1) in ("FIRST", "NEXT")),
    "FIRST": (TokenType.FIRST, _follows_fetch),
    "NEXT": (TokenType.NEXT, _follows_fetch),
    "OVER": (TokenType.OVER, _opens_window),
    "WINDOW": (TokenType.WINDOW, _names_window),
    **dict.fromkeys(_FRAMES, (TokenType.ROWS, _opens_frame)),
}
"""Words that are structure beside certain others: of which kind, and where."""


def settle(tokens: list[Token]) -> list[Token]:
    """The tokens, with the kinds of words that are structure where they stand."""
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.VAR and (rule := SOMETIMES.get(token.text.upper())) and rule[1](tokens, at):
            tokens[at] = Token(rule[0], token.text, token.line, token.col, token.start, token.end, token.comments)
    return tokens

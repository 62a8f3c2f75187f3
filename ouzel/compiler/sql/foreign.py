"""Constructs of other dialects, known by their words: what to write here instead, before the parser trips over them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.sql.source import QueryText, Tokens, is_word, span_of
from ouzel.errors import NotSupported


@dataclass(frozen=True)
class _Foreign:
    """Words, and what to write instead; a name may be any of them, so `infix` ones stand between two values, others before a (."""

    words: tuple[str, ...]
    instead: str
    infix: bool = False
    called: bool = False


_FOREIGN = tuple(
    _Foreign(tuple(words.split()), instead, infix, called)
    for words, instead, infix, called in (
        ("PIVOT", "write an aggregate for each value: SUM(x) FILTER (WHERE k = 'a') AS a", False, True),
        ("UNPIVOT", "write CROSS JOIN UNNEST(ARRAY[a, b]) AS u (value)", False, True),
        ("CROSS APPLY", "write CROSS JOIN LATERAL (SELECT ...) AS a", False, True),
        ("OUTER APPLY", "write LEFT JOIN LATERAL (SELECT ...) AS a ON TRUE", False, True),
        ("LATERAL VIEW", "write CROSS JOIN UNNEST(array) AS t (element)", False, False),
        ("POSITIONAL JOIN", "rows of a stream have no position; join by a key", False, False),
        ("WITH ROLLUP", "write GROUP BY ROLLUP (a, b)", False, False),
        ("WITH CUBE", "write GROUP BY CUBE (a, b)", False, False),
        ("UNION BY NAME", "name the columns of both sides in one order", False, False),
        ("UNION ALL BY NAME", "name the columns of both sides in one order", False, False),
        ("FOR UPDATE", "leave it out: a query takes no locks", False, False),
        ("BETWEEN SYMMETRIC", "write BETWEEN LEAST(a, b) AND GREATEST(a, b)", False, False),
        ("AT TIME ZONE", "a TIMESTAMP has no zone; add what it is ahead: t + INTERVAL '1' HOUR", False, False),
        ("COLLATE", "texts are compared code point by code point; compare LOWER(text)", True, False),
        ("OVERLAPS", "write a < d AND c < b, for spans from a to b and from c to d", True, False),
        ("XOR", "write a <> b", True, False),
        ("GLOB", "write LIKE, or REGEXP_LIKE", True, False),
    )
)
_BY_FIRST_WORD: dict[str, list[_Foreign]] = {}
for _foreign in _FOREIGN:
    _BY_FIRST_WORD.setdefault(_foreign.words[0], []).append(_foreign)
_SIGNS = {"&&": "write AND", "//": "write a DIV b", "**": "write POWER(a, b)", "=<": "write <="}
_PREFIXES = {"E": "write the character itself between the quotes", "R": "leave the r out: a backslash is a backslash"}
_OPERANDS = (TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN, TokenType.R_BRACKET)


def refuse_foreign(source: QueryText, tokens: Tokens) -> None:
    """Refuse what only other dialects have.

    Raises:
        NotSupported: the construct, at its place, with what to write instead.
    """
    for index, token in enumerate(tokens):
        _refuse_signs(source, tokens[index : index + 2])
        for foreign in _BY_FIRST_WORD.get(token.text.upper(), ()):
            if _stands(tokens, index, foreign):
                span = span_of(tokens[index : index + len(foreign.words)])
                problem = f"{' '.join(foreign.words)} is not supported"
                raise source.error(problem, span, foreign.instead, NotSupported)


def _refuse_signs(source: QueryText, pair: Tokens) -> None:
    """Two tokens that touch, and are one sign elsewhere."""
    first = pair[0]
    sign = first.text
    if len(pair) == 2 and pair[1].start == first.end + 1 and first.token_type is not TokenType.STRING:
        if pair[1].token_type is TokenType.STRING and sign.upper() in _PREFIXES and is_word(first, sign.upper()):
            problem = f"a text that begins with {sign}' is not supported"
            raise source.error(problem, span_of(pair), _PREFIXES[sign.upper()], NotSupported)
        sign = sign if sign in _SIGNS else sign + pair[1].text
    if sign in _SIGNS and not {first.token_type, pair[-1].token_type} & {TokenType.STRING, TokenType.IDENTIFIER}:
        raise source.error(f"there is no operator {sign}", span_of([t for t in pair if t.text in sign]), _SIGNS[sign])


def _stands(tokens: Tokens, index: int, foreign: _Foreign) -> bool:
    end = index + len(foreign.words)
    if end > len(tokens) or not all(map(is_word, tokens[index:end], foreign.words)):
        return False
    opens = end < len(tokens) and tokens[end].token_type is TokenType.L_PAREN
    if foreign.called:
        return opens and _is_operand(tokens, index - 1)
    return not foreign.infix or (_is_operand(tokens, index - 1) and (opens or _is_operand(tokens, end)))


def _is_operand(tokens: Tokens, index: int) -> bool:
    if not 0 <= index < len(tokens):
        return False
    token: Token = tokens[index]
    return token.token_type in _OPERANDS or token.token_type is TokenType.VAR

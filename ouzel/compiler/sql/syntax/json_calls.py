"""Calls that look into JSON text or make it, as tokens: what stands in them beside arguments."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, span_of
from ouzel.errors import NotSupported

LOOKS_INTO_JSON = frozenset({"JSON_VALUE", "JSON_EXISTS"})
_WRITTEN = "which a table with 'format' = 'json' writes as JSON"
_INSTEAD = {
    "JSON_QUERY": "write GET_JSON_OBJECT(text, '$.path')",
    "JSON_OBJECT": f"select ROW(a, b) or MAP['key', value], {_WRITTEN}",
    "JSON_ARRAY": f"select ARRAY[a, b], {_WRITTEN}",
    "JSON_STRING": f"select the value itself, {_WRITTEN}",
    "JSON_OBJECTAGG": f"select MAP_AGG(key, value), {_WRITTEN}",
    "JSON_ARRAYAGG": f"select ARRAY_AGG(value), {_WRITTEN}",
    "JSON_QUOTE": f"select the text itself, {_WRITTEN}",
    "JSON_UNQUOTE": "write JSON_VALUE(text, '$')",
}
_MODES = ("lax $", "strict $")


def refuse_json(source: QueryText, word: str, call: Tokens) -> None:
    """Refuse a call that makes JSON text; what stands between its parentheses follows rules of its own.

    Raises:
        NotSupported: it is one, with what to write instead.
    """
    if word in _INSTEAD:
        problem = f"{word} is not supported"
        if word == "JSON_QUERY":
            problem = (
                f"{word}, NULL for all but objects and arrays, is not supported: "
                "Spark cannot tell them from a text that looks like one"
            )
        raise source.error(problem, span_of(call), _INSTEAD[word], NotSupported)


def json_edits(source: QueryText, tokens: Tokens, inside: Sequence[int], word: str) -> dict[int, list[Token]]:
    """What becomes of the tokens at `inside`, between the parentheses: a path without its mode, and no `FALSE ON ERROR`, `NULL ON EMPTY`
    and `NULL ON ERROR`, which say what is so anyway.

    Raises:
        NotSupported: another ON EMPTY or ON ERROR.
    """
    edits = {at: [_without_mode(tokens[at])] for at in inside if _has_mode(tokens[at])}
    usual = "FALSE" if word == "JSON_EXISTS" else "NULL"
    for place, at in enumerate(inside):
        if not is_word(tokens[at], "ON") or place == 0:
            continue
        if is_word(tokens[inside[place - 1]], usual):
            edits |= {other: [] for other in inside[place - 1 : place + 2]}
            continue
        raise source.error(
            f"ON EMPTY and ON ERROR are not supported: {_MEANT[word]}",
            span_of([tokens[at - 1], tokens[inside[-1]]]),
            f"leave it out, and write {_OTHERWISE[word]}",
            NotSupported,
        )
    return edits


_MEANT = {
    "JSON_VALUE": "JSON_VALUE gives NULL where there is no value or it cannot be read",
    "JSON_EXISTS": "JSON_EXISTS gives FALSE where the text is not JSON",
}
_OTHERWISE = {
    "JSON_VALUE": "COALESCE(JSON_VALUE(text, path), value) for another value than NULL",
    "JSON_EXISTS": "JSON_EXISTS(text, path) OR NOT JSON_EXISTS(text, '$') for TRUE",
}


def _has_mode(token: Token) -> bool:
    return token.token_type is TokenType.STRING and token.text.lower().startswith(_MODES)


def _without_mode(path: Token) -> Token:
    """`'lax $.a'` and `'strict $.a'` are `'$.a'`: where the path is not there is nothing, or an error that gives nothing."""
    written = path.text.partition(" ")[2].lstrip()
    return Token(path.token_type, written, path.line, path.col, path.start, path.end)

"""Calls that look into JSON text or make it, as tokens: what stands in them beside arguments."""

from __future__ import annotations

from sqlglot import exp

from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, is_word, span_of
from ouzel.errors import NotSupported

USUAL = {"JSON_VALUE": "NULL", "JSON_EXISTS": "FALSE"}
"""What these calls give on errors anyway."""
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


def refuse_json(source: QueryText, word: str, span: Span) -> None:
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
        raise source.error(problem, span, _INSTEAD[word], NotSupported)


def read_on(source: QueryText, tokens: Tokens, between: tuple[int, int], word: str) -> int:
    """Where, between these places, begin `FALSE ON ERROR`, `NULL ON EMPTY` and `NULL ON ERROR`, which say what is so anyway.

    Raises:
        NotSupported: another ON EMPTY or ON ERROR.
    """
    start, end = between
    first = end
    for at in range(start + 1, end):
        if not is_word(tokens[at], "ON"):
            continue
        first = min(first, at - 1)
        if not is_word(tokens[at - 1], USUAL[word]):
            raise source.error(
                f"ON EMPTY and ON ERROR are not supported: {_MEANT[word]}",
                span_of([tokens[at - 1], tokens[end - 1]]),
                f"leave it out, and write {_OTHERWISE[word]}",
                NotSupported,
            )
    return first


_MEANT = {
    "JSON_VALUE": "JSON_VALUE gives NULL where there is no value or it cannot be read",
    "JSON_EXISTS": "JSON_EXISTS gives FALSE where the text is not JSON",
}
_OTHERWISE = {
    "JSON_VALUE": "COALESCE(JSON_VALUE(text, path), value) for another value than NULL",
    "JSON_EXISTS": "JSON_EXISTS(text, path) OR NOT JSON_EXISTS(text, '$') for TRUE",
}


def without_mode(path: exp.Expr) -> exp.Expr:
    """`'lax $.a'` and `'strict $.a'` are `'$.a'`: where the path is not there is nothing, or an error that gives nothing."""
    if path.is_string and path.name.lower().startswith(_MODES):
        path.set("this", path.name.partition(" ")[2].lstrip())
    return path

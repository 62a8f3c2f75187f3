"""What other databases have among the columns of CREATE TABLE, refused where it stands: constraints, defaults, columns without a type."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, span_of
from ouzel.errors import NotSupported, QueryError

_NO_CHECKS = "leave it out: no engine here checks it; filter the rows in the query"
_NO_NUMBERS = "leave it out: nothing numbers rows here; take the key from the data"
_OF_COLUMNS = {
    "DEFAULT": "leave it out, and write COALESCE({column}, {value}) in the query",
    "UNIQUE": "leave it out, or write PRIMARY KEY NOT ENFORCED if rows replace each other by it",
    "CHECK": _NO_CHECKS,
    "REFERENCES": _NO_CHECKS,
    "AUTO_INCREMENT": _NO_NUMBERS,
    "AUTOINCREMENT": _NO_NUMBERS,
    "IDENTITY": _NO_NUMBERS,
    "GENERATED": "write name AS expression for a computed column",
    "COLLATE": "leave it out: texts are ordered by their code points",
    "UNSIGNED": "leave it out, and write BIGINT for numbers above 2,147,483,647",
    "KEY": "leave it out; the WITH of a Kafka table names the column that holds the record's key: 'key.field' = 'column'",
}
"""Words behind a column's type, and what to write instead."""
_OF_TABLES = {
    "UNIQUE": _OF_COLUMNS["UNIQUE"],
    "CHECK": _NO_CHECKS,
    "FOREIGN": _NO_CHECKS,
    "EXCLUDE": _NO_CHECKS,
    "INDEX": "leave it out: nothing is looked up in a stream",
    "KEY": "leave it out: nothing is looked up in a stream",
}
"""Words where a column begins."""


def refuse_foreign_columns(source: QueryText, tokens: Tokens) -> None:
    """See that the columns of a CREATE TABLE hold nothing of other databases.

    Raises:
        NotSupported: a constraint or a default.
        QueryError: a column is missing, has no type, or is a WATERMARK without FOR.
    """
    opening = next((at for at, token in enumerate(tokens) if token.token_type is TokenType.L_PAREN), len(tokens))
    before = tokens[:opening]
    if opening == len(tokens):
        return
    if not is_word(tokens[0], "CREATE") or not any(is_word(token, "TABLE", "SOURCE") for token in before[:3]):
        return
    if any(is_word(token, "VIEW", "WITH", "AS", "LIKE") for token in before):  # these parentheses are not its columns
        return
    for element in _elements(source, tokens[opening:]):
        _check(source, element)


def _elements(source: QueryText, tokens: Tokens) -> Iterator[Tokens]:
    """What stands between the commas of the list that these tokens begin with; of what is in parentheses only these."""
    element, comma, depth, in_type = list[Token](), tokens[0], 0, 0
    for before, token in pairwise(tokens):
        opens, closes = token.token_type is TokenType.L_PAREN, token.token_type is TokenType.R_PAREN
        in_type += token.text == "<" and is_word(before, "ARRAY", "MAP", "ROW", "STRUCT")
        in_type -= token.text.count(">") if in_type else 0
        if depth == 0 and (closes or (token.token_type is TokenType.COMMA and in_type <= 0)):
            if not element and comma.token_type is TokenType.COMMA:
                raise source.error("there is no column behind this comma", span_of([comma]), "remove the comma")
            yield element
            if closes:
                return
            element, comma = [], token
            continue
        if depth == 0 or (closes and depth == 1):
            element.append(token)
        depth += opens - closes


def _check(source: QueryText, element: Tokens) -> None:
    """See that this is a column, or something else that a table of ours has."""
    if not element or is_word(element[0], "LIKE", "CONSTRAINT", "PRIMARY"):
        return
    first, rest = element[0], element[1:]
    is_call = any(token.token_type is TokenType.L_PAREN for token in rest[: 2 if is_word(first, "FOREIGN") else 1])
    if is_word(first, *_OF_TABLES) and is_call:
        raise _refusal(source, first, _OF_TABLES)
    if not rest and first.token_type in (TokenType.VAR, TokenType.IDENTIFIER):
        raise source.error(f"the column {first.text} has no type", span_of([first]), f"write {first.text} STRING")
    if not rest:
        return
    if is_word(first, "WATERMARK") and len(rest) > 1 and is_word(rest[1], "AS"):
        advice = f"write WATERMARK FOR {rest[0].text} AS ..."
        raise source.error("this WATERMARK has no FOR", span_of(element[:2]), advice)
    if is_word(first, "WATERMARK") and len(rest) > 1 and is_word(rest[1], "-"):
        start, end = span_of(rest)
        advice = f"write WATERMARK FOR {rest[0].text} AS {source.text[start:end]}"
        raise source.error("this WATERMARK has no FOR and no AS", span_of(element[:2]), advice)
    if is_word(first, "WATERMARK") and is_word(rest[0], "FOR") and len(rest) > 2 and is_word(rest[2], "-"):
        start, end = span_of(rest[1:])
        advice = f"write WATERMARK FOR {rest[1].text} AS {source.text[start:end]}"
        raise source.error("this WATERMARK has no AS", span_of(rest[1:]), advice)
    behind_type = [] if is_word(rest[0], "AS") or is_word(first, "WATERMARK") else rest[1:]
    is_keyed = any(is_word(token, "PRIMARY") for token in behind_type)
    words = _OF_COLUMNS.keys() - ({"KEY"} if is_keyed else set())
    found = next((token for token in behind_type if is_word(token, *words)), None)
    if found is not None:
        value = _value_behind(source, behind_type, behind_type.index(found) + 1)
        raise _refusal(source, found, _OF_COLUMNS, first.text, value)


def _value_behind(source: QueryText, tokens: Tokens, at: int) -> str:
    """The value that begins with a token, as it is written: up to the next constraint."""
    words = _OF_COLUMNS.keys() | {"NOT", "NULL", "PRIMARY", "COMMENT", "CONSTRAINT"}
    end = next((place for place in range(at + 1, len(tokens)) if is_word(tokens[place], *words)), len(tokens))
    start, behind = span_of(tokens[at:end]) if at < len(tokens) else (0, 0)
    return source.text[start:behind] or "value"


def _refusal(source: QueryText, word: Token, instead: dict[str, str], column: str = "", value: str = "") -> QueryError:
    problem = f"{word.text.upper()} in a CREATE TABLE is not supported"
    advice = instead[word.text.upper()].replace("{column}", column).replace("{value}", value)
    return source.error(problem, span_of([word]), advice, NotSupported)

"""Tables that stand for others: their connector says of which, and that is written into the text of the query before it is compiled."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.sql.syntax.shells import read_statement
from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, span_of, split_statements
from ouzel.compiler.sql.syntax.statements import CreateTable
from ouzel.errors import OuzelError, QueryError


def with_definitions(text: str, connectors: Mapping[str, ConnectorTraits]) -> tuple[str, list[str]]:
    """The text with what such tables stand for, and notes for the user. Lines stay where they are.

    Raises:
        QueryError: a table stands for nothing, and why.
    """
    if not any(traits.defines and name in text for name, traits in connectors.items()):
        return text, []
    source, notes = QueryText(text), list[str]()
    created = [found for tokens in split_statements(source.tokens()) if (found := _read_table(source, tokens))]
    declared = {statement.name.text: _options(statement) for statement, _ in created}
    for statement, (start, end) in reversed(created):
        traits = connectors.get(declared[statement.name.text].get("connector", ""))
        if traits is not None and traits.defines is not None:
            others = {name: options for name, options in declared.items() if name != statement.name.text}
            made, told = _define(source, statement, traits, others)
            text = text[:start] + made + "\n" * source.text.count("\n", start, end) + text[end:]
            notes += told
    return text, notes


def _read_table(source: QueryText, tokens: Tokens) -> tuple[CreateTable, tuple[int, int]] | None:
    if not tokens or not is_word(tokens[0], "CREATE"):
        return None
    statement = read_statement(source, tokens)
    return (statement, span_of(tokens)) if isinstance(statement, CreateTable) else None


def _options(statement: CreateTable) -> dict[str, str]:
    return {option.key: option.value for option in statement.options}


def _define(
    source: QueryText, statement: CreateTable, traits: ConnectorTraits, tables: Mapping[str, Mapping[str, str]]
) -> tuple[str, list[str]]:
    name, options = statement.name, _options(statement)
    del options["connector"]
    if (
        statement.columns
        or statement.star
        or statement.watermarks
        or statement.keys
        or statement.like
        or statement.query
    ):
        problem = f"the columns of {name.text} are those of what it is made of"
        raise source.error(problem, name.span, f"write CREATE TABLE {name.text} WITH (...)")
    assert traits.defines is not None, "it was asked for"
    try:
        if traits.check:
            traits.check(options)
        return traits.defines(name.text, options, tables)
    except QueryError as error:
        raise source.error(error.problem, name.span, error.instead) from None
    except OuzelError as error:
        raise source.error(str(error), name.span, "") from None

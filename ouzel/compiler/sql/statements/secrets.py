"""Secrets that stand in CREATE TABLE: the statement refers to the environment instead, and no text that is kept holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ouzel.compiler.catalog import ConnectorTraits, Secret, connector_of
from ouzel.compiler.sql.queries.scope import pick
from ouzel.compiler.sql.script import Script, TextEdit, apply_edits
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import CreateTable

Keep = Callable[[Secret], str]
"""Keeps a secret where connectors will find it, and gives the name of the environment variable that holds it."""


def hide_secrets(script: Script, connectors: Mapping[str, ConnectorTraits], keep: Keep) -> Script:
    """The script with references where secrets stood, and stars in its text: all else stays where it is."""
    created: dict[str, dict[str, str]] = {}
    statements, stars, references = [], list[TextEdit](), list[TextEdit]()
    for statement, tokens in script.statements:
        if isinstance(statement, CreateTable):
            table = statement.name.text
            created[table] = _options(statement, created)
            secrets = _secrets(created[table], connectors)
            hidden = {each.key: each for each in statement.options if each.key in secrets}
            names = {key: keep(Secret(table, key, each.value)) for key, each in hidden.items()}
            stars += (_stars(script.source.text, each.span) for each in hidden.values())
            references += (TextEdit(*hidden[key].span, f"'{key}' = '${{env:{name}}}'") for key, name in names.items())
            statement = replace(
                statement,
                options=tuple(
                    replace(each, value=f"${{env:{names[each.key]}}}") if each.key in names else each
                    for each in statement.options
                ),
            )
        statements.append((statement, tokens))
    source = replace(script.source, text=apply_edits(script.source.text, stars))
    return replace(script, source=source, statements=tuple(statements), edits=(*script.edits, *references))


def _options(statement: CreateTable, created: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The options, and those of the table that it is like: only both may say which connector it is of."""
    known = pick(statement.like.name, created) if statement.like else ()
    other = list(created.values())[known[0]] if known else {}
    return {**other, **{option.key: option.value for option in statement.options}}


def _secrets(options: Mapping[str, str], connectors: Mapping[str, ConnectorTraits]) -> frozenset[str]:
    """The options whose values are secrets."""
    called = options.get("connector", "")
    traits = connector_of(connectors, called)
    if traits is None or traits.secrets is None:
        return frozenset()
    given = {**traits.variants.get(called, {}), **{key: value for key, value in options.items() if key != "connector"}}
    return traits.secrets(given)


def _stars(text: str, span: Span) -> TextEdit:
    """Stars instead of the value of an option; lines stay as they are."""
    value = QueryText(text[slice(*span)]).tokens()[-1]
    start, end = span[0] + value.start, span[0] + value.end + 1
    if text[start] == "'":
        start, end = start + 1, end - 1
    return TextEdit(start, end, "".join(sign if sign == "\n" else "*" for sign in text[start:end]))

"""Schema inference: columns that a table does not declare are found by its connector and written into the statement.

They are edits, too, of the text that is run again, so whoever does that (a batch job, a reconciliation, a run that starts again) has the
very same schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from ouzel.compiler.catalog import ConnectorTraits, FoundTable, connector_of
from ouzel.compiler.sql.script import TextEdit
from ouzel.compiler.sql.statements.ddl import column_texts
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import ColumnClause, CreateTable, Name, WrittenOption
from ouzel.compiler.types import Schema
from ouzel.errors import OuzelError, QueryError


def lacks_columns(statement: CreateTable) -> bool:
    """Whether the columns of the table are to be found: none is declared, or a `*` stands for them."""
    declared = any(column.metadata is not None or not column.expression for column in statement.columns)
    return statement.star is not None or not declared


def with_found_columns(
    source: QueryText, statement: CreateTable, connectors: Mapping[str, ConnectorTraits]
) -> tuple[CreateTable, list[TextEdit]]:
    """The statement with the columns that its connector finds, and what that is in the text; as it is, if none can be found.

    Raises:
        QueryError: the connector finds none, and says why.
    """
    found = _find(source, statement, connectors)
    if found is None:
        if statement.star:
            raise source.error(
                "the connector cannot say which columns the * stands for", statement.star, "declare them"
            )
        return statement, []
    declared = {column.name.text.lower() for column in statement.columns}
    fields = tuple(field for field in found.columns if field.name.lower() not in declared)
    if statement.star and not fields:
        problem = "the * stands for no column, for all that are found are declared"
        raise source.error(problem, statement.star, "remove it")
    for note in found.notes:
        source.note(f"{note}{_place_of_option(statement, note)}", statement.name.span, "")
    where, clauses = (
        statement.star or statement.name.span,
        clauses_of(Schema(fields), statement.star or statement.name.span),
    )
    before = sum(1 for column in statement.columns if column.name.span < where)
    columns = (*statement.columns[:before], *clauses, *statement.columns[before:])
    options = tuple(WrittenOption(key, value, where) for key, value in found.options.items())
    made = replace(statement, columns=columns, options=(*statement.options, *options), star=None)
    return made, _edits(statement, Schema(fields), found.options)


def clauses_of(columns: Schema, span: Span) -> list[ColumnClause]:
    """The columns as if they stood at `span`."""
    clauses = []
    for field, text in zip(columns, column_texts(columns), strict=True):
        tokens = QueryText(text).tokens()
        clauses.append(ColumnClause(Name(field.name, text.startswith('"'), span), tokens[1:], found=True))
    return clauses


def _find(source: QueryText, statement: CreateTable, connectors: Mapping[str, ConnectorTraits]) -> FoundTable | None:
    chosen = next((option for option in statement.options if option.key == "connector"), None)
    traits = connector_of(connectors, chosen.value) if chosen else None
    if traits is None or traits.infer is None:
        return None
    options = {option.key: option.value for option in statement.options if option.key != "connector"}
    if traits.canonical:
        with suppress(QueryError):  # said when the table is made
            options = traits.canonical(options)
    try:
        return traits.infer(options)
    except OuzelError as error:
        path = next((option.span for option in statement.options if option.key == "path"), statement.name.span)
        problem = f"the columns of {statement.name.text} cannot be found: {error}"
        raise source.error(f"{problem}{_declaration(statement, str(error))}", path) from None


_OPTION = re.compile(r"'([a-z.]+)' = '(?:[^']|'')*'")


def _place_of_option(statement: CreateTable, note: str) -> str:
    """Where the option that a note advises is written, of a table that a query reads by its path: such a query has no WITH."""
    found, name = _OPTION.search(note), statement.name.text
    is_path = any(option.span == statement.name.span for option in statement.options)
    if found is None or not is_path or not name.isidentifier():
        return ""
    shown = ", ".join(f"'{option.key}' = '{option.value}'" for option in statement.options if option.key != found[1])
    return f", as in CREATE TABLE {name} WITH ({shown}, {found[0]}), and read FROM {name}"


def _declaration(statement: CreateTable, told: str) -> str:
    """The CREATE TABLE that declares the columns of what is read by its path, where the connector says that it takes one."""
    name, options = statement.name.text, {option.key: option.value for option in statement.options}
    if not told.endswith("; declare them") or not name.isidentifier() or not {"path", "format"} <= options.keys():
        return ""
    shown = ", ".join(f"'{key}' = '{options[key]}'" for key in ("connector", "path", "format"))
    return f": CREATE TABLE {name} (id BIGINT, name VARCHAR) WITH ({shown}), with its own columns"


def _edits(statement: CreateTable, columns: Schema, options: Mapping[str, str]) -> list[TextEdit]:
    texts = column_texts(columns)
    edits = []
    if statement.star:
        edits.append(TextEdit(*statement.star, ", ".join(texts)))
    elif statement.opening:
        edits.append(TextEdit(statement.opening, statement.opening, "".join(f"{text}, " for text in texts)))
    else:
        at = statement.name.span[1]
        edits.append(TextEdit(at, at, " (\n  " + ",\n  ".join(texts) + "\n)"))
    if options:
        at = statement.options[-1].span[1]
        edits.append(TextEdit(at, at, "".join(f", '{key}' = '{value}'" for key, value in options.items())))
    return edits

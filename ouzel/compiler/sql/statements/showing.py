"""DESCRIBE and SHOW: what a program knows of its tables, as text that can be copied, and as rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from sqlglot.tokenizer_core import Token

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.functions import all_functions
from ouzel.compiler.functions.aggregates import AGGREGATES
from ouzel.compiler.plan import Listing
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.statements.ddl import column_texts, quoted_name, string_text, table_text, type_text
from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, span_of
from ouzel.compiler.sql.syntax.statements import ColumnClause, CreateTable, Describe, Name, Select, Show
from ouzel.compiler.sql.syntax.type_names import read_type
from ouzel.compiler.sql.syntax.words import is_quoted, is_text
from ouzel.compiler.types import Field, Schema
from ouzel.errors import QueryError

SHOWN = ("TABLES", "FUNCTIONS", "CONNECTORS", "SETTINGS")
COLUMNS = ("column", "type", "nullable", "of")
"""What DESCRIBE says of each column; `of` is the key, METADATA, the expression or the watermark that makes it what it is."""


def is_listing(tokens: Tokens) -> bool:
    """Whether the statement is DESCRIBE or SHOW."""
    return is_word(tokens[0], "DESCRIBE", "DESC", "SHOW")


def read_listing(source: QueryText, tokens: Tokens) -> Describe | Show:
    """DESCRIBE or SHOW.

    Raises:
        QueryError: it asks for what cannot be shown.
    """
    words = [token.text.upper() for token in tokens]
    if words[0] == "SHOW" and words[1:3] == ["CREATE", "TABLE"] and len(words) == 4:
        return Describe(_name(source, tokens[3]))
    if words[0] == "SHOW":
        return _show(source, tokens)
    rest = tokens[2:] if words[1:2] in (["TABLE"], ["VIEW"], ["EXTENDED"]) else tokens[1:]
    if len(rest) == 1:
        return Describe(_name(source, rest[0]))
    if not rest or not is_word(rest[0], "SELECT", "WITH", "VALUES", "("):
        raise source.error(
            "DESCRIBE shows a table, a view or a query",
            span_of(tokens[:1]),
            "write DESCRIBE name, or DESCRIBE SELECT ...",
        )
    return Describe(Select(rest))


def _show(source: QueryText, tokens: Tokens) -> Show:
    what = tokens[1].text.upper() if len(tokens) > 1 else ""
    like = tokens[3] if len(tokens) == 4 and is_word(tokens[2], "LIKE") and is_text(tokens[3]) else None
    if what not in SHOWN or (len(tokens) > 2 and like is None):
        if what in ("COLUMNS", "FIELDS") and len(tokens) > 3:
            raise source.error("SHOW COLUMNS is no statement here", span_of(tokens), f"write DESCRIBE {tokens[3].text}")
        *others, last = (f"SHOW {word}" for word in SHOWN)
        advice = f"write {', '.join(others)} or {last}, each with LIKE 'pattern' or without, or SHOW CREATE TABLE name"
        raise source.error(
            f"SHOW {' '.join(token.text for token in tokens[1:])}".rstrip() + " is nothing that can be shown",
            span_of(tokens),
            advice,
        )
    return Show(what, like.text if like else "%")


def _name(source: QueryText, token: Token) -> Name:
    return Name(token.text, is_quoted(token), span_of([token]))


def describe_table(source: QueryText, statement: CreateTable, relation: Relation) -> Listing:
    """A table as the CREATE TABLE that makes it."""
    options = {option.key: option.value for option in statement.options}
    text = table_text(statement.name.text, _elements(source, statement), options)
    kinds = [str(relation.column(column).type) for column in relation.columns]
    rows = (_row(source, statement, column, kind) for column, kind in zip(statement.columns, kinds, strict=True))
    return Listing(COLUMNS, tuple(rows), f"{text};")


def describe_relation(name: str, relation: Relation, connectors: Mapping[str, ConnectorTraits]) -> Listing:
    """A view or a query as a table that holds its rows, which prints them."""
    columns = [column for column in relation.columns if not column.hidden]
    schema = Schema(tuple(Field(column.name, relation.column(column).type) for column in columns))
    text = table_text(name, column_texts(schema), _printer(connectors))
    return Listing(COLUMNS, tuple((field.name, str(field.type), True, None) for field in schema), f"{text};")


def _printer(connectors: Mapping[str, ConnectorTraits]) -> dict[str, str]:
    """What WITH holds for the first connector that takes changes of any table, and nothing is to be said to."""
    for name, traits in connectors.items():
        if traits.writes and not traits.writes.returned and "retract" in traits.modes:
            with suppress(QueryError):
                if traits.check:
                    traits.check({})
                return {"connector": name}
    return {}


def _elements(source: QueryText, statement: CreateTable) -> Iterator[str]:
    for column in statement.columns:
        yield " ".join(filter(None, _column(source, column)))
    for clause in statement.watermarks:
        idle = "" if clause.idle is None else f" IDLE AFTER {_show_written(source, clause.idle) or 'NEVER'}"
        yield f"WATERMARK FOR {_show_name(clause.column)} AS {_show_written(source, clause.expression)}{idle}"
    for key in statement.keys:
        yield f"PRIMARY KEY ({', '.join(map(_show_name, key))}) NOT ENFORCED"


def _column(source: QueryText, column: ColumnClause) -> Iterator[str]:
    yield _show_name(column.name)
    yield _type(source, column)
    if column.expression:
        yield f"AS {_show_written(source, column.expression)}"
    yield "NOT NULL" if column.not_null else ""
    if column.metadata is not None:
        yield f"METADATA FROM {string_text(column.metadata)}{' VIRTUAL' if column.virtual else ''}"


def _row(source: QueryText, statement: CreateTable, column: ColumnClause, kind: str) -> tuple[str | bool | None, ...]:
    marks = [f"METADATA {column.metadata}" if column.metadata is not None else ""]
    marks += [f"AS {_show_written(source, column.expression)}" if column.expression else ""]
    marks += ["PRIMARY KEY" for key in statement.keys for name in key if name.text == column.name.text]
    marks += [
        f"WATERMARK {_show_written(source, each.expression)}"
        for each in statement.watermarks
        if each.column.text == column.name.text
    ]
    return column.name.text, kind, not column.not_null, ", ".join(filter(None, marks)) or None


def _type(source: QueryText, column: ColumnClause) -> str:
    if not column.type:
        return ""
    return type_text(read_type(source, column.type)) if column.found else _show_written(source, column.type)


def _show_name(name: Name) -> str:
    return quoted_name(name.text) if name.quoted else name.text


def _show_written(source: QueryText, tokens: Tokens) -> str:
    """As the user wrote it, on one line."""
    start, end = span_of(tokens) if tokens else (0, 0)
    return " ".join(source.text[start:end].split())


def list_tables(tables: Mapping[str, CreateTable], relations: Mapping[str, Relation]) -> Listing:
    """The tables and views so far."""
    rows = []
    for name, relation in relations.items():
        options = {option.key: option.value for option in tables[name].options} if name in tables else {}
        rows.append((name, "table" if name in tables else "view", options.get("connector"), len(relation.columns)))
    return Listing(("table", "kind", "connector", "columns"), tuple(rows))


def list_functions(source: QueryText) -> Listing:
    """All functions that can be called, the user's own first."""
    rows = [*source.functions.rows, *AGGREGATES, *all_functions()]
    return Listing(
        ("call", "meaning", "also"), tuple((row.usage, row.doc, ", ".join(row.aliases).upper() or None) for row in rows)
    )


def matching_rows(listing: Listing, pattern: str) -> Listing:
    """Those whose first column is LIKE the pattern, in any case."""
    like = "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern)
    return replace(listing, rows=tuple(row for row in listing.rows if re.fullmatch(like, str(row[0]), re.I | re.S)))

"""Tables that a query names by their location: FROM 'flights.parquet', FROM read_csv('x.csv', delim => ';').

Each becomes a table of its own, at the place of its path. In the text that is run again its CREATE TABLE stands before the query, and its
name where the path stood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from sqlglot import exp

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.sql.expressions.series import of_series
from ouzel.compiler.sql.queries.scope import Relation, fresh, near
from ouzel.compiler.sql.script import TextEdit
from ouzel.compiler.sql.statements.ddl import column_texts, name_text, table_text
from ouzel.compiler.sql.statements.finding import with_found_columns
from ouzel.compiler.sql.statements.tables import Table, create_table
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import CreateTable, Name, WrittenOption
from ouzel.errors import QueryError

Named = tuple[str, str, tuple[tuple[str, str], ...]]
"""What names a table: a function, or none, a path, and named arguments."""

_WINDOWS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")


class NamedTables:
    """The tables that queries have named so far, and what a text has instead that is run again."""

    def __init__(self, source: QueryText, connectors: Mapping[str, ConnectorTraits]) -> None:
        self._source, self._connectors = source, connectors
        self._made: dict[Named, Table] = {}
        self._created: dict[Named, CreateTable] = {}
        self._declared: list[TextEdit] = []
        self._named: dict[Span, TextEdit] = {}

    @property
    def edits(self) -> list[TextEdit]:
        """One edit for each place, though a subquery that compares with the query around it is read twice."""
        return [*self._declared, *self._named.values()]

    @property
    def tables(self) -> dict[str, Table]:
        """All of them by name."""
        return {table.name: table for table in self._made.values()}

    @property
    def relations(self) -> dict[str, Relation]:
        """What each gives."""
        return {name: table.relation for name, table in self.tables.items()}

    @property
    def created(self) -> dict[str, CreateTable]:
        """The statement that would make each."""
        return {self._made[named].name: statement for named, statement in self._created.items()}

    def is_path(self, node: exp.Expr) -> bool:
        """Whether a path stands there in quotes."""
        return self._source.text.startswith("'", node.meta.get("start", 0)) and "start" in node.meta

    def relation(self, node: exp.Expr, aliased: bool) -> Relation:
        """The table that a path or a call names; `aliased` says that no alias may follow it.

        Raises:
            QueryError: there is no such function, its arguments are wrong, or it names nothing that can be read.
        """
        named = self._call(node) if isinstance(node, exp.Anonymous) else ("", node.name, ())
        return self._relation(named, place(node), aliased)

    def of_path(self, path: str, span: Span) -> Relation:
        """The same of a path that stands by itself."""
        return self._relation(("", path, ()), span, aliased=True)

    def statement_of(self, path: str) -> CreateTable:
        """The statement that would make the table which `of_path` gave."""
        return self._created["", path, ()]

    def _call(self, node: exp.Anonymous) -> Named:
        name, functions = call_name(node), [each for traits in self._connectors.values() for each in traits.functions]
        if name not in functions:
            *others, last = (*_WINDOWS, *functions)
            advice = near(name, functions, f"the table functions are {', '.join(others)} and {last}")
            if name.upper() in ("GENERATE_SERIES", "SEQUENCE", "RANGE"):
                series = of_series([self._source.text[slice(*place(part))] for part in node.expressions])
                advice = (
                    f"write FROM ({series}) AS s"
                    if series
                    else _sequence(name, [part.name for part in node.expressions])
                )
            raise self._source.error(f"{name.upper()} is not a table function", place(node), advice)
        path, *more = node.expressions or [exp.Null()]
        if not path.is_string:
            raise self._source.error(f"{name} reads a path", place(node), f"write {name}('path')")
        return name, path.name, tuple(self._argument(each) for each in more)

    def _argument(self, node: exp.Expr) -> tuple[str, str]:
        value = node.expression if isinstance(node, exp.Kwarg) else None
        if not isinstance(value, exp.Literal | exp.Boolean):
            written = self._source.text[slice(*place(node))]
            named = re.fullmatch(r"(?s)\s*(\w+)\s*:?=\s*'?(.*?)'?\s*", written)
            advice = f"write {named[1]} => '{named[2]}'" if named else "write name => 'value'"
            raise self._source.error("this is not a named argument", place(node), advice)
        return node.this.name, str(value.this).lower() if isinstance(value, exp.Boolean) else value.name

    def _relation(self, named: Named, span: Span, aliased: bool) -> Relation:
        stem = re.sub(r"\W+", "_", PurePath(named[1]).name.partition(".")[0]).strip("_") or "files"
        if named not in self._made:
            self._made[named] = self._make(named, span, stem)
        table = self._made[named]
        alias = "" if aliased or table.name == stem else f" AS {name_text(stem)}"
        self._named[span] = TextEdit(*span, name_text(table.name) + alias)
        advice = (
            "declare it: CREATE TABLE {table} (WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND) WITH (...)"
        )
        return replace(table.relation, undated=advice.replace("{table}", stem)).with_alias(stem)

    def _make(self, named: Named, span: Span, stem: str) -> Table:
        words = {token.text.lower() for token in self._source.tokens()} | {name.lower() for name in self.tables}
        name = stem if stem.lower() not in words else fresh(stem.lower(), words)
        options = tuple(WrittenOption(key, value, span) for key, value in self._open(named, span).items())
        statement = CreateTable(Name(name, True, span), (), options=options, span=span)
        statement, _ = with_found_columns(self._source, statement, self._connectors)
        self._created[named] = statement
        table = create_table(self._source, statement, self._connectors)
        given = {option.key: option.value for option in statement.options}
        self._declared.append(TextEdit(0, 0, table_text(name, column_texts(table.writable), given) + ";\n"))
        return table

    def _open(self, named: Named, span: Span) -> dict[str, str]:
        """What WITH would hold."""
        function, path, arguments = named
        for traits in self._connectors.values():
            try:
                options = traits.opens(function, path, dict(arguments)) if traits.opens else None
            except QueryError as error:
                raise error.located(self._source.text, span[0], span[1] - span[0]) from None
            if options is not None:
                return {"connector": traits.name, **options}
        raise self._source.error("no connector reads a path", span, "CREATE TABLE, and write its name")


def _sequence(name: str, bounds: list[str]) -> str:
    """What to write for a function that counts; Python's and DuckDB's RANGE begins with 0 and ends before its end."""
    if not 0 < len(bounds) < 3 or not all(bound.isdigit() for bound in bounds):
        return "write UNNEST(SEQUENCE(1, 10)) AS s (n)"
    first, last = (bounds[0] if len(bounds) == 2 else "0"), int(bounds[-1]) - (name.upper() == "RANGE")
    return f"write UNNEST(SEQUENCE({first}, {last})) AS s (n)"

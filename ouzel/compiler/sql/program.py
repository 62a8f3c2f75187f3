"""A file of SQL, statement by statement, becomes a Program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from ouzel.compiler import plan
from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.functions.known import Functions
from ouzel.compiler.plan import Listing, Program, Sink
from ouzel.compiler.sql.queries.hints import gather_hints
from ouzel.compiler.sql.queries.scope import Relation, is_name_of, pick, unknown_table
from ouzel.compiler.sql.queries.select import QueryBinder
from ouzel.compiler.sql.queries.sides import SideHints
from ouzel.compiler.sql.queries.ttl import SETTINGS, StateTtl, setting_of
from ouzel.compiler.sql.script import Script, TextEdit, apply_edits, parse_script
from ouzel.compiler.sql.session_zone import with_zone, zone_of
from ouzel.compiler.sql.statements.finding import lacks_columns, with_found_columns
from ouzel.compiler.sql.statements.late import LateTable
from ouzel.compiler.sql.statements.likeness import columns_as_clauses, with_likeness
from ouzel.compiler.sql.statements.named import NamedTables
from ouzel.compiler.sql.statements.reconciling import reconcile_sink
from ouzel.compiler.sql.statements.secrets import hide_secrets
from ouzel.compiler.sql.statements.showing import (
    describe_relation,
    describe_table,
    list_functions,
    list_tables,
    matching_rows,
)
from ouzel.compiler.sql.statements.sinks import result_sink, table_sink
from ouzel.compiler.sql.statements.tables import Table, create_table
from ouzel.compiler.sql.statements.upserts import MODE
from ouzel.compiler.sql.syntax.queries import parse_query
from ouzel.compiler.sql.syntax.source import Span, Tokens, clauses_at_top, span_of
from ouzel.compiler.sql.syntax.statements import (
    CreateTable,
    CreateView,
    Describe,
    Explain,
    HintPair,
    Insert,
    Name,
    ReconcileStatement,
    Select,
    SetOption,
    Show,
    Statement,
)
from ouzel.compiler.written import NodeLocation
from ouzel.errors import QueryError


def compile_sql(
    text: str,
    connectors: Mapping[str, ConnectorTraits],
    functions: Functions | None = None,
    relations: Mapping[str, Relation] | None = None,
    settings: Iterable[tuple[str, str]] = (),
) -> Program:
    """The logical plan of a file of statements, which may call `functions`; by default those of the registries.

    It may read `relations` as if they were views. `settings` win over those of the file.

    Raises:
        QueryError: the text is wrong; with line, place and advice.
        NotSupported: a construct outside the subset.
    """
    script = hide_secrets(parse_script(text, functions or Functions()), connectors, lambda secret: secret.variable)
    return bind_script(script, connectors, relations, settings)


def bind_script(
    script: Script,
    connectors: Mapping[str, ConnectorTraits],
    relations: Mapping[str, Relation] | None = None,
    settings: Iterable[tuple[str, str]] = (),
) -> Program:
    """The logical plan of statements in which no secret stands any more; as `compile_sql`.

    Raises:
        QueryError: the text is wrong; with line, place and advice.
        NotSupported: a construct outside the subset.
    """
    return _Compiler(script, connectors, relations or {}, settings).run()


_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


class _Compiler:
    """Compiles the statements in order, and holds what those so far have made."""

    def __init__(
        self,
        script: Script,
        connectors: Mapping[str, ConnectorTraits],
        relations: Mapping[str, Relation],
        settings: Iterable[tuple[str, str]],
    ) -> None:
        source = replace(script.source, zone=zone_of(script, settings := tuple(settings)))
        self.script, self.source, self.connectors = script, source, connectors
        self.tables: dict[str, Table] = {}
        self.created: dict[str, CreateTable] = {}
        self.listings: list[Listing] = []
        self.relations: dict[str, Relation] = dict(relations)
        self.scopes: list[tuple[Span, dict[str, str]]] = []
        self.kept: set[Span] = set()
        self.sinks: list[Sink] = []
        self.settings: list[tuple[str, str]] = []
        self.given = settings
        self.places: dict[tuple[str, str], Span] = {}
        self.explain: tuple[str, ...] | None = None
        self.selected: Tokens = ()
        self.reconciles: list[plan.Reconcile] = []
        self.named = NamedTables(self.source, connectors)
        self.edits: list[TextEdit] = []

    def run(self) -> Program:
        """All statements, in order."""
        for statement, tokens in self.script.statements:
            self._check_order(statement, tokens)
            self._statement(statement, tokens)
        if not self.sinks and not self.listings:
            raise self._asks_for_nothing()
        hints, places = gather_hints(self.source, self.scopes, self.kept)
        return Program(
            with_zone(self.source, self.sinks),
            tuple(self.settings),
            hints,
            self.explain,
            tuple(self.reconciles),
            {**self.places, **places},
            self.source.notes(),
            self.source.functions.rows,
            tuple(self.listings),
            self.source.text,
            apply_edits(self.source.text, (*self.script.edits, *self.edits, *self.named.edits)),
        )

    def _asks_for_nothing(self) -> QueryError:
        views = [
            statement.name
            for statement, _ in self.script.statements
            if isinstance(statement, CreateView) and statement.materialized
        ]
        if views:
            name = views[-1].text
            advice = f"add SELECT * FROM {name}: `ouzel submit` keeps its rows, and `ouzel results` shows them; or INSERT INTO a table"
            return self.source.error(f"nothing reads the materialized view {name}", views[-1].span, advice)
        end = max(0, len(self.source.text.rstrip()) - 1)
        advice = "end it with SELECT ..., or with INSERT INTO table SELECT ..."
        if not _COMMENTS.sub("", self.source.text).strip(" \t\r\n;"):
            holds = "comments alone" if self.source.text.strip(" \t\r\n;") else "nothing"
            return QueryError(f"there is no statement in the query, which holds {holds}", instead=advice)
        return self.source.error("the file asks for nothing", (end, end + 1), advice)

    def _check_order(self, statement: Statement, tokens: Tokens) -> None:
        """A SELECT that prints comes after all that makes it, RECONCILE after all that it may speak of, and EXPLAIN last."""
        if self.explain is not None:
            raise self.source.error("EXPLAIN is the last statement", span_of(tokens[:1]), "move it to the end")
        if isinstance(statement, ReconcileStatement):
            return
        if self.reconciles:
            raise self.source.error(
                "nothing comes after RECONCILE but another one", span_of(tokens[:1]), "move it before RECONCILE"
            )
        if self.selected:
            raise self.source.error(
                "a SELECT that prints its result is the last statement",
                span_of(self.selected[:1]),
                "move it to the end, or INSERT INTO a table",
            )

    def _statement(self, statement: Statement, tokens: Tokens) -> None:
        match statement:
            case CreateTable():
                self._create_table(statement, tokens)
            case CreateView():
                self._create_view(statement)
            case SetOption(option):
                self.settings.append((option.key, option.value))
                self.places["SET", "state.ttl" if option.key in SETTINGS else option.key] = option.span
            case Insert():
                self._sink(self._insert(statement), tokens)
            case Select(query):
                self._sink(result_sink(self.source, self._query(query)), tokens)
                self.places |= clauses_at_top(query)
                self.selected = tokens if self.explain is None else ()
            case ReconcileStatement():
                self.reconciles.append(reconcile_sink(self.source, statement, self.sinks, self.settings))
            case Describe(subject):
                self.listings.append(self._description(subject))
            case Show(what, pattern):
                self.listings.append(self._list(what, pattern))
            case Explain(details, inner):
                self.explain = details
                self._statement(inner, tokens)

    def _create_table(self, statement: CreateTable, tokens: Tokens) -> None:
        self._refuse_known(statement.name)
        if statement.like:
            statement = with_likeness(self.source, statement, statement.like, self._alike(statement.like.name))
        relation = self._query(statement.query) if statement.query else None
        if relation:
            statement = self._with_columns_of(statement, relation)
        elif lacks_columns(statement):
            statement, edits = with_found_columns(self.source, statement, self.connectors)
            self.edits += edits
        table = create_table(self.source, statement, self.connectors)
        self.tables[table.name], self.created[table.name] = table, statement
        self.relations[table.name] = table.relation
        if relation:
            insert = Insert(statement.name, (), statement.query)
            self._sink(table_sink(self.source, insert, table, relation), tokens)

    def _alike(self, name: Name) -> CreateTable:
        """The CREATE TABLE of a table; of a view one that would declare its columns."""
        known = self._look_up(name)
        if known in self.created:
            return self.created[known]
        return CreateTable(name, columns_as_clauses(self.source, self.relations[known], name.span))

    def _with_columns_of(self, statement: CreateTable, relation: Relation) -> CreateTable:
        declared = [column for column in statement.columns if not column.expression]
        if declared or statement.star:
            at = declared[0].name.span if declared else statement.star or statement.name.span
            raise self.source.error(
                "the columns of CREATE TABLE ... AS are those of the query", at, "declare none, or INSERT INTO a table"
            )
        columns = columns_as_clauses(self.source, relation, statement.name.span)
        return replace(statement, columns=(*columns, *statement.columns))

    def _description(self, subject: Name | Select) -> Listing:
        if isinstance(subject, Select):
            return describe_relation("answer", self._query(subject.query), self.connectors)
        if self.source.text.startswith("'", subject.span[0]):
            relation = self.named.of_path(subject.text, subject.span)
            return describe_table(self.source, self.named.statement_of(subject.text), relation)
        name = self._look_up(subject)
        if name in self.created:
            return describe_table(self.source, self.created[name], self.relations[name])
        return describe_relation(name, self.relations[name], self.connectors)

    def _list(self, what: str, pattern: str) -> Listing:
        match what:
            case "TABLES":
                named = self.named.relations
                created, relations = {**self.named.created, **self.created}, {**named, **self.relations}
                return matching_rows(list_tables(created, relations), pattern)
            case "FUNCTIONS":
                return matching_rows(list_functions(self.source), pattern)
        return Listing(what=what, pattern=pattern)

    def _create_view(self, statement: CreateView) -> None:
        if not statement.replace:
            self._refuse_known(statement.name)
        relation = self._query_of_view(statement)
        if statement.columns and len(statement.columns) != len(relation.columns):
            raise self.source.error(
                f"the view names {len(statement.columns)} columns and its query gives {len(relation.columns)}",
                statement.columns[-1].span,
                f"name as many: {', '.join(column.name for column in relation.columns)}",
            )
        name = statement.name.text
        relation = relation.with_name(name, statement.name.span[0])
        self.relations[name] = relation.with_alias(name, [column.text for column in statement.columns])

    def _query_of_view(self, statement: CreateView) -> Relation:
        try:
            return self._query(statement.query)
        except QueryError as error:
            if error.problem == f"there is no table {statement.name.text}":
                error.problem = f"the view {statement.name.text} reads itself"
                error.instead = "read the table that it is made of, or give the view another name"
            raise

    def _insert(self, statement: Insert) -> Sink:
        table = self._target(statement.name)
        return table_sink(self.source, statement, table, self._query(statement.query))

    def _sink(self, sink: Sink, tokens: Tokens) -> None:
        self.sinks.append(replace(sink, written=NodeLocation(begins=tokens[0].start)))

    def _target(self, name: Name) -> Table:
        for known, table in self.tables.items():
            if is_name_of(name, known):
                return table
        for known in self.relations:
            if is_name_of(name, known):
                raise self.source.error(f"{known} is a view and takes no rows", name.span, "INSERT INTO a table")
        error = unknown_table(self.source, name, self.tables)
        if not get_close_matches(name.text.lower(), map(str.lower, self.tables), 1, 0.8):  # a new name, not a slip
            error.instead = f"write CREATE TABLE {name.text} (...) WITH ('connector' = ...) before it"
        raise error

    def _query(self, tokens: Tokens) -> Relation:
        query = parse_query(self.source, tokens)
        ttl = StateTtl(self.source, span_of(tokens), self._lifetime_set(span_of(tokens[:1])))
        sides = SideHints(self.source, span_of(tokens))
        binder = QueryBinder(self.source, query, self._readable, self.named, ttl, sides)
        relation = binder.bind(query.tree)
        relation = binder.emission.apply(relation)
        if query.emit and query.emit.late:
            relation = self._take_late(relation, query.emit.late)
        self.kept |= ttl.used | sides.used
        self.scopes.append((span_of(tokens), binder.aliases))
        return relation

    def _lifetime_set(self, here: Span) -> HintPair | None:
        """The setting state.ttl, which holds for the statements behind it."""
        set_at = self.places.get(("SET", "state.ttl"), here)
        return setting_of(
            self.source, [*((*pair, set_at) for pair in self.settings), *((*pair, here) for pair in self.given)]
        )

    def _take_late(self, relation: Relation, name: Name) -> Relation:
        table = LateTable(self.source, name, self._target(name))
        relation, sink = table.take(relation, self.relations.values())
        self.sinks.append(replace(sink, written=NodeLocation(begins=name.span[0])))
        return relation

    def _look_up(self, name: Name) -> str:
        """What the table or view of that name is called where it is declared."""
        found = pick(name, self.relations)
        if not found:
            raise unknown_table(self.source, name, self.relations)
        return list(self.relations)[found[0]]

    def _readable(self, name: Name) -> Relation:
        known = self._look_up(name)
        table = self.tables.get(known)
        if table and not table.traits.reads:
            raise self.source.error(
                f"{known} cannot be read: the connector {table.traits.name} is only written",
                name.span,
                "read what it is written from, or a file that it was exported to, or a log of its changes ('format' = 'debezium-json')",
            )
        if table and table.is_log_of_keys:
            last = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(table.keys)} ORDER BY ... DESC) = 1"
            self.source.note(
                f"each record of {known} is a row of its own, though the table has a PRIMARY KEY",
                name.span,
                f"add {MODE} to its WITH, and the last of each key is its row"
                if table.traits.can_upsert
                else f"keep the last of each key: {last}",
            )
        return self.relations[known]

    def _refuse_known(self, name: Name) -> None:
        if any(is_name_of(name, known) for known in self.relations):
            raise self.source.error(f"{name.text} is created twice", name.span, "choose another name")

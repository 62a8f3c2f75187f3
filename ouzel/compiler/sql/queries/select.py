"""The query binder: from sqlglot's tree of a query to a relation of the logical plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from ouzel.compiler.expressions import Expression, conjunction
from ouzel.compiler.plan import Filter, WindowKind
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.above_groups import advising_of_groups, split_above_groups
from ouzel.compiler.sql.queries.aggregation import bind_grouped, distinct_rows
from ouzel.compiler.sql.queries.asof import bind_asof, is_asof, refuse_version
from ouzel.compiler.sql.queries.correlation import conjuncts_of, has_subquery
from ouzel.compiler.sql.queries.emit_rules import Emission
from ouzel.compiler.sql.queries.group_keys import is_grouped
from ouzel.compiler.sql.queries.hardly_meant import note_conditions
from ouzel.compiler.sql.queries.joins import bind_join, with_filter
from ouzel.compiler.sql.queries.laterals import bind_lateral
from ouzel.compiler.sql.queries.limits import FirstRows
from ouzel.compiler.sql.queries.lookups import bind_lookup, is_lookup
from ouzel.compiler.sql.queries.other_rows import note_distinct, note_windows
from ouzel.compiler.sql.queries.output import advise_of_alias, refuse_over
from ouzel.compiler.sql.queries.over import bind_select
from ouzel.compiler.sql.queries.repeated import check_table_names
from ouzel.compiler.sql.queries.scope import Relation, is_name_of, name_of
from ouzel.compiler.sql.queries.sets import bind_set_operation
from ouzel.compiler.sql.queries.sides import SideHints
from ouzel.compiler.sql.queries.subqueries import bind_nested, with_items
from ouzel.compiler.sql.queries.ttl import StateTtl
from ouzel.compiler.sql.queries.unnest import bind_unnest, with_selected_elements
from ouzel.compiler.sql.queries.values import bind_values, no_table
from ouzel.compiler.sql.queries.windows import assign_session, assign_window, is_window, read_window
from ouzel.compiler.sql.statements.named import NamedTables
from ouzel.compiler.sql.syntax.places import consume, describe, instead_of, place
from ouzel.compiler.sql.syntax.queries import Query
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError

Tables = Callable[[Name], Relation]
"""Finds a created table or view by name, or raises QueryError."""


class WhereBinder(Binder):
    """Binds WHERE, where no aggregate can stand."""

    no_aggregates = (
        "WHERE sees single rows; write HAVING behind GROUP BY, or compare with a subquery: a = (SELECT MAX(a) FROM t)"
    )

    def __init__(self, source: QueryText, relation: Relation, items: Sequence[exp.Expr]) -> None:
        super().__init__(source, relation)
        self.items = items
        self.over_calls = partial(refuse_over, source, "WHERE chooses the rows that it sees")

    def column(self, node: exp.Expr) -> Expression:
        try:
            return super().column(node)
        except QueryError as error:
            advise_of_alias(error, self.items, "WHERE", node)
            raise


class QueryBinder:
    """Binds a statement's query, with its subqueries and CTEs; `emission` gathers what EMIT speaks of, `ttl` and `sides` hints on joins."""

    def __init__(
        self, source: QueryText, query: Query, tables: Tables, named: NamedTables, ttl: StateTtl, sides: SideHints
    ) -> None:
        self.source, self.tables, self.named = source, tables, named
        self.emission, self.ttl, self.sides = Emission(source, query.emit), ttl, sides
        self.ctes: list[tuple[str, Relation]] = []
        self.defining: list[str] = []
        self.behind: list[str] = []
        self.aliases: dict[str, str] = {}

    def bind(self, tree: exp.Expr) -> Relation:
        """The relation of a query: SELECT, a set operation, or either in parentheses.

        Raises:
            QueryError: at the place of what is wrong.
        """
        outer, behind = len(self.ctes), self.behind
        ctes = tree.args["with_"].expressions if tree.args.get("with_") else ()
        for number, cte in enumerate(ctes):
            self.behind = [*(later.alias for later in ctes[number + 1 :]), *behind]
            self._define(cte, [known.lower() for known, _ in self.ctes[outer:]])
        self.behind = behind
        first_rows = FirstRows(self.source, tree)
        tree = first_rows.tree
        match tree:
            case exp.Select():
                relation = self._select(tree)
            case exp.SetOperation():
                sides = (self.bind(tree.this), self.bind(tree.expression))
                relation = bind_set_operation(self.source, tree, *sides, self.emission)
            case exp.Values():
                relation = bind_values(self.source, tree)
            case exp.Subquery():
                consume(self.source, tree, "this", "with_", "alias")
                relation = self.bind(tree.this)
            case _:
                raise self.source.error(
                    f"{describe(tree)} is not supported", place(tree), instead_of(tree), NotSupported
                )
        del self.ctes[outer:]
        return first_rows.above(relation)

    def _define(self, cte: exp.Expr, defined: list[str]) -> None:
        consume(self.source, cte, "this", "alias")
        name, names = self._alias(cte)
        if name.lower() in defined:
            span = place(cte.args["alias"])
            raise self.source.error(f"WITH names {name} twice", span, "give one of them another name")
        self.defining.append(name)
        try:
            relation = self.bind(cte.this).with_name(name, place(cte.args["alias"])[0])
        finally:
            self.defining.pop()
        self.ctes.append((name, self._rename(relation, name, names, cte)))

    def _select(self, tree: exp.Select) -> Relation:
        consume(
            self.source, tree, "expressions", "from_", "joins", "where", "group", "having", "distinct", "with_",
            "qualify", "windows",
        )  # fmt: skip
        if not tree.expressions:
            raise self.source.error("the select list is empty", place(tree), "name columns, or write *")
        groups = is_grouped(tree, self.source.functions)
        if groups:
            above = split_above_groups(self.source, tree)
            if above is not tree:
                with advising_of_groups(self.source, tree):
                    return self._select(above)
        relation = self._from(tree)
        if not groups:
            tree, relation = with_selected_elements(self.source, tree, relation)
        forgetting = self.ttl.of_keys(tree, relation)
        where = tree.args.get("where")
        if where:
            relation = self._where(where.this, relation, tree.expressions)
        if where is None or not has_subquery(where.this):  # a subquery may be what joins the tables
            note_conditions(self.source, relation.node)
        if groups:
            note_windows(self.source, tree, relation)
            result = bind_grouped(self.source, tree, relation, self.emission, forgetting)
        else:
            tree, relation = with_items(self, tree, relation)
            result = bind_select(self.source, tree, relation, self.emission, forgetting)
        if tree.args.get("distinct"):
            consume(self.source, tree.args["distinct"])
            note_distinct(self.source, tree)
            result = distinct_rows(result, self.emission, forgetting)
        return result

    def _where(self, condition: exp.Expr, relation: Relation, items: Sequence[exp.Expr]) -> Relation:
        parts = conjuncts_of(condition)
        nested = [part for part in parts if has_subquery(part)]
        plain = [part for part in parts if not any(part is one for one in nested)] if nested else [condition]
        if plain:
            relation = self._filter(plain, condition, relation, items)
        for part in nested:
            value, relation = bind_nested(self, part, relation)
            if value is not None:
                relation = self._filter([value], part, relation, items)
        return relation

    def _filter(
        self, parts: Sequence[exp.Expr], written: exp.Expr, relation: Relation, items: Sequence[exp.Expr]
    ) -> Relation:
        binder = WhereBinder(self.source, relation, items)
        relation, left = with_filter(relation, conjunction([binder.condition(part, "WHERE") for part in parts]))
        if left is None:
            return relation
        return replace(relation, node=Filter(relation.node, left, written=NodeLocation(place(written)[0])))

    def relation_of_from(self, tree: exp.Select) -> Relation:
        """The relation of a query's FROM."""
        return self._from(tree)

    def _from(self, tree: exp.Select) -> Relation:
        clause = tree.args.get("from_")
        if clause is None:
            return no_table()
        refuse_version(self.source, clause.this)
        joins = tree.args.get("joins") or ()
        check_table_names(self.source, (clause.this, *(join.this for join in joins)))
        if isinstance(clause.this, exp.Unnest):
            relation = bind_unnest(self.source, exp.Join(this=clause.this.copy()), no_table())
        else:
            relation = self._table(clause.this)
        for join in joins:
            if isinstance(join.this, exp.Unnest):
                relation = bind_unnest(self.source, join, relation)
            elif isinstance(join.this, exp.Lateral):
                relation = bind_lateral(self, join, relation)
            elif is_lookup(self.source, join, relation):
                relation = bind_lookup(self.source, join, relation, self._table(join.this))
            elif is_asof(join):
                relation = bind_asof(self.source, join, relation, self._table(join.this))
            else:
                right = self._table(join.this)
                relation = bind_join(self.source, join, relation, right, self.ttl, self.sides)
        return relation

    def _table(self, node: exp.Expr) -> Relation:
        alias, names = self._alias(node)
        if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery):
            raise self.source.error("a subquery in FROM stands in parentheses", place(node), "write FROM (SELECT ...)")
        if isinstance(node, exp.Subquery):
            consume(self.source, node, "this", "alias")
            return self._rename(self.bind(node.this), alias, names, node)
        if isinstance(node, exp.Values):
            return self._rename(self.bind(node), alias, names, node)
        consume(self.source, node, "this", "alias", "db", "catalog", "version")
        if is_window(node.this):
            call = read_window(self.source, node.this, data=True)
            assert call.data is not None
            relation = self._data(call.data)
            binder = Binder(self.source, relation)
            if call.kind is WindowKind.SESSION:
                windowed = assign_session(binder, call, relation, call.keys, self.emission)
            else:
                windowed = assign_window(binder, call, relation)
            if alias and isinstance(call.data, exp.Column):
                self.aliases[alias] = relation.columns[0].table
            return self._rename(windowed, alias, names, node) if alias else windowed
        relation = self._find_named(node, bool(alias))
        self.aliases[alias or relation.columns[0].table] = relation.columns[0].table
        return self._rename(relation, alias or relation.columns[0].table, names, node)

    def _data(self, node: exp.Expr) -> Relation:
        if isinstance(node, exp.Subquery):
            return self.bind(node.this).with_alias("")
        if isinstance(node, exp.Column):
            return self._find_named(node)
        if isinstance(node, exp.Anonymous) or self.named.is_path(node):
            self._refuse_quoted_name(node, "TABLE")
            return self.named.relation(node, aliased=True)
        raise self.source.error("a window is cut from a table, a view or a subquery", place(node), "write its name")

    def _find_named(self, node: exp.Expr, aliased: bool = True) -> Relation:
        if isinstance(node.this, exp.Anonymous) or self.named.is_path(node.this):
            self._refuse_quoted_name(node.this)
            return self.named.relation(node.this, aliased)
        name = name_of(self.source, node.this)
        if above := [node.args[key].name for key in ("catalog", "db", "table") if node.args.get(key)]:
            path = ".".join((*above, name.text))
            advice = _advise_parts(name.text, path)
            if above[0].lower() in map(str.lower, self.aliases):
                problem = f"{above[0]} is a table beside this one, and {path} an expression of its rows"
                raise self.source.error(problem, place(node), f"write CROSS JOIN UNNEST({path}) AS u (element)")
            raise self.source.error("tables have no database or catalog", place(node), advice)
        for known, relation in reversed(self.ctes):
            if is_name_of(name, known):
                return relation
        try:
            return self.tables(name)
        except QueryError as error:
            if any(is_name_of(name, defined) for defined in self.defining):
                problem = f"the query of WITH {name.text} reads itself, and WITH RECURSIVE is not supported"
                raise self.source.error(problem, place(node), _STEPS, NotSupported) from None
            if any(is_name_of(name, later) for later in self.behind):
                error.instead = f"WITH names it further on: write {name.text} AS (...) before this query"
            raise

    def _refuse_quoted_name(self, node: exp.Expr, before: str = "FROM") -> None:
        """A table's name in single quotes would be the path of a file."""
        if (
            self.named.is_path(node)
            and node.name.isidentifier()
            and self._is_table(Name(node.name, False, place(node)))
        ):
            problem = f"'{node.name}' in quotes is the path of a file, and {node.name} is a table"
            raise self.source.error(problem, place(node), f"write {before} {node.name}")

    def _is_table(self, name: Name) -> bool:
        try:
            return any(is_name_of(name, known) for known, _ in self.ctes) or bool(self.tables(name))
        except QueryError:
            return False

    def _alias(self, node: exp.Expr) -> tuple[str, list[Name]]:
        alias = node.args.get("alias")
        if alias is None:
            return "", []
        consume(self.source, alias, "this", "columns")
        return alias.name, [name_of(self.source, column) for column in alias.columns]

    def _rename(self, relation: Relation, table: str, names: Sequence[Name], node: exp.Expr) -> Relation:
        if len(names) > len(relation.columns):
            raise self.source.error(
                f"{len(names)} column names are given to {len(relation.columns)} columns",
                names[-1].span,
                "name each column once",
            )
        return relation.with_alias(table, [name.text for name in names])


_STEPS = "write each step as a view, or a series of numbers as FROM UNNEST(SEQUENCE(1, 5)) AS u (n)"
_FILES = frozenset({"csv", "tsv", "txt", "json", "jsonl", "ndjson", "parquet"})
"""How the names of files end."""


def _advise_parts(name: str, path: str) -> str:
    """What to write for a table whose name has several parts, of which the last is `name`; a file is one of them where that ends so."""
    if set(name) & {".", "/"}:  # csv.`orders.csv`
        return f"the path of a file stands in single quotes: '{name}'"
    if name.lower() in _FILES:
        return f"the path of a file stands in single quotes: '{path}'"
    return f"write {name}, or '{path}' if that is the path of a file"

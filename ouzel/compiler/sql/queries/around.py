"""Subqueries that speak of a query further out than the one around them, or from inside a UNION or a subquery in FROM, or without equality.

Such a subquery reads one table more: the values that the query around it has of the columns that it speaks of, each combination once.
So it speaks of no other query, and is joined by these values (the dependent join of Neumann and Kemper, "Unnesting Arbitrary Queries",
BTW 2015). NULL is a value as others here, so that they are compared as a ROW.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.aggregation import distinct_rows
from ouzel.compiler.sql.queries.correlation import (
    Queries,
    as_of_a_time,
    can_bind,
    conjuncts_of,
    find_correlation,
    select_of,
    split_correlation,
)
from ouzel.compiler.sql.queries.group_keys import is_grouped
from ouzel.compiler.sql.queries.output import OutputColumn, project, star_of
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.places import place
from ouzel.errors import NotSupported, QueryError

_RowPair = tuple[exp.Expr, exp.Expr]


@dataclass(frozen=True)
class SetApart:
    """A subquery that speaks of no query around it: it gives `keys` behind what it selects, which are equal to these `columns`."""

    tree: exp.Expr
    keys: tuple[exp.Expr, ...]
    columns: tuple[exp.Expr, ...]

    @property
    def pair(self) -> _RowPair:
        """Both as ROWs: that of the subquery, and that of the query around it."""
        return _row(self.keys), _row(self.columns)


def split_subquery(
    queries: Queries,
    tree: exp.Select,
    outer: Relation,
    what: str = "a subquery as a value",
    latest: exp.Expr | None = None,
) -> tuple[exp.Select, list[exp.Expr], list[_RowPair]]:
    """A subquery, the conjuncts of its WHERE that are its own, and what it compares with the query around it.

    Args:
        queries: they know the values that it speaks of as a table from here on, if that is needed.
        tree: the subquery.
        outer: the relation of the query around it.
        what: it is called in an error.
        latest: what a LIMIT 1 has the latest of that is no clause of `tree` any more.

    Raises:
        NotSupported: it speaks of that query where it cannot.
    """
    apart = set_apart(queries, tree, outer, selects=False)
    if apart is None and not tree.args.get("limit"):
        others = find_correlation(queries, tree, outer)[2]
        if others and not as_of_a_time(queries, tree, others[0], latest):
            apart = set_apart(queries, tree, outer, selects=False, whole=True)
    if apart is None:
        return (tree, *split_correlation(queries, tree, outer, what, latest))
    assert isinstance(apart.tree, exp.Select)
    where = apart.tree.args.get("where")
    return apart.tree, conjuncts_of(where.this) if where else [], [apart.pair]


def set_apart(
    queries: Queries, query: exp.Expr, outer: Relation, selects: bool = True, whole: bool = False
) -> SetApart | None:
    """The subquery with a table of what it speaks of, if it speaks of the query around it elsewhere than in its own WHERE.

    Args:
        queries: they know the table from here on.
        query: without its parentheses.
        outer: the relation of the query around it.
        selects: whether the keys are added to what it selects.
        whole: whether it is set apart, too, if it speaks of that query in its own WHERE alone.

    Raises:
        NotSupported: the rows of a part of it cannot be told apart by the keys.
    """
    tree = select_of(query)
    speech = _Speech(queries, outer, tree)
    is_part = whole or isinstance(tree, exp.SetOperation)
    inside = [tree] if is_part else [sub for sub in tree.find_all(exp.Query) if sub is not tree]
    if not any(True for sub in inside for _ in speech.of(sub)):
        return None
    copy = tree.copy()
    speech = _Speech(queries, outer, copy)
    columns = {column.sql(): column for column in speech.of(copy)}
    kept = [column.copy() for column in columns.values()]
    binder = Binder(queries.source, outer)
    outputs = [OutputColumn(f"$c{number}", binder.bind(column)) for number, column in enumerate(kept)]
    name = f"$around{len(queries.ctes)}"
    values = distinct_rows(project(outer, outputs), queries.emission, None)
    queries.ctes.append((name, values.with_alias(name)))
    adding = _Adding(speech, name, {text: f"$c{number}" for number, text in enumerate(columns)})
    if selects:
        keys = adding.to(copy)
    else:
        assert isinstance(copy, exp.Select)
        keys = adding.into(copy)
    return SetApart(copy, tuple(keys), tuple(kept))


class _Speech:
    """What a subquery says of the query around it."""

    def __init__(self, queries: Queries, outer: Relation, whole: exp.Expr) -> None:
        self.queries, self._outer, self._whole = queries, outer, whole
        self._own = {table.alias_or_name.casefold() for table in whole.find_all(exp.Table, exp.Subquery)}

    def of(self, part: exp.Expr) -> Iterator[exp.Column]:
        """The columns of the query around it, in a part of it."""
        for column in list(part.find_all(exp.Column)):
            named = len(column.parts) > 1
            if (named and column.parts[0].name.casefold() in self._own) or not can_bind(
                self.queries, column, self._outer
            ):
                continue
            if not any(self._has_column(select, column, named) for select in self._selects_around(column)):
                yield column

    def _selects_around(self, column: exp.Column) -> Iterator[exp.Select]:
        node: exp.Expr | None = column
        while node is not None:
            if isinstance(node, exp.Select):
                yield node
            node = node.parent if node is not self._whole else None

    def _has_column(self, select: exp.Select, column: exp.Column, named: bool) -> bool:
        """Whether a query inside has that column. Where its tables speak of the query around, what has a table's name is not its own."""
        queries = self.queries
        ctes, aggregates = len(queries.ctes), queries.emission.aggregates
        try:
            return can_bind(queries, column, queries.relation_of_from(select.copy()))
        except QueryError:
            return not named
        finally:
            del queries.ctes[ctes:]
            queries.emission.aggregates = aggregates


@dataclass(frozen=True)
class _Adding:
    """What puts the table of a subquery's keys into it; `names` are its columns, by what is written for them."""

    speech: _Speech
    table: str
    names: dict[str, str]

    def to(self, query: exp.Expr) -> list[exp.Expr]:
        """The keys behind what a query selects, each branch of a set operation by itself."""
        tree = select_of(query)
        if isinstance(tree, exp.SetOperation):
            self._refuse_first_rows(tree)
            self.to(tree.this)
            return self.to(tree.expression)
        if not isinstance(tree, exp.Select):
            raise self._refusal(tree, "in VALUES")
        keys = self.into(tree)
        self._refuse_first_rows(tree)
        if is_grouped(tree, self.speech.queries.source.functions) or tree.find(exp.Window):
            raise self._refusal(tree, "in a query that aggregates")
        if any(map(star_of, tree.expressions)):
            raise self._refusal(tree, "where * is selected")
        named = [exp.alias_(key.copy(), name, quoted=True) for key, name in zip(keys, self.names.values(), strict=True)]
        tree.set("expressions", [*tree.expressions, *named])
        return keys

    def into(self, tree: exp.Select) -> list[exp.Expr]:
        """The keys that a query reads, whose columns stand for those of the query around it."""
        table = self._source(tree)
        for column in [column for column in self.speech.of(tree) if column.sql() in self.names]:
            if isinstance(
                column.find_ancestor(exp.Join, exp.Select), exp.Join
            ):  # before the keys, which are the last table
                raise self._refusal(column, "in a JOIN")
            column.replace(standing_for(column, table, self.names[column.sql()]))
        return [standing_for(tree, table, name) for name in self.names.values()]

    def _source(self, tree: exp.Select) -> str:
        """The table of FROM that has the keys: a subquery that speaks of the query around, or the keys themselves."""
        clause, joins = tree.args.get("from_"), tree.args.get("joins") or []
        tables = [clause.this, *(join.this for join in joins)] if clause else []
        speaking = [
            table for table in tables if isinstance(table, exp.Subquery) and any(True for _ in self.speech.of(table))
        ]
        if len(speaking) > 1:
            raise self._refusal(speaking[1], "in two subqueries of one FROM")
        if speaking:
            if any(join.side or join.kind in ("SEMI", "ANTI") for join in joins):  # which may leave the keys NULL
                raise self._refusal(speaking[0], "in a FROM with an outer join")
            self.to(speaking[0].this)
            return str(speaking[0].alias)
        keys = exp.Table(this=exp.to_identifier(self.table, quoted=True))
        if clause is None:
            tree.set("from_", exp.From(this=keys))
        else:
            tree.set("joins", [*joins, exp.Join(this=keys, kind="CROSS")])
        return self.table

    def _refuse_first_rows(self, tree: exp.Expr) -> None:
        if any(map(tree.args.get, ("limit", "offset"))):
            raise self._refusal(tree, "under a LIMIT")

    def _refusal(self, tree: exp.Expr, where: str) -> NotSupported:
        names = ", ".join(dict.fromkeys(text.split(".")[0] for text in self.names))
        problem = f"a subquery that speaks of {names} further out {where} is not supported"
        advice = "join the tables in one subquery, and compare in its WHERE"
        error = self.speech.queries.source.error(problem, place(tree), advice, NotSupported)
        assert isinstance(error, NotSupported)
        return error


def standing_for(written: exp.Expr, table: str, name: str) -> exp.Column:
    """A column whose place is that of what was written."""
    column = exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True))
    start, end = place(written)
    for identifier in column.find_all(exp.Identifier):
        identifier.meta.update(start=start, end=end - 1)
    return column


def _row(values: tuple[exp.Expr, ...]) -> exp.Expr:
    row = exp.Anonymous(this="row", expressions=[value.copy() for value in values])
    start, end = place(values[0])
    row.meta.update(start=start, end=end - 1)
    return row

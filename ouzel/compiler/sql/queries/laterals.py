"""JOIN LATERAL (SELECT ...): a subquery in FROM that speaks of the tables before it. Each becomes a join, computed once for all rows.

What it compares with them becomes the condition of the join; first rows and aggregates are taken by the keys that it compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ouzel.compiler.coercion import cast_to
from ouzel.compiler.expressions import Case, Column, Expression, Literal, columns, columns_of, conjunction
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Filter, JoinKind, Project
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.around import split_subquery
from ouzel.compiler.sql.queries.correlation import (
    Correlated,
    Queries,
    bind_alone,
    conjuncts_of,
    equal,
    find_correlation,
    plain_select,
)
from ouzel.compiler.sql.queries.group_keys import is_grouped
from ouzel.compiler.sql.queries.joins import apart, is_true, join_relations
from ouzel.compiler.sql.queries.limits import FirstRows
from ouzel.compiler.sql.queries.output import OutputColumn, outputs_of, star_of, strip_alias
from ouzel.compiler.sql.queries.scope import Relation, Visible, fresh, name_of
from ouzel.compiler.sql.queries.subqueries import of_no_rows
from ouzel.compiler.sql.queries.unnest import bind_unnest
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.types import BOOLEAN, NULL
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError

_KINDS = {"": JoinKind.INNER, "LEFT": JoinKind.LEFT}


def bind_lateral(queries: Queries, join: exp.Join, outer: Relation) -> Relation:
    """The relation with the rows that the subquery has for each of its rows beside it.

    Raises:
        QueryError: at the place of what is wrong.
        NotSupported: the subquery cannot be made a join.
    """
    consume(queries.source, join, "this", "kind", "side", "on")
    consume(queries.source, join.this, "this", "alias", "view", "outer")
    if join.side.upper() not in _KINDS:
        problem = f"{join.side.upper()} JOIN LATERAL is not supported"
        raise queries.source.error(problem, place(join), "write CROSS JOIN LATERAL or LEFT JOIN LATERAL", NotSupported)
    return _Lateral(queries, join, outer).bind()


@dataclass(frozen=True)
class _Right:
    """What stands at the right of the join, the conditions under which its rows match, and what the subquery gives of both."""

    relation: Relation
    parts: Sequence[Expression]
    outputs: Sequence[OutputColumn]
    always: bool = False


class _Lateral:
    """One such join."""

    def __init__(self, queries: Queries, join: exp.Join, outer: Relation) -> None:
        self.queries, self.source, self.join, self.outer = queries, queries.source, join, outer
        self.kind, self.at = _KINDS[join.side.upper()], NodeLocation(place(join)[0])

    def bind(self) -> Relation:
        """The relation of the join, by what its subquery reads."""
        query = self.join.this.this
        if (inner := self._of_the_row(query)) is not None:
            consume(self.source, tree := plain_select(self.source, query), "expressions", "from_", "where")
            return self._beside(tree, inner)
        alone = bind_alone(self.queries, query)
        if not isinstance(alone, QueryError):
            return self._join(self._as_it_is(alone))
        tree = plain_select(self.source, query)
        first_rows = FirstRows(self.source, tree)
        if first_rows.clause or tree.args.get("distinct") or is_grouped(tree, self.source.functions):
            return self._join(self._by_keys(first_rows, alone))
        return self._join(self._matching(tree))

    def _of_the_row(self, query: exp.Expr) -> Relation | None:
        """What a subquery without FROM, or FROM UNNEST, reads: the row itself, or the elements of its array beside it."""
        tree = query.this
        if not isinstance(tree, exp.Select) or is_grouped(tree, self.source.functions) or tree.args.get("joins"):
            return None
        table = tree.args.get("from_")
        if table is None:
            return replace(self.outer, columns=())
        if not isinstance(table.this, exp.Unnest):
            return None
        made = self.join.copy()
        made.set("this", table.this.copy())
        made.set("on", None)  # which may speak of what the subquery gives
        elements = bind_unnest(self.source, made, self.outer)
        return replace(elements, columns=elements.columns[len(self.outer.columns) :])

    def _as_it_is(self, alone: Relation) -> _Right:
        """A subquery that speaks of no other table."""
        right = apart(alone, self.outer.node.schema.names)
        outputs = [OutputColumn(column.name, right.column(column)) for column in right.columns]
        return _Right(right, (), outputs)

    def _matching(self, tree: exp.Select) -> _Right:
        """All rows of the subquery's tables that meet its WHERE."""
        consume(self.source, tree, "expressions", "from_", "joins", "where")
        inner = apart(self.queries.relation_of_from(tree), self.outer.node.schema.names)
        binder = Correlated(self.queries, inner, self.outer)
        names = frozenset(inner.node.schema.names)
        where = tree.args.get("where")
        bound = [binder.condition(part, "WHERE") for part in conjuncts_of(where.this)] if where else []
        local = [part for part in bound if columns_of(part) <= names]
        if local:
            inner = replace(inner, node=Filter(inner.node, conjunction(local), written=self.at))
        return _Right(
            inner, [part for part in bound if not columns_of(part) <= names], outputs_of(binder, tree.expressions)
        )

    def _by_keys(self, first_rows: FirstRows, alone: QueryError) -> _Right:
        """Groups and first rows, by what the subquery compares with the tables before it."""
        tree = plain_select(self.source, first_rows.tree.copy())
        consume(self.source, tree, "expressions", "from_", "joins", "where", "group", "having", "distinct")
        always = is_grouped(tree, self.source.functions) and not tree.args.get("group")
        self._refuse_what_is_not_by_key(tree, first_rows, always)
        self._refuse_star(tree)
        what = "LATERAL with groups or LIMIT"
        tree, local, pairs = split_subquery(self.queries, tree, self.outer, what, first_rows.latest_by)
        if not pairs:
            raise alone
        given = list(tree.expressions)
        keys = [inner.copy() for inner, _ in pairs]
        named = [exp.alias_(key.copy(), f"$column{number}", quoted=True) for number, key in enumerate(keys)]
        tree.set("expressions", [*given, *named])
        if is_grouped(tree, self.source.functions):
            group = tree.args.get("group")
            tree.set("group", exp.Group(expressions=[*keys, *(group.expressions if group else ())]))
        tree.set("where", exp.Where(this=exp.and_(*(part.copy() for part in local), copy=False)) if local else None)
        bound = self.queries.bind(tree)
        partition = tuple(column.column for column in bound.columns[-len(keys) :])
        right = apart(first_rows.above(bound, partition), self.outer.node.schema.names)
        shown, compared = right.columns[: -len(keys)], right.columns[-len(keys) :]
        binder = Binder(self.source, self.outer)
        parts = [
            equal(self.source, self.join, binder.bind(other), right.column(key))
            for (_, other), key in zip(pairs, compared, strict=True)
        ]
        outputs = [OutputColumn(column.name, right.column(column)) for column in shown]
        if always:
            found = resolve_call("is_not_null", [right.column(compared[0])])
            outputs = [self._or_of_no_rows(output, item, found) for output, item in zip(outputs, given, strict=True)]
        return _Right(right, parts, outputs, always)

    def _refuse_star(self, tree: exp.Select) -> None:
        """A star would give the values of the tables before it, too, where they are joined to its own."""
        star = next((item for item in tree.expressions if star_of(item) is not None), None)
        if star is not None and find_correlation(self.queries, tree, self.outer)[2]:
            problem = "* in LATERAL with groups or LIMIT and another correlation than equality is not supported"
            raise self.source.error(problem, place(star), "name the columns", NotSupported)

    def _refuse_what_is_not_by_key(self, tree: exp.Select, first_rows: FirstRows, always: bool) -> None:
        """What says something else of the rows of one key than of all rows."""
        for found, what, instead in (
            (first_rows.on, "DISTINCT ON", "write ORDER BY ... LIMIT 1"),
            (tree.find(exp.Window), "OVER with groups or LIMIT", "write ORDER BY ... LIMIT alone"),
            (always and first_rows.limit is not None, "LIMIT of an aggregate", "leave it out: there is one row"),
            (always and tree.args.get("having"), "HAVING without GROUP BY", "write the condition above the subquery"),
        ):
            if found:
                raise self.source.error(f"{what} in LATERAL is not supported", place(tree), instead, NotSupported)

    def _or_of_no_rows(self, output: OutputColumn, item: exp.Expr, found: Expression) -> OutputColumn:
        """An aggregate as it is where the subquery has no rows: a count is 0."""
        nobody = Binder(self.source, replace(self.outer, columns=()))
        nothing = nobody.bind(of_no_rows(self.queries, strip_alias(item)))
        value = output.expression
        if nothing == Literal(NULL, None):
            return output
        return replace(output, expression=Case(value.type, ((found, value),), cast_to(nothing, value.type)))

    def _beside(self, tree: exp.Select, inner: Relation) -> Relation:
        """What is computed of each row, or of each element of its array, where a row of the subquery is one of the join."""
        binder = Correlated(self.queries, inner, replace(self.outer, node=inner.node))
        outputs, where, on = outputs_of(binder, tree.expressions), tree.args.get("where"), self.join.args.get("on")
        computed = [output for output in outputs if not isinstance(output.expression, Column)]
        if self.kind is JoinKind.LEFT and (where is not None or (computed and tree.args.get("from_"))):
            problem = "LEFT JOIN LATERAL of a subquery that filters or computes elements is not supported"
            raise self.source.error(
                problem,
                place(tree),
                "write LEFT JOIN UNNEST(...) AS u (x) ON x > 0, and compute above it",
                NotSupported,
            )
        if where is not None:
            kept = binder.condition(where.this, "WHERE")
            inner = replace(inner, node=Filter(inner.node, kept, written=self.at))
        if on is not None and not is_true(on):
            advice = "write it in WHERE"
            if self.kind is JoinKind.LEFT:  # where WHERE would drop the rows that LEFT JOIN keeps
                advice = "write LEFT JOIN UNNEST(array) AS u (x) ON the condition"
            raise self.source.error(
                "ON another condition than TRUE is not supported here", place(on), advice, NotSupported
            )
        return self._list_columns(inner, outputs)

    def _join(self, right: _Right) -> Relation:
        """The join, and what the subquery gives above it."""
        inner, outputs = right.relation, right.outputs
        computed = any(not isinstance(output.expression, Column) for output in outputs)
        if self.kind is JoinKind.LEFT and computed and not right.always:
            flag = fresh("$found", [*inner.node.schema.names, *self.outer.node.schema.names])
            items = (*((each.name, each) for each in columns(inner.node.schema)), (flag, Literal(BOOLEAN, True)))
            inner = replace(inner, node=Project(inner.node, items))
            found = resolve_call("is_not_null", [Column(BOOLEAN, flag)])
            outputs = [_where_found(output, found) for output in outputs]
        on = self.join.args.get("on")
        kind = JoinKind.LEFT if right.always else self.kind
        parts = list(right.parts)
        if on is not None and not is_true(on):
            if computed or right.always:
                problem = "ON another condition than TRUE is not supported beside what LATERAL computes"
                raise self.source.error(problem, place(on), "write it in the WHERE of the subquery", NotSupported)
            pairs = self._list_columns(join_relations(self.outer, inner, JoinKind.INNER, (), self.at), outputs)
            parts.append(Binder(self.source, pairs).condition(on, "ON"))
        return self._list_columns(join_relations(self.outer, inner, kind, parts, self.at), outputs)

    def _list_columns(self, relation: Relation, outputs: Sequence[OutputColumn]) -> Relation:
        """The columns of the tables before, and of the subquery under its alias."""
        alias = self.join.this.args.get("alias")
        table, names = (alias.name, [name_of(self.source, each) for each in alias.columns]) if alias else ("", [])
        if len(names) > len(outputs):
            problem = f"{len(names)} column names are given to {len(outputs)} columns"
            raise self.source.error(problem, names[-1].span, "name each column once")
        called = [*(name.text for name in names), *(output.name for output in outputs[len(names) :])]
        items: list[tuple[str, Expression]] = [(each.name, each) for each in columns(relation.node.schema)]
        shown: list[Visible] = []
        for name, output in zip(called, outputs, strict=True):
            value = output.expression
            column = value.name if isinstance(value, Column) else fresh(name, dict(items))
            if not isinstance(value, Column):
                items.append((column, value))
            shown.append(Visible(table, name, column))
        node = relation.node
        if len(items) > len(node.schema):
            node = Project(node, tuple(items), written=self.at)
        return replace(relation, node=node, columns=(*self.outer.columns, *shown))


def _where_found(output: OutputColumn, found: Expression) -> OutputColumn:
    """NULL in a row that has no match."""
    value = output.expression
    if isinstance(value, Column):
        return output
    return replace(output, expression=Case(value.type, ((found, value),), cast_to(Literal(NULL, None), value.type)))

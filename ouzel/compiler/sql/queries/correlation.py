"""What a subquery says of the query around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlglot import exp

from ouzel.compiler.coercion import cast_to, common_type
from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.emit_rules import Emission
from ouzel.compiler.sql.queries.joins import apart
from ouzel.compiler.sql.queries.limits import latest_by
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import NotSupported, QueryError


class Queries(Protocol):
    """What binds whole queries."""

    source: QueryText
    emission: Emission
    ctes: list[tuple[str, Relation]]

    def bind(self, tree: exp.Expr) -> Relation:
        """The relation of a query."""

    def relation_of_from(self, tree: exp.Select) -> Relation:
        """The relation of a query's FROM."""


class Correlated(Binder):
    """Binds a subquery's expressions: a name that its own tables have not is looked for in the query around it."""

    def __init__(self, queries: Queries, inner: Relation, outer: Relation) -> None:
        super().__init__(queries.source, inner)
        self._outer = outer

    def column(self, node: exp.Expr) -> Expression:
        try:
            return super().column(node)
        except QueryError:
            inner, self.relation = self.relation, self._outer
            try:
                return super().column(node)
            except QueryError:
                pass
            finally:
                self.relation = inner
            raise


@contextmanager
def advising_of(outer: Relation) -> Iterator[None]:
    """If a name that a subquery does not find is of the query around it, say where it may speak of that.

    Raises:
        QueryError: what binding the subquery raises.
    """
    try:
        yield
    except QueryError as error:
        written = error.text[error.at :][: error.length] if error.at >= 0 else ""
        known = {name.casefold() for column in outer.columns for name in (column.table, column.name)}
        is_known = bool(written) and written.casefold() in known
        if is_known and error.problem.startswith(f"there is no column {written} in "):
            error.problem += f", and a subquery compares with the {written} of the query around in its WHERE alone"
        elif is_known and error.problem.startswith("there is no"):
            error.problem = f"{written} is of the query around, and a subquery compares with that in its WHERE alone"
            error.instead = "write the comparison there; of an array ARRAY_CONTAINS(array, value), or JOIN UNNEST in the query around"
        raise


def is_condition(part: exp.Expr) -> bool:
    """Whether a conjunct is [NOT] EXISTS (SELECT ...) or [NOT] IN (SELECT ...)."""
    part = strip_parentheses(part)
    while isinstance(part, exp.Not):
        part = strip_parentheses(part.this)
    return isinstance(part, exp.Exists) or (isinstance(part, exp.In) and part.args.get("query") is not None)


def has_subquery(part: exp.Expr) -> bool:
    """Whether a subquery stands somewhere in an expression."""
    return any(map(is_subquery, part.walk()))


def is_subquery(node: exp.Expr) -> bool:
    """Whether a node is a subquery, or a condition on one."""
    if isinstance(node, exp.Any | exp.All):
        return node.find(exp.Query) is not None
    return isinstance(node, exp.Subquery | exp.Exists) or (
        isinstance(node, exp.In) and node.args.get("query") is not None
    )


def bind_alone(queries: Queries, query: exp.Expr) -> Relation | QueryError:
    """The relation of a subquery that needs nothing of the query around it; else what it lacks."""
    ctes, aggregates = len(queries.ctes), queries.emission.aggregates
    try:
        return queries.bind(query.copy())  # binding takes clauses out of a tree
    except NotSupported:
        raise
    except QueryError as error:
        del queries.ctes[ctes:]
        queries.emission.aggregates = aggregates
        return error


def split_correlation(
    queries: Queries,
    tree: exp.Select,
    outer: Relation,
    what: str = "a subquery as a value",
    latest: exp.Expr | None = None,
) -> tuple[list[exp.Expr], list[tuple[exp.Expr, exp.Expr]]]:
    """The conjuncts of a subquery's WHERE that are its own, and of the others, which are equalities, both sides: its own first.

    Raises:
        NotSupported: one is no equality.
    """
    local, pairs, others = find_correlation(queries, tree, outer)
    if not others:
        return local, pairs
    usual = "compare with = what is of the subquery and what is of the query around it, or JOIN on the condition and GROUP BY"
    latest = latest or latest_by(tree.args.get("order"), tree.args.get("limit"))
    advice = as_of_a_time(queries, tree, others[0], latest) or usual
    problem = f"{what} with another correlation than equality is not supported"
    raise queries.source.error(problem, place(others[0]), advice, NotSupported)


def find_correlation(
    queries: Queries, tree: exp.Select, outer: Relation
) -> tuple[list[exp.Expr], list[tuple[exp.Expr, exp.Expr]], list[exp.Expr]]:
    """The same, and those that speak of the query around it and are no equality.

    Raises:
        QueryError: one names what nobody knows.
    """
    inner = queries.relation_of_from(tree.copy())
    local, pairs, others = [], [], []
    for part in _conjuncts_of_where(tree):
        if has_subquery(part):
            refuse_outermost(queries, part, inner, outer)
        if has_subquery(part) or can_bind(queries, part, inner):
            local.append(part)
            continue
        sides = [part.this, part.expression] if isinstance(part, exp.EQ) else []
        ours = [can_bind(queries, side, inner) for side in sides]
        if ours not in ([True, False], [False, True]) or not can_bind(queries, sides[ours.index(False)], outer):
            told_apart = apart(inner, outer.node.schema.names)  # or both columns of b.x > a.x would be the same
            Correlated(queries, told_apart, outer).bind(part)  # a name that nobody knows is said first
            others.append(part)
        else:
            pairs.append((sides[ours.index(True)], sides[ours.index(False)]))
    return local, pairs, others


def _conjuncts_of_where(tree: exp.Select) -> list[exp.Expr]:
    where = tree.args.get("where")
    return conjuncts_of(where.this) if where else []


def as_of_a_time(queries: Queries, tree: exp.Select, part: exp.Expr, latest: exp.Expr | None) -> str:
    """Advice for the last row at or before a time: WHERE p.ts <= o.ts ORDER BY p.ts DESC LIMIT 1; empty for all else."""
    table, text = tree.find(exp.From), queries.source.text
    sides = [part.args.get("this"), part.args.get("expression")][:: -1 if isinstance(part, exp.GTE) else 1]
    if not isinstance(part, exp.LTE | exp.GTE) or latest is None or sides[0] != latest or table is None:
        return ""
    if not isinstance(table.this, exp.Table) or sides[1] is None:
        return ""
    joined = (
        " AND ".join(text[slice(*place(other))] for other in _conjuncts_of_where(tree) if isinstance(other, exp.EQ))
        or "..."
    )
    name, alias, time = table.this.name, table.this.alias_or_name, text[slice(*place(sides[1]))]
    return f"write JOIN {name} FOR SYSTEM_TIME AS OF {time} AS {alias} ON {joined}, which meets the last row at or before {time}"


def refuse_outermost(queries: Queries, part: exp.Expr, inner: Relation, outer: Relation) -> None:
    """A subquery in a subquery speaks of the one around it, and of no query further out.

    Raises:
        NotSupported: it names a column of the query around both.
    """
    for nested in [part] if is_condition(part) else filter(is_subquery, part.walk()):
        own = {table.alias_or_name.casefold() for table in nested.find_all(exp.Table, exp.Subquery)}
        for column in nested.find_all(exp.Column):
            known = column.table.casefold() in own or can_bind(queries, column, inner)
            if column.table and not known and can_bind(queries, column, outer):
                start, end = place(column)
                problem = f"{queries.source.text[start:end]} in a subquery inside a subquery, of the query around both, is not supported"
                advice = "join the tables of both subqueries in one, and compare there"
                raise queries.source.error(problem, place(column), advice, NotSupported)


def can_bind(queries: Queries, part: exp.Expr, relation: Relation) -> bool:
    """Whether an expression needs no other columns than those of a relation."""
    try:
        Binder(queries.source, relation).bind(part)
    except QueryError:
        return False
    return True


def equal(source: QueryText, node: exp.Expr, value: Expression, other: Expression) -> Expression:
    """Whether two values are equal, in the type in which theirs meet.

    Raises:
        QueryError: there is none.
    """
    common = common_type(value.type, other.type)
    if common is None:
        sign = "IN" if isinstance(node, exp.In) else "a subquery"
        raise source.error(f"{sign} compares {value.type} and {other.type}", place(node), "CAST one of them")
    return resolve_call("eq", [cast_to(value, common), cast_to(other, common)])


def select_of(query: exp.Expr) -> exp.Expr:
    """A subquery without its parentheses."""
    while isinstance(query, exp.Subquery | exp.Paren):
        query = query.this
    return query


def plain_select(source: QueryText, query: exp.Expr) -> exp.Select:
    """The SELECT that a subquery is, without its parentheses.

    Raises:
        NotSupported: it is another query.
    """
    tree = select_of(query)
    if not isinstance(tree, exp.Select):
        problem = f"{type(tree).__name__.upper()} in a subquery inside an expression is not supported"
        raise source.error(problem, place(query), "write it as a view", NotSupported)
    return tree


def strip_parentheses(node: exp.Expr) -> exp.Expr:
    """A condition without its parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def conjuncts_of(node: exp.Expr) -> list[exp.Expr]:
    """The operands of nested ANDs, without their parentheses."""
    found, waiting = [], [node]
    while waiting:
        part = strip_parentheses(waiting.pop())
        if isinstance(part, exp.And):
            waiting += (part.expression, part.this)
        else:
            found.append(part)
    return found

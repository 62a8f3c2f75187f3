"""Subqueries as values that may give several rows: a row that meets more than one fails when it does, as a division by zero would.

The subquery is counted: its value is a MAX beside a COUNT(*), of which ONLY_VALUE takes the one where the other is 1. A second row of a
table that only grows never goes away, so that a stream may fail at once. Of rows that change two may be there for a moment only, in an
order that nobody knows: they are counted when its tables have ended. Where one never does, such a subquery must give one row by a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.functions.gathering import has_value_order
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Emit, EmitRule, Filter, Node, scans_in, walk
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.correlation import Queries, can_bind, has_subquery
from ouzel.compiler.sql.queries.output import strip_alias
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText, Span, depth_change, is_word
from ouzel.errors import NotSupported, QueryError

_ALL, _VALUE = "$all", "$column"


def count_beside(queries: Queries, node: exp.Expr, tree: exp.Select, alone: Relation) -> Relation:
    """The value of a subquery that speaks of no other query, and how many rows it has.

    Args:
        node: where the subquery stands.
        tree: the subquery, bound as `alone`.

    Raises:
        NotSupported: its rows change and never end, or its value has no order.
    """
    _refuse_unordered(queries, node, alone.column(alone.columns[0]))
    columns = [exp.to_identifier(_VALUE, quoted=True)]
    alias = exp.TableAlias(this=exp.to_identifier(_ALL, quoted=True), columns=columns)
    value = exp.column(exp.to_identifier(_VALUE, quoted=True))
    calls = (_call("max", value), _call("count", exp.Star()))
    named = [exp.alias_(call, f"{_VALUE}{number}", quoted=True) for number, call in enumerate(calls)]
    made = exp.Select(expressions=named)
    made.set("from_", exp.From(this=exp.Subquery(this=tree.copy(), alias=alias)))
    return wait_for_end(queries, node, queries.bind(made))


def counted_items(
    queries: Queries, node: exp.Expr, tree: exp.Select, local: Sequence[exp.Expr], keys: Sequence[exp.Expr]
) -> list[exp.Expr]:
    """The value of a subquery by the keys that it compares with the query around it, and how many rows it has where that must be looked at.

    Args:
        node: where the subquery stands.
        tree: the subquery, which does not aggregate.
        local: the conjuncts of its WHERE that are its own.
        keys: its side of the others, which are equalities.

    Raises:
        NotSupported: its value has no order, or it is DISTINCT ON.
    """
    item, distinct = strip_alias(tree.expressions[0]), tree.args.get("distinct")
    if distinct and distinct.args.get("on"):
        problem = "DISTINCT ON in a subquery that compares with the query around it is not supported here"
        advice = "write JOIN LATERAL (SELECT ... ORDER BY ... LIMIT 1) AS x ON TRUE, and read x"
        raise queries.source.error(problem, place(distinct), advice, NotSupported)
    relation = queries.relation_of_from(tree.copy())
    _refuse_unordered(queries, node, Binder(queries.source, relation).bind(item))
    if _has_one_row(queries, relation, local, keys):
        return [_call("max", item)]
    return [_call("max", item), _count_distinct(item) if distinct else _call("count", exp.Star())]


def wait_for_end(queries: Queries, node: exp.Expr, groups: Relation) -> Relation:
    """The rows of a subquery, counted; where these may be taken back the counts leave once, when the subquery's tables have ended.

    Raises:
        NotSupported: one of them never does.
    """
    return replace(groups, node=_settle(queries, node, groups.node))


def _settle(queries: Queries, node: exp.Expr, above: Node) -> Node:
    if above.groups is None:
        (below,) = above.inputs
        return above.with_inputs((_settle(queries, node, below),))
    if not above.groups.input.retracts:
        return above
    _refuse_endless(queries, node, above)
    return replace(above.groups, emit=Emit(EmitRule.WATERMARK))


def only_value(queries: Queries, node: exp.Expr, found: Sequence[Expression]) -> Expression:
    """The value of a subquery; where it is `found` beside the number of its rows, a row fails that meets several."""
    value, *rows = found
    if not rows:
        return value
    call = resolve_call("only_value", [*rows, value])
    return replace(call, written=queries.source.locate(_whole_place(queries.source, node)))


def _whole_place(source: QueryText, node: exp.Expr) -> Span:
    """From the parenthesis before SELECT to the one that closes it: the parser knows the place of what is selected alone."""
    start, end = place(node)
    tokens = source.tokens()
    select = max(
        (at for at, token in enumerate(tokens) if is_word(token, "SELECT") and token.start <= start), default=0
    )
    if select and tokens[select - 1].text == "(":
        depth = 1
        for token in tokens[select:]:
            depth += depth_change(token)
            if not depth:
                return tokens[select - 1].start, token.end + 1
    return start, end


def groups_by(tree: exp.Select, keys: Sequence[exp.Expr]) -> bool:
    """Whether a subquery groups by what it compares with the query around it alone, so that a row of that meets one group at most."""
    group = tree.args["group"]
    return all(key in keys for key in group.expressions) and not any(
        value for name, value in group.args.items() if name != "expressions"
    )


def many_rows(queries: Queries, node: exp.Expr) -> QueryError:
    """The error of a subquery that groups, and so gives a row of each group."""
    advice = "select an aggregate of its groups: (SELECT MAX(x) FROM (SELECT ... GROUP BY ...) AS g)"
    problem = "this subquery groups, so it may give several rows, and a value is one"
    return queries.source.error(problem, place(node), advice)


def _refuse_endless(queries: Queries, node: exp.Expr, inner: Node) -> None:
    """Rows that change are counted at the end, so there must be one; groups that are forgotten before it would be missing."""
    below = list(walk(inner))
    endless = next((scan.table for scan in scans_in(below) if not scan.traits.bounded), "")
    if endless or any(each.groups and each.groups.lifetime for each in below):
        why = f"{endless} never ends, and for a moment there may be several" if endless else "groups are forgotten"
        problem = f"a subquery as a value of rows that change is not supported here: {why}"
        advice = "select an aggregate without GROUP BY, as MAX(column), or compare a key of its rows with ="
        raise queries.source.error(problem, place(node), advice, NotSupported)


def _has_one_row(queries: Queries, relation: Relation, local: Sequence[exp.Expr], keys: Sequence[exp.Expr]) -> bool:
    """Whether a key of its rows is compared, with the query around it or with constants."""
    binder, node = Binder(queries.source, relation), relation.node
    for part in local:
        if not has_subquery(part) and can_bind(queries, part, relation):
            node = Filter(node, binder.condition(part, "WHERE"))
    bound = [binder.bind(key) for key in keys if can_bind(queries, key, relation)]
    compared = {key.name for key in bound if isinstance(key, Column)}
    return any(key <= compared for key in node.unique_keys)


def _refuse_unordered(queries: Queries, node: exp.Expr, value: Expression) -> None:
    if not has_value_order(value.type):
        problem = f"a subquery as a value of type {value.type} is not supported where it may give several rows"
        raise queries.source.error(problem, place(node), "select what you read of it: map['key']", NotSupported)


def _count_distinct(item: exp.Expr) -> exp.Expr:
    """How many different values there are, NULL as one."""
    null = exp.Case(ifs=[exp.If(this=exp.Is(this=item.copy(), expression=exp.Null()), true=exp.Literal.number(1))])
    null.set("default", exp.Literal.number(0))
    values = _call("count", exp.Distinct(expressions=[item.copy()]))
    return exp.Add(this=values, expression=_call("coalesce", _call("max", null), exp.Literal.number(0)))


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[each.copy() for each in arguments])

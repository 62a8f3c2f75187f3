"""Subqueries as conditions and as values: each becomes a join, so that it is computed once for all rows and not once per row.

What a subquery compares with the query around it becomes the condition of the join; an aggregate is computed by the keys that it compares
(Neumann and Kemper, "Unnesting Arbitrary Queries", BTW 2015, for what one level of correlation needs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from ouzel.compiler.coercion import cast_to
from ouzel.compiler.expressions import Case, Column, Expression, Literal, columns, columns_of
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Filter, JoinKind, Project
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.aggregation import distinct_rows
from ouzel.compiler.sql.queries.around import SetApart, set_apart, split_subquery
from ouzel.compiler.sql.queries.correlation import (
    Correlated,
    Queries,
    advising_of,
    bind_alone,
    conjuncts_of,
    equal,
    has_subquery,
    is_condition,
    is_subquery,
    plain_select,
    select_of,
    strip_parentheses,
)
from ouzel.compiler.sql.queries.elements import elements_of
from ouzel.compiler.sql.queries.existence import drop_order, note_null_of_not_in, without_limit
from ouzel.compiler.sql.queries.group_keys import has_keys, is_grouped
from ouzel.compiler.sql.queries.grouped_conditions import spell_aggregates
from ouzel.compiler.sql.queries.joins import apart, join_relations
from ouzel.compiler.sql.queries.output import OutputColumn, project, star_of, strip_alias
from ouzel.compiler.sql.queries.scope import Relation, Visible, fresh
from ouzel.compiler.sql.queries.single_value import (
    count_beside,
    counted_items,
    groups_by,
    many_rows,
    only_value,
    wait_for_end,
)
from ouzel.compiler.sql.syntax.places import call_name, consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import BIGINT, BOOLEAN, NULL
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError

HIDDEN = "$subquery"
"""The table under which the value of a subquery is found."""

_QUANTIFIED = {
    exp.Any: "write value IN (SELECT ...), or compare with (SELECT MIN(...))",
    exp.All: "compare with (SELECT MAX(...)) or (SELECT MIN(...)), or write NOT EXISTS",
}


@dataclass(frozen=True)
class _Inner:
    """A subquery's rows, and what it says of them and of the query around it; `items` are what it selects."""

    relation: Relation
    parts: tuple[Expression, ...]
    items: tuple[Expression, ...]


def bind_nested(queries: Queries, part: exp.Expr, relation: Relation) -> tuple[exp.Expr | None, Relation]:
    """What a conjunct of WHERE still asks of each row when its subqueries are in the relation: nothing where it was one of those.

    Raises:
        As `bind_condition` and `with_values`.
    """
    part = spell_aggregates(queries, part, relation)
    if is_condition(part):
        with advising_of(relation):
            return None, bind_condition(queries, part, relation)
    return with_values(queries, part, relation)


def bind_condition(queries: Queries, part: exp.Expr, relation: Relation) -> Relation:
    """The rows for which [NOT] EXISTS (SELECT ...) or [NOT] IN (SELECT ...) is TRUE: a semi-join or an anti-join.

    Raises:
        QueryError: the subquery has several columns, or one of another type.
        NotSupported: it groups what it compares with the query around it.
    """
    part, negated = strip_parentheses(part), False
    while isinstance(part, exp.Not):
        part, negated = strip_parentheses(part.this), not negated
    kind, at = JoinKind.ANTI if negated else JoinKind.SEMI, NodeLocation(place(part)[0])
    if isinstance(part, exp.Exists):
        query, limit = without_limit(queries.source, part.this)
        if limit != 0 and (own := elements_of(queries, query, relation)) is not None:
            return _filter(*own.exists(), negated, at)
        inner = _read(queries, query, relation, 0)
        if limit == 0:  # it has no row, whatever it says
            return replace(relation, node=Filter(relation.node, Literal(BOOLEAN, negated), written=at))
        return join_relations(relation, inner.relation, kind, inner.parts, at)
    if (own := elements_of(queries, part.args["query"], relation)) is not None:
        return _filter(*own.contains(part.this), negated, at)
    binder = Binder(queries.source, relation)
    values = [binder.bind(each) for each in _compared_values(part)]
    inner = _read(queries, part.args["query"], relation, len(values))
    same = [equal(queries.source, part, value, item) for value, item in zip(values, inner.items, strict=True)]
    found = join_relations(relation, inner.relation, kind, [*same, *inner.parts], at)
    if not negated:
        return found
    note_null_of_not_in(queries.source, part, inner.items[0], inner.relation.node)
    if len(values) > 1:
        return _without_unknown_tuples(queries, found, values, same, inner, at)
    return _without_unknown(queries, found, values[0], inner, at)


def _filter(condition: Expression, relation: Relation, negated: bool, at: NodeLocation) -> Relation:
    condition = resolve_call("not", [condition]) if negated else condition
    return replace(relation, node=Filter(relation.node, condition, written=at))


def _compared_values(node: exp.Expr) -> list[exp.Expr]:
    """What stands before IN: a value, or those of a tuple."""
    value = node.this
    return list(value.expressions) if isinstance(value, exp.Tuple) else [value]


def _without_unknown_tuples(
    queries: Queries,
    found: Relation,
    values: Sequence[Expression],
    same: Sequence[Expression],
    inner: _Inner,
    at: NodeLocation,
) -> Relation:
    """Tuples of which no comparison is unknown: a tuple with a NULL is compared with all, one without only with those that have one.

    A comparison of tuples is unknown where each of their values is equal or unknown, and one is unknown.
    """
    may_be = [resolve_call("coalesce", [part, Literal(BOOLEAN, True)]) for part in same]
    names = frozenset(inner.relation.node.schema.names)
    read = {name for part in (*same, *inner.parts) for name in columns_of(part)} & names
    kept = [OutputColumn(each.name, each) for each in columns(inner.relation.node.schema) if each.name in read]
    true = fresh("$true", [*names, *found.node.schema.names])
    every = distinct_rows(
        project(inner.relation, [*kept, OutputColumn(true, Literal(BOOLEAN, True))]), queries.emission, None
    )
    with_null = resolve_call("eq", [_any_null(values), Column(BOOLEAN, true)])
    found = join_relations(found, every, JoinKind.ANTI, [with_null, *may_be, *inner.parts], at)
    nulls = replace(inner.relation, node=Filter(inner.relation.node, _any_null(inner.items), written=at))
    few = distinct_rows(project(nulls, kept), queries.emission, None)
    return join_relations(found, few, JoinKind.ANTI, [*may_be, *inner.parts], at)


def _any_null(values: Sequence[Expression]) -> Expression:
    first, *others = (resolve_call("is_null", [value]) for value in values)
    return reduce(lambda one, other: resolve_call("or", [one, other]), others, first)


def _without_unknown(queries: Queries, found: Relation, value: Expression, inner: _Inner, at: NodeLocation) -> Relation:
    """NOT IN is TRUE only where no comparison is unknown: without rows that are NULL, or compared with a NULL."""
    nulls = fresh("$null", [*inner.relation.node.schema.names, *found.node.schema.names])
    read = {name for part in inner.parts for name in columns_of(part)}
    kept = [name for name in inner.relation.node.schema.names if name in read]
    outputs = [OutputColumn(name, Column(inner.relation.node.schema[name].type, name)) for name in kept]
    outputs.append(OutputColumn(nulls, resolve_call("is_null", [inner.items[0]])))
    few = distinct_rows(project(inner.relation, outputs), queries.emission, None)
    unknown = resolve_call("or", [Column(BOOLEAN, nulls), resolve_call("is_null", [value])])
    return join_relations(found, few, JoinKind.ANTI, [*inner.parts, unknown], at)


def with_values(queries: Queries, part: exp.Expr, relation: Relation) -> tuple[exp.Expr, Relation]:
    """An expression in which columns stand for its subqueries, and the relation that has these columns.

    Raises:
        QueryError: a subquery that gives several columns, or a row of each group.
        NotSupported: one that cannot be made a join.
    """
    part = spell_aggregates(queries, part.copy(), relation)
    _refuse_quantified(queries.source, part)
    while (node := _outermost(part)) is not None:
        with advising_of(relation):
            value, relation = _value_of(queries, node, relation)
        name = fresh("$value", (shown.name for shown in relation.columns))
        column = fresh(name, relation.node.schema.names)
        items = (*((each.name, each) for each in columns(relation.node.schema)), (column, value))
        shown = (*relation.columns, Visible(HIDDEN, name, column, hidden=True))
        relation = replace(relation, node=Project(relation.node, items), columns=shown)
        stand_in = exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(HIDDEN, quoted=True))
        start, end = place(node)
        for identifier in stand_in.find_all(exp.Identifier):
            identifier.meta.update(start=start, end=end - 1)
        if node is part:
            return stand_in, relation
        node.replace(stand_in)
    return part, relation


def _refuse_quantified(source: QueryText, part: exp.Expr) -> None:
    for node in part.walk():
        if isinstance(node, exp.Any | exp.All) and is_subquery(node):
            problem = f"{type(node).__name__.upper()} (SELECT ...) is not supported"
            raise source.error(problem, place(node), _QUANTIFIED[type(node)], NotSupported)


def with_items(queries: Queries, tree: exp.Select, relation: Relation) -> tuple[exp.Select, Relation]:
    """A query in whose select list columns stand for subqueries, and the relation that has these columns."""
    if not any(map(has_subquery, tree.expressions)):
        return tree, relation
    made: list[exp.Expr] = []
    for number, item in enumerate(tree.expressions):
        if has_subquery(item):
            name = exp.to_identifier(f"EXPR${number}", quoted=True)
            named = item if isinstance(item, exp.Alias) else exp.Alias(this=item.copy(), alias=name)
            item, relation = with_values(queries, named, relation)
        made.append(item)
    tree = tree.copy()
    tree.set("expressions", made)
    return tree, relation


def _outermost(part: exp.Expr) -> exp.Expr | None:
    """The first subquery that is not inside another one."""
    return next(filter(is_subquery, part.walk(prune=is_subquery)), None)


def _value_of(queries: Queries, node: exp.Expr, relation: Relation) -> tuple[Expression, Relation]:
    if isinstance(node, exp.In):
        own = elements_of(queries, node.args["query"], relation)
        return own.contains(node.this) if own else _membership(queries, node, relation)
    if isinstance(node, exp.Exists):
        query, limit = without_limit(queries.source, node.this)
        if limit != 0 and (own := elements_of(queries, query, relation)) is not None:
            return own.exists()
        if isinstance(select_of(query), exp.SetOperation):
            query = _select_from(select_of(query))
        value, found = _find_match(queries, node, plain_select(queries.source, query), relation, ())
        return (value, found) if limit != 0 else (Literal(BOOLEAN, False), relation)
    return _scalar(queries, node, relation)


def _select_from(union: exp.Expr) -> exp.Select:
    """A SELECT that gives a row for each of a set operation."""
    alias = exp.TableAlias(this=exp.to_identifier("$union", quoted=True))
    made = exp.Select(expressions=[exp.Literal.number(1)])
    made.set("from_", exp.From(this=exp.Subquery(this=union.copy(), alias=alias)))
    return made


def _membership(queries: Queries, node: exp.In, relation: Relation) -> tuple[Expression, Relation]:
    """IN (SELECT ...) between ORs and ANDs, where it does not matter that it may be unknown instead of FALSE."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.And | exp.Or):
        parent = parent.parent
    if parent is not None:
        advice = "write [NOT] EXISTS (SELECT ... WHERE a = b), which is never unknown"
        problem = "IN (SELECT ...) inside another expression than AND and OR is not supported"
        raise queries.source.error(problem, place(node), advice, NotSupported)
    tree = plain_select(queries.source, node.args["query"])
    values = _compared_values(node)
    if len(tree.expressions) != len(values):
        raise _several(queries.source, tree, len(tree.expressions), len(values))
    return _find_match(
        queries, node, tree, relation, list(zip(map(strip_alias, tree.expressions), values, strict=True))
    )


def _find_match(
    queries: Queries,
    node: exp.Expr,
    tree: exp.Select,
    relation: Relation,
    compared: Sequence[tuple[exp.Expr, exp.Expr]],
) -> tuple[Expression, Relation]:
    """A column that says whether a subquery gives a row: its distinct keys, joined to the rows that have them."""
    tree, local, pairs = split_subquery(queries, tree, relation)
    pairs += compared
    if not pairs:
        counted = exp.Select(expressions=[exp.Anonymous(this="count", expressions=[exp.Star()])])
        counted.set("from_", exp.From(this=exp.Subquery(this=tree.copy())))
        right = apart(queries.bind(counted), relation.node.schema.names)
        count = right.column(right.columns[0])
        both = join_relations(relation, right, JoinKind.INNER, (), NodeLocation(place(node)[0]))
        return resolve_call("gt", [count, Literal(BIGINT, 0)]), replace(both, columns=relation.columns)
    keys, both = _by_keys(queries, node, tree, relation, local, pairs, [])
    return resolve_call("is_not_null", [keys[0]]), both


def _scalar(queries: Queries, node: exp.Expr, relation: Relation) -> tuple[Expression, Relation]:
    """The value of a subquery: of all its rows, or of those that have the keys which it compares; a row that meets several fails."""
    tree = plain_select(queries.source, node)
    if len(tree.expressions) != 1:
        raise _several(queries.source, tree, len(tree.expressions))
    if _is_expression(queries, tree):
        return Binder(queries.source, relation).bind(strip_alias(tree.expressions[0])), relation
    if (own := elements_of(queries, tree, relation)) is not None:
        return own.value()
    alone = bind_alone(queries, tree)
    if not isinstance(alone, QueryError):
        if len(alone.columns) != 1:
            raise _several(queries.source, tree, len(alone.columns))
        one = frozenset() in alone.node.unique_keys
        right = apart(alone if one else count_beside(queries, node, tree, alone), relation.node.schema.names)
        kind = JoinKind.LEFT if one and not _always_a_row(queries, tree) else JoinKind.INNER
        both = join_relations(relation, right, kind, (), NodeLocation(place(node)[0]))
        given = [right.column(column) for column in right.columns]
        return only_value(queries, node, given), replace(both, columns=relation.columns)
    tree, local, pairs = split_subquery(queries, tree, relation)
    if not pairs:
        raise alone
    by_group = has_keys(tree)
    if by_group and not groups_by(tree, [inner for inner, _ in pairs]):
        raise many_rows(queries, node)
    if not is_grouped(tree, queries.source.functions):
        items = counted_items(queries, node, tree, local, [inner for inner, _ in pairs])
        keys, both = _by_keys(queries, node, tree, relation, local, pairs, items, len(items) > 1)
        return only_value(queries, node, keys[len(pairs) :]), both
    having = tree.args.get("having")
    items = [strip_alias(tree.expressions[0]), *([having.this] if having else [])]
    keys, both = _by_keys(queries, node, tree, relation, local, pairs, items)
    value, *conditions = keys[len(pairs) :]
    binder = Binder(queries.source, replace(relation, columns=()))
    nothing, *conditions_of_nothing = (binder.bind(of_no_rows(queries, item)) for item in items)
    value, nothing = (
        _where(queries, having, *each) for each in ((value, conditions), (nothing, conditions_of_nothing))
    )
    if by_group or nothing == Literal(NULL, None):
        return value, both
    found = resolve_call("is_not_null", [keys[0]])
    return Case(value.type, ((found, value),), cast_to(nothing, value.type)), both


def _is_expression(queries: Queries, tree: exp.Select) -> bool:
    """Whether it reads no table and is computed of the row around it: `(SELECT 1)`, `(SELECT t.a + 1)`."""
    clauses = {key for key, value in tree.args.items() if value} - {"expressions"}
    item = tree.expressions[0]
    return not (clauses or star_of(item) or is_grouped(tree, queries.source.functions) or has_subquery(item))


def _where(
    queries: Queries, having: exp.Expr | None, value: Expression, conditions: Sequence[Expression]
) -> Expression:
    """The value, and NULL where HAVING, if there is one, is not TRUE."""
    if having is None or value.type == NULL:
        return value
    (condition,) = conditions
    if condition.type not in (BOOLEAN, NULL):
        raise queries.source.error(f"HAVING is a condition, and this is {condition.type}", place(having), "compare it")
    return Case(value.type, ((cast_to(condition, BOOLEAN), value),), Literal(value.type, None))


def _always_a_row(queries: Queries, tree: exp.Select) -> bool:
    """Whether it is an aggregate of all rows, which there is even of none."""
    fewer = ("having", "qualify", "limit", "offset", "fetch")
    return is_grouped(tree, queries.source.functions) and not (has_keys(tree) or any(map(tree.args.get, fewer)))


def _by_keys(
    queries: Queries, node: exp.Expr, tree: exp.Select, relation: Relation, local: Sequence[exp.Expr],
    pairs: Sequence[tuple[exp.Expr, exp.Expr]], items: Sequence[exp.Expr], counts: bool = False,
) -> tuple[list[Expression], Relation]:  # fmt: skip
    """The columns of the subquery by what it compares, keys first, and the relation with its rows beside those of equal keys.

    If it `counts` its rows, they must be settled.
    """
    tree = drop_order(queries.source, tree)  # a LIMIT would be of all groups together
    consume(queries.source, tree, "expressions", "from_", "joins", "where", "group", "having", "distinct")
    grouped = tree.copy()
    grouped.set("having", None)
    keys = [inner.copy() for inner, _ in pairs]
    named = [exp.alias_(each.copy(), f"$column{number}", quoted=True) for number, each in enumerate((*keys, *items))]
    grouped.set("expressions", named)
    grouped.set("group", exp.Group(expressions=keys))
    grouped.set("distinct", None)
    grouped.set("where", exp.Where(this=exp.and_(*(part.copy() for part in local), copy=False)) if local else None)
    groups = queries.bind(grouped)
    right = apart(wait_for_end(queries, node, groups) if counts else groups, relation.node.schema.names)
    values: list[Expression] = [right.column(column) for column in right.columns]
    binder = Binder(queries.source, relation)
    parts = [
        equal(queries.source, node, binder.bind(outer), column)
        for (_, outer), column in zip(pairs, values, strict=False)
    ]
    both = join_relations(relation, right, JoinKind.LEFT, parts, NodeLocation(place(node)[0]))
    return values, replace(both, columns=relation.columns)


def of_no_rows(queries: Queries, item: exp.Expr) -> exp.Expr:
    """An expression over aggregates as it is without rows: a count is 0, all else NULL."""

    def change(node: exp.Expr) -> exp.Expr:
        call = node.this if isinstance(node, exp.Filter) else node
        row = queries.source.functions.aggregate(call_name(call)) if isinstance(call, exp.Anonymous) else None
        if row is None:
            return node
        return exp.Literal.number(0) if row.counts else exp.Null()

    return item.copy().transform(change)


def _read(queries: Queries, query: exp.Expr, outer: Relation, items: int) -> _Inner:
    """A subquery's rows under names of their own; what it selects, so many values, as expressions over them."""
    tree = select_of(query)
    alone = bind_alone(queries, query)
    if not isinstance(alone, QueryError):
        if items and len(alone.columns) != items:
            raise _several(queries.source, query, len(alone.columns), items)
        if not items:
            alone = project(alone, [OutputColumn("$any", Literal(BOOLEAN, True))])
        inner = apart(alone, outer.node.schema.names)
        return _Inner(inner, (), tuple(map(inner.column, inner.columns)))
    if (own := set_apart(queries, tree, outer)) is not None:
        return _by_values(queries, query, own, outer, items)
    if not isinstance(tree, exp.Select):
        raise alone
    if items and len(tree.expressions) != items:
        raise _several(queries.source, tree, len(tree.expressions), items)
    where = tree.args.get("where")
    if where is None:
        raise alone
    tree = drop_order(queries.source, tree)
    consume(queries.source, tree, "expressions", "from_", "joins", "where", "distinct")
    inner = queries.relation_of_from(tree)
    parts, inner = _with_nested(queries, conjuncts_of(where.this), inner)
    inner = apart(inner, outer.node.schema.names)
    binder = Correlated(queries, inner, outer)
    bound = [binder.condition(part, "WHERE") for part in parts]
    names = set(inner.node.schema.names)
    local = [part for part in bound if columns_of(part) <= names]
    if len(local) == len(bound):
        raise alone
    for part in local:
        inner = replace(inner, node=Filter(inner.node, part, written=NodeLocation(place(where)[0])))
    within = Binder(queries.source, inner)
    values = tuple(within.bind(strip_alias(each)) for each in tree.expressions[:items])
    return _Inner(inner, tuple(part for part in bound if not columns_of(part) <= names), values)


def _by_values(queries: Queries, query: exp.Expr, own: SetApart, outer: Relation, items: int) -> _Inner:
    """The rows of a subquery that reads the values of the query around it, and is joined by them."""
    bound = queries.bind(own.tree)
    selected = len(bound.columns) - len(own.keys)
    if items and selected != items:
        raise _several(queries.source, query, selected, items)
    inner = apart(bound, outer.node.schema.names)
    values = list(map(inner.column, inner.columns))
    binder = Binder(queries.source, outer)
    around = resolve_call("row", [binder.bind(column) for column in own.columns])
    same = equal(queries.source, query, around, resolve_call("row", values[selected:]))
    return _Inner(inner, (same,), tuple(values[:items]))


def _several(source: QueryText, node: exp.Expr, columns: int, wanted: int = 1) -> QueryError:
    is_in = isinstance(node.parent, exp.In) or (node.parent is not None and isinstance(node.parent.parent, exp.In))
    number = "one column" if wanted == 1 else f"{wanted} columns"
    problem = f"{f'IN compares with {number}' if is_in else 'a value is one column'}, and this subquery gives {columns}"
    return source.error(problem, place(node), "select one" if wanted == 1 else f"select {wanted}")


def _with_nested(queries: Queries, parts: Sequence[exp.Expr], inner: Relation) -> tuple[list[exp.Expr], Relation]:
    """The conjuncts of a subquery's WHERE without its own subqueries, and its rows with what those say of them."""
    kept = []
    for part in parts:
        value, inner = bind_nested(queries, part, inner)
        if value is not None:
            kept.append(value)
    return kept, inner

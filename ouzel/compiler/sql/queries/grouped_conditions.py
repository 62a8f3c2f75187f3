"""[NOT] EXISTS and [NOT] IN of a subquery that aggregates and compares with the query around it: what is asked, written without that.

An aggregate without GROUP BY gives one row, so that its value can be compared. One with GROUP BY groups by what it compares, too, and
becomes a subquery in the FROM of one that does not aggregate.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ouzel.compiler.sql.queries.around import split_subquery, standing_for
from ouzel.compiler.sql.queries.correlation import Queries, bind_alone, can_bind, is_subquery, select_of
from ouzel.compiler.sql.queries.elements import elements_of
from ouzel.compiler.sql.queries.group_keys import has_keys, is_grouped
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.places import place
from ouzel.errors import NotSupported, QueryError

_GROUPS = "$groups"
_ALLOWED = {"expressions", "from_", "joins", "where", "group", "having", "kind", "distinct"}


def spell_aggregates(queries: Queries, part: exp.Expr, outer: Relation) -> exp.Expr:
    """The expression with another form of each EXISTS and IN in it whose subquery aggregates and speaks of the query around it.

    Raises:
        NotSupported: there is none.
    """
    if not any(_asked_of(queries, node) for node in part.walk(prune=is_subquery)):
        return part
    root = exp.Paren(this=part.copy())
    for node in list(root.walk(prune=is_subquery)):
        tree = _asked_of(queries, node)
        if tree is None or elements_of(queries, tree, outer) is not None:
            continue
        if isinstance(bind_alone(queries, tree), QueryError):
            node.replace(_spell(queries, node, tree, outer))
    return root.this  # type: ignore[no-any-return]  # of what sqlglot keeps in a tree


def _asked_of(queries: Queries, node: exp.Expr) -> exp.Select | None:
    """The aggregating subquery of an EXISTS or IN; nothing for other nodes."""
    query = node.this if isinstance(node, exp.Exists) else node.args.get("query") if isinstance(node, exp.In) else None
    tree = select_of(query) if query is not None else None
    return tree if isinstance(tree, exp.Select) and is_grouped(tree, queries.source.functions) else None


def _spell(queries: Queries, node: exp.Expr, tree: exp.Select, outer: Relation) -> exp.Expr:
    _refuse_speech_of_having(queries, tree, outer)
    others = {name for name, value in tree.args.items() if value} - _ALLOWED
    group = tree.args.get("group")
    if group and any(value for name, value in group.args.items() if name != "expressions"):
        others.add("GROUPING SETS")
    if others or not (has_keys(tree) or isinstance(node, exp.Exists) or _is_one_value(node, tree)):
        problem = "IN or EXISTS of a subquery that aggregates, and compares with the query around it, is not supported"
        advice = "compare its value: a = (SELECT MAX(b) FROM ...)"
        advice = advice if "limit" not in others else f"leave out LIMIT where it says nothing, or {advice}"
        raise queries.source.error(problem, place(tree), advice, NotSupported)
    if has_keys(tree):
        made = _without_groups(queries, tree, outer)
        copy = node.copy()
        copy.set("this" if isinstance(node, exp.Exists) else "query", exp.Subquery(this=made))
        return copy
    return _compare_value(node, tree)


def _refuse_speech_of_having(queries: Queries, tree: exp.Select, outer: Relation) -> None:
    having = tree.args.get("having")
    own = {table.alias_or_name.casefold() for table in tree.find_all(exp.Table, exp.Subquery)}
    for column in having.find_all(exp.Column) if having else ():
        if column.table and column.table.casefold() not in own and can_bind(queries, column, outer):
            name = queries.source.text[slice(*place(column))]
            problem = f"{name} of the query around in HAVING of a subquery is not supported"
            advice = f"compare the value of the subquery with it: WHERE {name} < (SELECT SUM(...) FROM ...)"
            raise queries.source.error(problem, place(column), advice, NotSupported)


def _is_one_value(node: exp.Expr, tree: exp.Select) -> bool:
    """Whether an IN of an aggregate of all rows is a comparison with it."""
    return not isinstance(node.this, exp.Tuple) and not (tree.args.get("having") and _is_denied(node))


def _is_denied(node: exp.Expr) -> bool:
    """Whether it matters that a comparison with no row is FALSE, where one with NULL is unknown."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.And | exp.Or):
        parent = parent.parent
    return parent is not None


def _compare_value(node: exp.Expr, tree: exp.Select) -> exp.Expr:
    """The question to an aggregate that gives one row, or none where its HAVING is not true."""
    one = tree.copy()
    if isinstance(node, exp.In):
        return exp.Paren(this=exp.EQ(this=node.this.copy(), expression=exp.Subquery(this=one)))
    having = one.args.get("having")
    if having is None:
        counted = exp.Anonymous(this="count", expressions=[exp.Star()])
        start, end = place(tree)
        counted.meta.update(start=start, end=end - 1)
        condition: exp.Expr = exp.GTE(this=counted, expression=exp.Literal.number(0))
    else:
        condition = having.this.copy()
    one.set("having", None)
    one.set("expressions", [exp.alias_(condition, "$having", quoted=True)])
    return exp.Anonymous(this="coalesce", expressions=[exp.Subquery(this=one), exp.false()])


def _without_groups(queries: Queries, tree: exp.Select, outer: Relation) -> exp.Select:
    """A subquery over the groups of another, which groups by what is compared, too."""
    tree, local, pairs = split_subquery(queries, tree, outer)
    groups = tree.copy()
    items = [
        item.copy() if isinstance(item, exp.Alias) else exp.alias_(item.copy(), f"$item{number}", quoted=True)
        for number, item in enumerate(groups.expressions)
    ]
    keys = [inner for inner, _ in pairs]
    named = [exp.alias_(key.copy(), f"$key{number}", quoted=True) for number, key in enumerate(keys)]
    groups.set("expressions", [*items, *named])
    groups.set("where", exp.Where(this=exp.and_(*(part.copy() for part in local), copy=False)) if local else None)
    groups.args["group"].set("expressions", [*groups.args["group"].expressions, *(key.copy() for key in keys)])
    alias = exp.TableAlias(this=exp.to_identifier(_GROUPS, quoted=True))
    made = exp.Select(expressions=[standing_for(item, _GROUPS, item.alias) for item in items])
    made.set("from_", exp.From(this=exp.Subquery(this=groups, alias=alias)))
    made.set("where", exp.Where(this=exp.and_(*_equalities(pairs), copy=False)))
    return made


def _equalities(pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> list[exp.Expr]:
    return [
        exp.EQ(this=standing_for(inner, _GROUPS, f"$key{number}"), expression=outer.copy())
        for number, (inner, outer) in enumerate(pairs)
    ]

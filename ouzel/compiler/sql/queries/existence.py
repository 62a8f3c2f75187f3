"""How many rows a subquery gives at most, where it matters only whether it gives one."""

from __future__ import annotations

import re

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.plan import Node
from ouzel.compiler.sql.queries.correlation import select_of
from ouzel.compiler.sql.queries.group_keys import has_aggregate, has_keys
from ouzel.compiler.sql.queries.limits import FirstRows
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import NotSupported

_LIMITS = ("limit", "offset")


def note_null_of_not_in(source: QueryText, node: exp.Expr, item: Expression, below: Node) -> None:
    """Tell of NOT IN a query whose value may be NULL, and then leaves no row; one that asks for IS NOT NULL has been thought of."""
    if not _may_be_null(item, below):
        return
    if not re.search(r"(?i)\bIS\s+NOT\s+NULL\b|\bCOALESCE\b", source.text[slice(*place(node))]):
        problem = (
            f"NOT IN is true of no row when its query gives a NULL in {source.text[slice(*place(_first_item(node)))]}"
        )
        source.note(problem, place(node.this), "add WHERE ... IS NOT NULL to that query, or write NOT EXISTS")


def _may_be_null(item: Expression, below: Node) -> bool:
    """Whether a table may have a NULL in the column that an item is; what is computed may be one."""
    name = item.name if isinstance(item, Column) else ""
    while name and below.schema[name].nullable and len(below.inputs) == 1:
        _, name = below.origins.get(name, (0, ""))
        (below,) = below.inputs
    return not name or below.schema[name].nullable


def _first_item(node: exp.Expr) -> exp.Expr:
    first: exp.Expr = select_of(node.args["query"]).expressions[0]
    return first


def without_limit(source: QueryText, query: exp.Expr) -> tuple[exp.Expr, int | None]:
    """The query of an EXISTS without ORDER BY and LIMIT, and what the LIMIT was; with OFFSET as it is, for that may leave no row.

    Raises:
        QueryError: LIMIT takes no such number.
    """
    tree = select_of(query)
    if not any(map(tree.args.get, ("order", *_LIMITS))) or tree.args.get("offset"):
        return query, None
    tree = tree.copy()
    tree.set("order", None)
    first = FirstRows(source, tree)
    return first.tree, first.limit


def drop_order(source: QueryText, tree: exp.Select) -> exp.Select:
    """A subquery that compares with the query around it, without its ORDER BY, which says nothing.

    Raises:
        NotSupported: it is limited to its first rows, which are others for each row of the query around it.
    """
    clause = next((tree.args[name] for name in _LIMITS if tree.args.get(name)), None)
    if clause is not None:
        problem = (
            "a subquery that compares with the query around it and is limited to its first rows is not supported here"
        )
        advice = "write LEFT JOIN LATERAL (SELECT ... ORDER BY ... LIMIT 1) AS x ON TRUE, and compare with x"
        if not has_keys(tree) and any(has_aggregate(item, source.functions) for item in tree.expressions):
            advice = "an aggregate gives one row: leave out ORDER BY and LIMIT"
        raise source.error(problem, place(clause), advice, NotSupported)
    if tree.args.get("order"):
        tree = tree.copy()
        tree.set("order", None)
    return tree

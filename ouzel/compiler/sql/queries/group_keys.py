"""Which queries group, and the keys of GROUP BY ALL."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from ouzel.compiler.functions.known import Functions
from ouzel.compiler.sql.queries.grouping_sets import is_nothing, keys_of
from ouzel.compiler.sql.queries.output import star_of, strip_alias
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText


def is_grouped(tree: exp.Select, functions: Functions) -> bool:
    """Whether a SELECT aggregates."""
    if tree.args.get("group") or tree.args.get("having"):
        return True
    return any(has_aggregate(item, functions) for item in tree.expressions)


def has_keys(tree: exp.Select) -> bool:
    """Whether GROUP BY makes other groups than the one of all rows."""
    return bool(tree.args.get("group") and tree.args["group"].expressions)


def has_aggregate(node: exp.Expr, functions: Functions) -> bool:
    """Whether an aggregate is called in an expression, for the rows of its own query."""
    waiting = [node]
    while waiting:  # a chain of AND is as deep in the tree as it is long
        part = waiting.pop()
        if isinstance(part, exp.Anonymous) and functions.aggregate(call_name(part)):
            return True
        waiting += _parts(part)
    return False


def _parts(node: exp.Expr) -> Iterable[exp.Expr]:
    """What of an expression is computed for the rows of its own query, and is no call with OVER, which sees the rows there are."""
    if isinstance(node, exp.Query):
        return ()
    if not isinstance(node, exp.Window):
        return node.iter_expressions()
    called = node.this.this if isinstance(node.this, exp.Filter) else node.this
    return [*called.expressions, *(node.args.get("partition_by") or ()), *filter(None, [node.args.get("order")])]


def spread_keys(source: QueryText, tree: exp.Expr) -> None:
    """Leave out the `()` of each GROUP BY, which is no key, and with the last of them the clause, where an aggregate says the same.

    `a, (b, c)` are three keys.
    """
    for group in list(tree.find_all(exp.Group)):
        keys = [key for item in group.expressions if not is_nothing(item) for key in keys_of(item)]
        if len(keys) == len(group.expressions):
            continue
        select = group.parent
        group.set("expressions", keys)
        others = any(
            value for name, value in group.args.items() if name != "expressions"
        )  # ROLLUP, CUBE, GROUPING SETS
        if (
            isinstance(select, exp.Select)
            and not (keys or others)
            and is_grouped(_without_group(select), source.functions)
        ):
            select.set("group", None)


def spell_group_by_all(source: QueryText, tree: exp.Expr) -> None:
    """Write the keys of each GROUP BY ALL of a query: the items of its select list that aggregate nothing, as in DuckDB and Spark.

    Raises:
        QueryError: one of them is *.
    """
    for group in list(tree.find_all(exp.Group)):
        select = group.parent
        if not group.args.get("all") or not isinstance(select, exp.Select):
            continue
        keys = [strip_alias(item) for item in select.expressions if not has_aggregate(item, source.functions)]
        if any(star_of(key) is not None for key in keys):
            at = re.compile(r"GROUP\s+BY\s+ALL\b", re.IGNORECASE).search(source.blank_out())
            raise source.error("GROUP BY ALL does not spread *", at.span() if at else place(select), "name the columns")
        written = [key.copy() for key in keys if not isinstance(key, exp.Literal)]
        if not written and not is_grouped(_without_group(select), source.functions):
            raise source.error(
                "GROUP BY ALL has nothing to group by", place(select), "select a column, or write LIMIT 1"
            )
        select.set("group", exp.Group(expressions=written) if written else None)


def _without_group(select: exp.Select) -> exp.Select:
    copy = select.copy()
    copy.set("group", None)
    return copy

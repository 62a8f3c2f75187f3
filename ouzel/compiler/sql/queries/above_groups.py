"""Subqueries as values beside aggregates: `SELECT k, SUM(n) / (SELECT SUM(n) FROM t) ... GROUP BY k HAVING SUM(n) > (SELECT ...)`.

Such a query is two, one above the other. The lower one groups, and gives each key and aggregate that the upper one reads. The upper one
computes the select list and HAVING, which is its WHERE; to it a subquery is one of a query that does not group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlglot import exp

from ouzel.compiler.sql.expressions.binder import WINDOW_PARTS
from ouzel.compiler.sql.queries.correlation import has_subquery, is_subquery
from ouzel.compiler.sql.queries.output import output_name, star_of, strip_alias
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import NotSupported, QueryError

_INSIDE = "a subquery inside an aggregate, or in a key of GROUP BY beside aggregates, is not supported"

_BELOW = "$grouped"
"""The name of the lower query."""


def split_above_groups(source: QueryText, tree: exp.Select) -> exp.Select:
    """The upper query, which reads the lower one in FROM; the tree itself where no subquery stands beside an aggregate."""
    having = tree.args.get("having")
    written = [*tree.expressions, *([having.this] if having else [])]
    if not any(map(has_subquery, written)) or not _can_be_two(tree):
        return tree
    below = _Below(source, tree)
    items = [
        exp.Alias(this=below.read(strip_alias(item)), alias=exp.to_identifier(output_name(item, number), quoted=True))
        for number, item in enumerate(tree.expressions)
    ]
    condition = below.read(having.this) if having else None
    upper = exp.Select(expressions=items)
    upper.set("distinct", tree.args.get("distinct"))
    upper.set("from_", exp.From(this=below.subquery()))
    upper.set("where", exp.Where(this=condition) if condition is not None else None)
    return upper


@contextmanager
def advising_of_groups(source: QueryText, tree: exp.Select) -> Iterator[None]:
    """If a subquery beside aggregates speaks of a row of the query around it, say where it can.

    Raises:
        QueryError: what binding the upper query raises.
    """
    try:
        yield
    except QueryError as error:
        spans = [place(node) for part in tree.args.values() for node in _subqueries(part)]
        inside = any(start <= error.at < end for start, end in spans)
        if inside and error.text == source.text and error.problem.startswith("there is no"):
            advice = "group in a subquery of FROM, and compare in the query around it"
            name = error.text[error.at :][: error.length]
            problem = f"{name} of the query around, which groups, in a subquery beside its aggregates is not supported"
            raise source.error(problem, (error.at, error.at + error.length), advice, NotSupported) from None
        raise


def _subqueries(part: object) -> Iterator[exp.Expr]:
    parts = part if isinstance(part, list) else [part]
    for each in parts:
        if isinstance(each, exp.Expr):
            yield from filter(is_subquery, each.walk(prune=is_subquery))


def _can_be_two(tree: exp.Select) -> bool:
    """Not where OVER or QUALIFY look at the groups, or * stands for columns."""
    windows = any(item.find(exp.Window) for item in tree.expressions)
    return not (windows or tree.args.get("qualify") or any(star_of(item) is not None for item in tree.expressions))


class _Below:
    """The lower query: its items are those of the whole query that have no subquery, so that GROUP BY 1 and aliases stay, then the rest."""

    def __init__(self, source: QueryText, tree: exp.Select) -> None:
        self._source, self._tree = source, tree
        group = tree.args.get("group")
        self._keys = [self._find_numbered(key) for key in group.expressions] if group else []
        self._items = [item for item in tree.expressions if not has_subquery(item)]
        self._values = [strip_alias(item) for item in self._items]

    def _find_numbered(self, key: exp.Expr) -> exp.Expr:
        """What a key that is a number says; the numbers of the lower query's items are others."""
        items = self._tree.expressions
        if not (isinstance(key, exp.Literal) and key.name.isdigit() and 1 <= int(key.name) <= len(items)):
            return key
        item = strip_alias(items[int(key.name) - 1])
        return key if has_subquery(item) else item

    def read(self, node: exp.Expr) -> exp.Expr:
        """The expression over the lower query's columns."""
        if is_subquery(node) and not isinstance(node, exp.In):
            return node.copy()
        if node in self._values or node in self._keys or isinstance(node, exp.Column) or self._is_computed(node):
            return self._column(node)
        copy = node.copy()
        _replace_children(copy, self.read)
        return copy

    def _is_computed(self, node: exp.Expr) -> bool:
        """Whether it is computed of a group: an aggregate, an end of the window, or GROUPING."""
        call = node
        while isinstance(call, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
            call = call.this
        if not isinstance(call, exp.Anonymous):
            return False
        name = call_name(call)
        return (
            name in WINDOW_PARTS or name in ("grouping", "grouping_id") or bool(self._source.functions.aggregate(name))
        )

    def _column(self, node: exp.Expr) -> exp.Expr:
        if has_subquery(node):
            inner = next(_subqueries(node), node)
            advice = "compute it in the select list of a subquery of FROM, or count the rows WHERE EXISTS (SELECT ...)"
            raise self._source.error(_INSIDE, place(inner), advice, NotSupported)
        if node not in self._values:
            self._values.append(node)
            self._items.append(node)
        name = exp.to_identifier(f"${self._values.index(node)}", quoted=True)
        column = exp.column(name, table=exp.to_identifier(_BELOW, quoted=True))
        start, end = place(node)
        for identifier in column.find_all(exp.Identifier):
            identifier.meta.update(start=start, end=end - 1)
        return column

    def subquery(self) -> exp.Subquery:
        """The lower query as a table with a name for each of its items."""
        tree = self._tree.copy()
        tree.set("having", None)
        tree.set("distinct", None)
        if self._keys:
            tree.args["group"].set("expressions", [key.copy() for key in self._keys])
        tree.set("expressions", [item.copy() for item in self._items])
        names = [exp.to_identifier(f"${number}", quoted=True) for number in range(len(self._items))]
        alias = exp.TableAlias(this=exp.to_identifier(_BELOW, quoted=True), columns=names)
        return exp.Subquery(this=tree, alias=alias)


def _replace_children(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> None:
    for key, value in list(node.args.items()):
        if isinstance(value, exp.Expr) and not isinstance(value, exp.Query):
            node.set(key, change(value))
        elif isinstance(value, list):
            node.set(key, [change(each) if isinstance(each, exp.Expr) else each for each in value])

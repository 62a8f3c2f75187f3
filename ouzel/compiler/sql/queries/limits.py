"""ORDER BY, LIMIT, OFFSET, FETCH and DISTINCT ON: the first rows of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from sqlglot import exp

from ouzel.compiler.expressions import Literal
from ouzel.compiler.plan import Filter, Project, SortKey, TopN
from ouzel.compiler.plan.top_n import ALL_ROWS
from ouzel.compiler.sql.expressions.literals import row_count
from ouzel.compiler.sql.queries.output import OutputColumn, output_name, project, star_of
from ouzel.compiler.sql.queries.over_calls import break_ties, has_order
from ouzel.compiler.sql.queries.scope import Relation, Visible, is_name_of, name_of, near, pick
from ouzel.compiler.sql.queries.values import no_table
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.compiler.types import BOOLEAN
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported

HIDDEN = "$by"
"""Begins the names of columns that a query is ordered by and does not give."""

CHANGED = "the first rows change as others come: cut the windows of {column} below"


USELESS = "ORDER BY without LIMIT orders nothing here: only the result of a query is shown in an order"


@dataclass(frozen=True)
class _Item:
    """What to sort by: a column of the query, by its place from 0 or by its name."""

    column: int | Name
    node: exp.Expr

    @property
    def key(self) -> tuple[bool, bool]:
        """Whether it descends, and whether NULLs are last."""
        return bool(self.node.args.get("desc")), not self.node.args.get("nulls_first")


def latest_by(order: exp.Expr | None, limit: exp.Expr | None) -> exp.Expr | None:
    """What `ORDER BY ts DESC LIMIT 1` has the latest of; None where other rows are asked for."""
    if order is None or not isinstance(limit, exp.Limit) or len(order.expressions) != 1 or limit.expression.name != "1":
        return None
    (item,) = order.expressions
    return item.this if item.args.get("desc") else None


class FirstRows:
    """The clauses of one query that choose its first rows. In `tree` they are gone, and what they compute is in its select list."""

    def __init__(self, source: QueryText, tree: exp.Expr) -> None:
        self.source, self._is_inner = source, tree.parent is not None
        clauses = ("order", "limit", "offset", "distinct")
        self.tree = tree = tree.copy() if any(tree.args.get(name) for name in clauses) else tree
        self.on = self._distinct_on() if isinstance(tree, exp.Select) else []
        self.distinct = bool(tree.args.get("distinct"))
        order, limit, offset = (tree.args.pop(name, None) for name in ("order", "limit", "offset"))
        self.latest_by = latest_by(order, limit)
        self.skip = 0 if offset is None else self._offset(offset)
        self.limit = self._limit(limit)
        self.clause = order or limit or offset
        self.hidden: dict[str, exp.Expr] = {}
        self.given = list(tree.expressions) if isinstance(tree, exp.Select) else None
        self.selected = _list_selected(self.given or ())
        self.items = [self._item(item) for item in self._list_items(order)]
        self._keys = [self._item(exp.Ordered(this=key)) for key in self.on]

    def above(self, relation: Relation, partition: tuple[str, ...] = ()) -> Relation:
        """The first rows of the query, or of each `partition` of it.

        Raises:
            QueryError: there is nothing to order by, or no bound.
        """
        if self.clause is None and not self.on:
            return relation
        items = [self._sort_key(item, relation) for item in self.items]
        self._note_texts(relation)
        if self.on:
            relation = self._first_of_each(relation, items)
        if self.limit is not None or self.skip:
            most = ALL_ROWS if self.limit is None else self.limit + self.skip
            relation = self._top(relation, partition, items, most, self.skip)
        elif not self.on:
            self._note_endless()
        items = self._in_result(items, relation)
        relation = self._without_hidden(relation)
        shown = _list_shown(items, relation)
        unshown = self.items[len(shown)].node.this if len(shown) < len(items) else None
        is_told = self.on or self.limit in (0, 1) or isinstance(unshown, exp.Literal)
        return replace(relation, sorted_by=shown, chosen_by=None if is_told else unshown)

    def _note_texts(self, relation: Relation) -> None:
        """Tell of ORDER BY 'total', which is the same for all rows."""
        for item in self.items:
            value = item.node.this
            if isinstance(value, exp.Literal) and value.is_string:
                names = [column.name for column in relation.columns if column.name.lower() == value.name.lower()]
                advice = f"write ORDER BY {names[0]}" if names else "write the name of a column, without quotes"
                self.source.note(
                    f"ORDER BY '{value.name}' is of a text that is the same for all rows", place(value), advice
                )

    def _in_result(self, items: Sequence[SortKey], relation: Relation) -> list[SortKey]:
        """The order by columns of the result, where a column that is hidden computes the same as one of those."""
        place_of = {name: self.selected.index(value) for name, value in self.hidden.items() if value in self.selected}
        same = {
            column.column: relation.columns[place_of[column.name]].column
            for column in relation.columns
            if column.name in place_of
        }
        return [replace(key, column=same.get(key.column, key.column)) for key in items]

    def _note_endless(self) -> None:
        """Only the result of a statement is shown in an order."""
        assert self.clause is not None
        if self.hidden:
            advice = "select what it is ordered by, or add LIMIT"
            raise self.source.error("a result is shown in the order of its own columns", place(self.clause), advice)
        if self._is_inner:
            self.source.note(USELESS, place(self.clause), "remove it, or add LIMIT")

    def _first_of_each(self, relation: Relation, items: Sequence[SortKey]) -> Relation:
        keys = tuple(self._sort_key(item, relation).column for item in self._keys)
        begins = [item.column for item in items[: len(set(keys))]]
        if items and set(begins) != set(keys):
            advice = f"begin it with {', '.join(self.source.text[slice(*place(key))] for key in self.on)}"
            raise self.source.error(
                "ORDER BY does not begin with what DISTINCT ON names", place(self.clause or self.tree), advice
            )
        return self._top(relation, keys, items[len(set(keys)) :], 1, 0)

    def _top(
        self, relation: Relation, partition: tuple[str, ...], order: Sequence[SortKey], most: int, skip: int
    ) -> Relation:
        node = relation.node
        ties, alike = break_ties(node, {*partition, *(key.column for key in order)})
        if alike:
            raise self.source.error(
                f"rows that are equal but for {alike[0]}, a {node.schema[alike[0]].type}, have no order",
                place(self.clause or self.tree),
                f"leave it out, or take a value out of it: {alike[0]}['key']",
            )
        written = NodeLocation(place(self.clause or self.tree)[0])
        if most == skip:  # no row, without waiting for any
            nothing = Filter(no_table().node, Literal(BOOLEAN, False), written=written)
            none = tuple((column.name, Literal(column.type, None)) for column in node.schema)
            return replace(relation, node=Project(nothing, none), window=None, undated=CHANGED)
        made = TopN(node, partition, tuple(order), ties, "row_number", most, skip, written=written)
        return replace(relation, node=made, window=None, undated=CHANGED)

    def _without_hidden(self, relation: Relation) -> Relation:
        if not self.hidden:
            return relation
        shown = [column for column in relation.columns if column.name not in self.hidden]
        return project(relation, [OutputColumn(column.name, relation.column(column)) for column in shown])

    def _sort_key(self, item: _Item, relation: Relation) -> SortKey:
        if isinstance(item.column, int):
            column = self._find_numbered(item.node.this, item.column, relation)
        else:
            found = pick(item.column, (column.name for column in relation.columns))
            if not found:
                advice = near(item.column.text, (column.name for column in relation.columns))
                raise self.source.error(
                    f"there is no column {item.column.text} in the result", place(item.node), advice
                )
            column = relation.columns[found[0]]
        kind = relation.column(column).type
        if not has_order(kind):
            advice = "take a value out of it: map['key']"
            raise self.source.error(f"ORDER BY takes no {kind}: maps have no order", place(item.node), advice)
        return SortKey(column.column, *item.key)

    def _find_numbered(self, value: exp.Expr, index: int, relation: Relation) -> Visible:
        shown = [column for column in relation.columns if column.name not in self.hidden]
        if not 0 <= index < len(shown):
            problem = f"ORDER BY {value.name} is no column of the select list"
            raise self.source.error(problem, place(value), f"write a number from 1 to {len(shown)}, or its name")
        return shown[index]

    def _item(self, node: exp.Expr) -> _Item:
        """An item by ordinal, by the name of an output, or as a column that is added to the select list."""
        value = node.this
        if isinstance(value, exp.Literal) and not value.args["is_string"]:
            return _Item(int(value.name) - 1 if value.name.isdigit() else -1, node)
        stars = self.given is None or any(star_of(item) is not None for item in self.given)
        if isinstance(value, exp.Column) and not value.args.get("table"):
            name = name_of(self.source, value.this)
            names = [name for at, item in enumerate(self.given or ()) for name in _written_names(item, at)]
            of_all = stars and (self.given is None or self.distinct or self._gives_all())
            if of_all or any(is_name_of(name, known) for known in names):
                return _Item(name, node)
        is_shown = self.distinct or not (self.limit is not None or self.skip or self.on)
        if is_shown and value in self.selected:
            return _Item(self.selected.index(value), node)
        if is_shown and (alias := self._alias_of(value)):
            return _Item(Name(alias, True, place(value)), node)
        if self.given is None or self.distinct:
            raise self.source.error(
                "this ORDER BY is no column of the result", place(value), "order by a column of the select list"
            )
        return _Item(Name(self._hide(value), True, place(value)), node)

    def _alias_of(self, value: exp.Expr) -> str:
        """The alias that this has beside a star, if no other column can have it; empty if there is none."""
        known = next((item for item in self.given or () if isinstance(item, exp.Alias) and item.this == value), None)
        return known.alias if known is not None and self._gives_all() else ""

    def _gives_all(self) -> bool:
        """Whether `*` gives each column of one table under its own name."""
        stars = [item for item in self.given or () if isinstance(item, exp.Star)]
        return any(not any(star.args.values()) for star in stars) and not self.tree.args.get("joins")

    def _hide(self, value: exp.Expr) -> str:
        """The name of a column that computes this, beside those of the select list."""
        known = next((name for name, other in self.hidden.items() if other == value), None)
        if known is not None:
            return known
        name = f"{HIDDEN}{len(self.hidden)}"
        self.hidden[name] = value.copy()
        self.tree.append("expressions", exp.Alias(this=value, alias=exp.to_identifier(name)))
        return name

    def _distinct_on(self) -> list[exp.Expr]:
        distinct = self.tree.args.get("distinct")
        if distinct is None or not distinct.args.get("on"):
            return []
        consume(self.source, distinct, "on")
        self.tree.args.pop("distinct")
        on = distinct.args["on"]
        if isinstance(on, exp.Tuple) and not on.expressions:
            raise self.source.error("DISTINCT ON names no column", place(self.tree), "write DISTINCT ON (column)")
        if isinstance(on, exp.Tuple) and isinstance(on.expressions[0], exp.Alias):
            column = on.expressions[0].this
            advice = f"write DISTINCT ON ({column.sql()})"
            raise self.source.error("what DISTINCT ON names stands in parentheses", place(column), advice)
        return list(on.expressions) if isinstance(on, exp.Tuple) else [on.this if isinstance(on, exp.Paren) else on]

    def _list_items(self, order: exp.Expr | None) -> list[exp.Expr]:
        if order is None:
            return []
        consume(self.source, order, "expressions")
        for item in order.expressions:
            consume(self.source, item, "this", "desc", "nulls_first")
        return list(order.expressions)

    def _offset(self, node: exp.Expr) -> int:
        consume(self.source, node, "expression")
        return self._number(node.expression, "OFFSET")

    def _limit(self, node: exp.Expr | None) -> int | None:
        if node is None:
            return None
        fetches = isinstance(node, exp.Fetch)
        options = node.args.get("limit_options")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            problem = "FETCH ... PERCENT and WITH TIES are not supported" if fetches else "LIMIT ... % is not supported"
            advice = (
                "QUALIFY RANK() OVER (ORDER BY ...) <= n keeps ties" if fetches else "write how many rows: LIMIT 10"
            )
            raise self.source.error(problem, place(node), advice, NotSupported)
        if node.expressions:
            advice = "write QUALIFY ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) <= n"
            raise self.source.error("LIMIT n BY is not supported", place(node.expressions[0]), advice, NotSupported)
        if fetches:
            return self._number(node.args["count"], "FETCH") if node.args.get("count") else 1
        consume(self.source, node, "expression", "limit_options")
        return self._number(node.expression, "LIMIT")

    def _number(self, node: exp.Expr, clause: str) -> int:
        if not isinstance(node, exp.Literal) or not node.name.isdigit():
            raise self.source.error(f"{clause} takes a whole number", place(node), f"write {clause} 10")
        return row_count(self.source, node.name, place(node))


def _list_selected(items: Sequence[exp.Expr]) -> list[exp.Expr]:
    """What each item of the select list computes; nothing if a star is among them, for then their places are not known."""
    if any(star_of(item) is not None for item in items):
        return []
    return [item.this if isinstance(item, exp.Alias) else item for item in items]


def _written_names(item: exp.Expr, at: int) -> list[str]:
    """The names that an item of the select list gives, as far as they are written there."""
    star = star_of(item)
    if star is None:
        return [output_name(item, at)]
    return [node.alias for node in star.args.get("rename") or () if isinstance(node, exp.Alias)]


def _list_shown(items: Sequence[SortKey], relation: Relation) -> tuple[SortKey, ...]:
    """The part of the ORDER BY whose columns are in the result."""
    names = relation.node.schema.names
    return tuple(takewhile(lambda item: item.column in names, items))

"""OVER: calls of a select list that see the rows around a row, and QUALIFY, which chooses rows by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression, columns_of, substitute
from ouzel.compiler.expressions import columns as columns_as_expressions
from ouzel.compiler.plan import (
    Changelog,
    EmitRule,
    Filter,
    Node,
    Over,
    OverCall,
    Project,
    SortKey,
)
from ouzel.compiler.plan.over import looks_only_back
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.emit_rules import Emission
from ouzel.compiler.sql.queries.output import OutputColumn, outputs_of, project
from ouzel.compiler.sql.queries.over_calls import CallReader, WrittenCall, WrittenWindow, break_ties, has_order
from ouzel.compiler.sql.queries.scope import Relation, fresh, is_name_of, name_of, pick
from ouzel.compiler.sql.queries.ttl import Forgetting
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.written import NodeLocation

CHANGED = "rows of this OVER change as others come: order it by the event time {column} ascending, or cut the windows below it"


Rewriting = Callable[[Expression], Expression]


@dataclass
class OverCalls:
    """The calls with OVER of one SELECT. What they give is a column named with `prefix`, until `above` makes it."""

    source: QueryText
    tree: exp.Select
    emission: Emission
    prefix: str
    forgetting: Forgetting
    calls: list[WrittenCall] = field(default_factory=list)
    first: Span = (0, 1)
    """Where the first call stands whose ties must be broken."""

    def bind(self, binder: Binder, node: exp.Expr) -> Expression:
        """The column that a call with OVER will be.

        Raises:
            QueryError: the function, its arguments or its window are none.
        """
        binder.over_calls, around = None, binder.over_calls
        try:
            written = CallReader(self.source, self.tree).read(binder, node)
        finally:
            binder.over_calls = around
        same = next(
            (known for known in self.calls if replace(known, call=replace(known.call, name="")) == written), None
        )
        if same is None:
            same = replace(written, call=replace(written.call, name=f"{self.prefix}{len(self.calls)}"))
            self.calls.append(same)
            if same.call.needs_ties_broken and self.first == (0, 1):
                self.first = place(node.this)
        return same.result

    def project(
        self,
        relation: Relation,
        outputs: Sequence[OutputColumn],
        condition: Expression | None,
        change: Rewriting = lambda value: value,
    ) -> Relation:
        """The relation of the SELECT: its calls, the rows that QUALIFY keeps, its columns.

        Args:
            relation: what the calls see.
            outputs: the select list over it and over the calls.
            condition: of QUALIFY.
            change: makes of an expression as it was bound one over the relation.
        """
        if not self.calls:
            return project(relation, outputs)
        names = self._names(relation, outputs)
        columns = {call.call.name: Column(call.call.type, names[call.call.name]) for call in self.calls}
        calls = [
            _change(replace(call, call=replace(call.call, name=names[call.call.name])), change) for call in self.calls
        ]
        outputs = [replace(output, expression=substitute(output.expression, columns)) for output in outputs]
        relation = self._above(
            relation, calls, frozenset[str]().union(*(columns_of(output.expression) for output in outputs))
        )
        if condition is not None:
            written = NodeLocation(place(self.tree.args["qualify"])[0])
            relation = replace(relation, node=Filter(relation.node, substitute(condition, columns), written=written))
        return project(relation, outputs)

    def _names(self, relation: Relation, outputs: Sequence[OutputColumn]) -> dict[str, str]:
        """Each call's column: the name of the output that is just this call, if it is free."""
        taken = list(relation.node.schema.names)
        names: dict[str, str] = {}
        for output in outputs:
            value = output.expression
            name = value.name if isinstance(value, Column) and value.name.startswith(self.prefix) else ""
            if name and name not in names and output.name not in taken:
                names[name] = output.name
                taken.append(output.name)
        return {call.call.name: call.call.name for call in self.calls} | names

    def _above(self, relation: Relation, calls: Sequence[WrittenCall], read: frozenset[str]) -> Relation:
        below = _Below(relation.node)
        windows: dict[WrittenWindow, list[OverCall]] = {}
        for call in calls:
            made = replace(
                call.call,
                argument=below.name_value(call.argument),
                default=below.name_value(call.default),
                filter=below.name_value(call.filter),
            )
            windows.setdefault(call.window, []).append(made)
        keys = [(below.partition(window), below.order(window)) for window in windows]
        relation = seen = replace(relation, node=below.node())
        maps = _find_unordered(relation.node) & read
        calm_first = sorted(zip(keys, windows.values(), strict=True), key=lambda each: _find_unrest(seen, *each[0]))
        for (partition, order), made_calls in calm_first:
            relation = self._over(relation, partition, order, made_calls, maps)
        return relation

    def _over(
        self,
        relation: Relation,
        partition: tuple[str, ...],
        order: tuple[SortKey, ...],
        calls: list[OverCall],
        maps: frozenset[str],
    ) -> Relation:
        node = relation.node
        ties: tuple[str, ...] = ()
        if any(call.needs_ties_broken for call in calls):
            ties = self._ties(node, {*partition, *(key.column for key in order)}, maps)
        closes = self._closes(relation, partition, order, calls)
        written = NodeLocation(place(self.tree)[0])
        lifetime = None
        if not _by_window(relation, partition):
            node, partition, lifetime = self.forgetting.living(node, partition)
        made = Over(node, partition, order, ties, tuple(calls), closes, lifetime=lifetime, written=written)
        return replace(relation, node=made) if closes else replace(relation, node=made, window=None, undated=CHANGED)

    def _ties(self, node: Node, ordered: set[str], maps: frozenset[str]) -> tuple[str, ...]:
        ties, alike = break_ties(node, ordered)
        if maps and alike:
            name = min(maps)
            raise self.source.error(
                f"rows that are equal but for {name}, a {node.schema[name].type}, have no order", self.first,
                f"take values out of it in a subquery: SELECT {name}['key'] ...",
            )  # fmt: skip
        return ties

    def _closes(
        self, relation: Relation, partition: tuple[str, ...], order: tuple[SortKey, ...], calls: list[OverCall]
    ) -> str | None:
        """The column whose time makes rows final."""
        node, closes = relation.node, None
        by_window = _by_window(relation, partition)
        if node.changelog is Changelog.APPEND:
            if relation.window is not None and by_window:
                closes = relation.window[1]
            elif (
                node.time_column is not None
                and order
                and order[0] == SortKey(node.time_column, False, order[0].nulls_last)
                and all(map(looks_only_back, calls))
            ):
                closes = node.time_column
        emit = self.emission.rule(by_window or closes is not None)
        self.emission.refuse_lateness("OVER")
        return closes if emit.rule is EmitRule.WATERMARK else None

    def qualify(self, binder: Binder, outputs: Sequence[OutputColumn]) -> Expression | None:
        """The condition of QUALIFY, which sees the select list's names.

        Raises:
            QueryError: it looks at no call with OVER, or is no condition.
        """
        clause = self.tree.args.get("qualify")
        if clause is None:
            return None
        known = [column.name for column in binder.relation.columns]
        named = {output.name: output.node.this for output in outputs if isinstance(output.node, exp.Alias)}

        def by_name(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and not node.args.get("table"):
                name = name_of(self.source, node.this)
                found = [alias for alias in named if is_name_of(name, alias)]
                if found and not pick(name, known):
                    return exp.Paren(this=named[found[0]].copy())
            return node

        condition = binder.condition(clause.this.transform(by_name), "QUALIFY")
        if not self.calls:
            raise self.source.error(
                "QUALIFY chooses by a call with OVER, and here is none",
                place(clause),
                "write WHERE, or HAVING after GROUP BY",
            )
        return condition


def _find_unrest(relation: Relation, partition: tuple[str, ...], order: tuple[SortKey, ...]) -> int:
    """How much one more row changes: without an order all of its partition, which is all there is where nothing parts it.

    Whatever comes behind computes all that anew, so such windows come last.
    """
    if order or _by_window(relation, partition):
        return 0
    return 1 if partition else 2


def bind_select(
    source: QueryText,
    tree: exp.Select,
    relation: Relation,
    emission: Emission,
    forgetting: Forgetting,
) -> Relation:
    """The relation of a SELECT that does not aggregate: its calls with OVER, its QUALIFY, its columns.

    Raises:
        QueryError: an item does not bind.
    """
    binder = Binder(source, relation)
    windows = OverCalls(source, tree, emission, _make_unused("$over", relation.node.schema.names), forgetting)
    binder.over_calls = partial(windows.bind, binder)
    outputs = outputs_of(binder, tree.expressions)
    return windows.project(relation, outputs, windows.qualify(binder, outputs))


def _by_window(relation: Relation, partition: Sequence[str]) -> bool:
    return relation.window is not None and relation.window[1] in partition


def _find_unordered(node: Node) -> frozenset[str]:
    return frozenset(field.name for field in node.schema if not has_order(field.type))


def _change(call: WrittenCall, change: Rewriting) -> WrittenCall:
    def of(value: Expression | None) -> Expression | None:
        return None if value is None else change(value)

    order = tuple(replace(item, value=change(item.value)) for item in call.window.order)
    window = WrittenWindow(tuple(map(change, call.window.partition)), order)
    return replace(call, window=window, argument=of(call.argument), default=of(call.default), filter=of(call.filter))


def _make_unused(prefix: str, names: Sequence[str]) -> str:
    while any(name.startswith(prefix) for name in names):
        prefix += "$"
    return prefix


class _Below:
    """The columns that the windows see: those of a node, and what they compute of them."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._items: dict[str, Expression] = {column.name: column for column in columns_as_expressions(node.schema)}
        self._size = len(self._items)

    def name_value(self, value: Expression | None, base: str = "$value") -> str | None:
        """The column of an expression, made where there is none yet."""
        if value is None:
            return None
        for name, known in self._items.items():
            if known == value:
                return name
        name = fresh(base, self._items)
        self._items[name] = value
        return name

    def partition(self, window: WrittenWindow) -> tuple[str, ...]:
        """The columns of PARTITION BY, each once."""
        return tuple(dict.fromkeys(self._must(value, "$key") for value in window.partition))

    def order(self, window: WrittenWindow) -> tuple[SortKey, ...]:
        """The columns of ORDER BY."""
        return tuple(SortKey(self._must(item.value, "$by"), item.descending, item.nulls_last) for item in window.order)

    def node(self) -> Node:
        """The node with these columns."""
        return self._node if len(self._items) == self._size else Project(self._node, tuple(self._items.items()))

    def _must(self, value: Expression, base: str) -> str:
        name = self.name_value(value, base)
        assert name is not None
        return name

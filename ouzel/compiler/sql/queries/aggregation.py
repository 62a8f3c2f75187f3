"""GROUP BY: keys and arguments computed below the Aggregate, expressions over its results above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from ouzel.compiler import expressions
from ouzel.compiler.expressions import Column, Expression, Literal, columns, rewrite, walk_expression
from ouzel.compiler.functions.aggregate_function import AggregateFunction
from ouzel.compiler.functions.guards import guard
from ouzel.compiler.plan import Aggregate, AggregateCall, Emit, Filter, Node, Project, WindowKind
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.aggregate_calls import AggregateBinder
from ouzel.compiler.sql.queries.emit_rules import Emission
from ouzel.compiler.sql.queries.grouping_sets import (
    GroupingSets,
    bind_grouping,
    expand_sets,
    is_sets,
    with_totals,
    written_key,
)
from ouzel.compiler.sql.queries.output import (
    OutputColumn,
    advise_of_alias,
    outputs_of,
    refuse_over,
    star_of,
    strip_alias,
)
from ouzel.compiler.sql.queries.over import OverCalls
from ouzel.compiler.sql.queries.scope import Relation, fresh, is_name_of, name_of, pick
from ouzel.compiler.sql.queries.ttl import Forgetting
from ouzel.compiler.sql.queries.windows import WindowCall, assign_session, assign_window, is_window, read_window
from ouzel.compiler.sql.syntax.places import call_name, consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import BIGINT, BOOLEAN, DataType
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError

_HIDDEN = "$"
"""Starts the name of every column that a query did not name: `$key0`, `$value0`, `$result0`."""


def distinct_rows(relation: Relation, emission: Emission, forgetting: Forgetting | None) -> Relation:
    """Each row once: GROUP BY all columns, without aggregates; in each of its lives, if rows are forgotten."""
    node, names = relation.node, relation.node.schema.names
    window = relation.window
    emit = emission.rule(window is not None)
    if forgetting is None or window is not None or not forgetting.lifetime(timed := forgetting.with_time(node)):
        return replace(relation, node=Aggregate(node, names, (), emit, window))
    node, keys, lifetime = forgetting.living(timed, names)
    made = Aggregate(node, keys, (), emit, lifetime=lifetime)
    items = tuple((name, Column(made.schema[name].type, name)) for name in names)
    return replace(relation, node=Project(made, items))


@dataclass(frozen=True)
class _Argument:
    """What an aggregate call reads, before it has a column."""

    function: str
    value: Expression | None
    type: DataType
    distinct: bool
    filter: Expression | None
    written: expressions.SourceLocation = field(compare=False)
    own: AggregateFunction | None = None
    parameters: tuple[object, ...] = ()


class _GroupBinder(Binder):
    """Binds the select list and HAVING of a grouped query: aggregates become columns of the Aggregate above."""

    def __init__(
        self,
        source: QueryText,
        relation: Relation,
        window: WindowCall | None,
        sets: GroupingSets | None,
    ) -> None:
        super().__init__(source, relation)
        self.window, self.arguments, self.sets = window, list[_Argument](), sets
        self.hidden = _make_unused(_HIDDEN + "result", relation.node.schema.names)
        self.parts_used: set[int] = set()

    def grouping(self, node: exp.Expr) -> Expression:
        if self.sets is None:
            return super().grouping(node)
        return bind_grouping(self.source, node, self.sets, _KeyBinder(self.source, self.relation).bind)

    def aggregate(self, node: exp.Expr, condition: exp.Expr | None) -> Expression:
        argument = self._argument_of(node, condition)
        if argument not in self.arguments:
            self.arguments.append(argument)
        return Column(argument.type, f"{self.hidden}{self.arguments.index(argument)}")

    def _argument_of(self, node: exp.Expr, condition: exp.Expr | None) -> _Argument:
        row = _RowBinder(self.source, self.relation)
        call = AggregateBinder(row, node)
        if self.relation.node.retracts and not call.function.state.takes_back:
            raise self.source.error(
                f"{call.name.upper()} cannot take back what it has added, and the query's rows change",
                place(call.node),
                "aggregate rows that are only added",
                NotSupported,
            )
        made = call.bind()
        where = row.condition(condition, "FILTER") if condition else None
        value = guard(made.value, where) if made.value and where else made.value
        written = self.source.locate(place(call.node))
        return _Argument(made.function.name, value, made.type, made.distinct, where, written, made.own, made.parameters)

    def window_part(self, node: exp.Expr, name: str) -> Expression:
        kind, part = name.split("_")
        window = self.window
        if window is None or window.kind.value != kind.upper():
            return super().window_part(node, name)
        if window.node.expressions != node.expressions:
            grouped = self._text(window.node)
            arguments = grouped[grouped.index("(") :]
            raise self.source.error(
                f"{name.upper()} is of another window than GROUP BY {grouped}",
                place(node),
                f"write {name.upper()}{arguments}",
            )
        if part == "proctime":
            raise self.source.error(
                f"{name.upper()} is not supported: time is event time",
                place(node),
                f"write {kind.upper()}_ROWTIME",
                NotSupported,
            )
        assert self.relation.window is not None
        index = {"start": 0, "end": 1, "rowtime": 2}[part]
        self.parts_used.add(index)
        column = self.relation.window[index]
        return Column(self.relation.node.schema[column].type, column)


class _RowBinder(Binder):
    no_aggregates = "it stands inside another aggregate; aggregate in a subquery first"


class _KeyBinder(Binder):
    no_aggregates = "GROUP BY takes what is computed from single rows"


def _make_unused(prefix: str, names: Sequence[str]) -> str:
    """The prefix, made longer until no name starts with it: views hide results under the same names."""
    while any(name.startswith(prefix) for name in names):
        prefix += _HIDDEN
    return prefix


@dataclass
class _Keys:
    """The keys of a GROUP BY: column of the Aggregate and what it is computed from."""

    names: list[str]
    values: list[Expression]
    computed: dict[str, Expression] = field(default_factory=dict)
    """Of keys that are not always their values."""

    def add(self, value: Expression, name: str) -> None:
        """One more key, once."""
        if value not in self.values:
            self.names.append(name)
            self.values.append(value)


def bind_grouped(
    source: QueryText,
    tree: exp.Select,
    relation: Relation,
    emission: Emission,
    forgetting: Forgetting,
) -> Relation:
    """The relation of a SELECT with GROUP BY, HAVING or aggregates.

    Raises:
        QueryError: a column that is neither grouped by nor aggregated, an aggregate in a wrong place.
    """
    group = _group_items(source, tree)
    sets, group = [item for item in group if is_sets(item)], [item for item in group if not is_sets(item)]
    window = next((read_window(source, item, data=False) for item in group if is_window(item)), None)
    if window and window.kind is WindowKind.SESSION:
        by = [written_key(source, tree, item, relation) for item in group if item is not window.node]
        relation = assign_session(_KeyBinder(source, relation), window, relation, by, emission)
    elif window:
        relation = assign_window(_KeyBinder(source, relation), window, relation)
    grouping: GroupingSets | None = None
    if sets:
        plain, rows, before = (
            [item for item in group if not is_window(item)],
            _KeyBinder(source, relation),
            relation,
        )

        def bind(item: exp.Expr) -> Expression:
            return rows.bind(written_key(source, tree, item, before))

        relation, grouping = expand_sets(source, relation, plain, sets, bind)
    binder = _GroupBinder(source, relation, window, grouping)
    windows = OverCalls(source, tree, emission, f"{binder.hidden}_over", forgetting)
    binder.over_calls = partial(windows.bind, binder)
    outputs = outputs_of(binder, tree.expressions)
    qualify = windows.qualify(binder, outputs)
    binder.over_calls = partial(refuse_over, source, "HAVING chooses the groups that it sees")
    having = _bind_having(binder, tree) if tree.args.get("having") else None
    binder.over_calls = None
    keys = _bind_keys(binder, tree, group, outputs)
    return _Grouping(binder, keys, emission, tree, forgetting).build(outputs, having, windows, qualify)


def _bind_having(binder: _GroupBinder, tree: exp.Select) -> Expression:
    try:
        return binder.condition(tree.args["having"].this, "HAVING")
    except QueryError as error:
        advise_of_alias(error, tree.expressions, "HAVING", tree.args["having"])
        raise


def _group_items(source: QueryText, tree: exp.Select) -> list[exp.Expr]:
    group = tree.args.get("group")
    if group is None:
        return []
    if group.args.get("all") is False:
        problem = "GROUP BY DISTINCT is not supported"
        raise source.error(problem, place(group), "write GROUPING SETS with each set once", NotSupported)
    consume(source, group, "expressions")
    return list(group.expressions)


def _bind_keys(binder: _GroupBinder, tree: exp.Select, group: list[exp.Expr], outputs: list[OutputColumn]) -> _Keys:
    keys = _Keys([], [])
    taken = list(binder.relation.node.schema.names)
    for item in group:
        if is_window(item):
            _add_window(binder, keys, item)
            continue
        value, name = _bind_key(binder, item, outputs)
        if isinstance(value, Column):
            name = value.name
        keys.add(value, name if isinstance(value, Column) else fresh(name, [*taken, *keys.names]))
    if binder.sets is not None:
        for name, value, computed in binder.sets.items([*taken, *keys.names]):
            if value not in keys.values:
                keys.computed[name] = computed
            keys.add(value, name)
        keys.add(binder.sets.number, binder.sets.number.name)
    return keys


def _add_window(binder: _GroupBinder, keys: _Keys, item: exp.Expr) -> None:
    if binder.window is None or item is not binder.window.node:
        raise binder.source.error(
            "two windows in one GROUP BY are not supported", place(item), "keep one", NotSupported
        )
    assert binder.relation.window is not None
    for index in sorted(binder.parts_used | {1}):
        name = binder.relation.window[index]
        keys.add(Column(binder.relation.node.schema[name].type, name), name)


def _bind_key(binder: _GroupBinder, item: exp.Expr, outputs: list[OutputColumn]) -> tuple[Expression, str]:
    """A key by ordinal, by column, by alias of the select list, or as an expression; and the name for its column."""
    source = binder.source
    chosen: OutputColumn | None = None
    if isinstance(item, exp.Literal) and not item.args["is_string"]:
        position = int(item.name) if item.name.isdigit() else 0
        if not 1 <= position <= len(outputs):
            raise source.error(f"GROUP BY {item.name}: the select list has {len(outputs)} columns", place(item))
        chosen = outputs[position - 1]
    elif isinstance(item, exp.Column) and not item.args.get("table"):
        written = name_of(source, item.this)
        aliased = [
            output for output in outputs if isinstance(output.node, exp.Alias) and is_name_of(written, output.name)
        ]
        if aliased and not pick(written, (column.name for column in binder.relation.columns)):
            chosen = aliased[0]
    if chosen is None:
        return _KeyBinder(source, binder.relation).bind(item), f"{_HIDDEN}key"
    assert chosen.node is not None
    if star_of(chosen.node) is not None:
        return chosen.expression, chosen.name
    try:
        return _KeyBinder(source, binder.relation).bind(strip_alias(chosen.node)), chosen.name
    except QueryError as error:
        if _KeyBinder.no_aggregates not in error.problem:
            raise
        here, meant = (source.text[slice(*place(node))] for node in (item, strip_alias(chosen.node)))
        problem = f"{here} is {meant}: {_KeyBinder.no_aggregates}"
        raise source.error(problem, place(item), "leave it out of GROUP BY") from None


class _Grouping:
    """Builds Project, Aggregate, Filter and Project of one grouped SELECT."""

    def __init__(
        self, binder: _GroupBinder, keys: _Keys, emission: Emission, tree: exp.Select, forgetting: Forgetting
    ) -> None:
        self.binder, self.keys, self.emission, self.tree, self.forgetting = binder, keys, emission, tree, forgetting
        self.relation = binder.relation
        self.below: dict[str, Expression] = {}
        sets = binder.sets  # where groups are forgotten, one of no rows is forgotten too
        self.totals = sets if sets and sets.totals and not forgetting.lifetime(self.relation.node) else None

    def build(
        self, outputs: list[OutputColumn], having: Expression | None, windows: OverCalls, qualify: Expression | None
    ) -> Relation:
        """All four, those that change nothing left out, and the windows above them."""
        outputs = [replace(output, expression=self._above(output.expression)) for output in outputs]
        having = self._above(having) if having else None
        renamed = self._result_names(outputs)
        window = self._window()
        for name, value in zip(self.keys.names, self.keys.values, strict=True):
            self.below[name] = self.keys.computed.get(name, value)
        calls = tuple(
            self._call(renamed[f"{self.binder.hidden}{index}"], argument)
            for index, argument in enumerate(self.binder.arguments)
        )
        if not (calls or self.keys.names):  # HAVING alone: one row, which must have a column
            calls = (AggregateCall(f"{self.binder.hidden}0", "count", None, BIGINT),)
        emit = self.emission.rule(window is not None)
        node = self._aggregate(calls, emit, window)
        if having:
            node = Filter(node, _rename(having, renamed), written=self._clause("having"))
        above = replace(self.relation, node=node, window=window, undated=_explain_undated(self.relation, window))
        outputs = [replace(output, expression=_rename(output.expression, renamed)) for output in outputs]
        qualify = _rename(self._above(qualify), renamed) if qualify else None
        return windows.project(above, outputs, qualify, lambda value: _rename(self._above(value), renamed))

    def _aggregate(self, calls: tuple[AggregateCall, ...], emit: Emit, window: tuple[str, str, str] | None) -> Node:
        """The groups; without a window with the lives of their keys, if these are forgotten."""
        written = self._clause("group")
        if window or not self.keys.names:
            return Aggregate(self._input(), tuple(self.keys.names), calls, emit, window, written=written)
        forgets = self.forgetting.lifetime(self.relation.node)
        if forgets:
            self.below.setdefault(forgets.column, self._column(forgets.column))
        node, keys, lifetime = self.forgetting.living(self._input(), self.keys.names)
        return Aggregate(node, keys, calls, emit, lifetime=lifetime, written=written)

    def _column(self, name: str) -> Column:
        return Column(self.relation.node.schema[name].type, name)

    def _above(self, expression: Expression) -> Expression:
        """The expression over the Aggregate's output: keys where it computes keys, and nothing else of single rows."""
        by_value = dict(zip(self.keys.values, self.keys.names, strict=True))

        def to_key(part: Expression) -> Expression:
            return Column(part.type, by_value[part]) if part in by_value else part

        changed = rewrite(expression, to_key)
        for part in walk_expression(changed):
            if (
                isinstance(part, Column)
                and part.name not in self.keys.names
                and not part.name.startswith(self.binder.hidden)
            ):
                raise self._make_ungrouped_error(part)
        return changed

    def _make_ungrouped_error(self, column: Column) -> QueryError:
        node = next((node for written, node in self.binder.written if written is column), None)
        shown = node.name if node is not None else column.name
        star = next(filter(star_of, self.tree.expressions), None)
        written = node if node is not None else star
        span = place(written) if written is not None else (0, 1)
        called = {visible.column: visible.name for visible in self.relation.columns}
        grouped = ", ".join(called.get(name, name) for name in self.keys.names if not name.startswith(_HIDDEN))
        advice = f"add {shown} to GROUP BY {grouped}" if grouped else f"add GROUP BY {shown}"
        window = node.find_ancestor(exp.Window) if node is not None else None
        if window is not None and isinstance(window.this, exp.Anonymous):
            call = call_name(window.this).upper()
            problem = f"{shown} is of single rows, and OVER sees the groups"
            return self.binder.source.error(
                problem, span, f"write {call}({call}({shown})) OVER (...), or group by {shown}"
            )
        return self.binder.source.error(
            f"{shown} is neither in GROUP BY nor inside an aggregate",
            span,
            f"{self._advise_total() if not grouped else ''}{advice}, or aggregate it: MAX({shown})",
        )

    def _advise_total(self) -> str:
        """Advice for `amount / SUM(amount)`, whose aggregate is meant to be of all rows; empty if there is no such item."""
        for part in (part for item in self.tree.expressions for part in item.find_all(exp.Div, exp.Sub)):
            total = part.expression
            is_total = isinstance(total, exp.Anonymous) and self.binder.source.functions.aggregate(call_name(total))
            if is_total and part.this.find(exp.Column) and not part.this.find(exp.Anonymous):
                return f"write {self.binder.source.text[slice(*place(total))]} OVER () for that of all rows; else "
        return ""

    def _result_names(self, outputs: list[OutputColumn]) -> dict[str, str]:
        """Each aggregate's column: the name of the output that is just this aggregate, if it is free."""
        taken = [*self.relation.node.schema.names, *self.keys.names]
        own = {f"{self.binder.hidden}{index}" for index in range(len(self.binder.arguments))}
        renamed: dict[str, str] = {}
        for output in outputs:
            value = output.expression
            result = value.name if isinstance(value, Column) and value.name in own else None
            if result and result not in renamed and output.name not in taken:
                renamed[result] = output.name
                taken.append(output.name)
        return {name: name for name in own} | renamed

    def _window(self) -> tuple[str, str, str] | None:
        """The window columns among the keys; its end is made a key where only its start or time is grouped by."""
        if self.relation.window is None:
            return None
        start, end, time = (name if name in self.keys.names else "" for name in self.relation.window)
        if not (start or end or time):
            return None
        if not end:
            end = self.relation.window[1]
            self.keys.add(Column(self.relation.node.schema[end].type, end), end)
        return (start, end, time)

    def _call(self, name: str, argument: _Argument) -> AggregateCall:
        counted = argument.value
        if counted is None and argument.filter is None and self.totals:
            counted = Literal(BOOLEAN, True)  # which a row that makes a group, and is none, has not
        value = self._compute(counted, "value") if counted else None
        condition = self._compute(argument.filter, "filter") if argument.filter else None
        return AggregateCall(
            name, argument.function, value, argument.type, argument.distinct, condition, argument.written, argument.own,
            argument.parameters,
        )  # fmt: skip

    def _compute(self, value: Expression, base: str) -> str:
        for name, known in self.below.items():
            if known == value:
                return name
        name = (
            value.name
            if isinstance(value, Column)
            else fresh(f"{_HIDDEN}{base}", [*self.below, *self.relation.node.schema.names])
        )
        self.below[name] = value
        return name

    def _clause(self, name: str) -> NodeLocation:
        clause = self.tree.args.get(name)
        return NodeLocation(place(clause)[0]) if clause else NodeLocation()

    def _input(self) -> Node:
        if self.emission.late:  # dropped rows are shown with any column that there is
            self.below |= {
                column.name: column for column in columns(self.relation.node.schema) if column.name not in self.below
            }
        items = tuple(self.below.items())
        same = tuple(self.below) == self.relation.node.schema.names and all(
            isinstance(value, Column) for value in self.below.values()
        )
        # COUNT(*) alone reads no column, and a frame without columns would have no rows
        node = self.relation.node if same or not items else Project(self.relation.node, items)
        return with_totals(node, self.totals) if self.totals else node


def _rename(expression: Expression, names: dict[str, str]) -> Expression:
    def rename(part: Expression) -> Expression:
        return replace(part, name=names[part.name]) if isinstance(part, Column) and part.name in names else part

    return rewrite(expression, rename)


def _explain_undated(relation: Relation, window: tuple[str, str, str] | None) -> str:
    if window:
        return "group by window_time as well, and cut the next windows by it"
    return "an aggregate without a window has no event time: aggregate by a window and group by window_time"

"""What the plan knows of a sink's rows: which columns name a row, which is its time, which way a value moves when rows are lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import cast

from ouzel.compiler import plan
from ouzel.compiler.expressions import Cast, Column, Expression, columns_of
from ouzel.compiler.expressions import columns as columns_as_expressions
from ouzel.compiler.types import BooleanType, DateType, Schema, TimestampType, VarcharType
from ouzel.reconcile.explaining.bounds import PartBound, trace_call, with_bounding_calls
from ouzel.reconcile.explaining.limits import find_bounds

DAY_US = 86_400_000_000

CARRIED = "_key_"
"""Prefix of the columns that carry the group's keys, whatever the query makes of them, through to the batch job's answer."""


class Direction(Enum):
    """Which way an aggregate moves as rows arrive: a lost row moves it back, a row counted twice moves it on."""

    ROWS = "rises by one with every row"
    COUNT = "rises by one with some rows"
    DISTINCT = "rises or stays, a row that comes again changes nothing, and parts of it may overlap"
    RISING = "rises or stays, and a row that comes again changes nothing"
    FALLING = "falls or stays, and a row that comes again changes nothing"
    SUM = "rises with every row that is positive"
    SAME = "is computed of no row"
    FREE = "may go either way"


@dataclass(frozen=True)
class Padded:
    """What a row without a match looks like: these columns are NULL, and the others those of a row that may have had one."""

    null: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class Joined:
    """What is known of the rows that a join makes.

    Attributes:
        matched: of the columns carried those that are NULL in a row without a match; empty if each row has one.
        padded: what rows without a match look like, for each input that may lack one; empty where that does not show.
        times: of the columns carried the event times of both rows of a match, and how many microseconds to add; empty if either has none.
    """

    matched: tuple[str, ...]
    padded: tuple[Padded, ...]
    times: tuple[plan.RowTime, ...] = ()


@dataclass(frozen=True)
class Lineage:
    """What is known of a sink's rows.

    Attributes:
        columns: the output's.
        keys: columns that identify a row: the top aggregate's group keys, or what the plan says is unique; empty if rows are only a
            multiset.
        time: the column to show rows over; None without one of a time's type.
        directions: how each column moves when rows are lost or come twice.
        step_us: the least distance between two times: the slide of the windows, or a day for a DATE; 0 if there is none.
        carried: the group keys of the top aggregate, or the keys of the top join, as `batch_sink` appends them; empty without either.
        window_end: that of them which is the end of the row's window.
        single: whether each row that a table gives is in each of the sink's rows at most once.
        copies: in how many of them it may be, if it is single: in so many windows.
        window_us: how long the windows of the top aggregate are at most; 0 without windows, and of sessions, whose lengths differ.
        window_start: that column of those carried which is the beginning of the row's window, if the query groups by it.
        emit: when the top aggregate emits its results; None without one.
        bounds: what a part of a group's rows can give, of columns that are results of the top aggregate.
        leaves_at: that column of those carried whose time the watermark has to pass before the row leaves, in the order of time, an OVER.
        joined: what the top join makes of its rows; None without one, or where the loss of what it keeps would not show in single rows.
    """

    columns: Schema
    keys: tuple[str, ...] = ()
    time: str | None = None
    directions: Mapping[str, Direction] = field(default_factory=dict)
    step_us: int = 0
    carried: Schema = Schema(())
    window_end: str | None = None
    single: bool = False
    copies: int = 1
    window_us: int = 0
    window_start: str | None = None
    emit: plan.EmitRule | None = None
    joined: Joined | None = None
    leaves_at: str | None = None
    bounds: Mapping[str, PartBound] = field(default_factory=dict)


def lineage(sink: plan.Sink) -> Lineage:
    """What the plan below a sink says of its rows."""
    columns = sink.columns or sink.input.schema
    names = dict(zip(sink.input.schema.names, columns.names, strict=True))
    aggregate = top_aggregate(sink)
    if aggregate is None:
        time = _time(columns, sink, names)
        join = top_join(sink)
        keys = sink.keys or (() if join else _unique(sink, names))
        found = Lineage(columns, keys, time, step_us=_step_of(columns, time, 0), single=_is_single(sink.input))
        if leaves_at := _maker(sink).leaves_at:
            return replace(found, carried=_maker(sink).schema.select((leaves_at,)), leaves_at=leaves_at)
        return (
            found if join is None else replace(found, carried=_keys(join), joined=_trace_join(join, sink.input, names))
        )
    made_of = {name: _trace(sink.input, inner) for inner, name in names.items()}
    group = frozenset(aggregate.keys)
    keys = tuple(name for name, parts in made_of.items() if parts and parts <= group)
    covered = frozenset().union(*(made_of[name] for name in keys))
    windows = frozenset(aggregate.window or ()) & group
    covers = covered | (windows if covered & windows else frozenset()) >= group
    directions = {
        name: _direction(sink.input, inner) if made_of[name] else Direction.SAME for inner, name in names.items()
    }
    start, end = aggregate.window[:2] if aggregate.window else (None, None)
    time = next((name for name in keys if made_of[name] & windows and _is_time(columns, name)), None)
    step = _step(aggregate) if time else 0
    time = time or _time(columns, sink, names)
    emit = aggregate.emit.rule
    if emit is plan.EmitRule.WATERMARK and not aggregate.emit.final:
        emit = plan.EmitRule.DELAY  # it too tells, and later what has changed
    return Lineage(
        columns, keys if covers else (), time, directions, _step_of(columns, time, step), aggregate.schema.select(aggregate.keys), end,
        _is_single(aggregate.input), _copies(aggregate), _window_us(aggregate), start or None, emit,
        bounds=_bounds(sink.input, aggregate, names),
    )  # fmt: skip


def _bounds(top: plan.Node, aggregate: plan.Aggregate, names: Mapping[str, str]) -> dict[str, PartBound]:
    """The bounds of what lies below `top`, whose columns have these names in the output."""
    calls = {call.name: call for call in aggregate.calls}
    made_of = {name: found for inner, name in names.items() if (found := trace_call(top, inner)) and found[0] in calls}
    return find_bounds(aggregate, {name: (calls[call], loss) for name, (call, loss) in made_of.items()})


def batch_sink(sink: plan.Sink, bounds: Mapping[str, PartBound] = MappingProxyType({})) -> plan.Sink:
    """The same sink with further columns, named with CARRIED: the keys of the top aggregate or join, or by what rows of a top OVER leave,
    and what these bounds take.

    So the batch job is asked.
    """
    if top_aggregate(sink) is None and top_join(sink) is None and _maker(sink).leaves_at is None:
        return sink
    return replace(sink, input=_carrying(sink.input, bounds), columns=Schema(()))


def _carrying(node: plan.Node, bounds: Mapping[str, PartBound]) -> plan.Node:
    match node:
        case plan.Project():
            below = _carrying(node.input, bounds)
            kept = [(c.name, c) for c in columns_as_expressions(below.schema) if c.name.startswith(CARRIED)]
            return replace(node, input=below, items=(*node.items, *kept))
        case _ if node.role is plan.RowRole.KEEPS:
            return node.with_inputs(tuple(_carrying(below, bounds) for below in node.inputs))
    given, keys = set(node.schema.names), _carried_of(node)
    if node.groups:
        node, needed = with_bounding_calls(node.groups, bounds)
        keys = (*keys, *needed)
    items = [(column.name, column) for column in columns_as_expressions(node.schema)]
    copies = [(f"{CARRIED}{name}", column) for name, column in items if name in keys]
    return plan.Project(node, (*((name, column) for name, column in items if name in given), *copies))


def _carried_of(node: plan.Node) -> tuple[str, ...]:
    if node.leaves_at is not None:
        return (node.leaves_at,)
    return node.groups.keys if node.groups else _keys(cast(plan.Join, node)).names


def top_aggregate(sink: plan.Sink) -> plan.Aggregate | None:
    """The aggregate that makes the sink's rows, if only projections and filters follow it."""
    groups = _maker(sink).groups
    return groups if groups and groups.keys else None


def top_join(sink: plan.Sink) -> plan.Join | None:
    """The join that makes the sink's rows, if only projections and filters follow it and what it has lost shows in single rows.

    What an anti join has lost shows in rows that are there, and nothing tells what they should have met; a lost version shows in rows that
    have an older one. What each task reads for itself is not lost.
    """
    node = _maker(sink)
    if node.role is not plan.RowRole.MATCHES:
        return None
    join = cast(plan.Join, node)
    return join if join.kind is not plan.JoinKind.ANTI and (join.keys or not plan.PADDED[join.kind]) else None


def _maker(sink: plan.Sink) -> plan.Node:
    node = sink.input
    while node.role is plan.RowRole.KEEPS:
        (node,) = node.inputs
    return node


def _unique(sink: plan.Sink, names: Mapping[str, str]) -> tuple[str, ...]:
    """Columns in which no two rows are equal, preferring what is ranked over ranks; empty if only all columns together are."""
    known = frozenset(name for node in _maker(sink).inputs for name in node.schema.names)
    found = [key for key in sink.input.unique_keys if 0 < len(key) < len(names)]
    ranked = {key: frozenset[str]().union(*(_trace(sink.input, name) for name in key)) <= known for key in found}
    best = min(found, key=lambda key: (not ranked[key], len(key), sorted(key)), default=frozenset[str]())
    return tuple(name for inner, name in names.items() if inner in best)


def _keys(join: plan.Join) -> Schema:
    """The columns of a join's rows that say which task made them, and whether of a match."""
    right = () if join.kind in plan.LEFT_ONLY else (name for _, name in join.keys)
    names = (*(name for name, _ in join.keys), *right, *(time.column for time in join.row_times))
    return join.schema.select(tuple(dict.fromkeys(names)))


def _trace_join(join: plan.Join, top: plan.Node, names: Mapping[str, str]) -> Joined:
    """What is known of the join's rows below `top`, whose columns have these names in the output."""
    matched = tuple(pair[number] for pair in join.keys for number in plan.PADDED[join.kind])
    made_of = {name: _origin(top, inner) for inner, name in names.items()}
    if None in made_of.values():
        return Joined(matched, (), join.row_times)
    inputs = [frozenset(node.schema.names) for node in join.inputs]
    sides = [tuple(name for name, origin in made_of.items() if origin in inputs[side]) for side in (0, 1)]
    padded = tuple(Padded(sides[side], sides[1 - side]) for side in plan.PADDED[join.kind] if all(sides))
    return Joined(matched, padded, join.row_times)


def _origin(node: plan.Node, name: str) -> str | None:
    """The column of the top join that a column is, as it is; None if it is computed."""
    if node.role is not plan.RowRole.KEEPS:
        return name
    value = node.expression_of(name)
    return _origin(node.inputs[0], value.name) if isinstance(value, Column) else None


def _is_single(node: plan.Node) -> bool:
    """Whether nothing below multiplies rows, except into the windows that a row lies in."""
    return not any(
        below.role in (plan.RowRole.GROUPS, plan.RowRole.MATCHES, plan.RowRole.REPEATS) for below in plan.walk(node)
    )


def _trace(node: plan.Node, name: str) -> frozenset[str]:
    """The aggregate's columns that a column is computed from."""
    if node.role is not plan.RowRole.KEEPS:
        return frozenset({name})
    value = node.expression_of(name)
    read = columns_of(value) if value is not None else ()
    return frozenset[str]().union(*(_trace(node.inputs[0], part) for part in read))


def _direction(node: plan.Node, name: str) -> Direction:
    if node.role is plan.RowRole.KEEPS:
        value = _uncast(node.expression_of(name))
        return _direction(node.inputs[0], value.name) if isinstance(value, Column) else Direction.FREE
    calls = node.groups.calls if node.groups else ()
    return next((_moves(call) for call in calls if call.name == name), Direction.FREE)


def _moves(call: plan.AggregateCall) -> Direction:
    if call.distinct:
        return {"count": Direction.DISTINCT, "max": Direction.RISING}.get(call.function, Direction.FREE)
    every = call.argument is None and call.filter is None
    by_function = {
        "count": Direction.ROWS if every else Direction.COUNT, "count_if": Direction.COUNT, "regr_count": Direction.COUNT,
        "max": Direction.RISING, "bool_or": Direction.RISING, "min": Direction.FALLING, "bool_and": Direction.FALLING,
        "sum": Direction.SUM,
    }  # fmt: skip
    return by_function.get(call.function, Direction.FREE)


def _uncast(value: Expression | None) -> Expression | None:
    """The expression without casts that keep the order; a cast to text does not, for '9' is more than '10'."""
    while isinstance(value, Cast) and not isinstance(value.type, VarcharType | BooleanType):
        value = value.operand
    return value


def _time(columns: Schema, sink: plan.Sink, names: Mapping[str, str]) -> str | None:
    """Event time if it is in the output; else the first column that is a time at all."""
    named = names.get(sink.input.time_column or "")
    return named or next((field.name for field in columns if _is_time(columns, field.name)), None)


def _is_time(columns: Schema, name: str) -> bool:
    return isinstance(columns[name].type, DateType | TimestampType)


def _window_us(aggregate: plan.Aggregate) -> int:
    return next((grid.longest_us for grid in _grids(aggregate)), 0) if aggregate.window else 0


def _copies(aggregate: plan.Aggregate) -> int:
    return max((-(-grid.size_us // grid.slide_us) for grid in _grids(aggregate) if grid.slide_us), default=1)


def _step(aggregate: plan.Aggregate) -> int:
    return next((grid.slide_us for grid in _grids(aggregate)), 0)


def _grids(aggregate: plan.Aggregate) -> Iterator[plan.WindowGrid]:
    """The windows that its rows have been put into, the last ones first."""
    return (node.window_grid for node in plan.walk(aggregate) if node.window_grid)


def _step_of(columns: Schema, time: str | None, step_us: int) -> int:
    return max(step_us, DAY_US) if time and isinstance(columns[time].type, DateType) else step_us

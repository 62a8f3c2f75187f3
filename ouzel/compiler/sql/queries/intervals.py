"""Which joins time bounds: what the condition says of the difference of two times, and which columns are such times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import timedelta
from typing import NamedTuple

from ouzel.compiler.expressions import Call, Column, Expression, Literal, conjunction, conjuncts
from ouzel.compiler.plan import (
    Aggregate,
    AsofJoin,
    AssignWindow,
    IntervalJoin,
    Join,
    Node,
    RowTime,
    SideJoin,
    Watermark,
)
from ouzel.compiler.sql.expressions.literals import UNIT_US, microseconds
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.types import TimestampType

_OPPOSITE = {"le": "ge", "ge": "le", "lt": "gt", "gt": "lt", "eq": "eq"}
_MILLISECOND = 1_000


class _Sum(NamedTuple):
    """Columns, each so many times, and microseconds."""

    columns: Mapping[str, int]
    us: int

    def minus(self, other: _Sum) -> _Sum:
        names = {**self.columns, **other.columns}
        counts = {name: self.columns.get(name, 0) - other.columns.get(name, 0) for name in names}
        return _Sum({name: count for name, count in counts.items() if count}, self.us - other.us)


class _Bound(NamedTuple):
    """What a comparison says: the left's column minus the right's is at least `low` or at most `high`, or both."""

    pair: tuple[str, str]
    low: int | None
    high: int | None


def bound_by_time(join: Join) -> Join:
    """The join as one that time bounds, if its inputs append and its condition keeps their times within a span of each other."""
    if join.left.retracts or join.right.retracts or type(join) is not Join:
        return join
    parts = conjuncts(join.condition) if join.condition is not None else ()
    said = [(part, bound) for part in parts for bound in _bounds(part, join)]
    spans = dict(_windows(join)) or _spans(join, [bound for _, bound in said])
    if not spans:
        return join
    (left, right), (low, high) = min(spans.items(), key=lambda item: item[1][1] - item[1][0])
    used = {id(part) for part, bound in said if bound.pair == (left.column, right.column)}
    within = [part for part in parts if id(part) in used]
    rest = [part for part in parts if id(part) not in used]
    known = {each.name: getattr(join, each.name) for each in fields(Join)}
    known["condition"] = conjunction(rest) if rest else None
    is_window = not within and left.shift_us != 0 != right.shift_us
    return IntervalJoin(
        **known,
        times=(left, right),
        bounds=(low, high),
        within=conjunction(within) if within else None,
        windows=is_window,
    )


def is_bound(part: Expression, join: Join) -> bool:
    """Whether a condition compares a time of one input with one of the other."""
    return bool(list(_bounds(part, join)))


def of_join(node: Node, columns: Relation) -> Relation:
    """The relation of these columns over a join, or over what is above one, with the window that its rows are of."""
    return replace(columns, node=node, window=_window_of(node) if isinstance(node, IntervalJoin | SideJoin) else None)


def is_time(node: Node, column: str) -> bool:
    """Whether the watermark bounds the column of TIMESTAMP as it is, though it may not be the node's time column."""
    return column in node.schema.names and _shift_of(node, column) == 0


def _spans(join: Join, bounds: list[_Bound]) -> dict[tuple[RowTime, RowTime], tuple[int, int]]:
    """Of each pair of times that the condition bounds on both sides, how far the first may be behind and before the second."""
    equal = [_Bound(pair, 0, 0) for pair in join.keys if isinstance(join.left.schema[pair[0]].type, TimestampType)]
    found: dict[tuple[RowTime, RowTime], tuple[int, int]] = {}
    for pair in {bound.pair for bound in (*bounds, *equal)}:
        low, high = _limits(bound for bound in (*bounds, *equal) if bound.pair == pair)
        times = _times(join, pair)
        if times is not None and low is not None and high is not None and low <= high:
            apart = times[0].shift_us - times[1].shift_us
            found[times] = (low + apart, high + apart)
    return found


def _limits(bounds: Iterable[_Bound]) -> tuple[int | None, int | None]:
    """The highest of the lower bounds and the lowest of the upper ones; None where there is none."""
    bounds = tuple(bounds)
    return (
        max((bound.low for bound in bounds if bound.low is not None), default=None),
        min((bound.high for bound in bounds if bound.high is not None), default=None),
    )


def contradiction(join: Join) -> tuple[Expression, ...]:
    """Conjuncts of the condition, on one pair of times, that are true together of no two rows; none if there are none such."""
    parts = conjuncts(join.condition) if join.condition is not None else ()
    said = [(part, bound) for part in parts for bound in _bounds(part, join)]
    for pair in dict.fromkeys(bound.pair for _, bound in said):
        equal = [_Bound(pair, 0, 0)] if pair in join.keys else []
        low, high = _limits([*equal, *(bound for _, bound in said if bound.pair == pair)])
        if low is not None and high is not None and low > high:
            return tuple(part for part in parts if any(part is one and bound.pair == pair for one, bound in said))
    return ()


def _windows(join: Join) -> Iterator[tuple[tuple[RowTime, RowTime], tuple[int, int]]]:
    """Pairs of equal starts or ends of windows, if those are equally long."""
    for pair in join.keys:
        one, other = _trace(join.left, pair[0]), _trace(join.right, pair[1])
        if one and other and one[1] == other[1] and one[1] < 2 and _alike(one[0], other[0]):
            times = _times(join, pair)
            assert times is not None
            yield times, (0, 0)


def _alike(one: AssignWindow, other: AssignWindow) -> bool:
    """Whether windows of both that begin, or end, together are equally long."""
    return (one.size_us, one.zone) == (other.size_us, other.zone)


def _times(join: Join, pair: tuple[str, str]) -> tuple[RowTime, RowTime] | None:
    shifts = [_shift_of(node, column) for node, column in zip(join.inputs, pair, strict=True)]
    if shifts[0] is None or shifts[1] is None:
        return None
    return RowTime(pair[0], shifts[0]), RowTime(pair[1], shifts[1])


def _shift_of(node: Node, column: str) -> int | None:
    """What to add to a column's microseconds so that no row comes whose time the watermark has passed; None if it is no such time."""
    if not isinstance(node.schema[column].type, TimestampType):
        return None
    window = _trace(node, column)
    if window is not None:
        assignment, part = window
        return (assignment.window_grid.longest_us - 1, -1, _MILLISECOND - 1)[part]
    node, column = _deepest(node, column)
    return 0 if node.time_column == column else None


def _trace(node: Node, column: str) -> tuple[AssignWindow, int] | None:
    """The windows that the column is the start, the end or the time of, and which of these (0, 1, 2)."""
    node, column = _deepest(node, column)
    return (node, node.names.index(column)) if isinstance(node, AssignWindow) and column in node.names else None


def _deepest(node: Node, column: str) -> tuple[Node, str]:
    """Where the column comes from, through nodes whose rows are no later than those of their inputs."""
    while not (isinstance(node, Watermark) and node.column == column) and column in node.origins:
        number, name = node.origins[column]
        if not _keeps_time(node, number):
            break
        column = name
        node = node.inputs[number]
    return node, column


def _keeps_time(node: Node, number: int) -> bool:
    """Whether the watermark bounds the times of that input's rows in the output as it does in the input."""
    match node:
        case Aggregate():
            return node.window is not None and not node.retracts
        case IntervalJoin():
            return True
        case AsofJoin() | SideJoin():
            return number == 0
    return node.is_rowwise and len(node.inputs) == 1


def _window_of(join: Join) -> tuple[str, str, str] | None:
    """The columns that are a window's start, end and time ('' for one that is not there); None if there is no end of one."""
    found: dict[int, list[str]] = {}
    for column in join.schema.names:
        window = _trace(join, column)
        if window is not None:
            names = found.setdefault(id(window[0]), ["", "", ""])
            names[window[1]] = names[window[1]] or column
    return next(((start, end, time) for start, end, time in found.values() if end), None)


def _bounds(part: Expression, join: Join) -> Iterator[_Bound]:
    """What a conjunct says of the difference of two times, if it says nothing else."""
    match part:
        case Call(function="between", arguments=(value, low, high)):
            both = [*_read_comparison("ge", value, low, join), *_read_comparison("le", value, high, join)]
            if len(both) == 2 and both[0].pair == both[1].pair:
                yield from both
        case Call(function=("le" | "ge" | "lt" | "gt" | "eq") as sign, arguments=(one, other)):
            yield from _read_comparison(sign, one, other, join)


def _read_comparison(sign: str, one: Expression, other: Expression, join: Join) -> Iterator[_Bound]:
    sums = _sum_of(one), _sum_of(other)
    if sums[0] is None or sums[1] is None:
        return
    columns, us = sums[0].minus(sums[1])
    names = [[name for name in columns if name in node.schema.names] for node in join.inputs]
    if len(columns) != 2 or any(len(own) != 1 for own in names) or sorted(columns.values()) != [-1, 1]:
        return
    (left,), (right,) = names
    if columns[left] < 0:
        sign, us = _OPPOSITE[sign], -us
    limit = -us + {"lt": -1, "gt": 1}.get(sign, 0)
    yield _Bound((left, right), None if sign in ("le", "lt") else limit, None if sign in ("ge", "gt") else limit)


def microseconds_ahead(value: Expression, column: str) -> int | None:
    """How far a time is ahead of a column that it is computed of; None where that is no constant."""
    found = _sum_of(value)
    return found.us if found and found.columns == {column: 1} else None


def _sum_of(value: Expression) -> _Sum | None:
    """A time, or a span of time, as columns and a constant; None if it is another thing."""
    match value:
        case Column(type=TimestampType()):
            return _Sum({value.name: 1}, 0)
        case Literal(value=timedelta() as span):
            return _Sum({}, microseconds(span))
        case Call(function="add", arguments=(one, other)):
            parts = _sum_of(one), _sum_of(other)
            return parts[0].minus(_Sum({}, 0).minus(parts[1])) if parts[0] and parts[1] else None
        case Call(function="subtract", arguments=(one, other)):
            parts = _sum_of(one), _sum_of(other)
            return parts[0].minus(parts[1]) if parts[0] and parts[1] else None
        case Call(
            function="timestampadd", arguments=(Literal(value=str() as unit), Literal(value=int() as count), time)
        ):
            start = _sum_of(time)
            return _Sum(start.columns, start.us + count * UNIT_US[unit]) if start and unit in UNIT_US else None
    return None

"""TUMBLE and HOP, as table functions and in GROUP BY: which column is time, how long a window is, and AssignWindow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from sqlglot import exp

from ouzel.compiler.expressions import Column, Literal
from ouzel.compiler.plan import AssignWindow, WindowKind
from ouzel.compiler.sql.binder import Binder
from ouzel.compiler.sql.intervals import is_time
from ouzel.compiler.sql.literals import UNIT_US, microseconds
from ouzel.compiler.sql.places import call_name, place
from ouzel.compiler.sql.scope import Relation, Visible, fresh
from ouzel.compiler.sql.source import QueryText
from ouzel.compiler.types import IntervalType, TimestampType
from ouzel.compiler.written import NodeLocation
from ouzel.errors import QueryError

_NAMED = {"TUMBLE": ("data", "timecol", "size", "offset"), "HOP": ("data", "timecol", "slide", "size", "offset")}
_SHAPES = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
}
_COMPUTE = "compute one in CREATE TABLE: ts AS TO_TIMESTAMP(...), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
_OUTPUT = ("window_start", "window_end", "window_time")


@dataclass(frozen=True)
class WindowCall:
    """The arguments of one TUMBLE or HOP; `data` is None in GROUP BY."""

    node: exp.Expr
    kind: WindowKind
    data: exp.Expr | None
    time: exp.Expr
    size: exp.Expr
    slide: exp.Expr | None
    offset: exp.Expr | None


def is_window(node: exp.Expr | None) -> bool:
    """Whether the node calls TUMBLE or HOP."""
    return isinstance(node, exp.Anonymous) and call_name(node).upper() in _NAMED


def read_window(source: QueryText, node: exp.Expr, data: bool) -> WindowCall:
    """The arguments of a window's call, by position or by name; without `data` in GROUP BY.

    Raises:
        QueryError: too few, too many or unknown arguments.
    """
    kind = call_name(node).upper()
    names = _NAMED[kind] if data else _NAMED[kind][1:]
    given: dict[str, exp.Expr] = {}
    for position, argument in enumerate(node.expressions):
        if isinstance(argument, exp.Kwarg):
            name, argument = argument.this.name.lower(), argument.expression
        else:
            name = names[position] if position < len(names) else ""
        if name not in names or name in given:
            raise source.error(f"{kind} does not take this argument", place(argument), f"write {_shape(kind, data)}")
        given[name] = argument
    missing = [name for name in names if name not in given and name != "offset"]
    if missing:
        raise source.error(f"{kind} lacks its {missing[0]}", place(node), f"write {_shape(kind, data)}")
    return WindowCall(
        node,
        WindowKind[kind],
        given.get("data"),
        given["timecol"],
        given["size"],
        given.get("slide"),
        given.get("offset"),
    )


def _shape(kind: str, data: bool) -> str:
    return _SHAPES[kind] if data else _SHAPES[kind].replace("TABLE t, DESCRIPTOR(ts)", "ts")


def assign_window(binder: Binder, call: WindowCall, relation: Relation) -> Relation:
    """The relation with its rows in windows, and the three columns that say which.

    Raises:
        QueryError: the column is not event time, or the spans do not fit.
    """
    column = _time_column(binder, call, relation)
    size = _span_us(binder, call.size)
    slide = _span_us(binder, call.slide) if call.slide else size
    if size <= 0 or slide <= 0:
        raise binder.source.error("a window has a positive length", place(call.node), "write INTERVAL '1' MINUTE")
    if size % slide:
        raise _uneven(binder.source, call, size, slide)
    offset = _span_us(binder, call.offset) % slide if call.offset else 0
    taken = list(relation.node.schema.names)
    names = tuple(fresh(name, taken) for name in _OUTPUT)
    node = AssignWindow(
        relation.node,
        call.kind,
        column,
        size,
        slide,
        offset,
        (names[0], names[1], names[2]),
        call=binder.source.written(place(call.node)),
        written=NodeLocation(place(call.node)[0]),
    )
    table = relation.columns[0].table
    added = tuple(Visible(table, shown, name) for shown, name in zip(_OUTPUT, names, strict=True))
    return replace(relation, node=node, columns=(*relation.columns, *added), window=(names[0], names[1], names[2]))


def _time_column(binder: Binder, call: WindowCall, relation: Relation) -> str:
    bound = binder.bind(call.time)
    actual = relation.node.time_column
    if actual is None:
        table = relation.columns[0].table or "this query"
        if not isinstance(bound.type, TimestampType):
            raise binder.source.error(
                f"{bound} is {bound.type}, and windows are cut from a TIMESTAMP", place(call.time), _COMPUTE
            )
        advice = relation.undated.format(column=bound)
        raise binder.source.error(f"{table} has no event time to cut into windows", place(call.time), advice)
    if isinstance(bound, Column) and is_time(relation.node, bound.name):
        return bound.name
    if str(bound) != actual:
        shown = next((column.name for column in relation.columns if column.column == actual), actual)
        raise binder.source.error(
            f"{bound} is not event time: the watermark is on {shown}", place(call.time), f"write {shown}"
        )
    return actual


def _span_us(binder: Binder, node: exp.Expr) -> int:
    bound = binder.bind(node)
    if isinstance(bound, Literal) and isinstance(bound.value, timedelta):
        return microseconds(bound.value)
    if not isinstance(bound, Literal):
        problem = "a window's length is a constant"
    elif isinstance(bound.type, IntervalType):
        problem = "a window cannot be measured in months"
    else:
        problem = f"a window's length is an INTERVAL, this is {bound.type}"
    raise binder.source.error(problem, place(node), "write for example INTERVAL '1' DAY")


def _uneven(source: QueryText, call: WindowCall, size: int, slide: int) -> QueryError:
    parts = size // slide + 1
    while size % parts:
        parts += 1
    better = f"HOP with a slide of {_interval(size // parts)}" if size > slide else "a slide no longer than the window"
    return source.error(
        f"a hop of {slide / 1e6:g} s does not divide its window of {size / 1e6:g} s",
        place(call.node),
        f"write {better}, or use TUMBLE",
    )


def _interval(us: int) -> str:
    for unit in ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"):
        if us % UNIT_US[unit] == 0:
            return f"INTERVAL '{us // UNIT_US[unit]}' {unit}"
    raise AssertionError(us)

"""TUMBLE, HOP, CUMULATE and SESSION, as table functions and in GROUP BY: their arguments, and the nodes that assign windows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression, Literal, columns
from ouzel.compiler.functions.zones import is_zone, name_zone
from ouzel.compiler.plan import AssignSession, AssignWindow, Node, Project, WindowKind
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.expressions.literals import UNIT_US, microseconds, span_us
from ouzel.compiler.sql.queries.emit_rules import Emission
from ouzel.compiler.sql.queries.intervals import is_time
from ouzel.compiler.sql.queries.scope import Relation, Visible, fresh
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import TIMESTAMP_LTZ, DataType, IntegerType, IntervalType, TimestampType
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError

_NAMED = {
    "TUMBLE": ("data", "timecol", "size", "offset", "timezone"),
    "HOP": ("data", "timecol", "slide", "size", "offset", "timezone"),
    "CUMULATE": ("data", "timecol", "step", "size", "offset", "timezone"),
    "SESSION": ("data", "timecol", "gap"),
}
_SHAPES = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
    "SESSION": "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
}
_COMPUTE = "compute one in CREATE TABLE: ts AS TO_TIMESTAMP(...), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
_SPAN = r"(?i)\s*(\d+)\s*(second|minute|hour|day)s?\s*"
"""A span of time as a text."""
_CALENDAR = {1: "MONTH", 3: "QUARTER", 12: "YEAR"}
"""The units that DATE_TRUNC cuts to, by their months."""
WINDOW_COLUMNS = ("window_start", "window_end", "window_time")
"""The columns that a window adds to its rows."""


@dataclass(frozen=True)
class WindowCall:
    """The arguments of one window, as they are written.

    Attributes:
        node: the call.
        kind: of the windows.
        data: the table; None in GROUP BY.
        time: the column of times.
        size: an INTERVAL; SESSION's gap.
        slide: an INTERVAL, of HOP; CUMULATE's step.
        offset: an INTERVAL.
        keys: SESSION's PARTITION BY.
        zone: a text, the time zone whose days are meant.
    """

    node: exp.Expr
    kind: WindowKind
    data: exp.Expr | None
    time: exp.Expr
    size: exp.Expr
    slide: exp.Expr | None
    offset: exp.Expr | None
    keys: tuple[exp.Expr, ...] = ()
    zone: exp.Expr | None = None


def is_window(node: exp.Expr | None) -> bool:
    """Whether the node calls TUMBLE, HOP, CUMULATE or SESSION."""
    return isinstance(node, exp.Anonymous) and call_name(node).upper() in _NAMED


def read_window(source: QueryText, node: exp.Expr, data: bool) -> WindowCall:
    """The arguments of a window's call, by position or by name; without `data` in GROUP BY.

    Raises:
        QueryError: too few, too many or unknown arguments.
    """
    kind = call_name(node).upper()
    names = _NAMED[kind] if data else _NAMED[kind][1:]
    given: dict[str, exp.Expr] = {}
    partition = next((part for part in node.expressions if _is_partition(part)), None)
    for position, argument in enumerate(part for part in node.expressions if part is not partition):
        if isinstance(argument, exp.Kwarg):
            name, argument = argument.this.name.lower(), argument.expression
        else:
            name = _name_at(position, names, argument)
        if kind == "SESSION" and "gap" in given and argument.is_string:
            raise source.error(
                "SESSION takes no time zone: a gap is as long in all of them",
                place(argument),
                f"leave '{argument.name}' out",
            )
        if name not in names or name in given:
            raise source.error(f"{kind} does not take this argument", place(argument), f"write {_shape(kind, data)}")
        given[name] = argument
    missing = [name for name in names if name not in given and name not in ("offset", "timezone")]
    if missing:
        raise source.error(f"{kind} lacks its {missing[0]}", place(node), f"write {_shape(kind, data)}")
    return WindowCall(
        node,
        WindowKind[kind],
        given.get("data"),
        given["timecol"],
        given["gap"] if kind == "SESSION" else given["size"],
        given.get("slide") or given.get("step"),
        given.get("offset"),
        tuple(partition.expressions) if partition is not None else (),
        given.get("timezone"),
    )


def _name_at(position: int, names: Sequence[str], argument: exp.Expr) -> str:
    """What an argument without a name is: a text behind the lengths is the time zone, whether or not an offset stands before it."""
    name = names[position] if position < len(names) else ""
    return "timezone" if name == "offset" and argument.is_string else name


def _is_partition(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and call_name(node) == "partition by"


def _shape(kind: str, data: bool) -> str:
    return _SHAPES[kind] if data else f"{kind}(ts, {_SHAPES[kind].partition('DESCRIPTOR(ts), ')[2]}"


def assign_window(binder: Binder, call: WindowCall, relation: Relation) -> Relation:
    """The relation with its rows in windows, and the three columns that say which.

    Raises:
        QueryError: the column is not event time, or the spans do not fit.
    """
    column = _time_column(binder, call, relation)
    size = _span_us(binder, call.size, call)
    slide = _span_us(binder, call.slide) if call.slide else size
    if size <= 0 or slide <= 0:
        raise binder.source.error("a window has a positive length", place(call.node), "write INTERVAL '1' MINUTE")
    if size % slide:
        raise _uneven(binder.source, call, size, slide)
    kind = relation.node.schema[column].type
    zone = _zone(binder.source, call, size, slide) if call.zone else _zone_of_session(binder.source, call, kind, slide)
    grid = size if call.kind is WindowKind.CUMULATE else slide
    offset = _span_us(binder, call.offset) % grid if call.offset else 0
    taken = list(relation.node.schema.names)
    names = tuple(fresh(name, taken) for name in WINDOW_COLUMNS)
    node = AssignWindow(
        relation.node,
        call.kind,
        column,
        size,
        slide,
        offset,
        (names[0], names[1], names[2]),
        zone,
        call=binder.source.locate(place(call.node)),
        written=NodeLocation(place(call.node)[0]),
    )
    table = relation.columns[0].table
    added = tuple(Visible(table, shown, name) for shown, name in zip(WINDOW_COLUMNS, names, strict=True))
    return replace(relation, node=node, columns=(*relation.columns, *added), window=(names[0], names[1], names[2]))


def assign_session(
    binder: Binder, call: WindowCall, relation: Relation, keys: Sequence[exp.Expr], emission: Emission
) -> Relation:
    """The relation with its rows in sessions by these keys, and the three columns that say which.

    Raises:
        QueryError: the column is not event time, or the gap is no span of time.
    """
    column, gap = _time_column(binder, call, relation), _span_us(binder, call.size)
    if gap <= 0:
        raise binder.source.error("a gap has a positive length", place(call.node), "write INTERVAL '10' MINUTE")
    node, names = _with_keys(relation.node, [binder.bind(key) for key in keys])
    start, end, time = (fresh(name, node.schema.names) for name in WINDOW_COLUMNS)
    changes = emission.changes
    emission.rule(windowed=True)
    emission.refuse_lateness("sessions")
    at, written = binder.source.locate(place(call.node)), NodeLocation(place(call.node)[0])
    made = AssignSession(node, names, column, gap, changes, (start, end, time), call=at, written=written)
    table = relation.columns[0].table
    added = tuple(Visible(table, shown, name) for shown, name in zip(WINDOW_COLUMNS, made.names, strict=True))
    return replace(relation, node=made, columns=(*relation.columns, *added), window=made.names)


def _with_keys(node: Node, values: Sequence[Expression]) -> tuple[Node, tuple[str, ...]]:
    """The node with a column for each value, and what these are called."""
    items: dict[str, Expression] = {column.name: column for column in columns(node.schema)}
    names: list[str] = []
    for value in values:
        name = value.name if isinstance(value, Column) else fresh("$by", items)
        items.setdefault(name, value)
        names.append(name)
    made = node if len(items) == len(node.schema.names) else Project(node, tuple(items.items()))
    return made, tuple(dict.fromkeys(names))


def _time_column(binder: Binder, call: WindowCall, relation: Relation) -> str:
    bound = binder.bind(call.time)
    if isinstance(bound.type, IntervalType):
        shape = _shape(call.kind.value.upper(), call.data is not None)
        raise binder.source.error(
            "the time column comes before the length of a window", place(call.time), f"write {shape}"
        )
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


def _span_us(binder: Binder, node: exp.Expr, call: WindowCall | None = None) -> int:
    """The length of a span; `call` is the window whose size it is."""
    bound = binder.bind(node)
    if isinstance(bound, Literal) and isinstance(bound.value, timedelta):
        return span_us(binder.source, microseconds(bound.value), place(node))
    if not isinstance(bound, Literal):
        problem = "a window's length is a constant"
    elif isinstance(bound.type, IntervalType):
        problem = "a window cannot be measured in months"
        unit = _CALENDAR.get(bound.value) if isinstance(bound.value, int) else None
        if call is not None and call.kind is WindowKind.TUMBLE and unit:
            time = binder.source.text[slice(*place(call.time))].strip()
            advice = f"write GROUP BY DATE_TRUNC('{unit}', {time}) without a window, whose row changes until its {unit.lower()} is over"
            raise binder.source.error(problem, place(node), advice)
    else:
        problem = f"a window's length is an INTERVAL, this is {bound.type}"
    example = "for example INTERVAL '1' DAY"
    if isinstance(bound, Literal) and isinstance(bound.type, IntegerType):
        example = f"INTERVAL '{bound.value}' SECOND if these are seconds"
    if isinstance(bound, Literal) and (parts := re.fullmatch(_SPAN, str(bound.value))):
        example = f"INTERVAL '{parts[1]}' {parts[2].upper()}"
    raise binder.source.error(problem, place(node), f"write {example}")


def _zone(source: QueryText, call: WindowCall, size: int, slide: int) -> str:
    """The time zone by whose clock windows are cut; empty for UTC, whose days are all alike.

    Raises:
        QueryError: it is none, or the windows cannot be cut by its clock.
    """
    node, kind = call.zone, call.kind.value
    assert node is not None
    if not node.is_string:
        raise source.error(
            "a window's time zone is a text in the query", place(node), "write a name such as 'Europe/Berlin'"
        )
    zone: str = node.name
    if not is_zone(zone):
        raise source.error(f"there is no time zone '{zone}'", place(node), name_zone(zone))
    if zone == "UTC":
        return ""
    if call.kind is WindowKind.CUMULATE:
        raise source.error(
            "CUMULATE with a time zone is not supported: where clocks change, a step comes twice or not at all",
            place(node),
            f"write TUMBLE with '{zone}' and EMIT CHANGES: the window so far, at each row",
            NotSupported,
        )
    if slide % UNIT_US["DAY"]:
        short = _interval(slide)
        raise source.error(
            f"{kind} by the clock of '{zone}' has windows of whole days, and {short} is none",
            place(node),
            f"leave '{zone}' out, which cuts hours of UTC, or write INTERVAL '1' DAY",
        )
    return zone


def _zone_of_session(source: QueryText, call: WindowCall, kind: DataType, slide: int) -> str:
    """The session's zone where windows of whole days are cut of instants; the days of a TIMESTAMP are those that it shows."""
    if source.zone == "UTC" or slide % UNIT_US["DAY"]:
        return ""
    if kind == TIMESTAMP_LTZ and call.kind is not WindowKind.CUMULATE:
        return source.zone
    shown = source.text[slice(*place(call.time))]
    if kind == TIMESTAMP_LTZ:
        problem = f"the days of CUMULATE are those of UTC, not of '{source.zone}'"
        advice = "write TUMBLE and EMIT CHANGES for the window so far by the clock of the session's time zone"
    else:
        problem = f"{shown} is a TIMESTAMP: its days are those that it shows, whatever the session's time zone"
        advice = f"write '{source.zone}' as the last argument if {shown} is UTC"
    source.note(problem, place(call.node), advice)
    return ""


def _uneven(source: QueryText, call: WindowCall, size: int, slide: int) -> QueryError:
    unit = UNIT_US["DAY"] if call.zone and size % UNIT_US["DAY"] == 0 else 1  # by the clock of a zone only days are cut
    parts = size // slide + 1
    while size % (parts * unit):
        parts += 1
    word, name = ("step", "CUMULATE") if call.kind is WindowKind.CUMULATE else ("slide", "HOP")
    better = (
        f"{name} with a {word} of {_interval(size // parts)}" if size > slide else f"a {word} no longer than the window"
    )
    shown = [source.text[slice(*place(part))] for part in (call.slide or call.size, call.size)]
    if size and slide % size == 0 and call.slide is not None:
        first, second = shown
        problem = (
            f"{name} takes the {word} before the size, and a {word} of {first} is longer than a window of {second}"
        )
        raise source.error(problem, place(call.node), f"write {second}, {first}")
    hop = "hop" if word == "slide" else word
    return source.error(
        f"a {hop} of {shown[0]} does not divide its window of {shown[1]}",
        place(call.node),
        f"write {better}, or use TUMBLE",
    )


def _interval(us: int) -> str:
    for unit in ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"):
        if us % UNIT_US[unit] == 0:
            return f"INTERVAL '{us // UNIT_US[unit]}' {unit}"
    raise AssertionError(us)

"""Event time, and sums by window: the nodes of both, and what they mean for single records."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from ouzel.compiler.expressions import Column, Expression, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import (
    Aggregate,
    AggregateCall,
    AssignWindow,
    Emit,
    EmitRule,
    Node,
    Project,
    Watermark,
    WindowKind,
)
from ouzel.compiler.records import KEY, VALUE, Form, Hint, RecordType
from ouzel.compiler.types import INTERVAL, TIMESTAMP, DataType, Field

K = TypeVar("K")
R = TypeVar("R")

TIME = "$time"
"""The column that holds a record's event time, whatever becomes of the record."""

EVENT_TIME = "event_time"
"""What SQL in a program calls it."""

_NAMES = ("$start", "$end", "$window_time")
_MICROSECOND = timedelta(microseconds=1)


class WindowTotal(NamedTuple, Generic[K, R]):
    """What the values of a key add up to in one window of time, [window_start, window_end)."""

    key: K
    window_start: datetime
    window_end: datetime
    value: R


def window_record(key: tuple[DataType, Hint], value: tuple[DataType, Hint]) -> RecordType:
    """Records of WindowTotal."""
    columns = (
        Field(KEY, key[0]),
        Field("window_start", TIMESTAMP),
        Field("window_end", TIMESTAMP),
        Field(VALUE, value[0]),
    )
    return RecordType(Form.CLASS, columns, (key[1], datetime, datetime, value[1]), WindowTotal)


def time_node(node: Node, column: str, delay: timedelta) -> Node:
    """The rows with their event time, which is never late by more than the delay."""
    kind = node.schema[column].type
    items: list[tuple[str, Expression]] = [
        (field.name, Column(field.type, field.name)) for field in node.schema if field.name != TIME
    ]
    timed = Project(node, (*items, (TIME, Column(kind, column))))
    late = resolve_call("subtract", [Column(kind, TIME), Literal(INTERVAL, delay)])
    return Watermark(timed, TIME, late)


def window_nodes(node: Node, call: AggregateCall, size: timedelta, slide: timedelta) -> Node:
    """The totals of each key in each window, once the window has closed; `node` has key, value and time."""
    sizes = (size // _MICROSECOND, slide // _MICROSECOND)
    kind = WindowKind.TUMBLE if size == slide else WindowKind.HOP
    windows = AssignWindow(node, kind, TIME, *sizes, names=_NAMES)
    total = Aggregate(windows, (KEY, *_NAMES), (call,), Emit(EmitRule.WATERMARK), _NAMES)
    start, end, time = (Column(total.schema[name].type, name) for name in _NAMES)
    items = ((KEY, Column(total.schema[KEY].type, KEY)), ("window_start", start), ("window_end", end))
    return Project(total, (*items, (VALUE, Column(call.type, VALUE)), (TIME, time)))


def windows_of(time: datetime, size: timedelta, slide: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """The windows that a time lies in; they begin at multiples of the slide since the epoch."""
    plain = time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    epoch = datetime(1970, 1, 1)
    start = epoch + (plain - epoch) // slide * slide
    while start + size > plain:
        yield start, start + size
        start -= slide


def time_of_window(end: datetime) -> datetime:
    """The event time of what a window gives."""
    return end - timedelta(milliseconds=1)


def value_at(record: Any, form: Form, place: int, name: str) -> Any:
    """What a record has in a column."""
    if form is Form.VALUE:
        return record
    return record[place] if form is Form.TUPLE else getattr(record, name)

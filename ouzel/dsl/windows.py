"""Event time, and sums by window: the nodes of both, and what they mean for single records."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from ouzel.compiler.expressions import Column, Expression, Literal
from ouzel.compiler.functions.local_days import LocalDays
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.functions.zones import is_zone, name_zone
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
from ouzel.dsl.advice import check_span, of_no_windows
from ouzel.dsl.producers import Producer, undated
from ouzel.dsl.time_advice import advise_of_time
from ouzel.errors import QueryError

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


def window_nodes(node: Node, call: AggregateCall, size: timedelta, slide: timedelta, zone: str = "") -> Node:
    """The totals of each key in each window, once the window has closed; `node` has key, value and time."""
    sizes = (size // _MICROSECOND, slide // _MICROSECOND)
    kind = WindowKind.TUMBLE if size == slide else WindowKind.HOP
    windows = AssignWindow(node, kind, TIME, *sizes, names=_NAMES, zone=zone)
    total = Aggregate(windows, (KEY, *_NAMES), (call,), Emit(EmitRule.WATERMARK), _NAMES)
    start, end, time = (Column(total.schema[name].type, name) for name in _NAMES)
    items = ((KEY, Column(total.schema[KEY].type, KEY)), ("window_start", start), ("window_end", end))
    return Project(total, (*items, (VALUE, Column(call.type, VALUE)), (TIME, time)))


def check_zone(zone: str | ZoneInfo, size: timedelta, slide: timedelta) -> str:
    """The time zone by whose clock windows are cut; empty for UTC, whose days are all alike.

    Raises:
        QueryError: it is none, or windows are not of whole days.
    """
    zone = zone.key if isinstance(zone, ZoneInfo) else zone
    if not isinstance(zone, str) or not is_zone(zone):
        raise QueryError(f"there is no time zone {zone!r}", instead=name_zone(zone))
    if zone == "UTC":
        return ""
    short = next((span for span in (slide, size) if span % timedelta(days=1)), None)
    if short is not None:
        problem = f"windows by the clock of {zone!r} are of whole days, and {short} is none"
        raise QueryError(problem, instead="write timedelta(days=1), or leave the zone out")
    return zone


def windows_of(
    time: datetime, size: timedelta, slide: timedelta, zone: str = ""
) -> Iterator[tuple[datetime, datetime]]:
    """The windows that a time lies in, in UTC; they begin at multiples of the slide since the epoch, by a clock of the zone."""
    plain = time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    epoch = datetime(1970, 1, 1)
    if zone:
        days, at, most = LocalDays(zone, slide // _MICROSECOND), (plain - epoch) // _MICROSECOND, size // slide
        for back in range(most):
            begin, end = days.around(at, back, most - 1 - back)
            yield epoch + begin * _MICROSECOND, epoch + end * _MICROSECOND
        return
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


def check_windows(size: timedelta, slide: timedelta) -> None:
    """See that windows can be so long, and begin so far apart.

    Raises:
        QueryError: they cannot.
    """
    check_span("the size of a window", size)
    check_span("the slide of windows", slide)
    if not timedelta(0) < slide <= size or size % slide:
        raise of_no_windows(size, slide)


def check_timed(verb: str, what: str, producer: Producer) -> None:
    """See that the records have an event time.

    Raises:
        QueryError: they have not; says what leaves them without.
    """
    without = undated(producer)
    if without is not None:
        raise QueryError(
            f"there are {what} only of streams that have a time, and what comes of {without.place} has none",
            instead=advise_of_time(verb, without, producer.record),
        )

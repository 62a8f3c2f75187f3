"""Which columns a store of totals has: what a query's plan says of them, and how two totals of a column become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from ouzel.compiler.plan import (
    MERGED_BY,
    Aggregate,
    AggregateCall,
    AssignWindow,
    Node,
    Project,
    Sink,
    WindowKind,
    walk,
)
from ouzel.compiler.types import DataType, Field, Schema, TimestampType
from ouzel.errors import QueryError
from ouzel.monoid import And, Max, Min, Monoid, Or, Sum, TupleOf

MONOIDS: Mapping[str, Monoid[Any, Any, Any]] = {
    "sum": Sum(),
    "min": Min(),
    "max": Max(),
    "bool_and": And(),
    "bool_or": Or(),
}
"""These aggregates in Python."""

INSTEAD = {"avg": "keep SUM and COUNT, and divide where the store is read"}


@dataclass(frozen=True)
class StoredValue:
    """A column of totals, and the aggregate that adds two of them up."""

    name: str
    type: DataType
    merged_by: str


class TotalColumns(Protocol):
    """Columns of totals by key."""

    @property
    def keys(self) -> tuple[Field, ...]:
        """What the sums are grouped by."""

    @property
    def values(self) -> tuple[StoredValue, ...]:
        """The sums."""

    @property
    def monoid(self) -> TupleOf:
        """How rows of values add up."""


@dataclass(frozen=True)
class StoreColumns:
    """The columns of sums by time: when the window began, what the sums are of, and the sums.

    Args:
        time: the column that says when a row's window began.
        window: how long the windows are.
        keys: the other columns that the sums are grouped by.
        values: the sums.
        query: the id of what computes them.
    """

    time: Field
    window: timedelta
    keys: tuple[Field, ...]
    values: tuple[StoredValue, ...]
    query: str

    @property
    def totals(self) -> Schema:
        """Keys and values, as totals have them."""
        return Schema((*self.keys, *(Field(one.name, one.type) for one in self.values)))

    @property
    def sums(self) -> Schema:
        """The time before them, as the sums of a stream have it."""
        return Schema((self.time, *self.totals.fields))

    @property
    def monoid(self) -> TupleOf:
        """How rows of values add up."""
        return TupleOf(tuple(MONOIDS[one.merged_by] for one in self.values))


def merged_by_of(monoid: Monoid[Any, Any, Any], kind: DataType) -> str:
    """The aggregate that adds up what a monoid makes of values of a type.

    Raises:
        QueryError: there is none, as its results do not add up.
    """
    found = MERGED_BY.get(monoid.aggregate(kind).name)
    if found is None:
        raise QueryError(
            f"two results of {type(monoid).__name__} do not say that of both",
            instead="keep those of Sum, Count, Min, Max, And or Or",
        )
    return found


def stored_columns(sink: Sink) -> StoreColumns:
    """The columns of the store that a query's rows can be kept in, by what its plan says.

    Raises:
        QueryError: the query's rows are no sums by windows of time that can be added up.
    """
    names = {name: name for name in sink.input.schema.names}
    node: Node = sink.input
    while isinstance(node, Project):
        inner = dict(node.items)
        origins = {name: place[1] for name, place in node.origins.items()}
        computed = [name for name, made in names.items() if made not in origins]
        if computed:
            raise QueryError(
                f"column '{computed[0]}' is computed of sums as {inner[names[computed[0]]]}, and such values cannot be added up",
                instead="keep the sums themselves, and compute where the store is read",
            )
        names, node = {name: origins[made] for name, made in names.items()}, node.input
    windows = [below for below in walk(node) if isinstance(below, AssignWindow)]
    if not isinstance(node, Aggregate) or not node.window or len(windows) != 1 or not _is_plain(node):
        raise QueryError(
            "a store keeps sums by windows of time, and the query's last step is none",
            instead="end it with SELECT window_start, …, COUNT(*) FROM TABLE(TUMBLE(TABLE …)) GROUP BY window_start, …",
        )
    return _columns(sink, node, windows[0], names)


def _is_plain(aggregate: Aggregate) -> bool:
    """Whether each row that it adds up comes of one row of a table."""
    return all(node.is_rowwise or not node.inputs for node in walk(aggregate) if node is not aggregate)


def _columns(sink: Sink, aggregate: Aggregate, windows: AssignWindow, names: Mapping[str, str]) -> StoreColumns:
    if windows.kind is not WindowKind.TUMBLE:
        raise QueryError(
            f"windows of {windows.kind.value} overlap, so their sums cannot be added up", instead="take TUMBLE"
        )
    if windows.zone:
        raise QueryError(
            f"a store keeps sums by windows of one length, and days of '{windows.zone}' are longer and shorter ones",
            instead=f"leave '{windows.zone}' out and take INTERVAL '1' HOUR, and add hours up to days where the store is read",
        )
    start, *others = aggregate.window or ("", "")
    calls, schema = {call.name: call for call in aggregate.calls}, _schema_of(sink)
    time = [field for field, made in zip(schema, names.values(), strict=True) if made == start]
    if len(time) != 1 or not isinstance(time[0].type, TimestampType):
        raise QueryError("a store needs to know when each window began", instead="select window_start, once")
    rest = [(field, made) for field, made in zip(schema, names.values(), strict=True) if made != start]
    keys = tuple(field for field, made in rest if made not in calls and made not in others)
    lacking = set(aggregate.keys) - set(names.values()) - set(others) - {start}
    if lacking:
        raise QueryError(
            f"the query groups by {', '.join(sorted(lacking))} and does not select it", instead="select it"
        )
    values = tuple(_value(field, calls[made]) for field, made in rest if made in calls)
    return StoreColumns(time[0], timedelta(microseconds=windows.size_us), keys, values, aggregate.stable_id)


def _schema_of(sink: Sink) -> Schema:
    return sink.columns or sink.input.schema


def _value(field: Field, call: AggregateCall) -> StoredValue:
    merged_by = MERGED_BY.get(call.function)
    if merged_by is None or call.distinct:
        what = f"{call.function.upper()}({'DISTINCT ' if call.distinct else ''}…)"
        known = ", ".join(name.upper() for name in MERGED_BY)
        raise QueryError(
            f"column '{field.name}' is {what}, and that of two parts does not say that of both",
            instead=INSTEAD.get(call.function, f"keep one of {known}"),
        )
    return StoredValue(field.name, field.type, merged_by)

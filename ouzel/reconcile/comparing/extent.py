"""Which span of event time an output row stands for: the window that its columns name, or the moment of its time column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

from ouzel.compiler.expressions import Cast, Column, Expression, columns_of
from ouzel.compiler.plan import (
    Aggregate,
    AssignWindow,
    Filter,
    Join,
    Node,
    Project,
    ReadsElements,
    Scan,
    Sink,
    Union,
    Watermark,
    WindowGrid,
    lay_grid,
    walk,
)
from ouzel.compiler.types import DataType, DateType, TimestampType
from ouzel.reconcile.comparing.lineage import DAY_US

WINDOW_TIME_US = 1_000
"""window_time is the window's end less one millisecond."""


@dataclass(frozen=True)
class Extent:
    """A row covers `size_us` microseconds from its time column's value plus `shift_us`; a moment is one microsecond long.

    Attributes:
        column: the output's column that says when; its DATE stands for the day's first moment.
        shift_us: from that column's value to the beginning.
        size_us: how long.
        windows: the nodes that cut these windows; empty for what is no window.
    """

    column: str
    shift_us: int = 0
    size_us: int = 1
    windows: tuple[AssignWindow, ...] = ()

    @property
    def span(self) -> tuple[object, ...]:
        """What two extents have in common whose columns say the same."""
        zone = self.grid if self.zone else None
        return self.shift_us, self.size_us, bool(self.windows), zone

    @property
    def zone(self) -> str:
        """By whose clock the windows are cut; all of them are alike then."""
        return self.windows[0].zone if self.windows else ""

    @property
    def grid(self) -> WindowGrid:
        """Where its windows lie; of several kinds anywhere."""
        grids = {(each.grid_us, each.offset_us % each.grid_us, each.zone) for each in self.windows}
        grid_us, offset_us, zone = grids.pop() if len(grids) == 1 else (1, 0, "")
        return lay_grid(self.size_us, grid_us, grid_us, offset_us, zone=zone)

    def first_value(self, from_us: int) -> int:
        """The column's least value of a row that begins then or later."""
        if not self.zone:
            return from_us - self.shift_us
        begin = self.grid.next_start(from_us)
        return self.grid.last_end(begin) - (self.shift_us + self.size_us) if self.shift_us else begin

    def last_value(self, to_us: int) -> int:
        """The column's greatest value of a row that ends then or before."""
        if not self.zone:
            return to_us - self.shift_us - self.size_us
        end = self.grid.last_end_by(to_us)
        if self.shift_us:
            return end - (self.shift_us + self.size_us)
        return (
            self.grid.first_start(end) - 1
        )  # where the next one begins, which is no earlier than any that ends by then


def extent(sink: Sink) -> Extent | None:
    """What a sink's rows stand for: a window if any column names one, else event time, else the first time that is no aggregate's value.

    None if nothing says when.
    """
    columns = sink.columns or sink.input.schema
    inner = dict(zip(columns.names, sink.input.schema.names, strict=True))
    times = [name for name in columns.names if _is_time(columns[name].type)]
    found = [replace(each, column=name) for name in times if (each := _of(sink.input, inner[name])) is not None]
    eventful = [each for each in found if inner[each.column] == sink.input.time_column]
    windows = [each for each in found if each.windows]
    return next(iter((*windows, *eventful, *found)), None)


def has_windows(sink: Sink) -> bool:
    """Whether its rows are made in windows, whether or not they say in which."""
    return any(node.closes_windows for node in walk(sink))


def has_joins(sink: Sink) -> bool:
    """Whether any of its rows are made of rows of several tables."""
    return any(node.joins_rows for node in walk(sink))


def _is_time(kind: DataType) -> bool:
    return isinstance(kind, DateType | TimestampType)


def _of(node: Node, name: str) -> Extent | None:
    """What the column of a node's output stands for, the same in stream and batch; None if an aggregate computes it."""
    found = _trace(node, name)
    if found is None or found.windows or not isinstance(node.schema[name].type, DateType):
        return found
    return replace(found, size_us=max(found.size_us, DAY_US))


@singledispatch
def _trace(node: Node, name: str) -> Extent | None:
    """Trace it through a node; those that may move rows to another time end the search."""
    return None


@_trace.register
def _(node: Scan, name: str) -> Extent | None:
    return Extent(name)


@_trace.register(Filter)
@_trace.register(Watermark)
def _(node: Filter | Watermark, name: str) -> Extent | None:
    return _of(node.input, name)


@_trace.register
def _(node: ReadsElements, name: str) -> Extent | None:
    return _of(node.input, name) if name in node.input.schema else Extent(name)


@_trace.register
def _(node: Aggregate, name: str) -> Extent | None:
    return _of(node.input, name) if name in node.keys else None


@_trace.register
def _(node: Union, name: str) -> Extent | None:
    place = node.schema.names.index(name)
    branches = [_of(branch, branch.schema.names[place]) for branch in node.branches]
    if any(each is None for each in branches):
        return None
    found = [each for each in branches if each is not None]
    windows = tuple(window for each in found for window in each.windows)
    alike = len({each.span for each in found}) == 1
    return replace(found[0], column=name, windows=windows) if alike else Extent(name)


@_trace.register
def _(node: Join, name: str) -> Extent | None:
    """Where a join is by window, only rows of that window matter."""
    if name not in node.origins:  # it may be NULL in the one answer and not in the other
        return None
    side = node.origins[name][0]
    found = _of(node.inputs[side], name)
    if found is None or not found.windows:
        return found
    others = [_of(node.inputs[1 - side], pair[1 - side]) for pair in node.keys if pair[side] == name]
    same = [each for each in others if each and each.span == found.span]
    return replace(found, windows=(*found.windows, *same[0].windows) if same else ())


@_trace.register
def _(node: AssignWindow, name: str) -> Extent | None:
    start, end, time = node.names
    shifts = {start: 0, end: -node.size_us, time: WINDOW_TIME_US - node.size_us}
    if name in shifts:
        return Extent(name, shifts[name], node.size_us, (node,))
    return _of(node.input, name)


@_trace.register
def _(node: Project, name: str) -> Extent | None:
    value = dict(node.items)[name]
    plain = value.operand if isinstance(value, Cast) and _is_time(value.operand.type) else value
    if isinstance(plain, Column):
        found = _of(node.input, plain.name)
        return found if found is None or not found.windows or _keeps_window(found, value, plain) else Extent(name)
    parts = [_of(node.input, part) for part in columns_of(value)]
    return Extent(name) if all(parts) else None


def _keeps_window(found: Extent, value: Expression, plain: Column) -> bool:
    """Whether the column still names the window: a DATE does if all windows begin, or end, at midnight."""
    if not isinstance(value.type, DateType) or isinstance(plain.type, DateType):
        return True
    if found.zone:  # whose midnights are not those of UTC
        return False
    steps = {step for node in found.windows for step in (node.slide_us, node.offset_us)}
    return found.shift_us % DAY_US == 0 and all(step % DAY_US == 0 for step in steps)

"""AssignWindow: which windows a row lies in, by integer arithmetic on microseconds."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.functions.formats import BEYOND
from ouzel.compiler.functions.local_days import LATEST_US, LocalDays
from ouzel.compiler.plan import WEIGHT, AssignSession, AssignWindow, WindowKind
from ouzel.compiler.types import TIMESTAMP, DataType
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, numbers, to_series, valid_rows
from ouzel.runtime.operators.rowwise.odd_times import find_short_windows
from ouzel.runtime.operators.rowwise.rows import refuse_rows, us_of, weight_of
from ouzel.runtime.state.positions import take_rows


def describe_missing_time(node: AssignWindow | AssignSession) -> tuple[str, str]:
    """Why a row without a time is refused, and the line of the window with what to write instead."""
    reason = f"its time {node.column} is NULL, so it belongs to no window"
    if node.call is None:
        return reason, ""
    advice = f"leave such rows out in a view: SELECT * FROM t WHERE {node.column} IS NOT NULL"
    return f"{reason} of {node.call}", f"{node.call.shown}\n{advice}"


class LocalWindows:
    """Windows of days by the clock of a zone. When they begin is remembered of the last batch, for the next one lies near it."""

    def __init__(self, days: LocalDays, most: int) -> None:
        self._days, self._most = days, most
        self._begins: Ints = np.empty(0, np.int64)

    def assign(self, times: Ints) -> tuple[Ints, Ints]:
        """The starts and the ends of the `most` windows of each time, the latest first."""
        begins = self._begins if self._has_begins_of(times) else self._compute(times)
        latest = np.searchsorted(begins, times, side="right") - 1
        first = (latest[:, None] - np.arange(self._most)).ravel()
        return begins[first], begins[first + self._most]

    def _has_begins_of(self, times: Ints) -> bool:
        begins, most = self._begins, self._most
        return bool(len(begins) and times.min() >= begins[most - 1] and times.max() < begins[-most])

    def _compute(self, times: Ints) -> Ints:
        spans = self._days.spans_near(times, self._most)
        begins = self._days.begins(spans)
        if spans[-1] - spans[0] == len(spans) - 1:  # all spans in between
            self._begins = begins
        return begins


class WindowAssignment(Operator):
    """Appends the window's start, end and time; HOP and CUMULATE repeat a row for each window, HOP the latest first."""

    def __init__(self, node: AssignWindow) -> None:
        super().__init__()
        self._node = node
        self._kind = node.input.schema[node.column].type
        self._most = -(-node.size_us // node.slide_us)
        self._has_looked = False
        self._local = (
            LocalWindows(LocalDays(node.zone, node.slide_us, node.offset_us), self._most) if node.zone else None
        )

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows with their windows; a row whose time is NULL is refused."""
        column = frame[self._node.column]
        valid = valid_rows(column)
        if valid is not None:
            refuse_rows(self, frame, ~valid, *describe_missing_time(self._node))
            frame = frame.filter(valid)
            column = frame[self._node.column]
        if not frame.height:
            return None
        times = numbers(column) * us_of(self._kind)
        node = self._node
        if not self._has_looked:
            self._has_looked = True
            if node.call is None:  # SQL says the unit of an INTERVAL
                self.notes += filter(None, [find_short_windows(times, node.size_us)])
        if self._local is not None:
            return self._by_the_clock(self._local, frame, times)
        starts = times - (times - node.offset_us) % node.grid_us
        if node.kind is WindowKind.CUMULATE:
            frame, starts, ends = self._cumulate(frame, times, starts)
            return with_window(frame, node.names, self._kind, starts, ends)
        if self._most > 1 or node.slide_us != node.size_us:
            frame, starts = self._repeat(frame, times, starts)
        return with_window(frame, node.names, self._kind, starts, starts + node.size_us)

    def _by_the_clock(self, local: LocalWindows, frame: pl.DataFrame, times: Ints) -> pl.DataFrame | None:
        known = (times >= -LATEST_US) & (times <= LATEST_US)
        if not known.all():
            refuse_rows(self, frame, ~known, f"its time {self._node.column} is {BEYOND}", "")
            frame, times = frame.filter(known), times[known]
        if not frame.height:
            return None
        starts, ends = local.assign(times)
        if self._most > 1:
            frame = take_rows(frame, np.repeat(np.arange(len(times)), self._most))
        return with_window(frame, self._node.names, self._kind, starts, ends)

    def _repeat(self, frame: pl.DataFrame, times: Ints, starts: Ints) -> tuple[pl.DataFrame, Ints]:
        node = self._node
        every = starts[:, None] - np.arange(self._most) * node.slide_us
        inside = every + node.size_us > times[:, None]
        rows = np.broadcast_to(np.arange(len(times))[:, None], every.shape)
        return take_rows(frame, rows[inside]), every[inside]

    def _cumulate(self, frame: pl.DataFrame, times: Ints, starts: Ints) -> tuple[pl.DataFrame, Ints, Ints]:
        """Each row once for each of the ends that come after it."""
        passed = (times - starts) // self._node.slide_us
        rows = np.repeat(np.arange(len(times)), self._most - passed)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(self._most - passed) - self._most, self._most - passed)
        return take_rows(frame, rows), starts[rows], starts[rows] + (number + 1) * self._node.slide_us


def with_window(
    frame: pl.DataFrame, names: tuple[str, str, str], kind: DataType, starts: Ints, ends: Ints
) -> pl.DataFrame:
    """The frame with columns for each row's window, start, end and time, before its weight; `kind` is the type of the time."""
    start, end, time = names
    times = (ends - 1_000) // us_of(kind)
    windows = [to_series(start, TIMESTAMP, starts), to_series(end, TIMESTAMP, ends), to_series(time, kind, times)]
    if weight_of(frame):
        return pl.DataFrame([*frame.get_columns()[:-1], *windows, frame[WEIGHT]])
    return frame.hstack(windows)

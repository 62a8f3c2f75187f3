"""AssignWindow: which windows a row lies in, by integer arithmetic on microseconds."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, AssignSession, AssignWindow, WindowKind
from ouzel.compiler.types import TIMESTAMP, DataType
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, numbers, to_series, valid_rows
from ouzel.runtime.operators.rowwise.rows import refuse_rows, us_of, weight_of
from ouzel.runtime.state.positions import take_rows


def describe_missing_time(node: AssignWindow | AssignSession) -> tuple[str, str]:
    """Why a row without a time is refused, and the line of the window with what to write instead."""
    reason = f"its time {node.column} is NULL, so it belongs to no window"
    if node.call is None:
        return reason, ""
    advice = f"leave such rows out in a view: SELECT * FROM t WHERE {node.column} IS NOT NULL"
    return f"{reason} of {node.call}", f"{node.call.shown}\n{advice}"


class WindowAssignment(Operator):
    """Appends the window's start, end and time; HOP and CUMULATE repeat a row for each window, HOP the latest first."""

    def __init__(self, node: AssignWindow) -> None:
        super().__init__()
        self._node = node
        self._kind = node.input.schema[node.column].type
        self._most = -(-node.size_us // node.slide_us)

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
        starts = times - (times - node.offset_us) % node.grid_us
        if node.kind is WindowKind.CUMULATE:
            frame, starts, ends = self._cumulate(frame, times, starts)
            return with_window(frame, node.names, self._kind, starts, ends)
        if self._most > 1 or node.slide_us != node.size_us:
            frame, starts = self._repeat(frame, times, starts)
        return with_window(frame, node.names, self._kind, starts, starts + node.size_us)

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

"""Frames of OVER: where partitions, groups of equal rows and each row's frame begin and end, and aggregates over frames.

Rows are sorted by partition and order; a place is a row's number in that order, and a frame goes from a place to before another.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import polars as pl

from ouzel.compiler.plan import FrameKind, SortKey, WindowFrame
from ouzel.runtime.operators.buffers import Ints, Mask, numbers, pick_rows, valid_rows
from ouzel.runtime.operators.ordered.frame_kernels import find_runs

_MOST = (1 << 63) - 1


def sort_rows(rows: pl.DataFrame, partition: Sequence[str], order: Sequence[SortKey]) -> pl.DataFrame:
    """The rows by partition, and in order within each."""
    keys = [*(SortKey(name) for name in partition), *order]
    if not keys:
        return rows
    return rows.sort(
        [key.column for key in keys],
        descending=[key.descending for key in keys],
        nulls_last=[key.nulls_last for key in keys],
    )


class Layout:
    """Where partitions and groups of peers begin and end in sorted rows.

    Args:
        rows: the rows, sorted.
        first: which of them begin a partition.
        order: of the rows of a partition.

    Attributes:
        at: the row of each place; that of the same number, but where it is a layout of some of the rows only.
    """

    def __init__(self, rows: pl.DataFrame, first: Mask, order: Sequence[SortKey]) -> None:
        self.rows, self._order = rows, list(order)
        self._divide(np.arange(rows.height), first, first | find_changes(rows, [key.column for key in order]))

    def only(self, chosen: Mask) -> Layout:
        """The same of these rows, as if there were no others."""
        made, at = copy(self), np.flatnonzero(chosen)
        made._divide(at, _differ(self.partitions[at]), _differ(self.peers[at]))
        return made

    def frame(self, frame: WindowFrame) -> tuple[Ints, Ints]:
        """Where each row's frame begins, and the place behind its end."""
        if frame not in self._frames:
            self._frames[frame] = self._find_frames(frame)
        return self._frames[frame]

    def rows_in(self, names: Sequence[str], lows: Ints, highs: Ints) -> tuple[pl.DataFrame, Ints, Ints]:
        """These columns of the rows that are in any of the frames, and where the frames begin and end among them."""
        size = len(self.places)
        opened = np.bincount(lows, minlength=size + 1) - np.bincount(highs, minlength=size + 1)
        within = np.cumsum(opened[:-1]) > 0
        before = np.append(0, np.cumsum(within))
        return pick_rows(self.rows, names, self.at[within]), before[lows], before[highs]

    def _divide(self, at: Ints, first: Mask, other: Mask) -> None:
        self.at, self.places = at, np.arange(len(at))
        self.partitions, self.begin, self.end = _runs(first)
        self.peers, self.peers_begin, self.peers_end = _runs(other)
        self._frames: dict[WindowFrame, tuple[Ints, Ints]] = {}

    def _find_frames(self, frame: WindowFrame) -> tuple[Ints, Ints]:
        match frame.kind:
            case FrameKind.ROWS:
                lows, highs = self._of_rows(frame.start, frame.end)
            case FrameKind.GROUPS:
                lows, highs = self._of_groups(frame.start, frame.end)
            case FrameKind.RANGE:
                lows, highs = self._of_range(frame.start, frame.end)
        return lows, np.maximum(lows, highs)

    def _of_rows(self, start: int | None, end: int | None) -> tuple[Ints, Ints]:
        low = self.begin if start is None else np.clip(self.places + start, self.begin, self.end)
        return low, self.end if end is None else np.clip(self.places + end + 1, self.begin, self.end)

    def _of_groups(self, start: int | None, end: int | None) -> tuple[Ints, Ints]:
        if not len(self.places):
            return self.begin, self.end
        begins = np.append(np.unique(self.peers_begin), len(self.places))
        first, last = self.peers[self.begin], self.peers[self.end - 1] + 1
        low = self.begin if start is None else begins[np.clip(self.peers + start, first, last)]
        return low, self.end if end is None else begins[np.clip(self.peers + end + 1, first, last)]

    def _of_range(self, start: int | None, end: int | None) -> tuple[Ints, Ints]:
        low = self.begin if start is None else self.peers_begin
        high = self.end if end is None else self.peers_end
        if start or end:
            values, valid = self._values()
            some = np.flatnonzero(valid)
            within = _within(self.partitions, valid)
            low, high = low.copy(), high.copy()
            if start:
                low[some] = self._find_reach(values, within, some, start, "left")
            if end:
                high[some] = self._find_reach(values, within, some, end, "right")
        return low, high

    def _values(self) -> tuple[Ints, Mask]:
        """The values of the order, growing within each partition, and which are not NULL."""
        (key,) = self._order
        series = self.rows[key.column]
        values = numbers(series)[self.at] * us_of_column(series)
        valid = valid_rows(series)
        ordered = ~values if key.descending else values  # not the negative, which the least number has not
        return ordered, np.ones(len(values), np.bool_) if valid is None else valid[self.at]

    def _find_reach(self, values: Ints, within: tuple[Ints, Ints], some: Ints, offset: int, side: str) -> Ints:
        """The place in its partition at which each row's value and `offset` would be put."""
        begins, ends = within
        low, high = begins[some].copy(), ends[some].copy()
        wanted = _plus(values[some], offset)
        while (open_ := low < high).any():
            middle = (low + high) >> 1
            there = values[np.minimum(middle, len(values) - 1)]
            before = open_ & ((there < wanted) if side == "left" else (there <= wanted))
            high = np.where(open_ & ~before, middle, high)
            low = np.where(before, middle + 1, low)
        return low


def us_of_column(series: pl.Series) -> int:
    """How many microseconds a unit of the column is; 1 for a number."""
    return 86_400_000_000 if series.dtype == pl.Date else 1


def _plus(values: Ints, offset: int) -> Ints:
    """The sum, or the end of the numbers if it is beyond."""
    total = values + offset
    over = (total < values) if offset > 0 else (total > values)
    return np.where(over, _MOST if offset > 0 else -_MOST - 1, total)


def _within(partitions: Ints, valid: Mask) -> tuple[Ints, Ints]:
    """Of each row, where the values of its partition that are not NULL begin and end: NULLs stand together at one end."""
    number = int(partitions[-1]) + 1 if len(partitions) else 0
    begin = np.append(0, np.cumsum(np.bincount(partitions, minlength=number)))[:-1]
    counts = np.bincount(partitions, valid, number).astype(np.int64)
    null_first = ~valid[begin] if number else np.zeros(0, np.bool_)
    sizes = np.bincount(partitions, minlength=number)
    first = begin + np.where(null_first, sizes - counts, 0)
    return first[partitions], (first + counts)[partitions]


def find_changes(rows: pl.DataFrame, names: Sequence[str]) -> Mask:
    """Which rows differ from the one before in these columns; the first does."""
    changed = np.zeros(rows.height, np.bool_)
    if names and rows.height:
        differ = rows.select(pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in names))
        changed = differ.to_series().to_numpy().copy()
    changed[:1] = True
    return changed


def _differ(runs: Ints) -> Mask:
    """Which rows are of another run than the one before; the first is."""
    changed = np.ones(len(runs), np.bool_)
    changed[1:] = runs[1:] != runs[:-1]
    return changed


def _runs(first: Mask) -> tuple[Ints, Ints, Ints]:
    """Of each row the number of its run, and where that begins and ends."""
    number, begins, ends = np.empty((3, len(first)), np.int64)
    find_runs(first, number, begins, ends)
    return number, begins, ends

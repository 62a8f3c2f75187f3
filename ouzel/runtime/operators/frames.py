"""Frames of OVER: where partitions, groups of equal rows and each row's frame begin and end, and aggregates over frames.

Rows are sorted by partition and order; a place is a row's number in that order, and a frame goes from a place to before another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall, FrameKind, SortKey, WindowFrame
from ouzel.compiler.types import BIGINT, DataType
from ouzel.runtime.operators.accumulators import Accumulators, SlottedRows
from ouzel.runtime.operators.bags import ExtremeRows
from ouzel.runtime.operators.buffers import Ints, Mask, Values, numbers, valid_rows
from ouzel.runtime.operators.groups import CallWeights, accumulators_of, ones
from ouzel.runtime.operators.ranked import RankedExtreme
from ouzel.runtime.state.positions import take_rows
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.table import SlotTable

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
    """Where partitions and groups of peers begin and end in sorted rows."""

    def __init__(self, rows: pl.DataFrame, partition: Sequence[str], order: Sequence[SortKey]) -> None:
        self.rows, self._order = rows, list(order)
        self.places = np.arange(rows.height)
        first = _changes(rows, partition)
        self.partitions, self.begin, self.end = _runs(first)
        self.peers, self.peers_begin, self.peers_end = _runs(first | _changes(rows, [key.column for key in order]))

    def frame(self, frame: WindowFrame) -> tuple[Ints, Ints]:
        """Where each row's frame begins, and the place behind its end."""
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
        values = numbers(series) * us_of_column(series)
        valid = valid_rows(series)
        return (-values if key.descending else values), np.ones(len(values), np.bool_) if valid is None else valid

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


def _changes(rows: pl.DataFrame, names: Sequence[str]) -> Mask:
    """Which rows differ from the one before in these columns; the first does."""
    changed = np.zeros(rows.height, np.bool_)
    if names and rows.height:
        differ = rows.select(pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in names))
        changed = differ.to_series().to_numpy().copy()
    changed[:1] = True
    return changed


def _runs(first: Mask) -> tuple[Ints, Ints, Ints]:
    """Of each row the number of its run, and where that begins and ends."""
    begins = np.flatnonzero(first)
    number = np.cumsum(first) - 1
    ends = np.append(begins[1:], len(first))
    return number, begins[number], ends[number]


class FrameTotals:
    """Aggregates over frames.

    Of those that add whole numbers up, a frame is what is before its end without what is before its beginning. Of others partial
    aggregates are made of blocks of 1, 2, 4, 8 ... rows (a segment tree), and a frame is at most two blocks of each length: the work grows
    with the logarithm of the length, and any aggregate will do whose partial results can be merged. All frames are computed at once.
    """

    def __init__(self, calls: Sequence[AggregateCall], kinds: Mapping[str, DataType], seed: int) -> None:
        made = [accumulators_of(call, kinds.get(call.argument or ""), False) for call in calls]
        self._ranked = {one.call.name: RankedExtreme(one.call) for one in made if isinstance(one, ExtremeRows)}
        self._calls = [self._ranked[call.name].of_ranks if call.name in self._ranked else call for call in calls]
        self._kinds = {**kinds, **{one.column: BIGINT for one in self._ranked.values()}}
        self._seed = seed

    def results(self, rows: pl.DataFrame, lows: Ints, highs: Ints, so_far: pl.DataFrame | None = None) -> list[Values]:
        """Each call's value for each frame; `so_far` has for each frame the partial aggregates of what was before these rows."""
        frames, every, distinct = self._table(len(lows)), np.arange(len(lows)), dict[str, pl.Series]()
        for name, ranked in self._ranked.items():
            rows, so_far, distinct[name] = ranked.rank(rows, so_far)
        if so_far is not None:
            _merge(frames, so_far, every)
        self._cover(frames, rows, lows, highs)
        results = {call.call.name: call.result(every) for call in frames}
        ranked_results = {name: self._ranked[name].values_of(results[name], distinct[name]) for name in self._ranked}
        return [*(results | ranked_results).values()]

    def _cover(self, frames: list[Accumulators], rows: pl.DataFrame, lows: Ints, highs: Ints) -> None:
        single = self._table(rows.height)
        batch = _slot(rows, np.arange(rows.height))
        weights = CallWeights(batch)
        for call in single:
            call.fold(batch, weights.of(call.call))
        level = _export(single, rows.height)
        self._subtract(frames, level, lows, highs)
        frames = [call for call in frames if not call.subtracts]
        if frames:
            self._climb(frames, level[_columns_of(level, frames)], lows.copy(), highs.copy())

    def _subtract(self, frames: list[Accumulators], level: pl.DataFrame, lows: Ints, highs: Ints) -> None:
        """Fill the frames of the calls whose partial aggregates are whole numbers."""
        calls = [call for call in frames if call.subtracts]
        names = _columns_of(level, calls)
        if names:
            before = {name: np.append(0, np.cumsum(numbers(level[name]))) for name in names}
            parts = pl.DataFrame({name: total[highs] - total[lows] for name, total in before.items()})
            _merge(calls, parts, np.arange(len(lows)))

    def _climb(self, frames: list[Accumulators], level: pl.DataFrame, lows: Ints, highs: Ints) -> None:
        """Fill the frames of other calls, from blocks that double."""
        left = np.flatnonzero(lows < highs)
        while left.size:
            odd = left[lows[left] & 1 == 1]
            _merge(frames, take_rows(level, lows[odd]), odd)
            lows[odd] += 1
            odd = left[(highs[left] & 1 == 1) & (lows[left] < highs[left])]
            highs[odd] -= 1
            _merge(frames, take_rows(level, highs[odd]), odd)
            lows[left] >>= 1
            highs[left] >>= 1
            left = left[lows[left] < highs[left]]
            if left.size:
                level = self._pair(level)

    def _pair(self, level: pl.DataFrame) -> pl.DataFrame:
        """The partial aggregates of each two neighbours; of an odd number the last has none."""
        size = (level.height + 1) // 2
        pairs = [call for call in self._table(size) if not call.subtracts]
        for first in (0, 1):
            half = take_rows(level, np.arange(first, level.height, 2))
            _merge(pairs, half, np.arange(half.height))
        return _export(pairs, size)

    def _table(self, size: int) -> list[Accumulators]:
        """Empty accumulators of so many slots."""
        table = SlotTable()
        calls = [accumulators_of(call, self._kinds.get(call.argument or ""), False) for call in self._calls]
        for call in calls:
            call.declare(table, lambda name, row: RowBag(name, table, row, self._seed))
        table.reserve(size)
        return calls


def _merge(into: list[Accumulators], partial: pl.DataFrame, slots: Ints) -> None:
    if len(slots):
        batch = _slot(partial, slots)
        for call in into:
            call.merge(batch)


def _slot(rows: pl.DataFrame, slots: Ints) -> SlottedRows:
    """Rows on their way into a slot each."""
    hashes, number = np.zeros(len(slots), np.uint64), np.arange(len(slots))
    return SlottedRows(rows, (hashes, hashes), slots, ones(len(slots)), number, slots, number)


def _export(calls: Sequence[Accumulators], size: int) -> pl.DataFrame:
    return pl.DataFrame([column for call in calls for column in call.export(np.arange(size))])


def _columns_of(level: pl.DataFrame, calls: Sequence[Accumulators]) -> list[str]:
    return [name for name in level.columns if any(name.startswith(f"{call.call.name}$") for call in calls)]

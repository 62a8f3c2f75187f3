"""Aggregates over frames of OVER, of which many overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import BIGINT, DataType
from ouzel.runtime.operators.buffers import Ints, Values, numbers
from ouzel.runtime.operators.keyed.accumulators import Accumulators, SlottedRows
from ouzel.runtime.operators.keyed.bags import ExtremeRows
from ouzel.runtime.operators.keyed.groups import CallWeights, accumulators_of, ones
from ouzel.runtime.operators.keyed.ranked import RankedExtreme
from ouzel.runtime.state.positions import take_rows
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.table import SlotTable

SHORT = 16
"""Frames that have no more rows than so many times the rows and frames are folded row by row."""

FEW = 64
"""A frame of so many rows at most is folded row by row where the order of adding up shows."""


class FrameTotals:
    """Aggregates over frames, of which all are computed at once.

    Short frames are folded row by row. Of long ones, where an aggregate adds whole numbers up, a frame is what is before its end without
    what is before its beginning. Of others partial aggregates are made of blocks of 1, 2, 4, 8 ... rows (a segment tree), and a frame is
    at most two blocks of each length: the work grows with the logarithm of the length, and any aggregate will do whose partial results
    can be merged.

    Args:
        calls: the aggregates, of the same frames.
        kinds: the types of the columns.
        seed: of the hash of what is kept.
        repeats: the rows of a frame alone decide its value, to the last bit, whatever other rows there are; for what is said once it does
            not matter.
    """

    def __init__(self, calls: Sequence[AggregateCall], kinds: Mapping[str, DataType], seed: int, repeats: bool) -> None:
        made = [accumulators_of(call, kinds.get(call.argument or ""), False) for call in calls]
        self._ranked = {one.call.name: RankedExtreme(one.call) for one in made if isinstance(one, ExtremeRows)}
        self._calls = [self._ranked[call.name].of_ranks if call.name in self._ranked else call for call in calls]
        self._kinds = {**kinds, **{one.column: BIGINT for one in self._ranked.values()}}
        self._seed, self._repeats = seed, repeats
        read = [name for call in calls for name in (call.argument, call.filter) if name]
        self.reads = list(dict.fromkeys(read or [*kinds][:1]))
        """The columns that it needs, one at least."""

    def results(self, rows: pl.DataFrame, lows: Ints, highs: Ints, so_far: pl.DataFrame | None = None) -> list[Values]:
        """Each call's value for each frame; `so_far` has for each frame the partial aggregates of what was before these rows."""
        frames, every, distinct = self._table(len(lows)), np.arange(len(lows)), dict[str, pl.Series]()
        for name, ranked in self._ranked.items():
            rows, so_far, distinct[name] = ranked.rank(rows, so_far)
        if so_far is not None:
            _merge(frames, so_far, every)
        rounding = [call for call in frames if call.rounds and self._repeats]
        exact = [call for call in frames if call not in rounding]
        if exact:
            self._fill(exact, rows, lows, highs)
        if rounding:
            self._fill_alike(rounding, rows, lows, highs - lows)
        results = {call.call.name: call.result(every) for call in frames}
        ranked_results = {name: self._ranked[name].values_of(results[name], distinct[name]) for name in self._ranked}
        return [*(results | ranked_results).values()]

    def _fill(self, frames: list[Accumulators], rows: pl.DataFrame, lows: Ints, highs: Ints) -> None:
        """Add to each frame its rows."""
        if int((highs - lows).sum()) <= SHORT * (rows.height + len(lows)):
            _fold(frames, *_unfold(rows, lows, highs - lows, np.arange(len(lows))))
            return
        level = self._each(frames, rows)
        self._subtract(frames, level, lows, highs)
        others = [call for call in frames if not call.subtracts]
        if others:
            self._climb(others, level[_columns_of(level, others)], lows.copy(), highs.copy())

    def _fill_alike(self, frames: list[Accumulators], rows: pl.DataFrame, lows: Ints, sizes: Ints) -> None:
        """The same, where the size of a frame alone decides how its rows are added up."""
        few, many = np.flatnonzero((sizes > 0) & (sizes <= FEW)), np.flatnonzero(sizes > FEW)
        if few.size:
            _fold(frames, *_unfold(rows, lows[few], sizes[few], few))
        if many.size:
            self._stride(frames, self._each(frames, rows), lows, sizes, many)

    def _each(self, frames: list[Accumulators], rows: pl.DataFrame) -> pl.DataFrame:
        """The partial aggregates of each row."""
        single = self._table(rows.height, frames)
        _fold(single, rows, np.arange(rows.height))
        return _export(single, rows.height)

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
                level = self._pair(frames, level, np.arange(0, level.height, 2), np.arange(1, level.height, 2))

    def _stride(self, frames: list[Accumulators], level: pl.DataFrame, lows: Ints, sizes: Ints, left: Ints) -> None:
        """The same for the frames that are `left`, from blocks that begin where the frame does, the largest first.

        Of blocks those are made that a frame needs: one for each row if frames slide, and of frames that begin alike as many as in a tree.
        """
        ends = lows + sizes
        needs = _plan_blocks(level.height, lows[left], sizes[left])
        for power, (_, places) in enumerate(needs):
            odd = left[sizes[left] >> power & 1 == 1]
            ends[odd] -= 1 << power
            _merge(frames, take_rows(level, places[ends[odd]]), odd)
            if power + 1 < len(needs):
                above = needs[power + 1][0]
                level = self._pair(frames, level, places[above], places[above + (1 << power)])

    def _pair(self, frames: list[Accumulators], level: pl.DataFrame, first: Ints, second: Ints) -> pl.DataFrame:
        """The partial aggregates of the first and the second together; what has no second is as it was."""
        pairs = self._table(len(first), frames)
        for half in (first, second):
            _merge(pairs, take_rows(level, half), np.arange(len(half)))
        return _export(pairs, len(first))

    def _table(self, size: int, like: Sequence[Accumulators] | None = None) -> list[Accumulators]:
        """Empty accumulators of so many slots, of all calls or of these."""
        table = SlotTable()
        wanted = self._calls if like is None else [one.call for one in like]
        calls = [accumulators_of(call, self._kinds.get(call.argument or ""), False) for call in wanted]
        for call in calls:
            call.declare(table, lambda name, row: RowBag(name, table, row, self._seed))
        table.reserve(size)
        return calls


def _plan_blocks(height: int, lows: Ints, sizes: Ints) -> list[tuple[Ints, Ints]]:
    """Of blocks of 1, 2, 4, 8 ... rows those that frames need: where they begin, and by row the number of the block that begins there."""
    needs: list[tuple[Ints, Ints]] = []
    for power in reversed(range(int(sizes.max()).bit_length())):
        wanted = np.zeros(height, np.bool_)
        odd = sizes >> power & 1 == 1
        wanted[lows[odd] + (sizes[odd] >> power + 1 << power + 1)] = True
        for above, _ in needs[-1:]:
            wanted[above] = wanted[above + (1 << power)] = True
        needs.append((np.flatnonzero(wanted), np.cumsum(wanted) - 1))
    # all rows are there at first, whether they are needed or not
    needs[-1] = (np.arange(height), np.arange(height))
    return needs[::-1]


def _unfold(rows: pl.DataFrame, lows: Ints, sizes: Ints, frames: Ints) -> tuple[pl.DataFrame, Ints]:
    """The rows of these frames one after the other, and the number of its frame for each of them."""
    begins = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum())) + np.repeat(lows - begins, sizes)
    return take_rows(rows, places), np.repeat(frames, sizes)


def _fold(into: Sequence[Accumulators], rows: pl.DataFrame, slots: Ints) -> None:
    """Add rows, of which those of one slot stand together."""
    batch = _slot(rows, slots)
    weights = CallWeights(batch)
    for call in into:
        call.fold(batch, weights.of(call.call))


def _merge(into: list[Accumulators], partial: pl.DataFrame, slots: Ints) -> None:
    if len(slots):
        batch = _slot(partial, slots)
        for call in into:
            call.merge(batch)


def _slot(rows: pl.DataFrame, slots: Ints) -> SlottedRows:
    """Rows on their way into slots; those of one stand together."""
    hashes = slots.astype(np.uint64)  # so that what is in a bag is known by its slot
    other = np.ones(len(slots), np.bool_)
    other[1:] = slots[1:] != slots[:-1]
    first = np.flatnonzero(other)
    return SlottedRows(rows, (hashes, hashes), slots, ones(len(slots)), np.cumsum(other) - 1, slots[first], first)


def _export(calls: Sequence[Accumulators], size: int) -> pl.DataFrame:
    return pl.DataFrame([column for call in calls for column in call.export(np.arange(size))])


def _columns_of(level: pl.DataFrame, calls: Sequence[Accumulators]) -> list[str]:
    return [name for name in level.columns if any(name.startswith(f"{call.call.name}$") for call in calls)]

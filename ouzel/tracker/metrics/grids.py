"""Samples on a grid of equal steps, for charts: rates of counts, and values; NaN where nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

GridValues = npt.NDArray[np.float64]

STALE_S = 90
"""A value that nobody has repeated for so long is no longer known: samples come each minute at least."""

STEPS_MAX = 180
FINEST_S = 10
"""Steps in a chart, and the shortest one: samples come every ten seconds."""


@dataclass(frozen=True)
class Grid:
    """`count` steps of `step` seconds from `first` on, in seconds since 1970; what is after `until` is still to come."""

    first: int
    step: int
    count: int
    until: int | None = field(default=None, compare=False)

    @staticmethod
    def between(start: int, end: int) -> Grid:
        """The grid of that span: of at most STEPS_MAX steps of FINEST_S or a multiple."""
        length = max(FINEST_S, end - start)
        step = FINEST_S * -(-length // (FINEST_S * STEPS_MAX))
        first = start // step * step
        return Grid(first, step, max(1, -(-(end - first) // step)), start + length)

    @property
    def edges(self) -> npt.NDArray[np.int64]:
        """Where steps begin, and where the last one ends."""
        return np.arange(self.first, self.first + self.step * self.count + 1, self.step, dtype=np.int64)

    @property
    def clock(self) -> GridValues:
        """What the clock shows at the end of each step, or now if that is still to come."""
        ends = self.edges[1:].astype(np.float64)
        return ends if self.until is None else np.minimum(ends, self.until)

    @property
    def last(self) -> int:
        """Where the last step ends."""
        return self.first + self.step * self.count

    @property
    def nothing(self) -> GridValues:
        """Nothing known in any step."""
        return np.full(self.count, np.nan)


def rates_on(times: Sequence[int], totals: Sequence[float], grid: Grid) -> GridValues:
    """What came in a second of a count, in each step between its first and its last sample; evenly between two samples."""
    if len(times) < 2:
        return grid.nothing
    at_edges = np.interp(grid.edges, times, totals, left=np.nan, right=np.nan)
    return np.diff(at_edges) / grid.step


def last_on(times: Sequence[int], values: Sequence[float], grid: Grid) -> GridValues:
    """What a value last was at the end of each step."""
    if not times:
        return grid.nothing
    known, ends = np.asarray(times), grid.edges[1:]
    places = np.searchsorted(known, ends, side="right") - 1
    is_known = (places >= 0) & (ends - known[np.maximum(places, 0)] <= max(STALE_S, grid.step))
    return np.where(is_known, np.asarray(values, dtype=np.float64)[np.maximum(places, 0)], np.nan)


def total_of(rows: Iterable[GridValues], grid: Grid) -> GridValues:
    """The sum of all in each step, of those that are known."""
    return _reduce_rows(rows, grid, np.nansum)


def maximum_of(rows: Iterable[GridValues], grid: Grid) -> GridValues:
    """The largest of all in each step."""
    return _reduce_rows(rows, grid, np.fmax.reduce)


def minimum_of(rows: Iterable[GridValues], grid: Grid) -> GridValues:
    """The smallest of all in each step."""
    return _reduce_rows(rows, grid, np.fmin.reduce)


def _reduce_rows(rows: Iterable[GridValues], grid: Grid, reduce: Callable[..., GridValues]) -> GridValues:
    table = np.asarray(rows if isinstance(rows, np.ndarray) else list(rows)).reshape(-1, grid.count)
    if not len(table):
        return grid.nothing
    return np.where(np.isnan(table).all(axis=0), np.nan, reduce(table, axis=0))


def quotient(of: GridValues, by: GridValues) -> GridValues:
    """One by the other; nothing where that is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by > 0, of / by, np.nan)

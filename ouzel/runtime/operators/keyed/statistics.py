"""Aggregates of how pairs of numbers go together, and of the shape in which numbers lie around their mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from ouzel.compiler.functions.statistics import PAIR_MOMENTS, SHAPE_MOMENTS
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import by_variant
from ouzel.compiler.types import BIGINT, DOUBLE, DataType
from ouzel.runtime.operators.buffers import Ints, Values, numbers
from ouzel.runtime.operators.keyed.accumulators import Accumulators, SlottedRows
from ouzel.runtime.operators.keyed.bags import OfBag
from ouzel.runtime.operators.keyed.makers import accumulates
from ouzel.runtime.operators.keyed.moments import Floats
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import take_values

Parts = tuple[Ints, Sequence[Floats]]
"""How many values each part is of, and its other moments."""


@accumulates("moments of pairs")
def make_of_pairs(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """Means, spreads and joint spread of pairs."""
    assert argument is not None
    return PairsOfBag(call, argument) if retracting else PairMoments(call)


@accumulates("moments of shape")
def make_of_shape(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """The mean and the second to fourth powers of the distances from it."""
    return ShapeOfBag(call, DOUBLE) if retracting else ShapeMoments(call)


class _Merging(Accumulators):
    """Base: moments of parts make the moments of the whole, of rows that are never taken back."""

    names: tuple[str, ...]

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.types = {"count": np.int64, **dict.fromkeys(self.names, np.float64)}

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        self._add(batch, rows, (weights[rows], self.of_values(take_values(self._series(batch), rows))))

    def merge(self, batch: SlottedRows) -> None:
        counts, *moments = (numbers(self._take_merged(batch, name)) for name in self.types)
        rows = np.flatnonzero(counts)
        self._add(batch, rows, (counts[rows], [moment[rows] for moment in moments]))

    def result(self, slots: Slots) -> Values:
        return self.present(self.columns["count"][slots], [self.columns[name][slots] for name in self.names])

    def _add(self, batch: SlottedRows, rows: Ints, parts: Parts) -> None:
        """Of each group the parts given and what it has already, as one."""
        touched = batch.touched
        groups = np.concatenate([batch.groups[rows], np.arange(len(touched))])
        counts = np.concatenate([parts[0], self.columns["count"][touched]])
        moments = [
            np.concatenate([part, self.columns[name][touched]]) for name, part in zip(self.names, parts[1], strict=True)
        ]
        count, whole = self.of_parts(groups, counts, moments, len(touched))
        for name, array in zip(self.types, (count, *whole), strict=True):
            self.columns[name][touched] = array

    @abstractmethod
    def of_values(self, values: pl.Series) -> Sequence[Floats]:
        """The moments of each value alone."""

    @abstractmethod
    def of_parts(self, groups: Ints, counts: Ints, moments: Sequence[Floats], number: int) -> Parts:
        """The moments of each group."""

    @abstractmethod
    def present(self, counts: Ints, moments: Sequence[Floats]) -> Values:
        """The call's values."""


class PairMoments(_Merging):
    """CORR, COVAR and REGR of rows that are never taken back."""

    names = PAIR_MOMENTS

    def of_values(self, values: pl.Series) -> Sequence[Floats]:
        return _pair_moments(values)

    def of_parts(self, groups: Ints, counts: Ints, moments: Sequence[Floats], number: int) -> Parts:
        return moments_of_pairs(groups, counts, moments, number)

    def present(self, counts: Ints, moments: Sequence[Floats]) -> Values:
        return of_pairs(self.call, counts, moments)


class PairsOfBag(OfBag):
    """CORR, COVAR and REGR of rows that can be taken back."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        return of_pairs(self.call, *moments_of_pairs(groups, weights, _pair_moments(values), number))


class ShapeMoments(_Merging):
    """SKEWNESS and KURTOSIS of rows that are never taken back."""

    names = SHAPE_MOMENTS

    def of_values(self, values: pl.Series) -> Sequence[Floats]:
        return _shape_moments(values)

    def of_parts(self, groups: Ints, counts: Ints, moments: Sequence[Floats], number: int) -> Parts:
        return moments_of_shapes(groups, counts, moments, number)

    def present(self, counts: Ints, moments: Sequence[Floats]) -> Values:
        return of_shape(self.call, counts, moments)


class ShapeOfBag(OfBag):
    """SKEWNESS and KURTOSIS of rows that can be taken back."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        return of_shape(self.call, *moments_of_shapes(groups, weights, _shape_moments(values), number))


def _pair_moments(values: pl.Series) -> list[Floats]:
    """Of single pairs: the first value is x of CORR(x, y), y of REGR_SLOPE(y, x)."""
    x, y = (numbers(part).astype(np.float64) for part in values.struct.unnest().get_columns())
    return [x, y, *(np.zeros(len(x)) for _ in range(3))]


def _shape_moments(values: pl.Series) -> list[Floats]:
    return [numbers(values).astype(np.float64), *(np.zeros(len(values)) for _ in range(3))]


def _means(groups: Ints, counts: Ints, means: Floats, total: Floats) -> Floats:
    """The mean of each group; by distances from one of its own, so that large values of small spread lose nothing."""
    first = np.zeros(len(total))
    first[groups] = means
    mean: Floats = first + np.bincount(groups, counts * (means - first[groups]), len(total)) / np.maximum(total, 1)
    return mean


def _sums(groups: Ints, amounts: Ints | Floats, number: int) -> Floats:
    """The total of each group."""
    return np.bincount(groups, amounts, number).astype(np.float64, copy=False)


def _there(groups: Ints, counts: Ints, moments: Sequence[Floats]) -> tuple[Ints, Ints, list[Floats]]:
    """Without the parts that are of no values."""
    some = counts > 0
    return groups[some], counts[some], [moment[some] for moment in moments]


def moments_of_pairs(groups: Ints, counts: Ints, moments: Sequence[Floats], number: int) -> Parts:
    """The moments of each group of pairs (Chan, Golub and LeVeque, "Updating Formulae", COMPSTAT 1982)."""
    with np.errstate(all="ignore"):
        groups, counts, (x, y, spread_x, spread_y, joint) = _there(groups, counts, moments)
        total = _sums(groups, counts, number)
        mean_x, mean_y = (_means(groups, counts, means, total) for means in (x, y))
        dx, dy = x - mean_x[groups], y - mean_y[groups]
        sums = [
            _sums(groups, part, number)
            for part in (spread_x + counts * dx**2, spread_y + counts * dy**2, joint + counts * dx * dy)
        ]
    return total.astype(np.int64), [mean_x, mean_y, *sums]


def moments_of_shapes(groups: Ints, counts: Ints, moments: Sequence[Floats], number: int) -> Parts:
    """The same for the powers of distances from one mean (Pebay, "Formulas for Robust, One-Pass Parallel Computation", 2008)."""
    with np.errstate(all="ignore"):
        groups, counts, (means, second, third, fourth) = _there(groups, counts, moments)
        total = _sums(groups, counts, number)
        mean = _means(groups, counts, means, total)
        d = means - mean[groups]
        sums = [
            _sums(groups, part, number)
            for part in (
                second + counts * d**2,
                third + 3 * d * second + counts * d**3,
                fourth + 4 * d * third + 6 * d**2 * second + counts * d**4,
            )
        ]
    return total.astype(np.int64), [mean, *sums]


Formula = Callable[[Floats, Floats, Floats, Floats, Floats, Floats], Floats]

PAIRS: dict[str, tuple[int, bool, Formula]] = {
    "corr": (2, False, lambda n, x, y, sxx, syy, sxy: sxy / np.sqrt(sxx * syy)),
    "covar_pop": (1, False, lambda n, x, y, sxx, syy, sxy: sxy / n),
    "covar_samp": (2, False, lambda n, x, y, sxx, syy, sxy: sxy / (n - 1)),
    "regr_avgy": (1, False, lambda n, y, x, syy, sxx, sxy: y),
    "regr_avgx": (1, False, lambda n, y, x, syy, sxx, sxy: x),
    "regr_sxx": (1, False, lambda n, y, x, syy, sxx, sxy: sxx),
    "regr_syy": (1, False, lambda n, y, x, syy, sxx, sxy: syy),
    "regr_sxy": (1, False, lambda n, y, x, syy, sxx, sxy: sxy),
    "regr_slope": (2, True, lambda n, y, x, syy, sxx, sxy: sxy / sxx),
    "regr_intercept": (2, True, lambda n, y, x, syy, sxx, sxy: y - sxy / sxx * x),
    "regr_r2": (2, True, lambda n, y, x, syy, sxx, sxy: np.where(syy == 0, 1.0, sxy**2 / (sxx * syy))),
}
"""By variant: the least number of pairs that give a value, whether their x must differ, and the value."""


def of_pairs(call: AggregateCall, counts: Ints, moments: Sequence[Floats]) -> Values:
    """The call's value of these moments; NULL of too few pairs, or of none that differ."""
    if call.type == BIGINT:
        return Values(BIGINT, counts)
    least, x_must_differ, formula = by_variant(call, PAIRS)
    there = counts >= least
    if x_must_differ:
        there &= moments[3] != 0
    with np.errstate(all="ignore"):
        made = formula(counts.astype(np.float64), *moments)
    return Values(DOUBLE, made, there)


def of_shape(call: AggregateCall, counts: Ints, moments: Sequence[Floats]) -> Values:
    """The call's value of these moments; NULL of values that do not differ."""
    _, second, third, fourth = moments
    n = counts.astype(np.float64)
    with np.errstate(all="ignore"):
        made = by_variant(call, SHAPES)(n, second, third, fourth)
    return Values(DOUBLE, made, (counts > 0) & (second != 0))


SHAPES: dict[str, Callable[[Floats, Floats, Floats, Floats], Floats]] = {
    "skewness": lambda n, second, third, fourth: np.sqrt(n) * third / np.sqrt(second**3),
    "kurtosis": lambda n, second, third, fourth: n * fourth / (second * second) - 3.0,
}
"""By variant."""

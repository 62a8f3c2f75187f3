"""Aggregates of how values lie around their mean, and of their bits. Where rows can be taken back all values are kept, with weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import by_variant
from ouzel.compiler.types import DOUBLE, DataType
from ouzel.runtime.operators.buffers import Ints, Mask, Values, numbers
from ouzel.runtime.operators.keyed.accumulators import Accumulators, SlottedRows
from ouzel.runtime.operators.keyed.bags import OfBag
from ouzel.runtime.operators.keyed.makers import accumulates
from ouzel.runtime.state.index import Slots

Floats = npt.NDArray[np.float64]

SPREADS = {"var_pop": (0, False), "var_samp": (1, False), "stddev_pop": (0, True), "stddev_samp": (1, True)}
"""By how much less than the number of values the squares are divided, and whether the root is taken."""

IS_AND = {"bit_and": True, "bit_or": False, "bit_xor": False}
IS_XOR = {"bit_and": False, "bit_or": False, "bit_xor": True}
"""Of aggregates of bits: AND is OR of what is not there."""


@accumulates("moments")
def make_moments(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """The number of values, their mean and their squares around it."""
    return SpreadOfBag(call, DOUBLE) if retracting else Spread(call)


@accumulates("bits")
def make_bits(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """Values bit by bit."""
    assert argument is not None
    return BitsOfBag(call, argument) if retracting else Bits(call)


class Spread(Accumulators):
    """VAR and STDDEV of rows that are never taken back (Chan, Golub and LeVeque, "Updating Formulae", COMPSTAT 1982)."""

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.types = {"count": np.int64, "mean": np.float64, "spread": np.float64}

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        values = numbers(self._series(batch))[rows]
        self._add(batch, rows, weights[rows], values, np.zeros(len(rows)))

    def merge(self, batch: SlottedRows) -> None:
        counts, means, spreads = (numbers(self._take_merged(batch, name)) for name in self.types)
        rows = np.flatnonzero(counts)
        self._add(batch, rows, counts[rows], means[rows], spreads[rows])

    def result(self, slots: Slots) -> Values:
        return spread_of(self.call, self.columns["count"][slots], self.columns["spread"][slots])

    def _add(self, batch: SlottedRows, rows: Ints, counts: Ints, means: Floats, spreads: Floats) -> None:
        """Of each group the parts given and what it has already, as one."""
        columns, touched, number = self.columns, batch.touched, len(batch.touched)
        groups = np.concatenate([batch.groups[rows], np.arange(number)])
        counts = np.concatenate([counts, columns["count"][touched]])
        means = np.concatenate([means, columns["mean"][touched]])
        spreads = np.concatenate([spreads, columns["spread"][touched]])
        for name, array in zip(self.types, moments(groups, counts, means, spreads, number), strict=True):
            columns[name][touched] = array


def moments(groups: Ints, counts: Ints, means: Floats, spreads: Floats, number: int) -> tuple[Ints, Floats, Floats]:
    """Number, mean and squares around the mean of each group, of parts of which these are known."""
    with np.errstate(all="ignore"):
        total = np.bincount(groups, counts, number)
        some = counts > 0  # what is not there has no mean
        groups, counts, means, spreads = groups[some], counts[some], means[some], spreads[some]
        first = np.zeros(number)
        first[groups] = means  # sums are of distances, so that large values of small spread lose nothing
        mean = first + np.bincount(groups, counts * (means - first[groups]), number) / np.maximum(total, 1)
        spread = np.zeros(number)
        np.add.at(spread, groups, spreads + counts * (means - mean[groups]) ** 2)
        return total.astype(np.int64), mean, spread


def spread_of(call: AggregateCall, counts: Ints, spreads: Floats) -> Values:
    """The call's value; NULL of too few values."""
    less, is_root = by_variant(call, SPREADS)
    there = counts > less
    with np.errstate(all="ignore"):
        value = spreads / np.maximum(counts - less, 1)
    return Values(DOUBLE, np.sqrt(value) if is_root else value, there)


class SpreadOfBag(OfBag):
    """VAR and STDDEV of rows that can be taken back."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        counts, _, spreads = moments(groups, weights, numbers(values), np.zeros(len(groups)), number)
        return spread_of(self.call, counts, spreads)


class Bits(Accumulators):
    """BIT_AND, BIT_OR and BIT_XOR of rows that are never taken back."""

    rounds = False

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.types = {"bits": np.int64, "count": np.int64}

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        bits = numbers(self._series(batch))[rows].astype(np.int64)
        self._add(batch.slots[rows], ~bits if by_variant(self.call, IS_AND) else bits, weights[rows])

    def merge(self, batch: SlottedRows) -> None:
        bits, counts = (numbers(self._take_merged(batch, name)) for name in self.types)
        self._add(batch.slots, bits, counts)

    def result(self, slots: Slots) -> Values:
        return bits_of(self.call, self.columns["bits"][slots], self.columns["count"][slots] > 0)

    def _add(self, slots: Slots, bits: Ints, counts: Ints) -> None:
        operation = np.bitwise_xor if by_variant(self.call, IS_XOR) else np.bitwise_or
        operation.at(self.columns["bits"], slots, bits)
        np.add.at(self.columns["count"], slots, counts)


class BitsOfBag(OfBag):
    """BIT_AND, BIT_OR and BIT_XOR of rows that can be taken back."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        bits, found = numbers(values).astype(np.int64), np.zeros(number, np.int64)
        if by_variant(self.call, IS_XOR):
            odd = weights % 2 == 1
            np.bitwise_xor.at(found, groups[odd], bits[odd])
        else:
            np.bitwise_or.at(found, groups, ~bits if by_variant(self.call, IS_AND) else bits)
        return bits_of(self.call, found, np.bincount(groups, minlength=number) > 0)


def bits_of(call: AggregateCall, bits: Ints, there: Mask) -> Values:
    """The call's value; NULL of no values."""
    return Values(call.type, ~bits if by_variant(call, IS_AND) else bits, there)

"""Aggregates that keep how many rows there are in each of few classes of values; see `ouzel.compiler.functions.approximate`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.compiler.functions.approximate import LARGEST_ROUNDED, register_bits, splitter
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import BIGINT, DOUBLE, INT, DataType
from ouzel.runtime.operators.buffers import Ints, Values, numbers
from ouzel.runtime.operators.keyed.accumulators import Accumulators, MakeBag, SlottedRows
from ouzel.runtime.operators.keyed.gathered import Continuous, Gathered, in_lists
from ouzel.runtime.operators.keyed.makers import accumulates
from ouzel.runtime.operators.keyed.moments import Floats
from ouzel.runtime.operators.keyed.spark_hash import registers, spark_hashes
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.table import SlotTable

NEIGHBOURS = 6
"""Of how many measured estimates, those nearest, the mean bias is taken."""

RANKS, PLACES = 64, 20
"""A register and a rank in it are one number, register times RANKS plus rank, of at most PLACES bits."""

LINEAR_COUNTING_LIMITS = {9: 400, 10: 900, 11: 1800, 12: 3100, 13: 6500, 14: 15500}
"""Up to which number empty registers are counted instead, by how many bits say the register: as Spark has it."""


@accumulates("approximate distinct count")
def make_distinct_count(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """How many distinct values there are, about."""
    assert argument is not None
    return CountedRanks(call, argument) if retracting else Registers(call, argument)


@accumulates("approximate percentile")
def make_percentile(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """The value at a fraction of the way through all, about."""
    return RoundedContinuous(call, DOUBLE)


class RoundedContinuous(Continuous):
    """APPROX_PERCENTILE."""

    @property
    def content(self) -> tuple[object, ...]:
        return (*super().content, _error(self.call))

    def _series(self, batch: SlottedRows) -> pl.Series:
        return pl.Series(round_digits(numbers(super()._series(batch)), _error(self.call)))


def round_digits(values: Floats, error: float) -> Floats:
    """The values without the binary digits that the error allows to leave out."""
    with np.errstate(all="ignore"):
        parts = values * splitter(error)
        return np.where(np.abs(values) < LARGEST_ROUNDED, parts - (parts - values), values) + 0.0


class Registers(Accumulators):
    """APPROX_COUNT_DISTINCT of rows that are never taken back: of each register the largest rank, and what comes of all of them."""

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call)
        self._kind, self._bits = kind, register_bits(_error(call))
        self.types = {"filled": np.int64, "less": np.float64}

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        super().declare(table, make_bag)
        self._ranks = make_bag(f"registers {self.call.name}", {"register": pl.Int32()})

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        self._raise(batch, batch.groups[rows], find_registers(self._series(batch), self._kind, self._bits)[rows])

    def merge(self, batch: SlottedRows) -> None:
        lists = self._take_merged(batch, "bag")
        sizes = lists.list.len().fill_null(0).to_numpy()
        if sizes.any():
            parts = lists.drop_nulls().explode(empty_as_null=False).struct.unnest()
            self._raise(batch, np.repeat(batch.groups, sizes), numbers(parts["value"]))

    def export(self, slots: Slots) -> list[pl.Series]:
        pairs = self._ranks.of(slots)
        owners = self._ranks.owners(pairs)
        order = np.argsort(slots)
        groups = order[np.searchsorted(slots, owners, sorter=order)]
        rows = np.argsort(groups, kind="stable")
        found = numbers(self._ranks.frame(pairs)["register"]) * RANKS + self._ranks.weights[pairs]
        value = pl.Series("value", found, dtype=pl.Int32)
        entries = pl.DataFrame([value, pl.Series("weight", np.ones(len(pairs), np.int64))])[rows]
        return [in_lists(groups[rows], entries.to_struct(), len(slots)).alias(f"{self.call.name}$bag")]

    def result(self, slots: Slots) -> Values:
        size = 1 << self._bits
        filled, less = (self.columns[name][slots] for name in self.types)
        return Values(BIGINT, estimate(size - filled, size - less, self._bits))

    def _raise(self, batch: SlottedRows, groups: Ints, found: Ints) -> None:
        """Take the largest rank of each group's registers, told by so many of RANKS, where it is larger than the one that is there."""
        if not len(groups):
            return
        places = np.unique(groups << PLACES | found)
        last = np.append(places[1:] // RANKS != places[:-1] // RANKS, True)
        groups, found = places[last] >> PLACES, places[last] & ((1 << PLACES) - 1)
        owners, first = batch.touched[groups], batch.first[groups]
        registers, ranks = found // RANKS, found % RANKS
        row = pl.DataFrame({"register": pl.Series(registers, dtype=pl.Int32)})
        pairs = self._ranks.find_or_put((batch.key[0][first], batch.key[1][first]), owners, row)
        held = self._ranks.weights
        before, after = held[pairs], np.maximum(held[pairs], ranks)
        held[pairs] = after
        np.add.at(self.columns["filled"], owners, before == 0)
        np.add.at(self.columns["less"], owners, np.ldexp(1.0, -before) - np.ldexp(1.0, -after))


class CountedRanks(Gathered):
    """APPROX_COUNT_DISTINCT of rows that can be taken back: how many rows there are of each rank in each register."""

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call, INT)
        self._hashed, self._bits = kind, register_bits(_error(call))

    @property
    def content(self) -> tuple[object, ...]:
        return (*super().content, self._bits)

    def _series(self, batch: SlottedRows) -> pl.Series:
        return pl.Series(find_registers(super()._series(batch), self._hashed, self._bits), dtype=pl.Int32)

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        places = np.sort(groups << PLACES | numbers(values))
        last = np.append(places[1:] // RANKS != places[:-1] // RANKS, True)[: len(places)]
        groups, ranks = places[last] >> PLACES, places[last] % RANKS
        empty = (1 << self._bits) - np.bincount(groups, minlength=number)
        inverse = empty + np.bincount(groups, np.ldexp(1.0, -ranks), number)
        return Values(BIGINT, estimate(empty, inverse, self._bits))


def find_registers(series: pl.Series, kind: DataType, bits: int) -> Ints:
    """Of each value its register, so many of RANKS, and the rank that it has there; anything where it is NULL."""
    found = np.empty(len(series), np.int64)
    registers(spark_hashes(series, kind), bits, found)
    return found


def _error(call: AggregateCall) -> float:
    error = call.parameters[-1]
    assert isinstance(error, float)
    return error


def estimate(empty: Ints, inverse: npt.NDArray[Any], bits: int) -> Ints:
    """How many distinct values groups have, of how many of their registers are empty, and of the sum over all of 2 to the minus rank."""
    size = 1 << bits
    raw = 0.7213 / (1 + 1.079 / size) * size * size / inverse
    better = np.where(raw < 5 * size, raw - _bias(raw, bits), raw)
    linear = size * np.log(size / np.maximum(empty, 1))
    few = (empty > 0) & ((linear <= LINEAR_COUNTING_LIMITS[bits]) | (raw <= 2.5 * size))
    counts: Ints = np.floor(np.where(few, linear, better) + 0.5).astype(np.int64)
    return counts


def _bias(raw: Floats, bits: int) -> Floats:
    """By how much estimates are too large: the mean of what was measured next to them."""
    estimates, biases = _load_biases()[bits]
    most = len(estimates)
    low = np.maximum(np.searchsorted(estimates, raw) - NEIGHBOURS + 1, 0)
    high = np.minimum(low + NEIGHBOURS, most)
    for _ in range(NEIGHBOURS):
        beyond = np.abs(raw - estimates[np.minimum(high, most - 1)])
        nearer = (high < most) & (beyond < np.abs(raw - estimates[np.minimum(low, most - 1)]))
        low, high = low + nearer, high + nearer
    places = low[:, None] + np.arange(NEIGHBOURS)
    held = np.where(places < high[:, None], biases[np.minimum(places, most - 1)], 0.0)
    mean: Floats = held.sum(axis=1) / (high - low)
    return mean


@cache
def _load_biases() -> dict[int, tuple[Floats, Floats]]:
    """Estimates and their biases: the figures that HyperLogLog++'s authors measured ("Empirical bias correction"), as Spark has them."""
    frame = pl.read_csv(str(files("ouzel.compiler.functions").joinpath("distinct_bias.csv")))
    parts = frame.partition_by("precision", as_dict=True)
    return {int(bits[0]): (part["estimate"].to_numpy(), part["bias"].to_numpy()) for bits, part in parts.items()}

"""What an aggregate keeps for each call: accumulators by slot, into which rows or partial aggregates are folded.

The columns of a partial aggregate are those that `GroupState.columns` of the aggregate's entry says; here is the arithmetic on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.compiler.functions.aggregates import LIMB_BITS
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import by_variant
from ouzel.compiler.types import BIGINT, DOUBLE, DataType, DecimalType, FloatType
from ouzel.runtime.operators.buffers import Ints, Mask, Values, count_array, numbers, to_series, valid_rows, wide_words
from ouzel.runtime.operators.keyed import kernels
from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.hashing import Words
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.table import SlotTable

IS_MEAN = {"total": False, "mean": True}
"""Of the aggregates that keep a total: whether it is divided by how many values there are."""

LARGEST = {"least": False, "largest": True}
"""Of the aggregates that keep one value: whether it is the largest."""


@dataclass(slots=True)
class SlottedRows:
    """Rows on their way into state: each with its group's slot and a weight.

    Attributes:
        frame: the rows.
        key: the hashes of their group keys.
        slots: each row's slot.
        weights: each row's weight; 1 where the stream only appends.
        groups: each row's group, numbered within the batch.
        touched: the slot of each group of the batch.
        first: a row of each group.
    """

    frame: pl.DataFrame
    key: tuple[Words, Words]
    slots: Slots
    weights: Ints
    groups: Ints
    touched: Slots
    first: Ints


MakeBag = Callable[[str, Mapping[str, pl.DataType]], RowBag]
"""From a name and the columns of a row to a bag of rows for each group."""


class Accumulators:
    """Base: the state of one call, in columns `types` of the groups' table unless it declares more."""

    columns: SlotColumns
    types: Mapping[str, npt.DTypeLike]
    subtracts = False
    """Whether its accumulators are whole numbers, of which those of some rows can be subtracted from those of more."""
    rounds = True
    """Whether the last digits of its result may depend on which rows are merged first."""
    always_changes = False
    """Whether its result is another after each row."""

    def __init__(self, call: AggregateCall) -> None:
        self.call = call

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        """Declare what is kept for each group of the table."""
        self.columns = table.columns(f"of {self.call.name}", self.types)

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        """Add the rows with these weights; 0 leaves a row out."""
        raise NotImplementedError

    def merge(self, batch: SlottedRows) -> None:
        """Add partial aggregates: rows with this call's accumulator columns."""
        raise NotImplementedError

    def export(self, slots: Slots) -> list[pl.Series]:
        """The accumulator columns of these slots: those of `types`, unless the entry has others."""
        return [pl.Series(f"{self.call.name}${name}", self.columns[name][slots]) for name in self.types]

    def result(self, slots: Slots) -> Values:
        """The call's value for these slots."""
        raise NotImplementedError

    def empty(self, slots: Slots) -> Mask:
        """Which slots are as if nothing had ever been added."""
        every: Mask = np.logical_and.reduce([array[slots] == 0 for array in self.columns.arrays])
        return every

    def on_restored(self, slots: Slots) -> None:
        """The state of these slots, all there are, has come from a snapshot: find again what is derived from it."""

    def _series(self, batch: SlottedRows) -> pl.Series:
        assert self.call.argument is not None
        return batch.frame[self.call.argument]

    def _take_merged(self, batch: SlottedRows, name: str) -> pl.Series:
        return batch.frame[f"{self.call.name}${name}"]


class Tally(Accumulators):
    """COUNT and COUNT_IF: the caller's weights have left out what does not count."""

    subtracts, rounds = True, False

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.types = {"count": np.int64}
        self.always_changes = call.argument is None and call.filter is None

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        kernels.add_amounts(self.columns["count"], batch.slots, weights)

    def merge(self, batch: SlottedRows) -> None:
        kernels.add_amounts(self.columns["count"], batch.slots, count_array(self._take_merged(batch, "count")))

    def result(self, slots: Slots) -> Values:
        return Values(BIGINT, self.columns["count"][slots])


class _Limbs(Accumulators):
    """Exact totals of integers and decimals, in digits of LIMB_BITS."""

    digits: int
    subtracts, rounds = True, False

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.types = {**{f"limb{place}": np.int64 for place in range(self.digits)}, "count": np.int64}

    def merge(self, batch: SlottedRows) -> None:
        for name in self.types:
            kernels.add_amounts(self.columns[name], batch.slots, count_array(self._take_merged(batch, name)))
        self._carry(batch.touched)

    def _carry(self, slots: Slots) -> None:
        """Bring all digits but the last back into their range."""
        for place in range(self.digits - 1):
            digit = self.columns[f"limb{place}"][slots]
            self.columns[f"limb{place + 1}"][slots] += digit >> LIMB_BITS
            self.columns[f"limb{place}"][slots] = digit & 0xFFFFFFFF

    def _counts(self, slots: Slots) -> tuple[Ints, Mask | None]:
        """How many values there are; and where there is one at all."""
        counts = self.columns["count"][slots]
        some = counts > 0
        return counts, None if some.all() else some


class ShortTotal(_Limbs):
    """SUM and AVG of what fits 64 bits: integers, and decimals of up to 18 digits."""

    digits = 2

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call)
        self.kind = kind

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        series = self._series(batch)
        values = wide_words(series)[0] if isinstance(self.kind, DecimalType) else numbers(series)
        kernels.add_limbs(*self.columns.arrays, batch.slots, values, weights)

    def result(self, slots: Slots) -> Values:
        low, high = self.columns["limb0"][slots], self.columns["limb1"][slots]
        counts, some = self._counts(slots)
        if isinstance(self.kind, DecimalType):
            return _decimal(
                self.call, self.kind, np.stack([(high << LIMB_BITS) | low, high >> LIMB_BITS], axis=1), counts, some
            )
        if by_variant(self.call, IS_MEAN):
            total = high.astype(np.float64) * float(1 << LIMB_BITS) + low
            return Values(DOUBLE, total / np.maximum(counts, 1), some)
        beyond = (high >= 1 << 31) | (high < -(1 << 31))
        return Values(BIGINT, (high << LIMB_BITS) | low, some, beyond if beyond.any() else None)


class WideTotal(_Limbs):
    """SUM and AVG of decimals of more than 18 digits."""

    digits = 4

    def __init__(self, call: AggregateCall, kind: DecimalType) -> None:
        super().__init__(call)
        self.kind = kind

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        kernels.add_wide_limbs(*self.columns.arrays, batch.slots, *wide_words(self._series(batch)), weights)

    def result(self, slots: Slots) -> Values:
        limbs = [self.columns[f"limb{place}"][slots] for place in range(4)]
        words = np.stack([(limbs[1] << LIMB_BITS) | limbs[0], (limbs[3] << LIMB_BITS) | limbs[2]], axis=1)
        counts, some = self._counts(slots)
        values = _decimal(self.call, self.kind, words, counts, some)
        lost = (limbs[3] >= 1 << 31) | (limbs[3] < -(1 << 31))
        if lost.any():
            values.refused = lost if values.refused is None else lost | values.refused
        return values


def _decimal(call: AggregateCall, kind: DecimalType, words: Ints, counts: Ints, some: Mask | None) -> Values:
    assert isinstance(call.type, DecimalType)
    if by_variant(call, IS_MEAN):
        low, high = (np.ascontiguousarray(words[:, place]).view(np.uint64) for place in (0, 1))
        out = np.empty((2, len(words)), np.uint64)
        more = call.type.scale - kind.scale
        kernels.average_limbs(low, high, np.maximum(counts, 1), more, out[0], out[1])
        words = np.ascontiguousarray(out.T).view(np.int64)
    beyond = _beyond(words, call.type.precision)
    return Values(call.type, words, some, beyond if beyond.any() else None)


def _beyond(words: Ints, precision: int) -> Mask:
    """Which 128-bit numbers have more decimal digits than `precision`."""
    bound = 10**precision
    low, high = words[:, 0].view(np.uint64) if words.flags.c_contiguous else words[:, 0].astype(np.uint64), words[:, 1]

    def at_least(number: int) -> Mask:
        limit_high, limit_low = number >> 64, np.uint64(number & 0xFFFFFFFFFFFFFFFF)
        reached: Mask = (high > limit_high) | ((high == limit_high) & (low >= limit_low))
        return reached

    return at_least(bound) | ~at_least(1 - bound)


class FloatTotal(Accumulators):
    """SUM and AVG of FLOAT and DOUBLE."""

    def __init__(self, call: AggregateCall, retracting: bool) -> None:
        super().__init__(call)
        self.retracting = retracting
        special = dict.fromkeys(("nan", "infinity", "minus_infinity", "count"), np.int64)
        self.types = {"sum": np.float64, "error": np.float64, **special}

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        kernels.add_floats(*self.columns.arrays, batch.slots, numbers(self._series(batch)), weights)

    def merge(self, batch: SlottedRows) -> None:
        ones = np.ones(len(batch.slots), np.int64)
        for name in ("sum", "error"):
            kernels.add_floats(*self.columns.arrays, batch.slots, numbers(self._take_merged(batch, name)), ones)
        names = ("nan", "infinity", "minus_infinity") if self.retracting else ()
        for name in names:
            kernels.add_amounts(self.columns[name], batch.slots, count_array(self._take_merged(batch, name)))
        counts = count_array(self._take_merged(batch, "count"))
        kernels.add_amounts(self.columns["count"], batch.slots, counts - 2)  # each of the two above counted as a value

    def export(self, slots: Slots) -> list[pl.Series]:
        columns = {
            name: self.columns[name][slots] for name in ("sum", "error", "nan", "infinity", "minus_infinity", "count")
        }
        if not self.retracting:
            columns["sum"] = self._special(slots, columns["sum"])
            for name in ("nan", "infinity", "minus_infinity"):
                del columns[name]
        return [pl.Series(f"{self.call.name}${name}", array) for name, array in columns.items()]

    def result(self, slots: Slots) -> Values:
        counts = self.columns["count"][slots]
        total = self.columns["sum"][slots]
        finite = np.isfinite(total)
        total = self._special(slots, np.where(finite, total + self.columns["error"][slots], total))
        if by_variant(self.call, IS_MEAN):
            total = total / np.maximum(counts, 1)
        some = counts > 0
        return Values(DOUBLE, total, None if some.all() else some)

    def _special(self, slots: Slots, total: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        nan, plus, minus = (self.columns[name][slots] > 0 for name in ("nan", "infinity", "minus_infinity"))
        if not (nan | plus | minus).any():
            return total
        return np.where(nan | (plus & minus), np.nan, np.where(plus, np.inf, np.where(minus, -np.inf, total)))


class Extreme(Accumulators):
    """MIN and MAX of what is held as a number, of rows that are never taken back."""

    rounds = False

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.float = isinstance(call.type, FloatType)
        self.largest = by_variant(call, LARGEST)
        self.types = {"value": np.float64 if self.float else np.int64, "seen": np.int64}

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        self._keep(batch, self._series(batch), weights)

    def merge(self, batch: SlottedRows) -> None:
        series = self._take_merged(batch, "value")
        valid = valid_rows(series)
        self._keep(batch, series, batch.weights if valid is None else valid.astype(np.int64))

    def export(self, slots: Slots) -> list[pl.Series]:
        values = self.result(slots)
        assert isinstance(values.data, np.ndarray)
        return [to_series(f"{self.call.name}$value", values.kind, values.data, values.valid)]

    def result(self, slots: Slots) -> Values:
        seen = self.columns["seen"][slots] > 0
        return Values(self.call.type, self.columns["value"][slots], None if seen.all() else seen)

    def _keep(self, batch: SlottedRows, series: pl.Series, weights: Ints) -> None:
        keep = kernels.keep_extreme_float if self.float else kernels.keep_extreme
        keep(*self.columns.arrays, batch.slots, numbers(series), weights, self.largest)

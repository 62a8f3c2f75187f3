"""The keyed state of an aggregate: group keys to slots, and each call's accumulators by slot."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, Aggregate, AggregateCall
from ouzel.compiler.plan.aggregates import ROWS, counts_rows, is_distinct, row_of
from ouzel.compiler.types import ArrayType, DataType, DecimalType, FloatType, RowType, Schema
from ouzel.runtime.operators.buffers import (
    Ints,
    Values,
    concatenate_picked,
    count_array,
    has_numbers,
    true_rows,
    valid_rows,
    without_sign_of_zero,
)
from ouzel.runtime.operators.keyed import kernels
from ouzel.runtime.operators.keyed.accumulators import (
    Accumulators,
    Extreme,
    FloatTotal,
    ShortTotal,
    SlottedRows,
    Tally,
    WideTotal,
)
from ouzel.runtime.operators.keyed.bags import Distinct, ExtremeBag, ExtremeRows, share_values
from ouzel.runtime.operators.keyed.best import make_best
from ouzel.runtime.operators.keyed.makers import accumulates, maker_of
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.hashing import key_hashes
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.table import SlotTable

_ones = np.ones(1 << 14, np.int64)


def ones(size: int) -> Ints:
    """So many ones, not to be written to."""
    global _ones
    if size > _ones.size:
        _ones = np.ones(2 * size, np.int64)
    return _ones[:size]


def row_weights(frame: pl.DataFrame) -> Ints:
    """The weight of each row: 1 in a frame without WEIGHT. Not to be written to."""
    return count_array(frame[WEIGHT]) if frame.columns[-1:] == [WEIGHT] else ones(frame.height)


def accumulators_of(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """The state that `call` of a column of type `argument` needs: what the row of its aggregate names."""
    made = maker_of(row_of(call))(call, argument, retracting)
    # what is distinct may take values back, but never more than it has put in
    return Distinct(made, argument) if argument is not None and is_distinct(call) else made


@accumulates("count")
def make_count(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """How many there are; the caller's weights leave out what does not count."""
    return Tally(call)


@accumulates("total")
def make_total(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """A total and how many values it is of."""
    assert argument is not None
    match argument:
        case FloatType():
            return FloatTotal(call, retracting)
        case DecimalType(precision=precision) if precision > 18:
            return WideTotal(call, argument)
    return ShortTotal(call, argument)


@accumulates("extreme")
def make_extreme(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """The least or largest value."""
    assert argument is not None
    if retracting:
        return ExtremeBag(call, argument)
    if isinstance(argument, ArrayType | RowType):
        return make_best(call, argument, retracting)
    return Extreme(call) if has_numbers(argument) else ExtremeRows(call)


class Groups:
    """All groups of one aggregate, in one task.

    `columns` has by slot: "rows", how many rows the group has (its weights added up); "end", its window's end.
    """

    def __init__(self, aggregate: Aggregate, seed: int, state: StateContext | None = None) -> None:
        """Kept in `state`, with keys; without it they live no longer than a batch."""
        source = aggregate.input.schema
        self._aggregate, self.seed, self._state = aggregate, seed, state
        self.keys = list(aggregate.keys)
        self.window_end = aggregate.window[1] if aggregate.window else None
        self._merges_rows = counts_rows(aggregate)
        self._floats = [name for name in self.keys if isinstance(source[name].type, FloatType)]
        kinds = source.polars()
        self.kept = state.table("groups", {name: kinds[name] for name in self.keys}) if state else None
        self.table = self.kept or SlotTable()
        self.columns = self.table.columns("group", {"rows": np.int64, "end": np.int64})
        retracting = aggregate.input.retracts
        self.calls = [accumulators_of(call, _argument_type(call, source), retracting) for call in aggregate.calls]
        self._plain, self._values = (
            [call for call in self.calls if not isinstance(call, Distinct)],
            share_values(self.calls),
        )
        for call in self.calls:
            call.declare(self.table, self._make_bag)

    def normal(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with -0.0 in its keys as 0.0, which is the same group."""
        return frame.with_columns(map(without_sign_of_zero, self._floats)) if self._floats else frame

    def locate(self, frame: pl.DataFrame, weights: Ints, ends: Ints | None) -> SlottedRows:
        """Find or make each row's slot."""
        key = key_hashes(frame, self.keys, self.seed)
        slots = self.table.locate(key)
        groups, touched, first = self.table.touch(slots)
        if self.kept is not None:
            self.kept.keep(touched, frame, self.keys, first)
        if ends is not None:
            self.columns["end"][touched] = ends[first]
        return SlottedRows(frame, key, slots, weights, groups, touched, first)

    def fold(self, batch: SlottedRows) -> None:
        """Add rows of the aggregate's input."""
        kernels.add_amounts(self.columns["rows"], batch.slots, batch.weights)
        weights = CallWeights(batch)
        for call in self._plain:
            call.fold(batch, weights.of(call.call))
        for values in self._values:
            values.fold(batch, [weights.of(call.call) for call in values.calls])

    def merge(self, batch: SlottedRows) -> None:
        """Add partial aggregates."""
        kernels.add_amounts(self.columns["rows"], batch.slots, batch.weights)
        for call in self.calls:
            call.merge(batch)

    def apart(self, frame: pl.DataFrame, partial: bool) -> Apart:
        """Each row, or partial aggregate, as a group of its own, beside all that is here."""
        fresh = Groups(self._aggregate, self.seed)
        slots = np.arange(frame.height)
        hashes = np.zeros(frame.height, np.uint64)
        weights = self.weights(frame, partial)
        batch = SlottedRows(frame, (hashes, hashes), slots, weights, slots, slots, slots)
        fresh.table.reserve(frame.height)
        (fresh.merge if partial else fresh.fold)(batch)
        return Apart(fresh, frame)

    def weights(self, frame: pl.DataFrame, partial: bool) -> Ints:
        """How many rows each row stands for."""
        if not partial:
            return row_weights(frame)
        return count_array(frame[ROWS]) if self._merges_rows else ones(frame.height)

    def results(self, slots: Slots) -> list[Values]:
        """Each call's value for these groups."""
        return [call.result(slots) for call in self.calls]

    def export(self, slots: Slots) -> list[pl.Series]:
        """ROWS, where partial aggregates carry it, and the accumulator columns."""
        rows = [pl.Series(ROWS, self.columns["rows"][slots])] if self._merges_rows else []
        return [*rows, *(column for call in self.calls for column in call.export(slots))]

    def find_ended(self, end_us: int) -> Slots:
        """The groups of windows that end at or before `end_us`."""
        return self.table.find_expired(self.columns["end"], end_us)

    def find_empty(self, slots: Slots) -> Slots:
        """Those of `slots` in which nothing is left: no rows, and no sum of rows yet to come and gone."""
        slots = slots[self.columns["rows"][slots] == 0]
        for call in self.calls:
            slots = slots[call.empty(slots)]
        return slots

    def remove(self, slots: Slots) -> None:
        """Forget these groups."""
        self.table.remove(slots)

    def on_restored(self) -> None:
        """The groups have come from a snapshot."""
        slots = self.table.index.slots()
        for call in self.calls:
            call.on_restored(slots)

    def _make_bag(self, name: str, row: Mapping[str, pl.DataType]) -> RowBag:
        return self._state.bag(name, self.table, row) if self._state else RowBag(name, self.table, row, self.seed)


class Apart:
    """Rows of a frame each as a group of its own."""

    def __init__(self, groups: Groups, frame: pl.DataFrame) -> None:
        self._groups, self._slots = groups, np.arange(frame.height)
        self._keys = frame.select(groups.keys).get_columns()

    def accumulators(self) -> pl.DataFrame:
        """What PartialAggregate gives of them."""
        return pl.DataFrame([*self._keys, *self._groups.export(self._slots)])

    def results(self) -> pl.DataFrame:
        """What Aggregate gives of them, and ROWS, how many rows each stands for."""
        rows = pl.Series(ROWS, self._groups.columns["rows"][self._slots])
        values = zip(self._groups.calls, self._groups.results(self._slots), strict=True)
        results = [concatenate_picked([(value, self._slots)], state.call.name) for state, value in values]
        return pl.DataFrame([*self._keys, rows, *results])


def _argument_type(call: AggregateCall, source: Schema) -> DataType | None:
    return source[call.argument].type if call.argument else None


class CallWeights:
    """The batch's weights as each call has them: 0 for rows that it leaves out, for its value is NULL, or its FILTER not TRUE."""

    def __init__(self, batch: SlottedRows) -> None:
        self._batch = batch
        self._where: dict[tuple[str, ...], Ints] = {(): batch.weights}
        self._known: dict[tuple[tuple[str, ...], str | None], Ints] = {}

    def of(self, call: AggregateCall) -> Ints:
        """Those of one call, not to be written to. What several calls ask for is found once."""
        names = tuple(filter(None, (call.filter, call.argument if row_of(call).variant == "true" else None)))
        asked = names, call.argument
        if asked not in self._known:
            valid = valid_rows(self._batch.frame[call.argument]) if call.argument else None
            self._known[asked] = self._weigh(names) if valid is None else self._weigh(names) * valid
        return self._known[asked]

    def _weigh(self, names: tuple[str, ...]) -> Ints:
        if names not in self._where:
            masks = [true_rows(self._batch.frame[name]) for name in names]
            self._where[names] = self._batch.weights * np.logical_and.reduce(masks)
        return self._where[names]

"""Accumulators that keep values: DISTINCT, those that look at all values of a group, and MIN and MAX of values that are no numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import by_variant
from ouzel.compiler.types import DataType, FloatType, to_polars
from ouzel.runtime.operators.buffers import Ints, Mask, Values, has_numbers, numbers, valid_rows
from ouzel.runtime.operators.keyed import kernels
from ouzel.runtime.operators.keyed.accumulators import LARGEST, Accumulators, MakeBag, SlottedRows
from ouzel.runtime.operators.keyed.kept_row import KeptRow
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import filter_rows, take_values
from ouzel.runtime.state.table import SlotTable

FoundValues = tuple[Ints, pl.Series, Ints, int]
"""Values of so many groups: the place of each one's group, the values, and their weights."""


class Distinct(Accumulators):
    """An aggregate of distinct values: of all rows of one (group, value) the first counts +1, and the last taken back -1."""

    def __init__(self, inner: Accumulators, kind: DataType) -> None:
        super().__init__(inner.call)
        self.inner, self.values = inner, DistinctValues(self, kind)

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        self.inner.declare(table, make_bag)
        if self.values.calls[0] is self:
            self.values.declare(make_bag)

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        """As the only call that counts its values; of several `DistinctValues.fold` is told the weights together."""
        self.values.fold(batch, [weights])

    def result(self, slots: Slots) -> Values:
        return self.inner.result(slots)

    def empty(self, slots: Slots) -> Mask:
        empty: Mask = self.inner.empty(slots) & self.values.empty(slots)
        return empty


class DistinctValues:
    """The values that a column has in each group, kept once for all calls that count them, with a weight for each of these.

    `COUNT(DISTINCT x), COUNT(DISTINCT x) FILTER (WHERE …)` look a value up once. (Flink's split of distinct aggregates keeps a bit for each
    filter in the same way.)
    """

    def __init__(self, call: Distinct, kind: DataType) -> None:
        self.calls, self._kind = [call], kind

    def declare(self, make_bag: MakeBag) -> None:
        """Declare what is kept for each group."""
        self._bag = make_bag(f"distinct {self.calls[0].call.name}", {"value": to_polars(self._kind)})
        others = self.calls[1:]
        self._others = self._bag.columns("others", {call.call.name: np.int64 for call in others}) if others else None

    def fold(self, batch: SlottedRows, weights: Sequence[Ints]) -> None:
        """Add the rows with the weights that each call has for them; a row that all leave out is not looked up."""
        rows = np.flatnonzero(np.logical_or.reduce([each != 0 for each in weights]))
        if not rows.size:
            return
        pairs = self._find(batch, rows)
        for call, held, own in zip(self.calls, self._weights(), weights, strict=True):
            crossing = np.zeros(len(own), np.int64)
            kernels.cross_zero(held, pairs, rows, own, crossing)
            call.inner.fold(batch, crossing)
        gone = np.logical_and.reduce([held[pairs] == 0 for held in self._weights()])
        if gone.any():
            self._bag.remove(np.unique(pairs[gone]))

    def _find(self, batch: SlottedRows, rows: Ints) -> Slots:
        """The slots of what these rows have."""
        (low, high), argument = batch.key, self.calls[0].call.argument
        assert argument is not None
        values = batch.frame[argument].alias("value")
        if rows.size == len(values):
            return self._bag.find_or_put(batch.key, batch.slots, values.to_frame())
        return self._bag.find_or_put((low[rows], high[rows]), batch.slots[rows], values[rows].to_frame())

    def empty(self, slots: Slots) -> Mask:
        """Which groups have no values."""
        return self._bag.empty(slots)

    def _weights(self) -> list[Ints]:
        """Of each call its weights, by the bag's slots."""
        return [self._bag.weights, *(self._others.arrays if self._others else ())]


class ValueBag:
    """The values that a column has in each group, each once with its weight, kept once for all calls that read them."""

    def __init__(self, reader: KeepsValues, kind: DataType) -> None:
        self.readers, self._kind = [reader], kind

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        """Declare what is kept for each group."""
        name = f"values {self.readers[0].call.name}"
        self.rows = make_bag(name, {"value": to_polars(self._kind)})
        self._results = table.columns(name, {"known": np.bool_}, derived=True)

    def add(self, batch: SlottedRows, rows: Ints, values: pl.DataFrame, weights: Ints) -> None:
        """Add values with their weights to the groups of these rows of the batch."""
        groups = batch.slots[rows]
        pairs = self.rows.find_or_put((batch.key[0][rows], batch.key[1][rows]), groups, values)
        self.rows.add(pairs, weights)
        self.rows.sweep(pairs)
        self._results["known"][groups] = False
        for reader in self.readers:
            reader.look(batch, pairs)

    def refresh(self, slots: Slots) -> None:
        """Have the readers compute anew the results of those of these groups to which values have been added since they did."""
        changed = slots[~self._results["known"][slots]]
        if changed.size:
            found = self.find(changed)
            for reader in self.readers:
                reader.remember(changed, found)
            self._results["known"][changed] = True

    def find(self, slots: Slots) -> FoundValues:
        """All values of these groups."""
        pairs = self.rows.of(slots)
        groups = positions_of(slots, self.rows.owners(pairs))
        return groups, self.rows.frame(pairs)["value"], self.rows.weights[pairs], len(slots)


class KeepsValues(Accumulators):
    """Base: all values of a group are kept with their weights."""

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call)
        self._kind, self.values = kind, ValueBag(self, kind)

    @property
    def content(self) -> tuple[object, ...]:
        """What is in its bag: calls of which this is equal share one."""
        return (self.call.argument, self.call.filter, self.call.distinct, self._kind)

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        if self._is_first:
            self.values.declare(table, make_bag)
        self.columns = table.columns(f"of {self.call.name}", self.types, derived=True)

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        if self._is_first and rows.size:
            values = take_values(self._series(batch).alias("value"), rows).to_frame()
            self.values.add(batch, rows, values, weights[rows])

    def look(self, batch: SlottedRows, pairs: Slots) -> None:
        """The weights of these pairs of (group, value) have changed; those of weight 0 are not kept any more."""

    def remember(self, slots: Slots, found: FoundValues) -> None:
        """Compute the results of these groups, of all their values."""

    def empty(self, slots: Slots) -> Mask:
        return self.values.rows.empty(slots)

    @property
    def _is_first(self) -> bool:
        """Whether it writes the bag."""
        return self.values.readers[0] is self


class OfBag(KeepsValues):
    """Base: the result is computed from all values on demand; a numeric result is cached until values are added."""

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call, kind)
        value = np.float64 if isinstance(call.type, FloatType) else np.int64
        self._is_number = has_numbers(call.type)
        self.types = {"value": value, "valid": np.bool_} if self._is_number else {}

    def result(self, slots: Slots) -> Values:
        if not self._is_number:
            return self.compute(*self.values.find(slots))
        self.values.refresh(slots)
        valid = self.columns["valid"][slots]
        return Values(self.call.type, self.columns["value"][slots], None if valid.all() else valid)

    def remember(self, slots: Slots, found: FoundValues) -> None:
        if self._is_number:
            made = self.compute(*found)
            if isinstance(made.data, pl.Series):
                made = Values(made.kind, numbers(made.data), valid_rows(made.data))
            self.columns["value"][slots] = made.data
            self.columns["valid"][slots] = True if made.valid is None else made.valid

    @abstractmethod
    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        """The result of each group, of all its values, each once with its weight."""


def positions_of(slots: Slots, owners: Slots) -> Ints:
    """The place of each owner among the slots."""
    order = np.argsort(slots)
    places: Ints = order[np.searchsorted(slots, owners, sorter=order)]
    return places


def share_values(calls: Sequence[Accumulators]) -> list[DistinctValues]:
    """Let the calls of the same values keep them together; all that there is to keep of distinct values."""
    bags: dict[tuple[object, ...], ValueBag] = {}
    for call in calls:
        reader = call.inner if isinstance(call, Distinct) else call
        if isinstance(reader, KeepsValues):
            values = bags.setdefault(reader.content, reader.values)
            if values is not reader.values:
                values.readers.append(reader)
                reader.values = values
    return _share_distinct(calls)


def _share_distinct(calls: Iterable[Accumulators]) -> list[DistinctValues]:
    shared: dict[str | None, DistinctValues] = {}
    for call in calls:
        if isinstance(call, Distinct):
            values = shared.setdefault(call.call.argument, call.values)
            if values is not call.values:
                values.calls.append(call)
                call.values = values
    return list(shared.values())


class ExtremeRows(KeptRow):
    """MIN and MAX of text, bytes and decimals, of rows that are never taken back."""

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call, call.type)
        self._largest = by_variant(call, LARGEST)

    def keep(self, batch: SlottedRows, values: pl.Series, rows: Ints) -> None:
        value = pl.col("value").max() if self._largest else pl.col("value").min()
        new = (
            pl.DataFrame([pl.Series("group", batch.groups[rows]), take_values(values, rows)])
            .group_by("group")
            .agg(value)
        )
        slots, found = batch.touched[new["group"].to_numpy()], new.select("value")
        better = self._kept.missing(slots)
        held = np.flatnonzero(~better)
        if held.size:
            old, ours = self._kept.take(slots[held]).to_series(), take_values(found.to_series(), held)
            better[held] = ((ours > old) if self._largest else (ours < old)).to_numpy()
        self._kept.put(slots[better], filter_rows(found, better))


class ExtremeBag(KeepsValues):
    """MIN and MAX of rows that can be taken back: which of its values is the best of a group.

    Only a group whose best value has gone looks through its other values.
    """

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call, kind)
        self.types = {"best": np.int64}

    def look(self, batch: SlottedRows, pairs: Slots) -> None:
        pairs, held, groups = self.values.rows.touch(pairs)[1], self.values.rows.weights, batch.touched
        best = self.columns["best"][groups]
        lost = (best == 0) | (held[best - 1] <= 0)
        candidates = self._candidates(pairs, groups, lost)
        self.columns["best"][groups[lost]] = 0
        self._choose(candidates)

    def result(self, slots: Slots) -> Values:
        best = self.columns["best"][slots]
        return Values(self.call.type, self.values.rows.frame_with_gaps(best - 1).to_series())

    def on_restored(self, slots: Slots) -> None:
        self._choose(self.values.rows.of(slots))

    def _candidates(self, pairs: Slots, groups: Slots, lost: Mask) -> Slots:
        """Every pair that may be the best of its group now."""
        kept = groups[~lost]
        known = np.zeros(self.columns.capacity, np.bool_)
        known[kept] = True
        come = pairs[(self.values.rows.weights[pairs] > 0) & known[self.values.rows.owners(pairs)]]
        return np.concatenate([self.values.rows.of(groups[lost]), come, self.columns["best"][kept] - 1])

    def _choose(self, candidates: Slots) -> None:
        if not candidates.size:
            return
        values = self.values.rows.frame(candidates).to_series()
        owners = pl.Series("group", self.values.rows.owners(candidates))
        ordered = pl.DataFrame([owners, values.alias("value"), pl.Series("pair", candidates)]).sort("group", "value")
        groups, pairs = ordered["group"].to_numpy(), ordered["pair"].to_numpy()
        edges = np.flatnonzero(groups[1:] != groups[:-1])
        chosen = np.append(edges, len(groups) - 1) if by_variant(self.call, LARGEST) else np.append(0, edges + 1)
        self.columns["best"][groups[chosen]] = pairs[chosen] + 1

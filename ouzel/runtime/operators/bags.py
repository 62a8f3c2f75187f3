"""Accumulators that keep values: DISTINCT, and MIN and MAX of rows that can be taken back or of values that are no numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import by_variant
from ouzel.compiler.types import DataType, to_polars
from ouzel.runtime.operators import kernels
from ouzel.runtime.operators.accumulators import LARGEST, Accumulators, MakeBag, SlottedRows
from ouzel.runtime.operators.buffers import Ints, Mask, Values
from ouzel.runtime.operators.kept_row import KeptRow
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import filter_rows, take_values
from ouzel.runtime.state.table import SlotTable


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


def share_values(calls: Iterable[Accumulators]) -> list[DistinctValues]:
    """Let the calls that count distinct values of one column keep them together; all that there is to keep."""
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


class ExtremeBag(Accumulators):
    """MIN and MAX of rows that can be taken back: every value of a group with its weight, and which of them is the best.

    Only a group whose best value has gone looks through its other values.
    """

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call)
        self._largest, self._kind = by_variant(call, LARGEST), kind

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        self.columns = table.columns(f"of {self.call.name}", {"best": np.int64}, derived=True)
        self._values = make_bag(f"values {self.call.name}", {"value": to_polars(self._kind)})

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        if not rows.size:
            return
        pairs = self._add(batch, rows, weights[rows])
        held, groups = self._values.weights, batch.touched
        best = self.columns["best"][groups]
        lost = (best == 0) | (held[best - 1] <= 0)
        candidates = self._candidates(pairs, groups, lost)
        self._values.sweep(pairs)
        self.columns["best"][groups[lost]] = 0
        self._choose(candidates)

    def result(self, slots: Slots) -> Values:
        best = self.columns["best"][slots]
        return Values(self.call.type, self._values.frame_with_gaps(best - 1).to_series())

    def empty(self, slots: Slots) -> Mask:
        return self._values.empty(slots)

    def restored(self, slots: Slots) -> None:
        self._choose(self._values.of(slots))

    def _add(self, batch: SlottedRows, rows: Ints, weights: Ints) -> Slots:
        """Add weights to the pairs of (group, value); returns the pairs touched."""
        values = take_values(self._series(batch).alias("value"), rows).to_frame()
        pairs = self._values.find_or_put((batch.key[0][rows], batch.key[1][rows]), batch.slots[rows], values)
        self._values.add(pairs, weights)
        return self._values.touch(pairs)[1]

    def _candidates(self, pairs: Slots, groups: Slots, lost: Mask) -> Slots:
        """Every pair that may be the best of its group now."""
        kept = groups[~lost]
        known = np.zeros(self.columns.capacity, np.bool_)
        known[kept] = True
        come = pairs[(self._values.weights[pairs] > 0) & known[self._values.owners(pairs)]]
        return np.concatenate([self._values.of(groups[lost]), come, self.columns["best"][kept] - 1])

    def _choose(self, candidates: Slots) -> None:
        if not candidates.size:
            return
        values = self._values.frame(candidates).to_series()
        owners = pl.Series("group", self._values.owners(candidates))
        ordered = pl.DataFrame([owners, values.alias("value"), pl.Series("pair", candidates)]).sort("group", "value")
        groups, pairs = ordered["group"].to_numpy(), ordered["pair"].to_numpy()
        edges = np.flatnonzero(groups[1:] != groups[:-1])
        chosen = np.append(edges, len(groups) - 1) if self._largest else np.append(0, edges + 1)
        self.columns["best"][groups[chosen]] = pairs[chosen] + 1

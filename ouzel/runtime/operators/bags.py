"""Accumulators that keep values: DISTINCT, and MIN and MAX of rows that can be taken back or of values that are no numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.functions.aggregates import by_function
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import DataType, to_polars
from ouzel.runtime.operators import kernels
from ouzel.runtime.operators.accumulators import LARGEST, Accumulators, Batch
from ouzel.runtime.operators.buffers import Ints, Mask, Values, valid_rows
from ouzel.runtime.state import kernels as index_kernels
from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.hashing import extend_hashes
from ouzel.runtime.state.index import KeyIndex, Slots
from ouzel.runtime.state.rows import RowStore


class Distinct(Accumulators):
    """An aggregate of distinct values: of all rows of one (group, value) the first counts +1, and the last taken back -1."""

    def __init__(self, inner: Accumulators, seed: int) -> None:
        super().__init__(inner.call)
        self._inner, self._seed = inner, seed
        self._index = KeyIndex()
        self._pairs = SlotColumns({"weight": np.int64, "end": np.int64})

    def reserve(self, limit: int) -> None:
        self._inner.reserve(limit)

    def fold(self, batch: Batch, weights: Ints) -> None:
        assert self.call.argument is not None
        hashes = extend_hashes(batch.key, batch.frame, [self.call.argument], self._seed)
        pairs = self._index.find_or_insert(*hashes)
        self._pairs.reserve(self._index.limit)
        if batch.ends is not None:
            self._pairs["end"][pairs] = batch.ends
        crossing = np.empty(len(pairs), np.int64)
        kernels.cross_zero(self._pairs["weight"], pairs, weights, crossing)
        self._inner.fold(batch, crossing)
        gone = pairs[self._pairs["weight"][pairs] == 0]
        if gone.size:
            self._remove(np.unique(gone))

    def result(self, slots: Slots) -> Values:
        return self._inner.result(slots)

    def empty(self, slots: Slots) -> Mask:
        return self._inner.empty(slots)

    def clear(self, slots: Slots) -> None:
        self._inner.clear(slots)

    def close_windows(self, end_us: int) -> None:
        pairs = self._index.slots()
        self._remove(pairs[self._pairs["end"][pairs] <= end_us])

    def _remove(self, pairs: Slots) -> None:
        self._index.remove(pairs)
        self._pairs.clear(pairs)


class ExtremeRows(Accumulators):
    """MIN and MAX of text, bytes and decimals, of rows that are never taken back: the best value so far of each group."""

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self._largest = by_function(call, LARGEST)
        self._best = RowStore({"value": to_polars(call.type)})

    def reserve(self, limit: int) -> None:
        """The store grows by itself."""

    def fold(self, batch: Batch, weights: Ints) -> None:
        self._keep(batch, self._series(batch), np.flatnonzero(weights))

    def merge(self, batch: Batch) -> None:
        series = self._merged(batch, "value")
        valid = valid_rows(series)
        self._keep(batch, series, np.arange(len(series)) if valid is None else np.flatnonzero(valid))

    def export(self, slots: Slots) -> list[pl.Series]:
        data = self.result(slots).data
        assert isinstance(data, pl.Series)
        return [data.alias(f"{self.call.name}$value")]

    def result(self, slots: Slots) -> Values:
        return Values(self.call.type, _with_gaps(self._best, slots, ~self._best.missing(slots)))

    def empty(self, slots: Slots) -> Mask:
        return self._best.missing(slots)

    def clear(self, slots: Slots) -> None:
        self._best.free(slots)

    def _keep(self, batch: Batch, series: pl.Series, rows: Ints) -> None:
        if not rows.size:
            return
        value = pl.col("value").max() if self._largest else pl.col("value").min()
        rows_frame = pl.DataFrame([pl.Series("group", batch.groups[rows]), series.alias("value")[rows]])
        new = rows_frame.group_by("group").agg(value)
        slots, found = batch.touched[new["group"].to_numpy()], new.select("value")
        better = self._best.missing(slots)
        held = np.flatnonzero(~better)
        if held.size:
            old, ours = self._best.take(slots[held]).to_series(), found[held].to_series()
            better[held] = ((ours > old) if self._largest else (ours < old)).to_numpy()
        self._best.put(slots[better], found.filter(better))


class ExtremeBag(Accumulators):
    """MIN and MAX of rows that can be taken back: every value of a group with its weight, and which of them is the best.

    Only a group whose best value has gone looks through its other values. They are linked by slot, in both directions.
    """

    def __init__(self, call: AggregateCall, kind: DataType, seed: int) -> None:
        super().__init__(call)
        self._largest, self._seed = by_function(call, LARGEST), seed
        self._index = KeyIndex()
        self._pairs = SlotColumns(dict.fromkeys(("weight", "next", "previous", "group", "end", "mark"), np.int64))
        self._values = RowStore({"value": to_polars(kind)})
        self.columns = SlotColumns({"head": np.int64, "best": np.int64})
        self._seen = 1

    def fold(self, batch: Batch, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        if not rows.size:
            return
        pairs = self._add(batch, rows, weights[rows])
        held, groups = self._pairs["weight"], batch.touched
        best = self.columns["best"][groups]
        lost = (best == 0) | (held[best - 1] <= 0)
        candidates = self._candidates(pairs, groups, lost)
        self._remove_empty(pairs)
        self.columns["best"][groups[lost]] = 0
        if candidates.size:
            self._choose(candidates)

    def result(self, slots: Slots) -> Values:
        best = self.columns["best"][slots]
        return Values(self.call.type, _with_gaps(self._values, best - 1, best > 0))

    def close_windows(self, end_us: int) -> None:
        pairs = self._index.slots()
        self._forget(pairs[self._pairs["end"][pairs] <= end_us])

    def _add(self, batch: Batch, rows: Ints, weights: Ints) -> Slots:
        """Add weights, link new pairs of (group, value) to their group; returns the pairs touched."""
        assert self.call.argument is not None
        low, high = extend_hashes(batch.key, batch.frame, [self.call.argument], self._seed)
        pairs = self._index.find_or_insert(low[rows], high[rows])
        self._pairs.reserve(self._index.limit)
        numbering, touched, first = np.empty((3, len(pairs)), np.int64)
        count = index_kernels.touch(pairs, self._pairs["mark"], self._seen, numbering, touched, first)
        self._seen += len(pairs)
        touched, first = touched[:count], rows[first[:count]]
        new = self._values.missing(touched)
        if new.any():
            self._values.put(touched[new], self._series(batch).alias("value").to_frame()[first[new]])
            self._pairs["end"][touched[new]] = 0 if batch.ends is None else batch.ends[first[new]]
            kernels.link(
                touched[new], batch.slots[first[new]], self.columns["head"], self._pairs["next"],
                self._pairs["previous"], self._pairs["group"],
            )  # fmt: skip
        kernels.add(self._pairs["weight"], pairs, weights)
        return touched

    def _candidates(self, pairs: Slots, groups: Slots, lost: Mask) -> Slots:
        """Every pair that may be the best of its group now."""
        room = np.empty(len(self._index), np.int64)
        heads, following = self.columns["head"], self._pairs["next"]
        number = kernels.walk(groups[lost], heads, following, self._pairs["weight"], room)
        kept = groups[~lost]
        known = np.zeros(self.columns.capacity, np.bool_)
        known[kept] = True
        come = pairs[(self._pairs["weight"][pairs] > 0) & known[self._pairs["group"][pairs]]]
        return np.concatenate([room[:number], come, self.columns["best"][kept] - 1])

    def _choose(self, candidates: Slots) -> None:
        groups = self._pairs["group"][candidates]
        values = self._values.take(candidates).to_series()
        columns = [pl.Series("group", groups), values.alias("value"), pl.Series("pair", candidates)]
        ordered = pl.DataFrame(columns).sort("group", "value")
        groups, pairs = ordered["group"].to_numpy(), ordered["pair"].to_numpy()
        edges = np.flatnonzero(groups[1:] != groups[:-1])
        chosen = np.append(edges, len(groups) - 1) if self._largest else np.append(0, edges + 1)
        self.columns["best"][groups[chosen]] = pairs[chosen] + 1

    def _remove_empty(self, pairs: Slots) -> None:
        gone = pairs[self._pairs["weight"][pairs] == 0]
        if gone.size:
            kernels.unlink(
                gone, self.columns["head"], self._pairs["next"], self._pairs["previous"], self._pairs["group"]
            )
            self._forget(gone)

    def _forget(self, pairs: Slots) -> None:
        self._index.remove(pairs)
        self._pairs.clear(pairs)
        self._values.free(pairs)


def _with_gaps(store: RowStore, slots: Slots, there: Mask) -> pl.Series:
    """The single column of these slots' rows, NULL where there is none."""
    if there.all():
        return store.take(slots).to_series()
    values = store.take(slots[there]).to_series()
    if not len(values):
        return pl.Series(values.name, [None] * len(slots), dtype=values.dtype)
    spread = values[np.maximum(np.cumsum(there) - 1, 0)]
    return pl.select(pl.when(pl.Series(there)).then(spread)).to_series()

"""Aggregates that keep one value of each group: what MIN and MAX of text and MIN_BY, FIRST_VALUE and their like have in common."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import DataType, to_polars
from ouzel.runtime.operators.buffers import Ints, Mask, Values, valid_rows
from ouzel.runtime.operators.keyed.accumulators import Accumulators, MakeBag, SlottedRows
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.table import SlotTable


class KeptRow(Accumulators):
    """Base: the best value so far of each group, of rows that are never taken back."""

    rounds = False

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call)
        self._kind = kind

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        self._kept = table.rows(f"of {self.call.name}", {"value": to_polars(self._kind)})

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        self._keep_best(batch, self._series(batch), np.flatnonzero(weights))

    def merge(self, batch: SlottedRows) -> None:
        series = self._take_merged(batch, "value")
        valid = valid_rows(series)
        self._keep_best(batch, series, np.arange(len(series)) if valid is None else np.flatnonzero(valid))

    def export(self, slots: Slots) -> list[pl.Series]:
        return [self._values(slots).alias(f"{self.call.name}$value")]

    def result(self, slots: Slots) -> Values:
        return Values(self.call.type, self._values(slots))

    def empty(self, slots: Slots) -> Mask:
        return self._kept.missing(slots)

    def _values(self, slots: Slots) -> pl.Series:
        """The value kept of each slot, NULL where there is none."""
        return self._kept.take_with_gaps(slots).to_series()

    def _keep_best(self, batch: SlottedRows, series: pl.Series, rows: Ints) -> None:
        if rows.size:
            self.keep(batch, series.alias("value"), rows)

    @abstractmethod
    def keep(self, batch: SlottedRows, values: pl.Series, rows: Ints) -> None:
        """Keep the best of these rows, one at least, and of what is held of their groups."""

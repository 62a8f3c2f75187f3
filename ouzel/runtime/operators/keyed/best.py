"""Aggregates that are, or are part of, the first or last row of a group in an order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ouzel.compiler.functions.gathering import Orders, orders_of
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import by_variant
from ouzel.compiler.types import DataType
from ouzel.runtime.operators.buffers import Ints, Values
from ouzel.runtime.operators.keyed.accumulators import Accumulators, SlottedRows
from ouzel.runtime.operators.keyed.bags import OfBag
from ouzel.runtime.operators.keyed.kept_row import KeptRow
from ouzel.runtime.operators.keyed.makers import accumulates
from ouzel.runtime.operators.keyed.value_order import group_ends, ordered_rows, spread, take_last_field
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import take_values


@dataclass(frozen=True)
class Best:
    """Which row of a group is wanted, and what of it.

    Attributes:
        orders: how the fields of the ROW are ordered; empty if the whole value is, as it is.
        last: whether the last row is wanted.
        is_part: whether the result is the ROW's last field.
    """

    orders: Orders
    last: bool
    is_part: bool

    def rows(self, groups: Ints, values: pl.Series) -> Ints:
        """The row wanted of each group that has one."""
        rows = ordered_rows(groups, values, self.orders)
        return rows[group_ends(groups[rows], self.last)]

    def result(self, call: AggregateCall, kind: DataType, values: pl.Series) -> Values:
        """The call's value, of the rows that are wanted."""
        return Values(call.type, take_last_field(values, kind) if self.is_part else values)


BEST = {
    "least": (False, False), "largest": (True, False), "min_by": (False, True), "max_by": (True, True),
    "first_value": (False, True), "last_value": (True, True),
}  # fmt: skip
"""By variant: whether the last row is wanted, and whether the result is its last field."""


@accumulates("best")
def make_best(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """The best row of each group so far, or all of them where they can be taken back."""
    assert argument is not None
    best = Best(orders_of(call.parameters), *by_variant(call, BEST))
    return BestOfBag(call, argument, best) if retracting else BestRow(call, argument, best)


class BestRow(KeptRow):
    """The best row of rows that are never taken back."""

    def __init__(self, call: AggregateCall, kind: DataType, best: Best) -> None:
        super().__init__(call, kind)
        self._best = best

    def result(self, slots: Slots) -> Values:
        return self._best.result(self.call, self._kind, self._values(slots))

    def keep(self, batch: SlottedRows, values: pl.Series, rows: Ints) -> None:
        new = batch.slots[rows]
        touched = np.unique(new)
        held = touched[~self._kept.missing(touched)]
        slots, values = np.append(held, new), take_values(values, rows)
        if held.size:
            values = pl.concat([self._kept.take(held).to_series(), values])
        best = self._best.rows(slots, values)
        fresh = best[best >= len(held)]
        self._kept.put(slots[fresh], take_values(values, fresh).to_frame())


class BestOfBag(OfBag):
    """The best row of rows that can be taken back."""

    def __init__(self, call: AggregateCall, kind: DataType, best: Best) -> None:
        super().__init__(call, kind)
        self._best = best

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        rows = self._best.rows(groups, values)
        return self._best.result(self.call, self._kind, spread(groups[rows], take_values(values, rows), number))

"""LIFE: for each row, when the lifetime of its key began. Keys expire by STATE_TTL."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import Over
from ouzel.compiler.plan.over import LIFE
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, Values, concatenate_picked, numbers
from ouzel.runtime.operators.ordered.changing_over import ChangingOver
from ouzel.runtime.operators.ordered.frames import Layout
from ouzel.runtime.operators.ordered.over import PassingOver


class AssigningLives(PassingOver):
    """Rows are emitted in the order of their times, so the beginning of a lifetime is final when its first row is emitted.

    State per key: the time of its last row, and the beginning of its lifetime.
    """

    def __init__(self, node: Over, seed: int) -> None:
        super().__init__(node, seed)
        (self._call,) = node.calls
        self._lives = self._table.columns("lives", {"last": np.int64, "since": np.int64})

    def fresh(self) -> Operator:
        return AssigningLives(self._node, self._seed)

    def _answer(self, layout: Layout) -> pl.DataFrame:
        owners, first = layout.rows["$owner"].to_numpy(), layout.places == layout.begin
        times: Ints = numbers(layout.rows[self._closes]) * self._unit
        before = np.where(first, self._lives["last"][owners], np.roll(times, 1))
        goes_on = (~first | (self._counts["rows"][owners] > 0)) & (times - before <= self._call.number)
        since = np.where(goes_on, self._lives["since"][owners], times)
        since = since[np.maximum.accumulate(np.where(first | ~goes_on, layout.places, 0))]
        last = layout.end - 1 == layout.places
        self._lives["last"][owners[last]], self._lives["since"][owners[last]] = times[last], since[last]
        values = Values(self._call.type, since // self._unit)
        made = concatenate_picked([(values, layout.places)], self._call.name)
        return layout.rows.select(self._node.input.schema.names).with_columns(made)


def over(node: Over, seed: int) -> Operator:
    """The operator of an Over."""
    if any(call.function == LIFE for call in node.calls):
        return AssigningLives(node, seed)
    return PassingOver(node, seed) if node.closes else ChangingOver(node, seed)

"""Recompute and difference: what is said of a key is computed anew from the key's rows, and what has changed leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.consolidate import consolidate, with_weight
from ouzel.runtime.operators.keyed.expiring_keys import Lifetimes
from ouzel.runtime.operators.keyed.groups import row_weights
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import take_rows


class RecomputeAndDifference(Operator):
    """Base: keeps the rows of each key, and for the keys that a batch touches tells the difference `compute` makes.

    Args:
        name: the operator's stable name.
        row: the columns of its input, without the weight.
        keys: those of them that make a key.
        seed: of the hash of keys.
        order_by: a column by which `compute` sees the rows of a key, NULLs first; None for any order.
    """

    stateful = True
    _lifetimes: Lifetimes | None = None

    def __init__(
        self, name: str, row: Mapping[str, pl.DataType], keys: Sequence[str], seed: int, order_by: str | None = None
    ) -> None:
        super().__init__()
        self._names, self._keys, self._seed = list(row), list(keys), seed
        self.state = StateContext(name, seed, keys)
        self._table = self.state.table("keys", {key: row[key] for key in keys})
        self._rows = self.state.bag("rows", self._table, row, order_by)

    def compute(self, rows: pl.DataFrame) -> pl.DataFrame:
        """What is said of some keys, given all their rows, key by key: one frame for all, which depends on `rows` alone."""
        raise NotImplementedError

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What was said of the batch's keys and holds no more with -1, what is new with +1."""
        if not frame.height:
            return None
        key, owners, _, touched = self._table.enter(frame, self._keys)
        if self._lifetimes is not None:
            self._lifetimes.renew(owners, frame)
        before = self._say(touched)
        rows = self._rows.find_or_put(key, owners, frame)
        self._rows.add(rows, row_weights(frame))
        self._rows.sweep(rows)
        after = self._say(touched)
        self._table.release(touched)
        return difference(before, after)

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Forget the keys whose time is over; what was said of them stays."""
        if self._lifetimes is not None:
            self._table.remove(self._lifetimes.over(watermark_us))
        return None

    def _say(self, owners: Slots) -> pl.DataFrame:
        slots = self._rows.of(owners)
        return self.compute(self._rows.frame(np.repeat(slots, self._rows.weights[slots])))


def difference(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame | None:
    """What leads from one answer to the other: each row with -1 or +1, as often as it goes or comes."""
    changes = consolidate(pl.concat([with_weight(before, -1), with_weight(after, 1)]))
    weights = row_weights(changes)
    times = np.abs(weights)
    if (times != 1).any():
        changes = take_rows(changes, np.repeat(np.arange(changes.height), times))
        changes = changes.with_columns(pl.Series(WEIGHT, np.sign(np.repeat(weights, times))))
    return changes if changes.height else None

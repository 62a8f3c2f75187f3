"""Which keys have had no row for so long that they are forgotten."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import Aggregate, Lifetime, Over, TopN
from ouzel.compiler.types import DataType
from ouzel.runtime.operators.buffers import numbers
from ouzel.runtime.operators.rowwise.rows import us_of
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.table import Kept

_FAR = 1 << 62
"""Earlier than all times, if taken from 0. Moments are kept as how much later they are, so that 0, with which a slot begins, is never."""

_LOOKS = 16
"""So often in a lifetime all keys are looked at: what is kept goes a sixteenth of it late at most, and looking costs next to nothing."""


class Lifetimes:
    """The moments at which the keys of a table are forgotten."""

    def __init__(self, table: Kept, lifetime: Lifetime, time: DataType) -> None:
        self._table, self._lifetime, self._unit = table, lifetime, us_of(time)
        self._ends = table.columns("lifetime", {"end": np.int64})
        self._next_us = -_FAR

    def renew(self, slots: Slots, rows: pl.DataFrame) -> None:
        """These rows have come, each of the key in its slot."""
        times = numbers(rows[self._lifetime.column]) * self._unit
        np.maximum.at(self._ends["end"], slots, times + self._lifetime.us + _FAR)
        self._table.mark_changed(slots)

    def over(self, watermark_us: int) -> Slots:
        """The slots of which no row can come any more; some of them later than they might be told."""
        if watermark_us < self._next_us:
            return np.empty(0, np.int64)
        self._next_us = watermark_us + self._lifetime.us // _LOOKS
        return self._table.find_expired(self._ends["end"], min(watermark_us, _FAR - 1) + _FAR)


def lifetimes_of(node: Aggregate | Over | TopN, table: Kept) -> Lifetimes | None:
    """When the node's keys, which the table has, are forgotten; None if never."""
    forgets = node.lifetime
    return Lifetimes(table, forgets, node.input.schema[forgets.column].type) if forgets else None

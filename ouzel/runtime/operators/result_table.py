"""ResultTable: the table that a changelog adds up to, kept up to date change by change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, SortKey
from ouzel.compiler.types import Schema
from ouzel.runtime.operators.consolidate import consolidate
from ouzel.runtime.operators.keyed import kernels
from ouzel.runtime.operators.ordered.frames import sort_rows
from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.hashing import PRIVATE_SEED, key_hashes
from ouzel.runtime.state.index import KeyIndex
from ouzel.runtime.state.rows import RowStore


class ResultTable:
    """A multiset of rows. Frames without WEIGHT only add; a row taken back before it came is waited for (a Z-set).

    Args:
        schema: its columns.
        sorted_by: the order in which it gives its rows; empty for that in which they came.
    """

    def __init__(self, schema: Schema, sorted_by: Sequence[SortKey] = ()) -> None:
        self._schema, self._sorted_by = schema.polars(), sorted_by
        self._index = KeyIndex()
        self._weights = SlotColumns({"weight": np.int64})
        self._rows = RowStore(self._schema)
        self._added: list[pl.DataFrame] = []

    def apply(self, frame: pl.DataFrame) -> None:
        """Fold one frame of changes in; its columns are taken by position."""
        if not frame.height:
            return
        if frame.columns[-1:] != [WEIGHT]:
            self._added.append(self._name(frame))
            return
        net = consolidate(frame)
        rows = self._name(net.drop(WEIGHT))
        slots = self._index.find_or_insert(*key_hashes(rows, rows.columns, PRIVATE_SEED))
        self._weights.reserve(self._index.limit)
        new = np.flatnonzero(self._rows.missing(slots))
        if new.size:
            self._rows.put(slots[new], rows[new])
        kernels.add_amounts(self._weights["weight"], slots, net[WEIGHT].to_numpy())
        gone = slots[self._weights["weight"][slots] == 0]
        if gone.size:
            self._index.remove(gone)
            self._rows.free(gone)

    def frame(self) -> pl.DataFrame:
        """The table as it stands, rows in its order."""
        slots = self._index.slots()
        weights = self._weights["weight"][slots]
        slots = self._rows.order(np.repeat(slots, np.maximum(weights, 0)))
        if len(self._added) > 1:
            self._added = [pl.concat(self._added)]
        return sort_rows(pl.concat([*self._added, self._rows.take(slots)], rechunk=True), (), self._sorted_by)

    def rows(self) -> list[dict[str, Any]]:
        """The table as Python rows."""
        return self.frame().to_dicts()

    def _name(self, frame: pl.DataFrame) -> pl.DataFrame:
        names = list(self._schema)
        return frame if frame.columns == names else frame.rename(dict(zip(frame.columns, names, strict=True)))

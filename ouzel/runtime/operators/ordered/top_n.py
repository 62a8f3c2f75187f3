"""Top-N: the first rows of each partition, and what changes about them."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import TopN
from ouzel.compiler.types import BIGINT
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, to_series
from ouzel.runtime.operators.keyed.expiring_keys import lifetimes_of
from ouzel.runtime.operators.ordered.first_rows import NumberedTop
from ouzel.runtime.operators.ordered.frames import Layout, find_changes, sort_rows
from ouzel.runtime.operators.recompute import RecomputeAndDifference, difference
from ouzel.runtime.state.positions import filter_rows, take_rows


class ChangingTop(RecomputeAndDifference):
    """Keeps all rows: each may come up when others are taken back. A batch costs the sorting of the partitions that it touches."""

    def __init__(self, node: TopN, seed: int) -> None:
        super().__init__(f"top {node.stable_id}", node.input.schema.polars(), node.partition, seed)
        self._node, self._lifetimes = node, lifetimes_of(node, self._table)

    def fresh(self) -> Operator:
        return type(self)(self._node, self._seed)

    def compute(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The first rows of some partitions, with their places if these are asked for."""
        rows, places = self._place(rows)
        chosen = (places > self._node.skip) & (places <= self._node.most)
        made = filter_rows(rows[self._names], chosen)
        return made.hstack([to_series(self._node.name, BIGINT, places[chosen])]) if self._node.name else made

    def _place(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
        """The rows in order, and the place of each."""
        node = self._node
        rows = sort_rows(rows, node.partition, node.sorted_by)
        layout = Layout(rows, find_changes(rows, node.partition), node.order)
        match node.function:
            case "row_number":
                return rows, layout.places - layout.begin + 1
            case "rank":
                return rows, layout.peers_begin - layout.begin + 1
        return rows, layout.peers - layout.peers[layout.begin] + 1


class GrowingTop(ChangingTop):
    """The same by rank, of rows that are never taken back: it keeps those that are among the first, for the others never will be."""

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What changes about the first rows of the batch's partitions."""
        if self._lifetimes is not None:
            self._lifetimes.renew(self._table.enter(frame, self._keys).slots, frame)
        fresh = self._first(frame[self._names])
        if not fresh.height:
            return None
        key, owners, _, touched = self._table.enter(fresh, self._keys)
        slots = self._rows.of(touched)
        slots = np.repeat(slots, self._rows.weights[slots])
        held = self._rows.frame(slots)
        both = pl.concat(
            [
                held.hstack([pl.Series("$at", slots)]),
                fresh.hstack([pl.Series("$at", -1 - np.arange(fresh.height))]),
            ]
        )
        after = self._first(both)
        at = after["$at"].to_numpy()
        new = -1 - at[at < 0]
        if not new.size:
            return None
        self._exchange(slots, at[at >= 0])
        rows = self._rows.find_or_put((key[0][new], key[1][new]), owners[new], take_rows(fresh, new))
        self._rows.add(rows, np.ones(len(rows), np.int64))
        return difference(self._show(held), self._show(after))

    def _first(self, rows: pl.DataFrame) -> pl.DataFrame:
        rows, places = self._place(rows)
        return filter_rows(rows, places <= self._node.most)

    def _show(self, kept: pl.DataFrame) -> pl.DataFrame:
        """What is said of rows that are among the first: all of it, unless their places are asked for."""
        return self.compute(kept) if self._node.name or self._node.skip else kept[self._names]

    def _exchange(self, before: Ints, after: Ints) -> None:
        """Forget the rows that are not among the first any more; each slot is there as often as its row."""
        gone = np.bincount(before, minlength=1).astype(np.int64)
        gone[: after.max() + 1 if after.size else 0] -= np.bincount(after)
        slots = np.flatnonzero(gone)
        self._rows.add(slots, -gone[slots])
        self._rows.mark_changed(slots)
        self._rows.sweep(slots)


def top_n(node: TopN, seed: int) -> Operator:
    """The operator of a TopN."""
    if node.input.retracts:
        return ChangingTop(node, seed)
    return NumberedTop(node, seed) if node.function == "row_number" else GrowingTop(node, seed)

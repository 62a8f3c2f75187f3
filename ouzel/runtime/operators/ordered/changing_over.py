"""OVER of rows that change: what a batch changes about the rows of its partitions leaves at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, AggregateCall, Over, SortKey
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, Mask
from ouzel.runtime.operators.consolidate import consolidate, with_weight
from ouzel.runtime.operators.keyed.aggregate import overflow_of
from ouzel.runtime.operators.keyed.groups import row_weights
from ouzel.runtime.operators.ordered import order_kernels
from ouzel.runtime.operators.ordered.first_rows import RowsByCode, order_codes
from ouzel.runtime.operators.ordered.frames import Layout, sort_rows
from ouzel.runtime.operators.ordered.over import Calls, find_overflows, with_results
from ouzel.runtime.operators.recompute import difference
from ouzel.runtime.operators.rowwise.rows import refuse_rows
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import filter_rows, take_rows

_RUN, _NUMBER, _HASH = "$run", "$number", "$hash"

_Refused = list[tuple[pl.DataFrame, AggregateCall]]
"""Rows, with weights, for which a call has no value."""


class _Both(NamedTuple):
    """The rows of partitions before and after a batch, each as often as it is there: slots, and in which of the two it is."""

    slots: Slots
    before: Mask
    after: Mask


class ChangingOver(RowsByCode):
    """Keeps all rows. Those of the partitions that a batch touches are put in order, by one number each where that tells them apart; what
    is said of a row is computed, before and after, only where that may be another.
    """

    def __init__(self, node: Over, seed: int) -> None:
        super().__init__("over", node, seed)
        self._node, self._calls = node, Calls(node, seed)

    def fresh(self) -> Operator:
        return ChangingOver(self._node, self._seed)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What changes; and rows that cannot be computed any more are refused."""
        if not frame.height:
            return None
        key, owners, _, touched = self._table.enter(frame, self._keys)
        if self._lifetimes is not None:
            self._lifetimes.renew(owners, frame)
        changed = self._rows.find_or_put(key, owners, frame)
        self._codes["code"][changed] = order_codes(self._node, frame)
        slots, ends = self._rows.list_slots(touched)
        before = self._rows.weights[slots]
        self._rows.add(changed, row_weights(frame))
        made = self._compare(slots, ends, before, self._rows.weights[slots])
        self._rows.sweep(changed)
        self._table.release(touched)
        return made

    def _compare(self, slots: Slots, ends: Ints, before: Ints, after: Ints) -> pl.DataFrame | None:
        """What is said no more, and what is said now, of rows partition by partition, whose weights were and are these."""
        before, after = np.maximum(before, 0), np.maximum(after, 0)
        if (before == after).all():
            return None
        times = np.maximum(before, after)
        copies = np.repeat(np.arange(len(slots)), times)
        ends = np.append(0, np.cumsum(times))[ends]
        number = np.arange(len(copies)) - np.repeat(np.cumsum(times) - times, times)
        both = self._sort(_Both(slots[copies], number < before[copies], number < after[copies]), ends)
        first = np.zeros(len(copies), np.bool_)
        first[ends[:-1][ends[:-1] < len(first)]] = True
        layout = Layout(self._rows.frame(both.slots), first, self._node.order)
        was, now = layout.only(both.before), layout.only(both.after)
        stays = both.before & both.after
        other = self._calls.find_other(was, now, stays) | ~stays
        refused: _Refused = []
        said = [self._compute(part, other, weight, refused) for part, weight in ((was, -1), (now, 1))]
        self._refuse(refused)
        return difference(*said)

    def _sort(self, both: _Both, ends: Ints) -> _Both:
        """In the order of each partition."""
        order = self._order(both.slots, ends)
        return _Both(both.slots[order], both.before[order], both.after[order])

    def _order(self, slots: Slots, ends: Ints) -> Ints:
        """The rows of each partition in order: by their codes, and whole where these are equal."""
        size, none = len(slots), np.zeros(0, np.int64)
        order, codes, places, runs = np.empty((4, size), np.int64)
        order_kernels.order_groups(ends, self._code(slots), none, none, size, ends.copy(), order, codes)
        tied = order_kernels.find_ties(ends, order, codes, size, size, True, places, runs)
        if tied:
            rows = order[places[:tied]]
            keys, found = self._break_ties(slots[rows], runs[:tied], rows)
            order[places[:tied]] = sort_rows(found, [], keys)[_NUMBER].to_numpy()
        return order

    def _code(self, slots: Slots) -> Ints:
        """Without an order that of the hashes, which does not depend on what else is there."""
        if self._node.sorted_by:
            return self._codes["code"][slots]
        return self._rows.index.hashes(slots)[0].view(np.int64)

    def _break_ties(self, slots: Slots, runs: Ints, rows: Ints) -> tuple[list[SortKey], pl.DataFrame]:
        """What rows are sorted by whose codes are equal; in the end by their hashes, as all rows that differ are told apart then."""
        order = self._node.sorted_by
        names = list(dict.fromkeys(key.column for key in order))
        made = [pl.Series(_RUN, runs), pl.Series(_HASH, self._rows.index.hashes(slots)[0]), pl.Series(_NUMBER, rows)]
        held = self._rows.frame(slots)[names].get_columns() if names else []
        return [SortKey(_RUN), *order, SortKey(_HASH), SortKey(_NUMBER)], pl.DataFrame([*held, *made])

    def _compute(self, layout: Layout, wanted: Mask, weight: int, refused: _Refused) -> pl.DataFrame:
        """These of the rows with their results, without those for which there is none."""
        places = np.flatnonzero(wanted[layout.at])
        results = self._calls.results(layout, None, places)
        made = with_results(self._node, take_rows(layout.rows, layout.at[places]), results)
        keep = np.ones(made.height, np.bool_)
        for call, bad in find_overflows(self._node, results):
            refused.append((with_weight(made.filter(keep & bad).select(self._names), weight), call))
            keep &= ~bad
        return filter_rows(made, keep)

    def _refuse(self, refused: _Refused) -> None:
        """Refuse the rows for which there was a value before."""
        for call in dict.fromkeys(call for _, call in refused):
            bad = consolidate(pl.concat([rows for rows, of in refused if of == call]))
            refuse_rows(self, bad.drop(WEIGHT), bad[WEIGHT].to_numpy() > 0, *overflow_of(call))

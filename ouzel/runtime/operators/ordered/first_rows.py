"""The first rows of partitions by number: rows in order by one whole number each, and compared whole only where these are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, Over, PartialTopN, SortKey, TopN
from ouzel.compiler.types import BIGINT
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Array, Ints, has_numbers, numbers, pick_rows, to_series, valid_rows
from ouzel.runtime.operators.consolidate import group_rows
from ouzel.runtime.operators.keyed.expiring_keys import lifetimes_of
from ouzel.runtime.operators.ordered import order_kernels
from ouzel.runtime.operators.ordered.frames import sort_rows
from ouzel.runtime.operators.recompute import RecomputeAndDifference

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_RUN, _NUMBER = "$run", "$number"

WORTH = 0.9
"""A batch of which more than that would be left goes on as it is."""


def order_codes(node: TopN | Over, rows: pl.DataFrame) -> Ints:
    """A whole number for each row that never falls in their order within a partition; where it is equal nothing is known of the order."""
    key = node.sorted_by[0] if node.sorted_by else None
    if key is None or not has_numbers(node.input.schema[key.column].type):
        return np.zeros(rows.height, np.int64)
    column = rows[key.column]
    codes = _ascending(numbers(column))
    if key.descending:
        codes = ~codes
    valid = valid_rows(column)
    if valid is not None:
        codes = np.where(valid, codes, _MOST if key.nulls_last else _LEAST)
    return np.ascontiguousarray(codes)


def _ascending(values: Array) -> Ints:
    """Whole numbers in the order of the values; of floating-point ones -0.0 is 0.0 and NaN above all."""
    if values.dtype.kind != "f":
        return values
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    return np.where(bits < 0, bits ^ _MOST, bits)


class InOrder(NamedTuple):
    """The rows of groups in order, as `order_kernels` numbers them, their codes, and where each group begins, with the end of the last."""

    numbers: Ints
    codes: Ints
    ends: Ints


def in_order(node: TopN, held: Ints, held_ends: Ints, groups: Ints, codes: Ints) -> InOrder:
    """The rows of a batch, of which the groups and codes are given, between those that are held of each group."""
    numbers, ordered = np.empty((2, len(held) + len(codes)), np.int64)
    ends = np.empty(len(held_ends), np.int64)
    size = order_kernels.order_groups(held_ends, held, groups, codes, node.most, ends, numbers, ordered)
    return InOrder(numbers[:size], ordered[:size], ends)


def settle_ties(node: TopN, order: InOrder, held: int, placed: bool, rows_of: Callable[[Ints], pl.DataFrame]) -> None:
    """Put rows of equal codes in order where that matters: see `find_ties`. `rows_of` gives the rows of these numbers."""
    places, runs = np.empty((2, len(order.numbers)), np.int64)
    size = order_kernels.find_ties(order.ends, order.numbers, order.codes, held, node.most, placed, places, runs)
    if size:
        tied = order.numbers[places[:size]]
        rows = rows_of(tied).with_columns(pl.Series(_RUN, runs[:size]), pl.Series(_NUMBER, tied))
        whole = sort_rows(rows, [_RUN], [*node.sorted_by, SortKey(_NUMBER)])
        order.numbers[places[:size]] = whole[_NUMBER].to_numpy()


class PartialTop(Operator):
    """PartialTopN: nothing is kept from batch to batch."""

    def __init__(self, node: PartialTopN) -> None:
        super().__init__()
        self._top = node.top

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows that are among the first of the batch, as they stood."""
        top = self._top
        groups, number = group_rows(frame, top.partition)
        left = int(np.minimum(np.bincount(groups, minlength=number), top.most).sum())
        if left > WORTH * frame.height:
            return frame
        order = in_order(top, groups[:0], np.zeros(number + 1, np.int64), groups, order_codes(top, frame))
        settle_ties(top, order, 0, False, lambda rows: pick_rows(frame, frame.columns, rows))
        places = np.arange(len(order.numbers)) - np.repeat(order.ends[:-1], np.diff(order.ends))
        return pick_rows(frame, frame.columns, np.sort(order.numbers[places < top.most]))


class _Held(NamedTuple):
    """The rows that are held of each group: their slots, codes, and where those of each group begin."""

    slots: Ints
    codes: Ints
    ends: Ints


class RowsByCode(RecomputeAndDifference):
    """Base: keeps with each row the number by which rows are put in order. `called` is the first word of the operator's stable name."""

    def __init__(self, called: str, node: TopN | Over, seed: int) -> None:
        super().__init__(f"{called} {node.stable_id}", node.input.schema.polars(), node.partition, seed)
        self._ordered, self._lifetimes = node, lifetimes_of(node, self._table)
        self._codes = self._rows.columns("codes", {"code": np.int64}, derived=True)

    def on_restored(self) -> None:
        """Find the codes of the rows."""
        slots = self._rows.index.slots()
        if slots.size:
            self._codes["code"][slots] = order_codes(self._ordered, self._rows.frame(slots))


class NumberedTop(RowsByCode):
    """Of rows that are never taken back it keeps those that are among the first by number, for the others never will be."""

    def __init__(self, node: TopN, seed: int) -> None:
        super().__init__("top", node, seed)
        self._node = node
        self._placed = bool(node.name) or node.skip > 0

    def fresh(self) -> Operator:
        return type(self)(self._node, self._seed)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What changes about the first rows of the batch's partitions."""
        if self._node.most <= 0 or not frame.height:
            return None
        key, owners, groups, touched = self._table.enter(frame, self._keys)
        if self._lifetimes is not None:
            self._lifetimes.renew(owners, frame)
        codes, held = order_codes(self._node, frame), self._list_held(touched)
        order = in_order(self._node, held.codes, held.ends, groups, codes)
        size = len(held.slots)
        settle_ties(self._node, order, size, self._placed, lambda rows: self._gather(rows, held, frame))
        changes = _Changes(self._node, order, size)
        if not changes.entering.size:
            return None
        made = self._show(changes, held, frame)
        self._forget(held.slots[changes.leaving])
        new = changes.entering
        slots = self._rows.find_or_put((key[0][new], key[1][new]), owners[new], pick_rows(frame, self._names, new))
        self._rows.add(slots, np.ones(len(slots), np.int64))
        self._codes["code"][slots] = codes[new]
        return made

    def _list_held(self, owners: Ints) -> _Held:
        """The rows held of these partitions, each as often as it is there."""
        slots, ends = self._rows.list_slots(owners)
        times = self._rows.weights[slots]
        if (times != 1).any():
            ends, slots = np.append(0, np.cumsum(times))[ends], np.repeat(slots, times)
        return _Held(slots, self._codes["code"][slots], ends)

    def _gather(self, rows: Ints, held: _Held, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of these numbers."""
        first = len(held.slots)
        old = rows < first
        if not old.any():
            return pick_rows(frame, self._names, rows - first)
        if old.all():
            return self._rows.frame(held.slots[rows])
        both = [self._rows.frame(held.slots[rows[old]]), pick_rows(frame, self._names, rows[~old] - first)]
        return pick_rows(pl.concat(both), self._names, np.where(old, np.cumsum(old), old.sum() + np.cumsum(~old)) - 1)

    def _show(self, changes: _Changes, held: _Held, frame: pl.DataFrame) -> pl.DataFrame | None:
        """What is said of what changes: rows that go, then rows that come."""
        rows = np.concatenate([changes.gone, changes.come])
        if not rows.size:
            return None
        made = self._gather(rows, held, frame).get_columns()
        if self._node.name:
            made.append(to_series(self._node.name, BIGINT, np.concatenate([changes.gone_at, changes.come_at]) + 1))
        weights = np.repeat(np.array([-1, 1]), [len(changes.gone), len(changes.come)])
        return pl.DataFrame([*made, pl.Series(WEIGHT, weights)])

    def _forget(self, slots: Ints) -> None:
        if slots.size:
            self._rows.add(slots, np.full(len(slots), -1))
            self._rows.mark_changed(slots)
            self._rows.sweep(slots)


class _Changes:
    """What a batch changes, by the numbers of rows; those that are `entering` by their places in the batch."""

    def __init__(self, node: TopN, order: InOrder, held: int) -> None:
        gone, gone_at, come, come_at, moved = np.empty((5, len(order.numbers)), np.int64)
        counts = np.zeros(4, np.int64)
        order_kernels.compare_places(
            order.ends, order.numbers, held, node.skip, node.most, bool(node.name), gone, gone_at, come, come_at, moved, counts
        )  # fmt: skip
        gones, comes, leaving, entering = counts.tolist()
        self.gone, self.gone_at, self.come, self.come_at = gone[:gones], gone_at[:gones], come[:comes], come_at[:comes]
        self.leaving, self.entering = moved[:leaving], moved[len(moved) - entering :][::-1].copy()

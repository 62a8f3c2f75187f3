"""Aggregates that are made of all values of a group, each kept once with its weight: arrays, texts, maps, and values at a place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from ouzel.compiler.functions.gathering import ascending_fraction, orders_of
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import by_variant
from ouzel.compiler.types import DOUBLE, DataType, to_polars
from ouzel.runtime.operators.buffers import Ints, Values, count_array, numbers
from ouzel.runtime.operators.keyed.accumulators import Accumulators, SlottedRows
from ouzel.runtime.operators.keyed.bags import OfBag, positions_of
from ouzel.runtime.operators.keyed.makers import accumulates
from ouzel.runtime.operators.keyed.value_order import group_ends, ordered_rows, spread, take_last_field
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import make_nulls, take_rows, take_values


@accumulates("gathered")
def make_gathered(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """All values, as the call's variant presents them."""
    assert argument is not None
    return by_variant(call, GATHERED)(call, argument)


class Gathered(OfBag):
    """Base: partial aggregates are the values and their weights, so they may be of rows that are taken back."""

    def export(self, slots: Slots) -> list[pl.Series]:
        name, bag = f"{self.call.name}$bag", self.values.rows
        if not self._is_first:
            kind = {"value": to_polars(self._kind), "weight": pl.Int64()}
            return [make_nulls(name, pl.List(pl.Struct(kind)), len(slots))]
        pairs = bag.of_any_weight(slots)
        groups = positions_of(slots, bag.owners(pairs))
        order = np.argsort(groups, kind="stable")
        rows = bag.frame(pairs[order]).with_columns(weight=pl.Series(bag.weights[pairs[order]]))
        return [in_lists(groups[order], rows.to_struct(), len(slots)).alias(name)]

    def merge(self, batch: SlottedRows) -> None:
        lists = self._take_merged(batch, "bag")
        rows = np.repeat(np.arange(len(lists)), lists.list.len().fill_null(0).to_numpy())
        if rows.size:
            parts = lists.drop_nulls().explode(empty_as_null=False).struct.unnest()
            self.values.add(batch, rows, parts.select("value"), count_array(parts["weight"]))


def in_lists(groups: Ints, values: pl.Series, number: int) -> pl.Series:
    """The values of each of so many groups as a list, NULL of none; they are sorted by group."""
    made = (
        pl.DataFrame([pl.Series("group", groups), values.alias("value")])
        .group_by("group", maintain_order=True)
        .agg("value")
    )
    return spread(made["group"].to_numpy(), made["value"], number)


class ListOfValues(Gathered):
    """ARRAY_AGG, COLLECT_LIST, STRING_AGG."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        orders = orders_of(self.call.parameters)
        rows = ordered_rows(groups, values, orders)
        rows = np.repeat(rows, weights[rows])
        is_packed = len(orders) > 1 or self.call.function == "array_agg"
        taken = take_values(take_last_field(values, self._kind) if is_packed else values, rows)
        return Values(self.call.type, by_variant(self.call, _AS)(self.call, in_lists(groups[rows], taken, number)))


def _as_array(call: AggregateCall, lists: pl.Series) -> pl.Series:
    return lists


def _as_text(call: AggregateCall, lists: pl.Series) -> pl.Series:
    return lists.list.join(str(call.parameters[1]))


_AS: dict[str, Callable[[AggregateCall, pl.Series], pl.Series]] = {
    "array_agg": _as_array, "collect_list": _as_array, "string_agg": _as_text,
}  # fmt: skip


class HistogramOfValues(Gathered):
    """How often each value is there."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        rows = ordered_rows(groups, values, ())
        entries = take_rows(pl.DataFrame([values.alias("key"), pl.Series("value", weights)]), rows).to_struct()
        return Values(self.call.type, in_lists(groups[rows], entries, number))


class MapOfValues(Gathered):
    """MAP_AGG: the largest value of each key."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        rows = ordered_rows(groups, values, ())
        key, value = values.struct.unnest().get_columns()
        frame = pl.DataFrame([pl.Series("group", groups), key.alias("key"), value.alias("value")])
        frame = take_rows(frame, rows).unique(["group", "key"], keep="last", maintain_order=True)
        return Values(
            self.call.type, in_lists(frame["group"].to_numpy(), frame.select("key", "value").to_struct(), number)
        )


class Continuous(Gathered):
    """PERCENTILE_CONT and MEDIAN: between two values if it must be, as Spark computes it."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        fraction = ascending_fraction(orders_of(self.call.parameters), _fraction_of(self.call))
        found = numbers(values)
        rows = np.lexsort((found, groups))
        found, counts = found[rows], np.bincount(groups, weights, number).astype(np.int64)
        place = np.maximum(counts - 1, 0) * fraction
        low, high = np.floor(place), np.ceil(place)
        ends, starts = np.cumsum(weights[rows]), np.cumsum(counts) - counts
        if not found.size:
            return Values(DOUBLE, np.zeros(number), counts > 0)
        a, b = (
            found[np.minimum(np.searchsorted(ends, starts + at.astype(np.int64), "right"), len(found) - 1)]
            for at in (low, high)
        )
        with np.errstate(all="ignore"):
            between = np.where((low == high) | (a == b), a, (high - place) * a + (place - low) * b)
        return Values(DOUBLE, between, counts > 0)


class Discrete(Gathered):
    """PERCENTILE_DISC: a value that is there."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        rows = ordered_rows(groups, values, orders_of(self.call.parameters))
        counts = np.bincount(groups, weights, number).astype(np.int64)
        place = np.maximum(np.ceil(counts * _fraction_of(self.call)).astype(np.int64) - 1, 0)
        there = np.flatnonzero(counts)
        ends, starts = np.cumsum(weights[rows]), np.cumsum(counts) - counts
        chosen = rows[np.searchsorted(ends, (starts + place)[there], "right")]
        return Values(self.call.type, spread(there, take_values(values, chosen), number))


class Mode(Gathered):
    """The value with the largest weight, of several the least."""

    def compute(self, groups: Ints, values: pl.Series, weights: Ints, number: int) -> Values:
        rows = ordered_rows(groups, values, ())
        rows = rows[np.lexsort((-weights[rows], groups[rows]))]
        chosen = rows[group_ends(groups[rows], last=False)]
        return Values(self.call.type, spread(groups[chosen], take_values(values, chosen), number))


def _fraction_of(call: AggregateCall) -> float:
    if by_variant(call, _IS_MEDIAN):
        return 0.5
    fraction = call.parameters[1]
    assert isinstance(fraction, float)
    return fraction


_IS_MEDIAN = {"median": True, "approx_percentile": False, "percentile_cont": False, "percentile_disc": False}

GATHERED: dict[str, Callable[[AggregateCall, DataType], Accumulators]] = {
    "array_agg": ListOfValues, "collect_list": ListOfValues, "string_agg": ListOfValues, "map_agg": MapOfValues,
    "histogram": HistogramOfValues,
    "percentile_cont": Continuous, "median": Continuous, "percentile_disc": Discrete, "mode": Mode,
}  # fmt: skip
"""By variant."""

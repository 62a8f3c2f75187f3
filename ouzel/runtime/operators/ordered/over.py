"""OVER: the operators of Over, for rows that may change and for rows that are final when time has passed them.

Everything is computed for all partitions that are touched at once: rows are sorted by partition and order, and each call is arithmetic on
places (see `frames.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall, Over, OverCall, WindowFrame
from ouzel.compiler.plan.over import RANKS, SHIFTS
from ouzel.compiler.types import BIGINT, DOUBLE, DataType
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import (
    Array,
    Ints,
    Mask,
    Values,
    concatenate_picked,
    numbers,
    valid_rows,
)
from ouzel.runtime.operators.joined.settling import Schedule
from ouzel.runtime.operators.keyed.accumulators import Accumulators, SlottedRows
from ouzel.runtime.operators.keyed.aggregate import overflow_of
from ouzel.runtime.operators.keyed.expiring_keys import lifetimes_of
from ouzel.runtime.operators.keyed.groups import CallWeights, accumulators_of, row_weights
from ouzel.runtime.operators.ordered.frame_totals import FrameTotals
from ouzel.runtime.operators.ordered.frames import Layout, find_changes, sort_rows
from ouzel.runtime.operators.rowwise.rows import refuse_rows, us_of
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.hashing import Words
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import filter_rows, take_rows, take_values, take_values_with_gaps

_LAST = (1 << 63) - 1


@dataclass(frozen=True)
class Earlier:
    """What is known of each row's partition from before: where its new rows begin, and how many rows and groups of peers were before.

    `totals` are the partial aggregates of all rows before, of calls whose frame begins with the partition.
    """

    first: Ints
    rows: Ints
    groups: Ints
    totals: pl.DataFrame | None = None


class Calls:
    """The calls of one Over, computed for sorted rows."""

    def __init__(self, node: Over, seed: int) -> None:
        self._node = node
        kinds: dict[str, DataType] = {field.name: field.type for field in node.input.schema}
        by_frame: dict[WindowFrame, list[AggregateCall]] = {}
        for call in node.calls:
            if call.aggregate is not None:
                by_frame.setdefault(call.frame, []).append(call.aggregate)
        repeats = node.closes is None
        self._totals = {frame: (calls, FrameTotals(calls, kinds, seed, repeats)) for frame, calls in by_frame.items()}

    def results(self, layout: Layout, past: Earlier | None, wanted: Ints) -> dict[str, Values]:
        """The value of each call for the rows at the places `wanted`."""
        past = past or _begin(layout)
        made: dict[str, Values] = {}
        for frame in self._totals:
            made |= self._aggregates(frame, layout, past, wanted)
        for call in self._node.calls:
            if call.aggregate is None:
                made[call.name] = _compute(call, layout, past, wanted)
        return made

    def find_other(self, before: Layout, after: Layout, stays: Mask) -> Mask:
        """Which rows have another value after than before, or may have. Of rows that are not in both, and do not stay, nothing is said."""
        places = [np.flatnonzero(stays[layout.at]) for layout in (before, after)]
        other = np.zeros(len(places[0]), np.bool_)
        number = np.append(0, np.cumsum(~stays))
        for call in self._node.calls:
            was, now = (_what_decides(call, *each) for each in zip((before, after), places, strict=True))
            for one, two in zip(was, now, strict=True):
                other |= one != two
            if call.aggregate is not None:
                begin, end = was
                other |= number[begin] != number[end]
        rows = np.zeros(len(stays), np.bool_)
        rows[stays] = other
        return rows

    def _aggregates(self, frame: WindowFrame, layout: Layout, past: Earlier, wanted: Ints) -> dict[str, Values]:
        """Frames that are the same, as those of peers, are computed once."""
        lows, highs = (places[wanted] for places in layout.frame(frame))
        so_far = past.totals if frame.start is None else None
        if frame.start is None:
            lows = past.first[wanted]
        other = np.ones(len(wanted), np.bool_)
        other[1:] = (np.diff(lows) != 0) | (np.diff(highs) != 0)
        firsts, number = np.flatnonzero(other), np.cumsum(other) - 1
        calls, totals = self._totals[frame]
        if so_far is not None:
            so_far = take_rows(so_far, wanted[firsts])
        results = totals.results(*layout.rows_in(totals.reads, lows[firsts], highs[firsts]), so_far)
        return {call.name: _repeat(values, number) for call, values in zip(calls, results, strict=True)}


def _what_decides(call: OverCall, layout: Layout, wanted: Ints) -> list[Array]:
    """What decides about a call's value at these places, as numbers: the value itself, the row of which it is, or what rows it is of."""
    if call.function in RANKS:
        return [_RANKS[call.function](call, layout, _begin(layout))[wanted]]
    if call.aggregate is None:
        return [_find_rows(call, layout)[wanted]]
    lows, highs = (places[wanted] for places in layout.frame(call.frame))
    some = lows < highs
    begin, end = layout.at[np.minimum(lows, len(layout.at) - 1)], layout.at[highs - 1] + 1
    return [np.where(some, begin, 0), np.where(some, end, 0)]


def _begin(layout: Layout) -> Earlier:
    """Nothing is known from before."""
    return Earlier(layout.begin, *np.zeros((2, len(layout.places)), np.int64))


def _repeat(values: Values, number: Ints) -> Values:
    if len(number) == len(values.data):
        return values
    data = take_values(values.data, number) if isinstance(values.data, pl.Series) else values.data[number]
    valid, refused = (mask if mask is None else mask[number] for mask in (values.valid, values.refused))
    return Values(values.kind, data, valid, refused)


def _compute(call: OverCall, layout: Layout, past: Earlier, wanted: Ints) -> Values:
    """The value of a call that is no aggregate."""
    if call.function in RANKS:
        rank = _RANKS[call.function](call, layout, past)[wanted]
        return Values(DOUBLE if rank.dtype.kind == "f" else BIGINT, rank)
    return _values_at(call, layout, _find_rows(call, layout)[wanted], wanted)


def _find_rows(call: OverCall, layout: Layout) -> Ints:
    """The row whose value each place is given; -1 if there is none."""
    if call.function in SHIFTS:
        places = layout.places + (call.number if call.function == "lead" else -call.number)
        there = (places >= layout.begin) & (places < layout.end)
    else:
        lows, highs = layout.frame(call.frame)
        match call.function:
            case "first_value":
                places = lows
            case "last_value":
                places = highs - 1
            case _:
                places = lows + call.number - 1
        there = (places >= lows) & (places < highs)
    rows = np.full(len(places), -1)
    rows[there] = layout.at[places[there]]
    return rows


def _values_at(call: OverCall, layout: Layout, rows: Ints, wanted: Ints) -> Values:
    """The argument in these rows, and elsewhere the default, or NULL."""
    assert call.argument is not None
    values = take_values_with_gaps(layout.rows[call.argument], rows)
    if call.default is not None:
        default = take_values(layout.rows[call.default], layout.at[wanted])
        both = pl.DataFrame({"there": rows >= 0, "value": values, "default": default})
        values = both.select(pl.when("there").then("value").otherwise("default")).to_series()
    return Values(call.type, values)


def _row_number(call: OverCall, layout: Layout, past: Earlier) -> Array:
    return past.rows + layout.places - past.first + 1


def _rank(call: OverCall, layout: Layout, past: Earlier) -> Array:
    return past.rows + layout.peers_begin - past.first + 1


def _dense_rank(call: OverCall, layout: Layout, past: Earlier) -> Array:
    return past.groups + layout.peers - layout.peers[np.minimum(past.first, len(layout.places) - 1)] + 1


def _percent_rank(call: OverCall, layout: Layout, past: Earlier) -> Array:
    share: Array = (layout.peers_begin - layout.begin) / np.maximum(layout.end - layout.begin - 1, 1)
    return share


def _cume_dist(call: OverCall, layout: Layout, past: Earlier) -> Array:
    share: Array = (layout.peers_end - layout.begin) / (layout.end - layout.begin)
    return share


def _ntile(call: OverCall, layout: Layout, past: Earlier) -> Array:
    """The first buckets have one row more where the rows do not divide."""
    size, larger = np.divmod(layout.end - layout.begin, call.number)
    row = layout.places - layout.begin
    in_larger = row < larger * (size + 1)
    bucket: Array = np.where(in_larger, row // (size + 1), larger + (row - larger * (size + 1)) // np.maximum(size, 1))
    return bucket + 1


_RANKS: dict[str, Callable[[OverCall, Layout, Earlier], Array]] = {
    "row_number": _row_number, "rank": _rank, "dense_rank": _dense_rank, "percent_rank": _percent_rank, "cume_dist": _cume_dist,
    "ntile": _ntile,
}  # fmt: skip


def with_results(node: Over, rows: pl.DataFrame, results: dict[str, Values]) -> pl.DataFrame:
    """The rows' columns, and the results beside them."""
    every = np.arange(rows.height)
    made = [concatenate_picked([(results[call.name], every)], call.name) for call in node.calls]
    return rows[list(node.input.schema.names)].hstack(made)


def find_overflows(node: Over, results: dict[str, Values]) -> list[tuple[AggregateCall, Mask]]:
    """The calls whose value cannot be had for some rows, and for which."""
    found = ((call.aggregate, results[call.name].refused) for call in node.calls)
    return [(call, refused) for call, refused in found if call is not None and refused is not None and refused.any()]


class PassingOver(Operator):
    """Rows wait until the watermark has passed them, or the end of their window, and leave once.

    Of rows in time order that have left, no more is kept than later frames see: counts and totals of each partition, the last rows, those
    of a span of time, and the first ones.
    """

    stateful = True

    def __init__(self, node: Over, seed: int) -> None:
        super().__init__()
        self._node, self._seed, self._calls = node, seed, Calls(node, seed)
        assert node.closes is not None
        self._closes, self._unit = node.closes, us_of(node.input.schema[node.closes].type)
        self._row = node.input.schema.polars()
        self.state = StateContext(f"over {node.stable_id}", seed, node.partition)
        self._table = self.state.table("partitions", {key: self._row[key] for key in node.partition})
        self._waiting = self.state.bag("waiting", self._table, self._row)
        self._moments = self._waiting.columns("moment", {"us": np.int64}, derived=True)
        self._schedule = Schedule()
        self._past = self.state.bag("past", self._table, self._row)
        self._counts = self._table.columns("$counts", {"rows": np.int64, "groups": np.int64})
        self._totals = self._declare_totals()
        self._closed_us = self.state.value("closed_us", -_LAST - 1)
        self._lifetimes = lifetimes_of(node, self._table)

    def _declare_totals(self) -> list[Accumulators]:
        assert self.state is not None
        kinds = {field.name: field.type for field in self._node.input.schema}
        whole = [call.aggregate for call in self._node.calls if call.aggregate and call.frame.start is None]
        made = [accumulators_of(call, kinds.get(call.argument or ""), False) for call in whole]
        for call in made if self._node.in_time_order else ():
            call.declare(self._table, lambda name, row: self.state.bag(name, self._table, row))  # type: ignore[union-attr]
        return made if self._node.in_time_order else []

    def fresh(self) -> Operator:
        return PassingOver(self._node, self._seed)

    def on_restored(self) -> None:
        """Find what derives from the state."""
        for call in self._totals:
            call.on_restored(self._table.index.slots())
        self._schedule = Schedule()
        slots = self._waiting.index.slots()
        if slots.size:
            self._await(slots, self._moments_of(self._waiting.frame(slots)))

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """Keep the rows that are in time until their moment comes."""
        frame = self._keep_timed(frame)
        if not frame.height:
            return None
        moments = self._moments_of(frame)
        if int(moments.min()) <= self._closed_us.value:
            in_time = moments > self._closed_us.value
            self.drop_late(frame.filter(~in_time), int(np.count_nonzero(~in_time)))
            frame, moments = frame.filter(in_time), moments[in_time]
            if not frame.height:
                return None
        key, owners, _, _ = self._table.enter(frame, self._node.partition)
        slots = self._waiting.find_or_put(key, owners, frame)
        self._waiting.add(slots, row_weights(frame))
        self._await(slots, moments)
        return None

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Let out the rows that the watermark has passed."""
        end_us = min(watermark_us, _LAST - 1) + 1
        self._closed_us.value = max(self._closed_us.value, end_us)
        due = np.unique(self._schedule.before(end_us + 1))
        made = self._let_out(due[np.argsort(self._moments["us"][due], kind="stable")]) if due.size else None
        if self._lifetimes is not None:
            over = self._lifetimes.over(end_us - 1)
            self._table.remove(over[self._waiting.empty(over)])
        return made if made is not None and made.height else None

    def _await(self, slots: Slots, moments: Ints) -> None:
        self._moments["us"][slots] = moments
        self._schedule.add(moments, slots)

    def _keep_timed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows that have a time; others are refused."""
        valid = valid_rows(frame[self._closes])
        if valid is None:
            return frame
        reason = f"its time {self._closes} is NULL, so that no watermark passes it"
        refuse_rows(self, frame, ~valid, f"{reason}, and OVER (ORDER BY {self._closes}) waits for that")
        return frame.filter(valid)

    def _moments_of(self, frame: pl.DataFrame) -> Ints:
        """When each row is final: a row of time t when no row of time t can come any more, a window with its end."""
        times = numbers(frame[self._closes]) * self._unit
        return times + 1 if self._node.in_time_order else times

    def _let_out(self, due: Slots) -> pl.DataFrame:
        times = self._waiting.weights[due]
        owners = np.repeat(self._waiting.owners(due), times)
        rows = self._waiting.frame(due if (times == 1).all() else np.repeat(due, times))
        _, touched, _ = self._table.touch(owners)
        rows = rows.with_columns(pl.Series("$owner", owners), pl.lit(-1, pl.Int64).alias("$slot"))
        if self._node.in_time_order:
            rows = pl.concat([self._past_of(touched), rows])
        rows = sort_rows(rows, ["$owner"], self._node.sorted_by)
        layout = Layout(rows, find_changes(rows, ["$owner"]), self._node.order)
        made = self._answer(layout)
        self._waiting.remove(due)
        if self._lifetimes is not None:
            self._lifetimes.renew(layout.rows["$owner"].to_numpy(), layout.rows)
        if self._node.in_time_order:
            self._remember(layout)
        self._forget(touched)
        return made

    def _past_of(self, touched: Slots) -> pl.DataFrame:
        slots = self._past.of(touched)
        slots = np.repeat(slots, self._past.weights[slots])
        columns = [pl.Series("$owner", self._past.owners(slots)), pl.Series("$slot", slots)]
        return self._past.frame(slots).hstack(columns)

    def _answer(self, layout: Layout) -> pl.DataFrame:
        owners = layout.rows["$owner"].to_numpy()
        new = layout.rows["$slot"].to_numpy() < 0
        wanted = np.flatnonzero(new)
        before = np.append(0, np.cumsum(~new))
        first = layout.begin + before[layout.end] - before[layout.begin]
        totals = pl.DataFrame([column for call in self._totals for column in call.export(owners)])
        past = Earlier(
            first, self._counts["rows"][owners], self._counts["groups"][owners], totals if self._totals else None
        )
        results = self._calls.results(layout, past, wanted)
        rows = filter_rows(layout.rows, new)
        made, keep = with_results(self._node, rows, results), np.ones(len(wanted), np.bool_)
        for call, bad in find_overflows(self._node, results):
            refuse_rows(self, rows.select(list(self._row)), keep & bad, *overflow_of(call))
            keep &= ~bad
        return made if keep.all() else made.filter(keep)

    def _remember(self, layout: Layout) -> None:
        """Count the new rows, and keep those of all that later frames see."""
        node = self._node
        owners, slots = (layout.rows[name].to_numpy() for name in ("$owner", "$slot"))
        new = slots < 0
        starts = new & (layout.peers_begin == layout.places)
        np.add.at(self._counts["rows"], owners[new], 1)
        np.add.at(self._counts["groups"], owners[starts], 1)
        self._table.mark_changed(owners)
        self._fold(filter_rows(layout.rows, new), owners[new])
        keep = layout.end - layout.places <= node.rows_back
        if node.rows_ahead:
            keep |= layout.places - layout.begin < node.rows_ahead
        if node.range_back:
            times = numbers(layout.rows[self._closes]) * self._unit
            keep |= times >= self._closed_us.value - node.range_back
        gone = slots[~new & ~keep]
        if gone.size:
            self._past.add(gone, np.full(len(gone), -1))
            self._past.sweep(gone)
            self._past.mark_changed(gone)
        self._keep(filter_rows(layout.rows, new & keep), owners[new & keep])

    def _keep(self, rows: pl.DataFrame, owners: Slots) -> None:
        if rows.height:
            slots = self._past.find_or_put(self._table.index.hashes(owners), owners, rows[list(self._row)])
            self._past.add(slots, np.ones(len(slots), np.int64))

    def _fold(self, rows: pl.DataFrame, owners: Slots) -> None:
        if not self._totals:
            return
        groups, touched, first = self._table.touch(owners)
        key: tuple[Words, Words] = self._table.index.hashes(owners)
        batch = SlottedRows(rows, key, owners, row_weights(rows), groups, touched, first)
        weights = CallWeights(batch)
        for call in self._totals:
            call.fold(batch, weights.of(call.call))

    def _forget(self, touched: Slots) -> None:
        """Partitions of which nothing is kept."""
        if not (self._node.remembers and self._node.in_time_order):
            self._table.release(touched)

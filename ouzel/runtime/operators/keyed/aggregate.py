"""GROUP BY: the operators of Aggregate, PartialAggregate and FinalAggregate, one for each rule of emission.

A watermark w says that no row of time w or before is still to come (Flink's meaning). A window [start, end) closes when w reaches its last
microsecond, w >= end - 1; a row is late when its window has closed, and is then dropped and counted. So no row that is in time is called
late: its window ends later than its own time, which is later than w.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, Aggregate, AggregateCall, EmitRule, walk
from ouzel.compiler.types import BIGINT
from ouzel.connectors.dead_letters import rows_as_json
from ouzel.planner.rules.share_panes import PANE
from ouzel.runtime.operators.base import Operator, RefusedRow
from ouzel.runtime.operators.buffers import Ints, Mask, Values, concatenate_picked, numbers, pick_rows
from ouzel.runtime.operators.keyed.accumulators import SlottedRows
from ouzel.runtime.operators.keyed.expiring_keys import lifetimes_of
from ouzel.runtime.operators.keyed.groups import Groups
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.value import Value

_LAST = (1 << 63) - 1


class PartialAggregation(Operator):
    """Aggregates each batch by itself; what comes out are accumulators.

    Rows that may be late, for their window has closed by this task's own time, stay apart, so that those which are dropped can be told
    one by one. (Where rows can be taken back they cannot be told from what is left of a group, and go with the others.)
    """

    def __init__(self, aggregate: Aggregate, seed: int) -> None:
        super().__init__()
        self._groups = Groups(aggregate, seed)
        self._closing = None if aggregate.input.retracts else _closing(aggregate)
        self._closed_us = -_LAST - 1

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Windows that end by then have closed, here or soon."""
        self._closed_us = max(self._closed_us, min(watermark_us, _LAST - 1) + 1)
        return None

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """One row for each group of the batch."""
        if not frame.height:
            return None
        frame = self._groups.normal(frame)
        late = self._may_be_late(frame)
        if late is None:
            return self._combine(frame)
        apart = self._groups.apart(frame.filter(late), partial=False)
        in_time = frame.filter(~late)
        return pl.concat([self._combine(in_time), apart.accumulators()]) if in_time.height else apart.accumulators()

    def _may_be_late(self, frame: pl.DataFrame) -> Mask | None:
        """Which rows may be late; None if none."""
        if self._closing is None:
            return None
        column, after_us = self._closing
        ends = numbers(frame[column])
        closed_us = self._closed_us - after_us
        return ends <= closed_us if int(ends.min()) <= closed_us else None

    def _combine(self, frame: pl.DataFrame) -> pl.DataFrame:
        groups = self._groups
        batch = groups.locate(frame, groups.weights(frame, partial=False), None)
        groups.fold(batch)
        columns = groups.export(batch.touched)
        keys = pick_rows(frame, groups.keys, batch.first).get_columns() if groups.keys else []
        groups.remove(batch.touched)
        return pl.DataFrame([*keys, *columns])


def _closing(aggregate: Aggregate) -> tuple[str, int] | None:
    """The column that says when a row's window ends, and how long after that or a row is late; None without a window.

    A pane has its start, and may be late once the first of its windows has closed, which is where the pane ends.
    """
    if aggregate.window is None:
        return None
    if aggregate.window[1] != PANE:
        return aggregate.window[1], aggregate.emit.lateness_us
    size_us = next(node.window_grid.size_us for node in walk(aggregate.input) if node.window_grid)
    return PANE, size_us + aggregate.emit.lateness_us


class Aggregation(Operator):
    """Base: rows, or with `partial` accumulators, on their way into groups; windows that close."""

    stateful = True

    def __init__(self, aggregate: Aggregate, seed: int, partial: bool) -> None:
        super().__init__()
        self._node, self._partial = aggregate, partial
        self.delay_us = self._lateness_us = aggregate.emit.lateness_us
        self.state = StateContext(f"aggregate {aggregate.stable_id}", seed, aggregate.routing_keys)
        self._groups = Groups(aggregate, seed, self.state)
        assert self._groups.kept is not None
        self._lifetimes = lifetimes_of(aggregate, self._groups.kept)
        self._closed_us = self.state.value("closed_us", -_LAST - 1)
        self._next_end_us = _LAST

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """Add a batch; the changes it makes, if they are to leave at once."""
        batch = self._batch(frame)
        return None if batch is None else self._apply(batch)

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Close the windows that end by then, or forget the groups whose time is over."""
        if self._lifetimes is not None:
            return self._forget(self._lifetimes.over(watermark_us))
        end_us = min(watermark_us, _LAST - 1) + 1
        self._closed_us.value = max(self._closed_us.value, end_us)
        if self._groups.window_end is None or end_us < self._next_end_us:
            return None
        out = self._close(end_us)
        self._next_end_us = self._first_end()
        return out

    def fresh(self) -> Aggregation:
        """The same operator without groups."""
        return type(self)(self._node, self._groups.seed, self._partial)

    def on_restored(self) -> None:
        """Find the first window to close, and what the calls derive."""
        self._groups.on_restored()
        self._next_end_us = self._first_end()

    def _first_end(self) -> int:
        """The first window to close, or to be forgotten."""
        ends = self._groups.columns["end"][self._groups.table.index.slots()]
        next_ends = np.where(ends > self._closed_us.value, ends, ends + self._lateness_us)
        return int(next_ends.min()) if ends.size else _LAST

    def _apply(self, batch: SlottedRows) -> pl.DataFrame | None:
        raise NotImplementedError

    def _close(self, end_us: int) -> pl.DataFrame | None:
        raise NotImplementedError

    def _forget(self, slots: Slots) -> pl.DataFrame | None:
        """Let out what waits of these groups, and forget them."""
        out = self.flush_on_pause() if slots.size else None
        self._groups.remove(slots)
        return out

    def _batch(self, frame: pl.DataFrame) -> SlottedRows | None:
        """The rows that are in time, located."""
        groups = self._groups
        ends: Ints | None = None
        if groups.window_end is not None and frame.height:
            ends = numbers(frame[groups.window_end])
            over_us = self._closed_us.value - self._lateness_us
            if int(ends.min()) <= over_us:
                in_time = ends > over_us
                self._drop_late(frame, ~in_time)
                frame, ends = frame.filter(in_time), ends[in_time]
        if not frame.height:
            return None
        if ends is not None:
            self._next_end_us = min(self._next_end_us, int(ends.min()))
        frame = groups.normal(frame)
        batch = groups.locate(frame, groups.weights(frame, self._partial), ends)
        if self._lifetimes is not None:
            self._lifetimes.renew(batch.slots, frame)
        return batch

    def _one_row(self) -> pl.DataFrame:
        """A row of NULLs, to make the one group of an aggregate without keys."""
        return pl.DataFrame(schema=self._node.input.schema.polars()).clear(1)

    def _drop_late(self, frame: pl.DataFrame, late: Mask) -> None:
        dropped = frame.filter(late)
        shown = self._groups.apart(dropped, partial=True).results() if self._partial else dropped
        self.drop_late(shown, int(np.abs(self._groups.weights(frame, self._partial)[late]).sum()))

    def _add(self, batch: SlottedRows) -> None:
        if self._partial:
            self._groups.merge(batch)
        else:
            self._groups.fold(batch)

    def _in_order(self, slots: Slots) -> Slots:
        """These groups by the ends of their windows, those of one end by when they came."""
        assert self._groups.kept is not None
        slots = self._groups.kept.by_age(slots)
        return slots[np.argsort(self._groups.columns["end"][slots], kind="stable")]

    def _rows(self, slots: Slots) -> pl.DataFrame | None:
        slots = slots[self._exist(slots)]
        if not slots.size:
            return None
        assert self._groups.kept is not None
        keys = self._groups.kept.keys(slots)
        results = self._groups.results(slots)
        if any(values.refused is not None for values in results):
            good = np.flatnonzero(~self._refuse(keys, results, np.ones(len(slots), np.bool_)))
        else:
            good = np.arange(len(slots))
        columns = [
            concatenate_picked([(values, good)], call.name)
            for call, values in zip(self._node.calls, results, strict=True)
        ]
        kept = (keys if good.size == len(slots) else keys[good]).get_columns() if self._groups.keys else []
        return pl.DataFrame([*kept, *columns])

    def _exist(self, slots: Slots) -> Mask:
        """Which groups have rows. Without keys there is one group, always."""
        exist: Mask = self._groups.columns["rows"][slots] > 0
        return exist if self._groups.keys else np.ones_like(exist)

    def _refuse(self, keys: pl.DataFrame, results: list[Values], rows: Mask) -> Mask:
        """Refuse the groups among `rows` whose totals their type cannot hold; returns the mask of all such."""
        bad = _find_refused(results, len(rows))
        fresh = np.flatnonzero(bad & rows)
        for values, call in zip(results, self._node.calls, strict=True):
            if values.refused is None:
                continue
            for row in fresh[values.refused[fresh]]:
                reason, detail = overflow_of(call)
                shown = rows_as_json(keys[int(row)])[0] if keys.width else "{}"
                self.refused.append(RefusedRow(reason, shown, detail))
                self.counters.refused += 1
        return bad


def overflow_of(call: AggregateCall) -> tuple[str, str]:
    """Why a total is refused, and the line it was written in with what to write instead."""
    name = "" if "$" in call.name else f" AS {call.name}"
    reason = f"{call.function.upper()}{name} leaves {call.type}"
    if call.written is None:
        return reason, ""
    advice = "\nCAST its value AS DECIMAL(38, 0) for a wider total" * (call.type == BIGINT)
    return f"{reason} in {call.written}", f"{call.written.shown}{advice}"


def _find_refused(results: list[Values], size: int) -> Mask:
    bad = np.zeros(size, np.bool_)
    for values in results:
        if values.refused is not None:
            bad |= values.refused
    return bad


class Before:
    """Groups as they were before a batch: their slots, keys, results, whether they were there, and whether they were refused."""

    def __init__(self, slots: Slots, frame: pl.DataFrame, rows: Ints, exist: Mask, results: list[Values]) -> None:
        self.slots, self.frame, self.rows, self.results = slots, frame, rows, results
        bad = _find_refused(results, len(slots))
        self.there, self.refused = exist & ~bad, exist & bad


class ChangingAggregation(Aggregation):
    """EMIT CHANGES: after each batch the old row of each group that changed is taken back and the new one put in.

    With `upserts` an old row is taken back only when its group has gone: the new one replaces it.
    """

    upserts = False

    def __init__(self, aggregate: Aggregate, seed: int, partial: bool) -> None:
        super().__init__(aggregate, seed, partial)
        self._retracting = aggregate.input.retracts
        calls = self._groups.calls if self._groups.keys and not self._retracting else []
        self._always_changes = bool(calls) and all(call.always_changes for call in calls)
        assert self.state is not None
        self._shown = self.state.value("shown", False)

    def fresh(self) -> ChangingAggregation:
        """The same operator without groups."""
        made = type(self)(self._node, self._groups.seed, self._partial)
        made.upserts = self.upserts
        return made

    def finish(self) -> pl.DataFrame | None:
        """Without keys there is one row, even of no input."""
        if self._groups.keys or self._shown.value:
            return None
        batch = self._groups.locate(self._one_row(), np.zeros(1, np.int64), None)
        return self._difference(self._before(batch, np.arange(1)))

    def _apply(self, batch: SlottedRows) -> pl.DataFrame | None:
        every = np.arange(len(batch.touched))
        if self.upserts and self._always_changes:  # what was before is neither taken back nor to be compared with
            self._add(batch)
            new, there = self._groups.results(batch.touched), np.ones(every.size, np.bool_)
            return self._changelog(Before(batch.touched, batch.frame, batch.first, there, new), every[:0], every, new)
        before = self._before(batch, every)
        self._add(batch)
        return self._difference(before)

    def _close(self, end_us: int) -> pl.DataFrame | None:
        self._groups.remove(self._groups.find_ended(end_us - self._lateness_us))
        return None

    def _before(self, batch: SlottedRows, picked: Ints) -> Before:
        slots = batch.touched[picked]
        exist = self._exist(slots) if self._groups.keys else np.full(len(slots), self._shown.value)
        return Before(slots, batch.frame, batch.first[picked], exist, self._groups.results(slots))

    def _difference(self, before: Before) -> pl.DataFrame | None:
        """What has changed since: old rows with -1, then new rows with +1."""
        slots, new = before.slots, self._groups.results(before.slots)
        here = self._exist(slots) if self._retracting else np.ones(len(slots), np.bool_)
        if any(values.refused is not None for values in new):
            changed_to_bad = here & ~before.refused
            here &= ~self._refuse(pick_rows(before.frame, self._groups.keys, before.rows), new, changed_to_bad)
        changed = before.there != here
        for old_values, new_values in zip(before.results, new, strict=True):
            changed |= old_values.differ(new_values)
        gone = before.there & changed & ~here if self.upserts else before.there & changed
        minus, plus = np.flatnonzero(gone), np.flatnonzero(here & changed)
        # A group with keys says by itself whether it is there, and its tasks' values would differ.
        if not self._groups.keys:
            self._shown.value = True
        if self._retracting and self._groups.keys:
            self._groups.remove(self._groups.find_empty(slots))
        return self._changelog(before, minus, plus, new) if minus.size + plus.size else None

    def _changelog(self, before: Before, minus: Ints, plus: Ints, new: list[Values]) -> pl.DataFrame:
        columns: list[pl.Series] = []
        if self._groups.keys:
            rows = np.concatenate([before.rows[minus], before.rows[plus]])
            columns += pick_rows(before.frame, self._groups.keys, rows).get_columns()
        for call, old_values, new_values in zip(self._node.calls, before.results, new, strict=True):
            columns.append(concatenate_picked([(old_values, minus), (new_values, plus)], call.name))
        if not self._node.retracts:
            return pl.DataFrame(columns)
        weights = np.ones(minus.size + plus.size, np.int64)
        weights[: minus.size] = -1
        return pl.DataFrame([*columns, pl.Series(WEIGHT, weights)])


class CorrectingAggregation(ChangingAggregation):
    """EMIT AFTER WATERMARK WITH LATENESS: each group leaves when its window closes, and what late rows change about it at once."""

    def __init__(self, aggregate: Aggregate, seed: int, partial: bool) -> None:
        super().__init__(aggregate, seed, partial)
        self._told_us = -_LAST - 1

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Close the windows that end by then; those before have been told."""
        self._told_us = self._closed_us.value
        return super().advance(watermark_us)

    def _apply(self, batch: SlottedRows) -> pl.DataFrame | None:
        told = self._groups.columns["end"][batch.touched] <= self._closed_us.value
        before = self._before(batch, np.flatnonzero(told))
        self._add(batch)
        return self._difference(before) if told.any() else None

    def _close(self, end_us: int) -> pl.DataFrame | None:
        ended = self._groups.find_ended(end_us)
        out = self._rows(self._in_order(ended[self._groups.columns["end"][ended] > self._told_us]))
        self._groups.remove(self._groups.find_ended(end_us - self._lateness_us))
        return None if out is None else out.with_columns(pl.lit(1, pl.Int64).alias(WEIGHT))


class DelayedAggregation(ChangingAggregation):
    """EMIT AFTER DELAY: as EMIT CHANGES, but changes gather, and only what has changed in the end since the last time leaves.

    With a window that is early firing: what has gathered leaves when a window closes, too.
    """

    def __init__(self, aggregate: Aggregate, seed: int, partial: bool) -> None:
        super().__init__(aggregate, seed, partial)
        self._gathered: list[Before] = []
        self._dirty = np.zeros(64, np.bool_)
        self._due_ms: int | None = None

    def tick(self, now_ms: int) -> pl.DataFrame | None:
        """Let the changes out if the delay is over."""
        if self._due_ms is None:
            self._due_ms = now_ms + self._node.emit.delay_ms
        if now_ms < self._due_ms:
            return None
        self._due_ms = now_ms + self._node.emit.delay_ms
        return self._release()

    def flush_on_pause(self) -> pl.DataFrame | None:
        """Let the changes out before the delay is over."""
        return self._release()

    def finish(self) -> pl.DataFrame | None:
        """Let out what is left."""
        return self._release() if self._gathered else super().finish()

    def _apply(self, batch: SlottedRows) -> pl.DataFrame | None:
        if self._dirty.size < self._groups.columns.capacity:
            larger = np.zeros(self._groups.columns.capacity, np.bool_)
            larger[: self._dirty.size] = self._dirty
            self._dirty = larger
        picked = np.flatnonzero(~self._dirty[batch.touched])
        if picked.size:
            self._gathered.append(self._compact(self._before(batch, picked)))
            self._dirty[batch.touched] = True
        self._add(batch)
        return None

    def _close(self, end_us: int) -> pl.DataFrame | None:
        out = self._release()
        self._groups.remove(self._groups.find_ended(end_us - self._lateness_us))
        return out

    def _compact(self, before: Before) -> Before:
        before.frame = (
            pick_rows(before.frame, self._groups.keys, before.rows) if self._groups.keys else before.frame.head(1)
        )
        before.rows = np.arange(len(before.slots)) if self._groups.keys else before.rows * 0
        return before

    def _release(self) -> pl.DataFrame | None:
        gathered, self._gathered = self._gathered, []
        outs = []
        for before in gathered:
            self._dirty[before.slots] = False
            outs.append(self._difference(before))
        frames = [frame for frame in outs if frame is not None]
        return pl.concat(frames) if frames else None


class ClosingAggregation(Aggregation):
    """EMIT AFTER WATERMARK: each group leaves once, when its window closes; without a window, when the input ends."""

    def __init__(self, aggregate: Aggregate, seed: int, partial: bool) -> None:
        super().__init__(aggregate, seed, partial)
        self._left: Value | None = None
        if not self._groups.keys and self.state is not None:
            self._left = self.state.value("left", False)

    def finish(self) -> pl.DataFrame | None:
        """Without a window, everything leaves now; without keys there is one row, even of no input, and once: a task may end again."""
        if self._groups.window_end is not None:
            return None
        if self._left is not None:
            if self._left.value:
                return None
            self._left.value = True
            if not len(self._groups.table.index):
                self._groups.locate(self._one_row(), np.zeros(1, np.int64), None)
        slots = self._groups.table.index.slots()
        out = self._rows(slots)
        self._groups.remove(slots)
        return out

    def _apply(self, batch: SlottedRows) -> pl.DataFrame | None:
        self._add(batch)
        return None

    def _close(self, end_us: int) -> pl.DataFrame | None:
        slots = self._groups.find_ended(end_us)
        out = self._rows(self._in_order(slots))
        self._groups.remove(slots)
        return out


def aggregation(aggregate: Aggregate, seed: int, partial: bool) -> Aggregation:
    """The operator of an Aggregate, or with `partial` of a FinalAggregate."""
    kinds: dict[EmitRule, type[Aggregation]] = {
        EmitRule.CHANGES: ChangingAggregation,
        EmitRule.DELAY: DelayedAggregation,
        EmitRule.WATERMARK: ClosingAggregation,
    }
    corrects = aggregate.emit.rule is EmitRule.WATERMARK and aggregate.emit.lateness_us
    kind = CorrectingAggregation if corrects else kinds[aggregate.emit.rule]
    return kind(aggregate, seed, partial)

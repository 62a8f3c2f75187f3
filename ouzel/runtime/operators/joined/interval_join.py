"""IntervalJoin: rows meet while time says that they may, and are forgotten when it says that they can no more.

A watermark w of an input says that its rows are of time w or later from now on; an older one is late, and dropped. (A window's row is of
the window's last microsecond.) So a row of the other input is settled when the latest time that could match it is before w: nothing will
match it any more. Only then it is known to be alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from ouzel.compiler.plan import LEFT_ONLY, IntervalJoin, JoinKind
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints
from ouzel.runtime.operators.joined import time_kernels
from ouzel.runtime.operators.joined.join import Candidates, Delta, Joining, RowPairs, Side, pad
from ouzel.runtime.operators.joined.settling import BEGINNING, MeetingInTime, RowClock
from ouzel.runtime.state.index import Slots


class IntervalJoining(MeetingInTime, Joining):
    """The operator of IntervalJoin."""

    def __init__(self, node: IntervalJoin, seed: int) -> None:
        super().__init__(node, seed)
        low, high = node.bounds
        state = self.state
        assert state is not None
        self._clocks = tuple(
            RowClock(state.value(f"{name}_us", BEGINNING), side.bag, time, first, last)
            for name, side, time, (first, last) in zip(
                ("left", "right"), self._sides, node.times, ((-high, -low), (low, high)), strict=True
            )
        )
        for side, time in zip(self._sides, node.times, strict=True):
            side.never_null.append(time.column)
        self.delay_us = node.delay_us
        self._interval = node

    def fresh(self) -> Operator:
        return IntervalJoining(self._interval, self._seed)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What this batch of one input adds to the answer."""
        frame = self._in_time(frame, port)
        return super().process(frame, port) if frame.height else None

    def advance_port(self, port: int, watermark_us: int) -> pl.DataFrame | None:
        """What of the other input is settled now: those rows leave that are alone, and all are forgotten."""
        watermark, side = self._clocks[port].watermark, self._sides[1 - port]
        if watermark_us <= watermark.value:
            return None
        watermark.value = watermark_us
        slots = self._clocks[1 - port].take_settled(watermark_us)
        if not slots.size:
            return None
        made: list[pl.DataFrame] = []
        if side.counts_matches and self._kind is not JoinKind.SEMI:
            alone = slots[side.matches["rows"][slots] == 0]
            made += self._weigh(pad(side.bag.frame(alone), self._schema), side.bag.weights[alone])
        _, owners, _ = self._table.touch(side.bag.owners(slots))
        side.bag.remove(slots)
        self._table.release(owners)
        return pl.concat(made) if made else None

    def _candidates(self, other: Side, owners: Slots, groups: Ints, frame: pl.DataFrame) -> Candidates:
        """Slots of rows of the other side by key and time, and which of these lie within the span of each row."""
        own, theirs = self._clocks[1 - other.port], self._clocks[other.port]
        kept, ends = other.bag.list_slots(owners)
        times, mine = theirs.of_slots[kept], own.times(frame)
        time_kernels.sort_by_time(kept, times, ends)
        begins, counts = np.empty((2, len(groups)), np.int64)
        time_kernels.find_spans(times, ends, groups, mine + own.first, mine + own.last, begins, counts)
        return Candidates(kept, begins, counts)

    def _step(self, own: Side, other: Side, part: Delta, pairs: RowPairs) -> Iterator[pl.DataFrame]:
        clock = self._clocks[own.port]
        times = clock.times(part.rows)
        kept = times + clock.last >= self._clocks[other.port].watermark.value
        if self._kind not in LEFT_ONLY and len(pairs.row):
            yield from self._weigh(self._beside(own, part.rows, other, pairs), other.bag.weights[pairs.slot])
        matches = np.bincount(pairs.row, other.bag.weights[pairs.slot], len(times)).astype(np.int64)
        if own.counts_matches:
            said = matches > 0 if self._kind is JoinKind.SEMI else ~kept & (matches == 0)
            yield from self._weigh(pad(part.rows.filter(pl.Series(said)), self._schema), part.weights[said])
        if other.counts_matches and len(pairs.row):
            yield from self._match(other, pairs)
        if not kept.all():
            rows = np.flatnonzero(kept)
            part = Delta(part.rows[rows], part.weights[rows], part.owners[rows], (part.key[0][rows], part.key[1][rows]))
            times, matches = times[rows], matches[rows]
        if len(times):
            slots = own.bag.find_or_put(part.key, part.owners, part.rows)
            own.bag.add(slots, part.weights)
            clock.keep(slots, times)
            if own.counts_matches:
                own.matches["rows"][slots] = matches

    def _match(self, side: Side, pairs: RowPairs) -> Iterator[pl.DataFrame]:
        """Count the matches of rows of the other side; of a semi-join those leave that have their first."""
        groups, slots, _ = side.bag.touch(pairs.slot)
        counts = side.matches["rows"]
        first = slots[counts[slots] == 0]
        counts[slots] += np.bincount(groups, minlength=len(slots))
        side.bag.mark_changed(slots)
        if self._kind is JoinKind.SEMI:
            yield from self._weigh(pad(side.bag.frame(first), self._schema), side.bag.weights[first])

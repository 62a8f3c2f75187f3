"""AsofJoin: a row waits until all versions up to its time are known; a version is kept as long as it may be the latest of a row to come.

A watermark w of an input says that its rows are of time w or later from now on. So a row leaves when the versions' watermark has passed
it, and of the versions before both watermarks only the latest of each key is kept.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import AsofJoin, JoinKind, RowTime
from ouzel.compiler.types import to_polars
from ouzel.runtime.operators.buffers import Ints
from ouzel.runtime.operators.joined import time_kernels
from ouzel.runtime.operators.joined.join import LEFT, RIGHT, pad
from ouzel.runtime.operators.joined.settling import BEGINNING, MeetingInTime, RowClock
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.index import Slots


class AsofJoining(MeetingInTime):
    """The operator of AsofJoin."""

    stateful = True
    delay_us = 1

    def __init__(self, node: AsofJoin, seed: int) -> None:
        super().__init__()
        self._node, self._seed = node, seed
        self._keys = tuple([pair[port] for pair in node.keys] for port in (LEFT, RIGHT))
        self._columns = tuple(below.schema.polars() for below in node.inputs)
        self._schema = {field.name: to_polars(field.type) for field in node.schema}
        state = self.state = StateContext(node.stable_id, seed, self._keys[LEFT])
        self._table = state.table("keys", {key: self._columns[LEFT][key] for key in self._keys[LEFT]})
        names = ("left", "right")
        self._bags = tuple(state.bag(name, self._table, row) for name, row in zip(names, self._columns, strict=True))
        last = -1 if node.before else 0
        self._clocks = tuple(
            RowClock(state.value(f"{name}_us", BEGINNING), bag, RowTime(time), 0, reach)
            for name, bag, time, reach in zip(names, self._bags, node.times, (last, 0), strict=True)
        )

    def fresh(self) -> AsofJoining:
        return AsofJoining(self._node, self._seed)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """Keep a batch of one input; what of it is settled leaves."""
        frame, made = self._in_time(frame, port), []
        needed = [*self._keys[port], self._node.times[port]]
        if any(frame[name].null_count() for name in needed):
            matching = frame.select(pl.all_horizontal(pl.col(needed).is_not_null())).to_series()
            alone, frame = frame.filter(~matching), frame.filter(matching)
            made = [pad(alone, self._schema)] if port == LEFT and self._node.kind is JoinKind.LEFT else []
        if frame.height:
            self._keep(frame.select(list(self._columns[port])), port)
            made.append(self._settle(self._clocks[RIGHT].watermark.value))
        frames = [each for each in made if each.height]
        return pl.concat(frames) if frames else None

    def advance_port(self, port: int, watermark_us: int) -> pl.DataFrame | None:
        """Rows that the versions' watermark has passed leave."""
        watermark = self._clocks[port].watermark
        if watermark_us <= watermark.value:
            return None
        watermark.value = watermark_us
        made = self._settle(watermark_us) if port == RIGHT else None
        self._forget(min(clock.watermark.value for clock in self._clocks))
        return made

    def _keep(self, frame: pl.DataFrame, port: int) -> None:
        key, owners, _, _ = self._table.enter(frame, self._keys[port])
        slots = self._bags[port].find_or_put(key, owners, frame)
        self._bags[port].add(slots, np.ones(len(slots), np.int64))
        self._clocks[port].keep(slots, self._clocks[port].times(frame))

    def _settle(self, watermark_us: int) -> pl.DataFrame:
        """The rows that the versions' watermark has passed, with their versions."""
        bag, clock = self._bags[LEFT], self._clocks[LEFT]
        slots = clock.take_settled(watermark_us)
        if not slots.size:
            return pl.DataFrame(schema=self._schema)
        groups, owners, _ = self._table.touch(bag.owners(slots))
        versions = self._versions(owners, groups, clock.of_slots[slots] + clock.last)
        times = bag.weights[slots]
        if self._node.kind is JoinKind.INNER:
            times = np.where(versions >= 0, times, 0)
        rows = np.repeat(np.arange(len(slots)), times)
        made = bag.frame(slots[rows]).hstack(self._bags[RIGHT].frame_with_gaps(versions[rows]))
        bag.remove(slots)
        self._table.release(owners)
        return made

    def _versions(self, owners: Slots, groups: Ints, times: Ints) -> Slots:
        """The slot of the latest version of each row by its time, -1 if there is none."""
        kept, ends = self._order(owners)
        begins, counts = np.empty((2, len(groups)), np.int64)
        known = self._clocks[RIGHT].of_slots[kept]
        time_kernels.find_spans(known, ends, groups, np.full(len(groups), BEGINNING), times, begins, counts)
        if not kept.size:
            return np.full(len(groups), -1)
        return np.where(counts > 0, kept[np.minimum(begins + np.maximum(counts, 1), len(kept)) - 1], -1)

    def _order(self, owners: Slots) -> tuple[Slots, Ints]:
        """The versions of these owners, owner by owner, in their order; and where those of each begin, with the end of the last."""
        bag = self._bags[RIGHT]
        kept, ends = bag.list_slots(owners)
        times = self._clocks[RIGHT].of_slots[kept]
        time_kernels.sort_by_time(kept, times, ends)
        same = times[1:] == times[:-1]
        same[ends[1:-1][(ends[1:-1] > 0) & (ends[1:-1] < len(kept))] - 1] = False
        if same.any():
            owner = pl.Series("$owner", np.repeat(np.arange(len(owners)), np.diff(ends)))
            by = bag.frame(kept).select(self._node.ordering).insert_column(0, owner)
            kept = kept[by.with_row_index("$row").sort(by.columns, maintain_order=True)["$row"].to_numpy()]
        return kept, ends

    def _forget(self, watermark_us: int) -> None:
        """Of the versions that both watermarks have passed, only the latest of each key may still be asked for."""
        passed = self._clocks[RIGHT].take_settled(watermark_us)
        if not passed.size:
            return
        _, owners, _ = self._table.touch(self._bags[RIGHT].owners(passed))
        kept, ends = self._order(owners)
        old = self._clocks[RIGHT].of_slots[kept] < watermark_us
        last = np.append(old[1:], False)
        last[ends[1:] - 1] = False
        self._bags[RIGHT].remove(kept[old & last])

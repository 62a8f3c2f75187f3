"""When joins by time can drop rows: the watermark of each input, and the time from which a kept row can match nothing more."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import INPUT, RowTime
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, Mask, numbers, valid_rows
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.value import Value

BEGINNING = -(1 << 63)
"""The watermark before the first one."""

_MERGED = 4


class Schedule:
    """Slots, each with a moment. They are kept in sorted runs that are merged by size, so that time may move often and cheaply."""

    def __init__(self) -> None:
        self._runs: list[tuple[Ints, Slots]] = []

    def add(self, moments: Ints, slots: Slots) -> None:
        """Schedule each slot at its moment."""
        if slots.size:
            self._push(moments, slots)
            runs = self._runs
            while len(runs) >= _MERGED and runs[-_MERGED][1].size <= 2 * runs[-1][1].size:
                parts, runs[-_MERGED:] = runs[-_MERGED:], []
                self._push(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def before(self, moment: int) -> Slots:
        """Remove and return the slots whose moment is before this one."""
        come: list[Slots] = []
        for number, (moments, slots) in enumerate(self._runs):
            if moments[0] < moment:
                end = int(np.searchsorted(moments, moment))
                come.append(slots[:end])
                self._runs[number] = (moments[end:], slots[end:])
        self._runs = [run for run in self._runs if run[1].size]
        return np.concatenate(come) if come else np.empty(0, np.int64)

    def _push(self, moments: Ints, slots: Slots) -> None:
        order = np.argsort(moments, kind="stable")
        self._runs.append((moments[order], slots[order]))


class RowClock:
    """The times of one input's rows, its watermark, and which of its rows in a bag no row of the other input can match any more.

    A row of time t matches rows of the other input from t + `first` to t + `last`.
    """

    def __init__(self, watermark: Value, bag: RowBag, time: RowTime, first: int, last: int) -> None:
        self.watermark, self.first, self.last = watermark, first, last
        self._bag, self._time = bag, time
        self._slots = bag.columns("time", {"us": np.int64}, derived=True)
        self._schedule = Schedule()

    @property
    def of_slots(self) -> Ints:
        """The time of each slot of the bag."""
        return self._slots["us"]

    def times(self, frame: pl.DataFrame) -> Ints:
        """The time of each row; anything where it is NULL."""
        return numbers(frame[self._time.column]) + self._time.shift_us

    def late(self, frame: pl.DataFrame) -> Mask | None:
        """Which rows are older than the watermark; None if none is."""
        late = self.times(frame) < self.watermark.value
        valid = valid_rows(frame[self._time.column])
        late = late if valid is None else late & valid
        return late if late.any() else None

    def keep(self, slots: Slots, times: Ints) -> None:
        """Note the times of rows that have been put into the bag."""
        self.of_slots[slots] = times
        self._schedule.add(times + self.last, slots)

    def take_settled(self, watermark_us: int) -> Slots:
        """The slots of rows that no row of the other input of this time or later can match; each slot is returned once."""
        _, slots, _ = self._bag.touch(self._schedule.before(watermark_us))
        return slots

    def on_restored(self) -> None:
        """Find the times of what is in the bag."""
        slots = self._bag.index.slots()
        self._schedule = Schedule()
        if slots.size:
            self.keep(slots, self.times(self._bag.frame(slots)))


class MeetingInTime(Operator):
    """Base: rows of two inputs meet by time, and each input has a clock of its own."""

    _clocks: tuple[RowClock, ...]

    def on_restored(self) -> None:
        """Recompute from the restored rows when each is settled."""
        for clock in self._clocks:
            clock.on_restored()

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """An input without a watermark of its own follows the other input's."""
        made = [self.advance_port(port, watermark_us) for port in range(len(self._clocks))]
        frames = [frame for frame in made if frame is not None]
        return pl.concat(frames) if frames else None

    def _in_time(self, frame: pl.DataFrame, port: int) -> pl.DataFrame:
        """The rows of one input that are not late; the others are dropped, with the number of their input."""
        late = self._clocks[port].late(frame)
        if late is None:
            return frame
        self.drop_late(frame.filter(late).with_columns(pl.lit(port).alias(INPUT)), int(np.count_nonzero(late)))
        return frame.filter(~late)

"""RowStore: whole rows of any type by slot, in Polars columns."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.lending import Loans
from ouzel.runtime.state.positions import take_rows, take_values_with_gaps

_MERGED = 4
"""How many frames of the log are merged into one. Pairs would copy each row more often; more would leave more frames to look in."""

_SHORT = 4_096
"""A log of at most this many rows is merged into one frame before rows are taken, which is faster than to look in several frames."""


class RowStore:
    """At most one row of this schema a slot. Rows are appended to a log of frames, merged by size as in a log-structured merge tree
    (O'Neil et al., 1996), so that each row is copied O(log n) times; when more than half of the log is dead it is written anew.
    """

    def __init__(self, schema: Mapping[str, pl.DataType]) -> None:
        self.schema = dict(schema)
        self._frames: list[pl.DataFrame] = []
        self._place = np.full(64, -1, np.int64)
        self._logged = self._live = 0
        self._loans = Loans()
        self._used = 0

    def __len__(self) -> int:
        return self._live

    @property
    def used_bytes(self) -> int:
        """Of the log of frames, dead rows included, as Polars estimates them, and of the places in it."""
        return self._place.nbytes + int(sum(frame.estimated_size() for frame in self._frames))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a row."""
        return tuple(self.schema)

    def put(self, slots: Slots, frame: pl.DataFrame) -> None:
        """Keep row i of `frame` for `slots[i]`, each slot given once, in place of what was there."""
        if not slots.size:
            return
        self._reserve(int(slots.max()) + 1)
        if self._loans and int(slots.min()) < self._used:
            self._own()
        self._live += int(np.count_nonzero(self._place[slots] < 0))
        self._place[slots] = np.arange(self._logged, self._logged + slots.size)
        self._logged += slots.size
        self._frames.append(frame)
        while len(self._frames) >= _MERGED and self._frames[-_MERGED].height <= 2 * self._frames[-1].height:
            self._frames[-_MERGED:] = [pl.concat(self._frames[-_MERGED:], rechunk=True)]
        self._compact_if_dead()

    def take(self, slots: Slots) -> pl.DataFrame:
        """The rows of these slots, in their order; each must have one."""
        if not slots.size:
            return pl.DataFrame(schema=self.schema)
        places = self._place[slots]
        if len(self._frames) > 1 and self._logged <= max(_SHORT, _MERGED * slots.size):
            self._frames = [pl.concat(self._frames, rechunk=True)]
        return take_rows(self._frames[0], places) if len(self._frames) == 1 else self._gather(places)

    def take_with_gaps(self, slots: Slots) -> pl.DataFrame:
        """The rows of these slots, in their order; NULLs for a slot without one, or below 0."""
        there = slots >= 0
        there[there] = ~self.missing(slots[there])
        if there.all():
            return self.take(slots)
        rows = self.take(slots[there])
        places = np.where(there, np.cumsum(there) - 1, -1)
        return pl.DataFrame([take_values_with_gaps(column, places) for column in rows.get_columns()])

    def free(self, slots: Slots) -> None:
        """Forget the rows of these slots."""
        self._own()
        held = slots[slots < self._place.size]
        self._live -= int(np.count_nonzero(self._place[held] >= 0))
        self._place[held] = -1
        self._compact_if_dead()

    def missing(self, slots: Slots) -> npt.NDArray[np.bool_]:
        """Which of these slots have no row."""
        if slots.size:
            self._reserve(int(slots.max()) + 1)
        absent: npt.NDArray[np.bool_] = self._place[slots] < 0
        return absent

    def order(self, slots: Slots) -> Slots:
        """These slots, by when their rows were put."""
        return slots[np.argsort(self._place[slots], kind="stable")]

    def select(self, slots: Slots) -> RowStore:
        """A copy in which slot i has the row of `slots[i]`. No row is copied: frames are never written to."""
        copied = copy(self)
        copied._frames, copied._loans, copied._place = list(self._frames), Loans(), np.full(slots.size, -1, np.int64)
        held = slots < self._place.size
        copied._place[held] = self._place[slots[held]]
        copied._live = int(np.count_nonzero(copied._place >= 0))
        return copied

    def freeze(self, used: int) -> RowStore:
        """The rows as they are now, to be read; slots below `used` have been given out."""
        frozen, self._used = copy(self), max(self._used, used)
        frozen._frames, frozen._loans = list(self._frames), Loans()
        self._loans.add(frozen)
        return frozen

    def _own(self) -> None:
        """Copy the places if a frozen copy still reads them; frames need no copy, as they are never written to."""
        if self._loans and self._loans.take():
            self._place = self._place.copy()

    def _gather(self, places: Slots) -> pl.DataFrame:
        starts = np.cumsum([0, *(frame.height for frame in self._frames)])
        frame_of = np.searchsorted(starts, places, side="right") - 1
        order = np.argsort(frame_of, kind="stable")
        cuts = np.searchsorted(frame_of[order], np.arange(len(self._frames) + 1))
        parts = [
            take_rows(frame, places[order[cuts[number] : cuts[number + 1]]] - starts[number])
            for number, frame in enumerate(self._frames)
            if cuts[number] < cuts[number + 1]
        ]
        rows = pl.concat(parts, rechunk=True)
        if bool((frame_of[1:] >= frame_of[:-1]).all()):  # as in snapshots, which go by age
            return rows
        back = np.empty(order.size, np.int64)
        back[order] = np.arange(order.size)
        return take_rows(rows, back)

    def _reserve(self, limit: int) -> None:
        if limit > self._place.size:
            larger = np.full(max(limit, 2 * self._place.size), -1, np.int64)
            larger[: self._place.size] = self._place
            self._place = larger

    def _compact_if_dead(self) -> None:
        """Write the log anew when more than half of it is dead, so that each row that dies pays for at most one that is copied."""
        if not self._live or (self._logged > 1024 and self._logged > 2 * self._live):
            self._compact()

    def _compact(self) -> None:
        slots = self.order(np.flatnonzero(self._place >= 0))
        frame = self.take(slots)
        self._own()
        self._frames = [frame] if frame.height else []
        self._place[slots] = np.arange(slots.size)
        self._logged = slots.size

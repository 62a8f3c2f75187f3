"""What a result's receiver has been handed since the marks of its tasks, and what it delivers of what comes after a roll back.

A roll back to epoch N means that the rows after the mark of N come again: as many of each, in other batches, perhaps from other tasks of
the sink. In a result that retracts, they are other changes that add up to the same table. So

- of a result that only grows, rows that were delivered since the mark are owed: as they come again they are not delivered a second time.
  A row that never comes again stays delivered;
- of a result that retracts, what was delivered since the mark is taken back at once, and what comes is delivered.

Each task says by itself that it has rolled back, and in between rows of both kinds come. The first to say it speaks for all: what any task
wrote after that mark comes again. What still comes of a task before its own roll back is delivered if it comes before its mark of that
epoch; after the mark it is dropped, for it comes again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ouzel.compiler.plan import WEIGHT

if TYPE_CHECKING:
    from ouzel.runtime.protocol.cluster.owed_rows import OwedRows

KEPT_BYTES = 32 << 20
"""With more than this kept of a task, what is kept takes less room: of rows their hashes, of changes what is left of them."""

FRAME_BYTES = 1 << 10
"""What a frame takes besides its rows."""

OWED_MAX = 1 << 24
"""Rows that are owed for so long that more than this had come together are forgotten at the next roll back: they will not come again."""


class _Task:
    """One task of the sink.

    Attributes:
        generation: the latest that it has begun.
        cut: the least epoch to which others have rolled back meanwhile.
        since: by the epoch of each mark, oldest first, the frames that have come after it and before the next one.
        is_behind: all that comes of it before it has rolled back itself is going to come again.
    """

    def __init__(self, cut: int | None) -> None:
        self.generation, self.cut = -1, cut
        self.since: dict[int, list[pl.DataFrame]] = {}
        self.is_behind = False
        self._bytes, self._bytes_most = 0, KEPT_BYTES

    def keep(self, frame: pl.DataFrame) -> None:
        """It comes after the last mark."""
        self.since[next(reversed(self.since))].append(frame)
        self._bytes += _size(frame)
        if self._bytes > self._bytes_most:
            self._shorten()

    def _shorten(self) -> None:
        """Of rows only hashes are kept, of changes what they add up to: no more than what the result has of rows that change."""
        from ouzel.runtime.protocol.cluster.owed_rows import shorten

        self.since = {epoch: shorten(frames) for epoch, frames in self.since.items()}
        self._bytes = self._measure()
        self._bytes_most = 2 * self._bytes + KEPT_BYTES

    def _measure(self) -> int:
        return sum(_size(frame) for frames in self.since.values() for frame in frames)

    def mark(self, epoch: int, kept: int) -> None:
        """What has come belongs to this epoch, even if it has been marked before.

        Forget what lies before the epoch that comes before `kept`: that one may turn out to be damaged.
        """
        before = self._take_after(epoch)
        if self.since:
            self.since[next(reversed(self.since))] += before
        self.since[epoch] = []
        needed = next(iter(sorted(one for one in self.since if one <= kept)[-2:]), -1)
        self.since = {one: frames for one, frames in self.since.items() if one >= needed}
        self._bytes, self._bytes_most = self._measure(), KEPT_BYTES
        self.is_behind = self.cut is not None and epoch >= self.cut

    def cut_off(self, epoch: int) -> list[pl.DataFrame]:
        """What has come after the mark of this epoch, if that has been: it comes again, as all does until the task rolls back."""
        self.cut = epoch if self.cut is None else min(self.cut, epoch)
        if not self.since or next(reversed(self.since)) < epoch:
            return []
        taken = self._take_after(epoch)
        self.since[epoch] = []
        self.is_behind = True
        return taken

    def begin(self, generation: int, epoch: int, cut: int | None) -> None:
        """It has rolled back itself."""
        self.generation, self.cut = generation, cut
        self.since.setdefault(epoch, [])
        self.is_behind = cut is not None and cut <= epoch

    def _take_after(self, epoch: int) -> list[pl.DataFrame]:
        return [frame for one in list(self.since) if one >= epoch for frame in self.since.pop(one)]


class SinceMark:
    """All tasks of one result sink. Without marks and roll backs it keeps nothing, and lets everything through."""

    def __init__(self) -> None:
        self._tasks: dict[int, _Task] = {}
        self._roll_backs: dict[int, int] = {}
        self._owed: OwedRows | None = None

    def generation(self, task: int) -> int:
        """The generation that the task's rows belong to."""
        known = self._tasks.get(task)
        return -1 if known is None else known.generation

    def on_rows(self, task: int, frame: pl.DataFrame) -> pl.DataFrame | None:
        """A batch of a task has come, for the first time in its generation: what is to be delivered of it."""
        known = self._tasks.get(task)
        if known is not None:
            if known.is_behind:
                return None
            known.keep(frame)
        return frame if self._owed is None else self._take_owed(self._owed, frame)

    def on_mark(self, task: int, epoch: int, kept: int) -> None:
        """What has come of the task belongs to this epoch and those before; no roll back goes behind the epoch before `kept`."""
        known = self._find(task)
        if not known.is_behind:
            known.mark(epoch, kept)

    def on_roll_back(self, task: int, epoch: int, generation: int) -> pl.DataFrame | None:
        """What comes of the task from now on is what came after the mark of the epoch: what is to be delivered at once."""
        known = self._find(task)
        if generation <= known.generation:
            return None
        self._roll_backs[generation] = epoch
        taken = [frame for one in self._tasks.values() if one.generation < generation for frame in one.cut_off(epoch)]
        known.begin(generation, epoch, self._find_cut(generation))
        return self._take_back(taken) if taken else None

    def on_met(self, task: int, epoch: int, generation: int) -> None:
        """A task is heard of in the midst of this generation, after the mark of this epoch."""
        if task not in self._tasks:
            self._find(task).begin(generation, epoch, self._find_cut(generation))

    def _find(self, task: int) -> _Task:
        return self._tasks.setdefault(task, _Task(self._find_cut(-1)))

    def _find_cut(self, generation: int) -> int | None:
        """The least epoch to which a later generation went back: rows of this one after its mark have come again, or will."""
        return min((epoch for later, epoch in self._roll_backs.items() if later > generation), default=None)

    def _take_back(self, taken: list[pl.DataFrame]) -> pl.DataFrame | None:
        if WEIGHT in taken[0].columns:
            return _negate(taken)
        from ouzel.runtime.protocol.cluster.owed_rows import (
            OwedRows,
        )  # compiled loops, which a run without roll backs does not need

        if self._owed is None or len(self._owed) > OWED_MAX:
            self._owed = OwedRows()
        for frame in taken:
            self._owed.add(frame)
        return None

    def _take_owed(self, owed: OwedRows, frame: pl.DataFrame) -> pl.DataFrame | None:
        left = owed.take_from(frame)
        if not owed:
            self._owed = None
        return left if left.height else None


def _size(frame: pl.DataFrame) -> int:
    return FRAME_BYTES + int(frame.estimated_size())


def _negate(frames: list[pl.DataFrame]) -> pl.DataFrame | None:
    """What takes these changes back: first rows that go, then rows that come back."""
    from ouzel.runtime.operators.consolidate import net_changes

    changes = net_changes(frames).with_columns(-pl.col(WEIGHT)).sort(WEIGHT, maintain_order=True)
    return changes if changes.height else None

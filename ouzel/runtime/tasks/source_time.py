"""Event time of one source task: the least of its partitions, those aside that are idle."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.runtime.protocol.messages import TimeStatus, Waiting
from ouzel.runtime.protocol.task import TaskSetup
from ouzel.runtime.protocol.watermarks import FINISHED, WatermarkStatus
from ouzel.runtime.tasks.awaited import Awaited
from ouzel.runtime.tasks.partitions import PartitionProgress, Partitions
from ouzel.runtime.tasks.reading import BatchReader

FOLLOW_US = 50_000
"""In silence event time moves in such steps."""


class SourceTime:
    """Finds the watermark of a source task. It never goes back, not even below what the task before this one has sent (see journal.py).

    A partition that has not been read yet holds time back, and so does one that cannot be reached.
    """

    def __init__(self, setup: TaskSetup, partitions: Partitions, reader: BatchReader, is_timed: bool) -> None:
        self._setup, self._partitions, self._reader = setup, partitions, reader
        self._awaited = Awaited(setup.task.component, partitions.idle_after_ms, is_timed)
        self._last: WatermarkStatus | None = None

    def advance(self, now_ms: float, pause: int) -> WatermarkStatus | None:
        """The watermark now, in the pause of that number or, if it is 0, in none; None if it is what it was.

        Time stands still in a pause. It has not come to this task while batches are read again that were on their way before.
        """
        moment = self._moment(now_ms, pause)
        if moment == self._last:
            return None
        self._last = moment
        return moment

    def _moment(self, now_ms: float, pause: int) -> WatermarkStatus:
        first = self._reader.first
        if first is None and not self._reader.grows:
            return FINISHED
        known = self._last.time_us if self._last else self._partitions.journal.time_us
        if pause:
            return (
                WatermarkStatus(known)
                if self._reader.is_repeating
                else WatermarkStatus(known, TimeStatus.PAUSED, pause)
            )
        if first is None:  # files that are followed: all are gone, or none has come yet
            return WatermarkStatus(known, TimeStatus.IDLE)
        if not self._is_idle(first, now_ms):
            return WatermarkStatus(max(first.watermark_us, known))
        unended = self._reader.unended
        active = [progress for progress in unended if not self._is_idle(progress, now_ms)]
        if active:
            return WatermarkStatus(max(known, min(progress.watermark_us for progress in active)))
        return self._idle_moment(unended, known, now_ms)

    def _is_idle(self, progress: PartitionProgress, now_ms: float) -> bool:
        return progress.silence.is_idle(now_ms, self._partitions.idle_after_ms)

    def _idle_moment(self, unended: Sequence[PartitionProgress], known: int, now_ms: float) -> WatermarkStatus:
        """All partitions are idle: event time follows the wall clock where the rows do, else it waits for data or the end."""
        following = [progress.lag for progress in unended if progress.lag.is_following]
        if not following:
            return WatermarkStatus(max(known, *(progress.watermark_us for progress in unended)), TimeStatus.IDLE)
        wall_us = (self._setup.shell.wall_zero_us() + int(now_ms * 1000)) // FOLLOW_US * FOLLOW_US
        return WatermarkStatus(max(known, min(lag.watermark_us(wall_us) for lag in following)), TimeStatus.FOLLOWING)

    def waiting(self, now_ms: float) -> tuple[Waiting, ...]:
        """What time waits for, if the partition that is furthest behind has nothing."""
        first = self._reader.first
        if first is None or first.silence.since_ms is None:
            return ()
        return self._awaited.of(self._reader.unended, now_ms, self._setup.shell.wall_zero_us())

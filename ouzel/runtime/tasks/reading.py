"""Reads the partitions of one source task, the one that is furthest behind in event time first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from ouzel.connectors.backlog import Backlog, Backlogged, Measured, largest
from ouzel.connectors.reading import LaggingReader, ReadBatch, ReadState, Unreachable
from ouzel.runtime.protocol.linger import Linger
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.protocol.task import TaskMetrics, TaskSetup
from ouzel.runtime.tasks.partitions import PartitionProgress, Partitions, TurnQueue, check_weights
from ouzel.runtime.tasks.shedding import SkippedRange

NEW_PARTITIONS_MS = 2_000
"""How often a source that grows is asked for new partitions."""

PartitionRead = tuple[PartitionProgress, ReadBatch | SkippedRange]
"""A batch of a partition, or a range of it that is skipped."""

FEW = 32
"""So many partitions are all asked for each batch, whether they had anything before or not."""

REST_EACH_MS, REST_MS = 0.1, 250.0
"""With more, those that had nothing rest so long for each there is, and at most so long: to ask thousands that have nothing for each batch
takes far longer than to read it. It is less than the silence after which nothing is known of a partition."""


class BatchReader:
    """The open partitions of one source task. `progress` has all of them, in the order in which they were found."""

    def __init__(self, setup: TaskSetup, partitions: Partitions) -> None:
        self._partitions, self._settings, self._shell = partitions, setup.settings, setup.shell
        self.progress: list[PartitionProgress] = []
        self.grows = partitions.ways.grows
        self._unended = TurnQueue()
        self._repeating: list[PartitionProgress] = []
        self._look_at = self._rest_ms = 0.0
        self._open_more()

    @property
    def first(self) -> PartitionProgress | None:
        """The partition that is furthest behind in event time; None if all have ended."""
        return self._unended.first

    @property
    def unended(self) -> list[PartitionProgress]:
        """The partitions that have not ended."""
        return [progress for progress in self.progress if not progress.ended]

    @property
    def places(self) -> dict[str, Place]:
        """Where a successor reads on once all that was read is acked: also in a partition that has given nothing and begins at its end."""
        return {one.partition.id: place for one in self.progress if (place := one.place or one.began) is not None}

    @property
    def is_repeating(self) -> bool:
        """Whether batches are still to be read again that a task before this one had cut: what came of them may be on its way, or lost."""
        self._repeating = [progress for progress in self._repeating if progress.cuts]
        return bool(self._repeating)

    @contextmanager
    def next_batch(self, now_ms: float, only_again: bool = False) -> Iterator[PartitionRead | None]:
        """The next batch or skipped range, if there is any; `only_again` one that is read again. Handle it inside.

        A partition takes its turn by its event time, and handling its batch moves that. So the partition goes back into the heap, at its
        new place, only when this block is left.

        Raises:
            ConnectorError: the source is gone or unreadable, or holds other rows than it did.
        """
        count = len(self._unended)
        with closing(self._unended.in_turn()) as in_turn:
            asked = (progress for progress in in_turn if progress.cuts or not only_again)
            read = next((read for progress in asked if (read := self._read(progress, now_ms))), None)
            self._rest_ms = 0.0 if read is None or count <= FEW else min(REST_MS, REST_EACH_MS * count)
            yield read

    def _read(self, progress: PartitionProgress, now_ms: float) -> PartitionRead | None:
        if progress.linger.is_gathering(now_ms) or progress.silence.was_asked_within(self._rest_ms, now_ms):
            return None
        with self._shell.outside():
            batch = progress.read(self._settings.batch_rows)
        if progress.has_stopped and not isinstance(batch, SkippedRange | ReadBatch):
            return None
        if isinstance(batch, SkippedRange | ReadBatch):
            self._on_read(progress, batch, now_ms)
            return progress, batch
        if batch is ReadState.END:
            progress.ended = True
            progress.reader.close()
        else:
            progress.silence.on_nothing(now_ms, batch.reason if isinstance(batch, Unreachable) else "")
        return None

    def _on_read(self, progress: PartitionProgress, batch: ReadBatch | SkippedRange, now_ms: float) -> None:
        progress.silence.on_rows()
        if progress.first < 0:
            progress.first = batch.start
        if isinstance(batch, ReadBatch):
            check_weights(batch, progress.partition.id, self._partitions.ways.changelog)
            if not progress.replays:  # offsets, not rows: a predicate may have dropped most of them
                progress.linger.on_read(batch.end - batch.start, now_ms)

    def look_for_more(self, now_ms: float) -> None:
        """Open partitions that are new, if it is time to look for them.

        Raises:
            ConnectorError: the source cannot be reached.
        """
        if self.grows and now_ms >= self._look_at:
            self._look_at = now_ms + NEW_PARTITIONS_MS
            self._open_more()

    def _open_more(self) -> None:
        fresh = self._partitions.fresh()
        for progress in fresh:
            rows = self._settings.batch_rows
            progress.linger = Linger(rows // 10, rows, self._settings.batch_linger_ms)
        self.progress += fresh
        self._repeating += fresh
        self._unended.add(fresh)

    def on_paused(self, lasted_ms: float) -> None:
        """Nothing was read for so long, by command: that is no silence of the partitions."""
        for progress in self.progress:
            progress.silence.on_paused(lasted_ms)

    def measure_lag(self, counts: TaskMetrics, now_ms: float) -> None:
        """Count how many records wait behind what was read, in the partitions whose readers can tell, where, and for how long."""
        lag, backlogs, ages = None, list[Backlog](), list[float]()
        for progress in self.unended:
            reader = progress.reader
            if not isinstance(reader, LaggingReader) or (waits := reader.lag()) is None:
                continue
            lag = (lag or 0) + waits
            told = reader.backlogs() if isinstance(reader, Backlogged) else [Backlog(progress.partition.id, waits)]
            backlogs += told
            ages += (one.age_ms for one in told if one.age_ms is not None and one.records)
            if isinstance(reader, Measured) and (extent := reader.extent()):
                ages.append(progress.unread.observe(extent, now_ms))
        counts.lag, counts.backlogs = lag, largest(backlogs)
        counts.lag_bytes = sum(known) if (known := [one.bytes for one in backlogs if one.bytes is not None]) else None
        counts.lag_ms = int(max(ages)) if ages else None

    def close(self) -> None:
        """Close the readers and the source."""
        for progress in self.unended:
            progress.reader.close()
        self._partitions.source.close()

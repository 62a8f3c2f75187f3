"""The partitions that one spout task reads: where each stands, and where its batches are cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from ouzel.connectors.base import Partition, ReadBatch, Reader, ReadState, Source
from ouzel.planner.topology import Task
from ouzel.runtime.protocol.ids import name_id
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME
from ouzel.runtime.tasks.journal import Journal


@dataclass(slots=True)
class Emitted:
    """A batch on its way: where it ends, how far the partition's event time is there, and whether it is wholly acked."""

    end: int
    time_us: int
    acked: bool = False


@dataclass
class Progress:
    """Where reading one partition stands.

    `emitted` holds the batches emitted and not yet committed, in order; `cuts` where batches were cut that were emitted before a crash and
    not committed: they are cut there again. `silent_ms` is when it was first found to have nothing; `committed` is the offset before
    which all is acked, and `committed_us` the event time there.
    """

    partition: Partition
    reader: Reader
    id: int
    watermark_us: int = BEGINNING_OF_TIME
    silent_ms: float | None = None
    asked_ms: float = 0.0
    ended: bool = False
    emitted: deque[Emitted] = field(default_factory=deque)
    cuts: deque[tuple[int, int]] = field(default_factory=deque)
    first: int = -1
    committed: int | None = None
    committed_us: int = BEGINNING_OF_TIME
    _part: ReadBatch | None = None

    def waited(self, now_ms: float) -> None:
        """It was asked and had nothing."""
        self.asked_ms = now_ms
        if self.silent_ms is None:
            self.silent_ms = now_ms

    def slept(self, lasted_ms: float) -> None:
        """It was not asked for so long, by command: that is no silence of its own."""
        if self.silent_ms is not None:
            self.silent_ms += lasted_ms

    def settle(self) -> bool:
        """Move `committed` over what is acked without a gap; True if it moved."""
        moved = False
        while self.emitted and self.emitted[0].acked:
            first = self.emitted.popleft()
            self.committed, self.committed_us = first.end, first.time_us
            moved = True
        return moved

    def read(self, rows: int) -> ReadBatch | ReadState:
        """The next batch: one that was cut before, exactly so again, else at most `rows` rows."""
        if not self.cuts:
            return self.reader.read(rows)
        start, end = self.cuts[0]
        batch = self.reader.read(end - (self._part.end if self._part else start))
        if not isinstance(batch, ReadBatch):
            return batch
        self._part = joined(self._part, batch) if self._part else batch
        if self._part.end < end:
            return ReadState.WAIT
        self.cuts.popleft()
        whole, self._part = self._part, None
        return whole


def joined(first: ReadBatch, second: ReadBatch) -> ReadBatch:
    """Two batches of one partition, the second right after the first, as one."""
    return ReadBatch(pl.concat([first.frame, second.frame]), first.start, second.end, [*first.bad, *second.bad])


class Partitions:
    """The partitions of a source that one task reads, opened at the offsets known: the source's own, else those the runtime kept.

    They are dealt in turn; those of a source that grows by their ids: whoever asks, and whenever, gets the same answer.
    """

    def __init__(
        self, task: Task, parallelism: int, source: Source, offsets: Mapping[str, int], journal: Journal
    ) -> None:
        self.source, self.journal = source, journal
        self._index, self._tasks = task.index, parallelism
        self._offsets = {**offsets, **source.committed()}
        self._grows = getattr(source, "grows", False)
        self._opened: set[str] = set()

    def fresh(self) -> list[Progress]:
        """Those of this task's that were not there at the last call."""
        found = []
        for number, partition in enumerate(self.source.partitions()):
            turn = name_id(partition.id) if self._grows else number
            if turn % self._tasks == self._index and partition.id not in self._opened:
                self._opened.add(partition.id)
                found.append(self._open(partition))
        return found

    def _open(self, partition: Partition) -> Progress:
        offset = self._offsets.get(partition.id)
        cuts = [(start, end) for name, start, end in self.journal.cuts() if name == partition.id]
        if offset is not None:
            cuts = [cut for cut in cuts if cut[0] >= offset]
        reader = self.source.reader(partition, cuts[0][0] if cuts else offset)
        return Progress(partition, reader, name_id(partition.id), cuts=deque(cuts))

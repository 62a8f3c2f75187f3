"""What becomes of a source's batches in the end: acked ones are committed, and some that are lost are left to the source."""

from __future__ import annotations

import sys
from typing import NamedTuple, Protocol, cast

from ouzel.runtime.protocol.acker import PendingBatch
from ouzel.runtime.protocol.messages import (
    BEGINNING_OF_TIME,
    END_OF_TIME,
    Commit,
    Event,
    Instruction,
    Place,
    TimeStatus,
    Watermark,
)
from ouzel.runtime.protocol.task import Links, TaskSetup
from ouzel.runtime.tasks.partitions import Emitted, PartitionProgress, Partitions
from ouzel.runtime.tasks.reading import BatchReader
from ouzel.runtime.tasks.resuming import place_to_keep


class SinkProgress:
    """How far the sinks that a spout hears from have written, and in which pause they rest."""

    def __init__(self, links: Links) -> None:
        self._written_us = dict.fromkeys(links.sinks, BEGINNING_OF_TIME)
        self._rests_in = dict.fromkeys(links.sinks, 0)

    def on_watermark(self, message: Watermark) -> None:
        """A sink has written all that is older than this."""
        if message.source in self._written_us:
            self._written_us[message.source] = max(self._written_us[message.source], message.time_us)
            pause = message.pause if message.status is TimeStatus.PAUSED else 0
            self._rests_in[message.source] = sys.maxsize if message.status is TimeStatus.FINISHED else pause

    @property
    def written_us(self) -> int:
        """The event time up to which all of them have written; the end of time if there are none."""
        return min(self._written_us.values(), default=END_OF_TIME)

    def rest_in(self, pause: int) -> bool:
        """Whether all of them rest in that pause, or a later one."""
        return all(reached >= pause for reached in self._rests_in.values())


class Settlement(Protocol):
    """What becomes of the batches of a source that are acked, and of those that are lost on their way."""

    commits: bool
    """Whether receivers must remember what is acked until that is committed, for a successor would read it again."""

    has_news: bool
    """Whether something is acked that is in no commit."""

    @property
    def is_committing(self) -> bool:
        """Whether a commit is on its way."""

    def on_acked(self, held: PendingBatch) -> list[Instruction]:
        """All that came of the batch has been handled."""

    def is_lost(self, held: PendingBatch, failed: bool) -> bool:
        """Whether it is no use to send the batch again from memory. `failed`: a task has said so; else its time is up."""

    def give_back(self, held: PendingBatch) -> list[Instruction]:
        """The batch is held no more: the source gives what it held again."""

    def commit(self, settled: int) -> list[Instruction]:
        """Have what is acked without a gap kept: a successor of this task reads on from there. All below `settled` is acked."""

    def on_committed(self, number: int) -> int | None:
        """The commit of that number is kept: the `settled` that went with it; None if it is not the one that is waited for."""

    def commit_to_source(self, told_us: int) -> list[Instruction]:
        """Have the source keep where the next run starts. `told_us` is the last watermark that this task itself has sent."""


class _CommitOnItsWay(NamedTuple):
    """A Commit: its number, the sequence below which all batches were acked then, and the places."""

    number: int
    settled: int
    places: dict[str, Place]


class OffsetSettlement(Settlement):
    """Of a source that goes by offsets. A batch that is lost is sent again from memory; what is acked without a gap is committed."""

    commits = True

    def __init__(self, setup: TaskSetup, partitions: Partitions, reader: BatchReader, sinks: SinkProgress) -> None:
        self._counts, self._partitions, self._reader, self._sinks = setup.counts, partitions, reader, sinks
        self.has_news = False
        self._commits = 0
        self._on_its_way: _CommitOnItsWay | None = None
        self._carry_counts()

    def _carry_counts(self) -> None:
        """Count on from where the tasks before this one have been acked: what they read beyond that is read again."""
        self._counts.carries = True
        self._partitions.count_into(self._counts)

    @property
    def is_committing(self) -> bool:
        return self._on_its_way is not None

    def on_acked(self, held: PendingBatch) -> list[Instruction]:
        progress, emitted = token_of(held)
        emitted.acked = True
        if progress.advance():
            self.has_news = True
            name = progress.partition.id
            first = self._counts.ranges.get(name, (progress.first, 0))[0]
            self._counts.ranges[name] = (first, progress.committed or 0)
            if progress.committed_us > BEGINNING_OF_TIME:
                self._counts.times[name] = progress.committed_us
        return []

    def is_lost(self, held: PendingBatch, failed: bool) -> bool:
        return False

    def give_back(self, held: PendingBatch) -> list[Instruction]:
        return []

    def commit(self, settled: int) -> list[Instruction]:
        self.has_news = False
        places = {one.partition.id: one.place for one in self._reader.progress if one.place is not None}
        self._commits += 1
        self._on_its_way = _CommitOnItsWay(self._commits, settled, places)
        return [Commit(places, self._commits)]

    def on_committed(self, number: int) -> int | None:
        commit = self._on_its_way
        if commit is None or commit.number != number:
            return None
        self._partitions.journal.forget({name: place.offset for name, place in commit.places.items()})
        self._on_its_way = None
        return commit.settled

    def commit_to_source(self, told_us: int) -> list[Instruction]:
        """The next run starts behind what is acked, and in no window that is still open."""
        keeps, past_us = self._partitions.keeps, self._partitions.past.closed_us
        closed_us = max(past_us, min(told_us, self._sinks.written_us))
        places = {
            one.partition.id: found
            for one in self._reader.progress
            if one.place and (found := place_to_keep(one.marks, one.place.offset, one.emitted_to, keeps, closed_us))
        }
        problem = self._partitions.source.commit(places)
        return [Event("commit-failed", problem)] if problem else []


def token_of(held: PendingBatch) -> tuple[PartitionProgress, Emitted]:
    """What a source task holds a batch by: its partition, and where in it the batch lies."""
    return cast(tuple[PartitionProgress, Emitted], held.token)

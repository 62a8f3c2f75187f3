"""The partitions that one spout task reads: where each stands, and where its batches are cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import NamedTuple, cast

import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.connectors.backlog import UnreadAge
from ouzel.connectors.reading import (
    Committed,
    Partition,
    PinnedReader,
    ReadBatch,
    Reader,
    ReadState,
    RecallingSource,
    Source,
    Unreachable,
)
from ouzel.connectors.shedding import SkippingReader
from ouzel.errors import ConnectorError
from ouzel.planner.keeping import NOTHING, Keeps
from ouzel.planner.topology import Task
from ouzel.runtime.protocol.ids import mix, name_id
from ouzel.runtime.protocol.lag import Lag
from ouzel.runtime.protocol.linger import Linger
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, Place
from ouzel.runtime.protocol.silence import Silence
from ouzel.runtime.protocol.task import TaskMetrics
from ouzel.runtime.tasks.found import Finds
from ouzel.runtime.tasks.journal import BatchBoundaries, Journal, UnnotedJournal
from ouzel.runtime.tasks.resuming import Past, StatelessPrefix, past_of
from ouzel.runtime.tasks.shedding import SHED, NoShedding, Shedder, SkippedRange


@dataclass(slots=True)
class Emitted:
    """A batch that was sent: its offsets, the partition's watermark and newest row at its end, whether it is wholly acked.

    It holds `read` records, of which `rows` could be read, and `bad` could not be, or not be computed.
    """

    start: int
    end: int
    time_us: int
    newest_us: int
    read: int
    rows: int
    bad: int
    acked: bool = False


@dataclass
class PartitionProgress:
    """Where reading one partition stands. Offsets are the source's, times microseconds of event time.

    Attributes:
        partition: which one it is.
        reader: what reads it.
        id: its number among all partitions, the same in each life.
        journal: where batches are cut that are cut for the first time.
        lag: how far its rows were behind the wall clock.
        unread: for how long its first record that was not read has been there.
        watermark_us: its watermark.
        silence: how long it has given nothing.
        linger: whether its rows are left to gather.
        ended: nothing more will be read of it.
        emitted: the batches emitted and not yet committed, in order.
        cuts: where batches were cut that were emitted before a crash and not committed: they are cut there again.
        first: the first offset that was read; -1 before.
        committed: the offset before which all is acked; None before the first commit.
        committed_us: the event time there.
        place: where a successor of the task reads on; None if nothing is committed.
        marks: what of the committed part needs no state.
        newest_us: the newest row read.
        read_before: up to where a life or a run before had read.
        resumed: it began at the place of a life or a run before.
        replays: what was last read had been emitted before a crash.
        at: the offset behind what was read; -1 before.
        opened_at: the offset that its reader was asked to begin at, if any was.
        stop: the offset at which reading ends, where only history is read.
        stop_us: the least that time is there.
        shedder: what decides which records are skipped.
        _part: the beginning of a batch whose end has not been read.
    """

    partition: Partition
    reader: Reader
    id: int
    journal: Journal
    lag: Lag
    watermark_us: int = BEGINNING_OF_TIME
    unread: UnreadAge = field(default_factory=UnreadAge)
    silence: Silence = field(default_factory=Silence)
    linger: Linger = field(default_factory=Linger)
    ended: bool = False
    emitted: deque[Emitted] = field(default_factory=deque)
    cuts: deque[BatchBoundaries] = field(default_factory=deque)
    first: int = -1
    committed: int | None = None
    committed_us: int = BEGINNING_OF_TIME
    place: Place | None = None
    marks: StatelessPrefix = field(default_factory=StatelessPrefix)
    newest_us: int = BEGINNING_OF_TIME
    read_before: int = -1
    resumed: bool = False
    replays: bool = False
    at: int = -1
    opened_at: int | None = None
    stop: int | None = None
    stop_us: int = BEGINNING_OF_TIME
    shedder: Shedder = field(default_factory=NoShedding)
    _part: ReadBatch | None = None

    @property
    def emitted_to(self) -> int:
        """The offset up to which this task, or one before it in this run or the last, has emitted batches."""
        return max(self.read_before, self.place.offset if self.place else -1, self.cuts[-1].end if self.cuts else -1)

    @property
    def began(self) -> Place | None:
        """Where reading began, if the source might not begin there again: where it was asked to, or says so of itself."""
        reader, offset = self.reader, self.opened_at
        if offset is None and isinstance(reader, PinnedReader):
            offset = reader.pinned
        return None if offset is None else Place(offset, BEGINNING_OF_TIME)

    def advance(self) -> bool:
        """Move `committed` over what is acked without a gap; True if it moved."""
        moved = False
        while self.emitted and self.emitted[0].acked:
            first = self.emitted.popleft()
            self.committed, self.committed_us = first.end, first.time_us
            known = self.place or Place(0, 0)
            self.place = Place(
                first.end, first.newest_us, known.read + first.read, known.acked + first.rows, known.bad + first.bad
            )
            self.marks.on_acked(first.end, first.newest_us)
            moved = True
        return moved

    def read(self, rows: int) -> ReadBatch | ReadState | Unreachable | SkippedRange:
        """The next batch: one that was cut before, exactly so again, else at most `rows` rows, noted in the journal; or what is shed.

        Raises:
            ConnectorError: what was cut before holds other rows now.
        """
        if self.has_stopped:
            self.watermark_us = max(self.watermark_us, self.stop_us)
            return ReadState.WAIT
        self.replays = bool(self.cuts)
        if skipped := self._skip():
            return skipped
        batch = self._read_again(self.cuts[0]) if self.cuts else self._read_on(rows)
        if isinstance(batch, ReadBatch):
            self.at = batch.end
            if self.marks.offset is None and not self.resumed:
                self.marks.offset = batch.start
        return batch

    @property
    def has_stopped(self) -> bool:
        """Whether all of its history is read."""
        return self.stop is not None and self.at >= self.stop

    def _skip(self) -> SkippedRange | None:
        """Skip what was skipped before a crash, or what lags too far behind now; nothing that an earlier run had read."""
        if self.cuts:
            cut = self.cuts[0]
            skipped = SkippedRange(cut.start, cut.end) if cut.rows == SHED else None
        else:
            skipped = self.shedder.decide(self.reader) if self.at >= self.read_before else None
        if skipped:
            if not self.cuts:
                self.journal.note(BatchBoundaries(self.partition.id, skipped.start, skipped.end, SHED))
            else:
                self.cuts.popleft()
            self.shedder.note(self.partition.id, skipped)
            cast(SkippingReader, self.reader).skip(skipped.end)
            self.at = skipped.end
        return skipped

    def _read_on(self, rows: int) -> ReadBatch | ReadState | Unreachable:
        batch = self.reader.read(rows, self.read_before if self.at < self.read_before else self.stop)
        if isinstance(batch, ReadBatch):
            self.journal.note(BatchBoundaries(self.partition.id, batch.start, batch.end, count(batch)))
        return batch

    def _read_again(self, cut: BatchBoundaries) -> ReadBatch | ReadState | Unreachable:
        batch = self.reader.read(max(1, cut.end - cut.start), cut.end)
        if isinstance(batch, ReadBatch):
            self._part = join_batches(self._part, batch) if self._part else batch
        elif batch is not ReadState.END:
            return batch
        if batch is not ReadState.END and self._part and self._part.end < cut.end:
            return ReadState.WAIT
        whole, self._part = self._part, None
        if whole is None or whole.end != cut.end or count(whole) != cut.rows:
            raise make_unlike_error(cut, whole)
        self.cuts.popleft()
        return replace(whole, start=cut.start, end=cut.end)


def count(batch: ReadBatch) -> int:
    """How many records a batch holds."""
    return batch.frame.height + len(batch.bad)


def check_weights(batch: ReadBatch, partition: str, changelog: bool) -> None:
    """See that a batch's rows have weights if, and only if, its connector's row says so.

    Raises:
        ConnectorError: they have and should not, or the other way round.
    """
    if (batch.frame.columns[-1:] == [WEIGHT]) is not changelog:
        given, row = ("have no weights", "have them") if changelog else ("have weights", "have none")
        raise ConnectorError(f"{partition}: rows {given}, and the connector's row says that they {row}")


def make_unlike_error(cut: BatchBoundaries, found: ReadBatch | None) -> ConnectorError:
    """The source broke its promise that what is read again is the same."""
    now = f"{count(found)} up to {found.end}" if found else "none, for the partition ends before"
    return ConnectorError(
        f"{cut.partition}: offsets {cut.start} to {cut.end} held {cut.rows} records when they were first read, and now {now}: the source "
        "has changed, and what was counted of them cannot be told from what was not; start the topology again"
    )


class SourceHistory(NamedTuple):
    """What of a source is read again to fill state: of each partition all before a place, where event time was `time_us`.

    `options` are those of the table under which it gives that as fast as it can; None if they are its own.
    """

    places: Mapping[str, Place]
    time_us: int
    options: Mapping[str, str] | None = None


NO_HISTORY = SourceHistory({}, BEGINNING_OF_TIME)


class TurnQueue:
    """Partitions that have not ended, the one furthest behind first; of those that are equally far, the one that came first.

    A heap, for there may be ten thousand files: to look at each of them for each batch takes longer than to read it.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, PartitionProgress]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, fresh: Iterable[PartitionProgress]) -> None:
        """Add partitions that have been found."""
        for progress in fresh:
            heappush(self._heap, (progress.watermark_us, self._count, progress))
            self._count += 1

    @property
    def first(self) -> PartitionProgress | None:
        """The partition that is furthest behind in event time."""
        while self._heap and self._heap[0][2].ended:
            heappop(self._heap)
        return self._heap[0][2] if self._heap else None

    def in_turn(self) -> Generator[PartitionProgress]:
        """One after the other; those that were given out come back, where they stand then, when the caller is done, unless they ended."""
        out: list[tuple[int, PartitionProgress]] = []
        try:
            while self._heap:
                _, number, progress = heappop(self._heap)
                out.append((number, progress))
                yield progress
        finally:
            for number, progress in out:
                if not progress.ended:
                    heappush(self._heap, (progress.watermark_us, number, progress))


def join_batches(first: ReadBatch, second: ReadBatch) -> ReadBatch:
    """Two batches of one partition, the second right after the first, as one."""
    frame, rows = pl.concat([first.frame, second.frame]), first.frame.height
    before, after = first.place, second.place
    place = (lambda row: before(row) if row < rows else after(row - rows)) if before and after else None
    bad, notes = [*first.bad, *second.bad], [*first.notes, *second.notes]
    return ReadBatch(frame, first.start, second.end, bad, place, notes)


class Ways(NamedTuple):
    """What a table's connector says: whether partitions may come, whether reading resumes an earlier run's, whether rows have weights."""

    grows: bool
    resumes: bool
    changelog: bool


class Partitions:
    """The partitions of a source that one task reads, opened at the offsets known: those kept of this run, else the source's own.

    What the source's own say of a run before is `past`; `beside_us` is how far other tables say that its windows were closed. The items of
    a queue are numbered anew by each incarnation of the task, so `queue_incarnation` goes into their ids, and their batches are never cut
    again. A task that `goes_on` from an epoch has all that it had kept, so what a run before had closed is nothing to it. Where nothing
    `replays`, what a task before this one had cut is not read again, for it may have left: it would come twice. `committed` counts for
    what the source has committed, if that is not what it says now. Partitions are dealt in turn; those of a source that grows by their own
    turn, or their ids: whoever asks, and whenever, gets the same answer. Of a `history` nothing else is read.
    """

    def __init__(
        self, task: Task, parallelism: int, source: Source, places: Mapping[str, Place], journal: Journal,
        idle_after_ms: int | None = None, keeps: Keeps = NOTHING,
        ways: Ways = Ways(grows=False, resumes=False, changelog=False), beside_us: int = BEGINNING_OF_TIME,
        shedder: Shedder | None = None, replays: bool = True, find: Finds | None = None, queue_incarnation: int | None = None,
        goes_on: bool = False, committed: Mapping[str, Committed] | None = None, history: SourceHistory | None = None,
    ) -> None:  # fmt: skip
        self._history = history
        self._shedder, self._replays, self._find = shedder or NoShedding(), replays, find or source.partitions
        self._queue_incarnation = queue_incarnation
        self.source, self.journal, self.idle_after_ms = source, journal, idle_after_ms
        self._index, self._tasks = task.index, parallelism
        self._committed = committed = source.committed() if committed is None else committed
        past = Past() if goes_on else past_of(committed, keeps)
        self.keeps, self.past, self.places = keeps, replace(past, closed_us=max(past.closed_us, beside_us)), places
        self._offsets = {name: place.offset for name, place in committed.items()}
        self._offsets |= {name: place.offset for name, place in places.items()}
        self.ways, self.counts = ways, TaskMetrics()
        self._opened: set[str] = set()
        self._cuts = self._cuts_left()
        if isinstance(source, RecallingSource) and history is not None:
            source.recall(dict.fromkeys(history.places, 0))
        elif isinstance(source, RecallingSource):
            source.recall({**self._offsets, **{name: cuts[0].start for name, cuts in self._cuts.items()}})

    def fresh(self) -> list[PartitionProgress]:
        """Those of this task's that were not there at the last call.

        Raises:
            ConnectorError: one is gone of which batches were on their way when this task was last stopped.
        """
        found = []
        for number, partition in enumerate(self._find()):
            if self._turn(partition, number) % self._tasks == self._index and partition.id not in self._opened:
                self._opened.add(partition.id)
                found.append(self._open(partition))
        if self._cuts:
            first = next(iter(self._cuts.values()))[0]
            raise ConnectorError(
                f"{first.partition} is gone, and what it held from offset {first.start} on may not have been handled yet; "
                "bring it back, and start the topology again"
            )
        return found

    def _turn(self, partition: Partition, number: int) -> int:
        if not self.ways.grows:
            return number
        return name_id(partition.id) if partition.turn is None else partition.turn

    @property
    def answered_us(self) -> int | None:
        """The time before which rows lie in windows that a run before has answered; None if there was none."""
        return self.keeps.answered_before(self.past.closed_us) if self.past.closed_us > BEGINNING_OF_TIME else None

    def _open(self, partition: Partition) -> PartitionProgress:
        name = partition.id
        cuts = self._cuts.pop(name, [])
        start = cuts[0].start if cuts else self._offsets.get(name)
        if cuts and not self._replays:
            start, cuts = cuts[-1].end, []
        reader = self.source.reader(partition, start)
        if isinstance(reader, PinnedReader) and reader.pinned is not None:
            self.journal.note(BatchBoundaries(name, reader.pinned, reader.pinned, 0))
        lag = Lag(1000 * (self.idle_after_ms or 0))
        incarnation = self._queue_incarnation
        progress = PartitionProgress(
            partition,
            reader,
            name_id(name) if incarnation is None else mix(name_id(name), incarnation),
            self.journal if incarnation is None else UnnotedJournal(),
            lag,
            self.past.closed_us,
            cuts=deque(cuts),
            shedder=self._shedder,
        )
        progress.read_before, progress.at = self.past.read.get(name, -1), -1 if start is None else start
        progress.opened_at = start
        if self._history is not None:
            place = self._history.places.get(name)
            progress.stop, progress.stop_us = place.offset if place and place.read else -1, self._history.time_us
        progress.marks.offset = self._committed[name].offset if name in self._committed else None
        progress.place = self.places.get(name)
        if progress.place:
            progress.resumed, progress.newest_us = True, progress.place.newest_us
            progress.marks.on_acked(progress.place.offset, progress.newest_us)
            self._carry(progress.place)
        return progress

    def count_into(self, counts: TaskMetrics) -> None:
        """Have what was read before of the partitions that are open, and of those that will be, counted there."""
        before, self.counts = self.counts, counts
        counts.rows_in += before.rows_in
        counts.rows_acked += before.rows_acked
        counts.rows_bad += before.rows_bad

    def _carry(self, place: Place) -> None:
        """Count on from there: the places of partitions that other tasks read, which an update tells too, are counted by those."""
        self.counts.rows_in += place.read
        self.counts.rows_acked += place.acked
        self.counts.rows_bad += place.bad

    def _cuts_left(self) -> dict[str, list[BatchBoundaries]]:
        """What was on its way when this task was last stopped, by partition."""
        left: dict[str, list[BatchBoundaries]] = {}
        for cut in self.journal.cuts():
            if cut.start >= self._offsets.get(cut.partition, cut.start):
                left.setdefault(cut.partition, []).append(cut)
        return left

"""A spout of SQL: reads the partitions of a connector's source, oldest event time first, and pushes each batch through a chain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ouzel.connectors.reading import ReadBatch
from ouzel.errors import OuzelError
from ouzel.runtime.operators.chain import Chain, Streams
from ouzel.runtime.protocol.acker import PendingBatch
from ouzel.runtime.protocol.ids import mix
from ouzel.runtime.protocol.messages import (
    BEGINNING_OF_TIME,
    RESUMED,
    Fail,
    Instruction,
    TimeStatus,
    Watermark,
)
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import TaskSetup
from ouzel.runtime.protocol.tracing import READ
from ouzel.runtime.protocol.tuner import PendingLimit
from ouzel.runtime.protocol.watermarks import WatermarkStatus
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.chain_task import ChainTask, SinkEnd
from ouzel.runtime.tasks.committing import OffsetSettlement, Settlement, SinkProgress
from ouzel.runtime.tasks.computing import BatchComputer
from ouzel.runtime.tasks.partitions import Emitted, PartitionProgress, Partitions
from ouzel.runtime.tasks.queue import ItemSettlement
from ouzel.runtime.tasks.reading import BatchReader
from ouzel.runtime.tasks.refusals import Refusals
from ouzel.runtime.tasks.resuming import describe_open_state, describe_resumption
from ouzel.runtime.tasks.shedding import SkippedRange
from ouzel.runtime.tasks.source_time import SourceTime

COMMIT_MS = 1_000
"""How often offsets are committed."""

LOOK_ROUND_MS = 500
"""How often it is found out what time waits for, and how far the task lags."""

SPAN = 4_096
"""How many batches a spout may be ahead of its oldest unacked one."""


REMEMBERED = 16 * SPAN
"""How many batches receivers must remember at most, while what is acked of them is not yet kept."""


class SourceParts(NamedTuple):
    """What a source task is made of: its partitions, their reader, what its sinks have written, and what becomes of its batches."""

    partitions: Partitions
    reader: BatchReader
    sinks: SinkProgress
    settlement: Settlement

    @classmethod
    def of(cls, setup: TaskSetup, partitions: Partitions, by_token: bool = False) -> SourceParts:
        """Those of a source that goes by offsets, or of a queue, which goes `by_token`."""
        reader, sinks = BatchReader(setup, partitions), SinkProgress(setup.links)
        settlement = ItemSettlement(setup) if by_token else OffsetSettlement(setup, partitions, reader, sinks)
        return cls(partitions, reader, sinks, settlement)


class SourceSpout(ChainTask[PendingBatch]):
    """One task of a spout that SQL made.

    With a `sink` it also writes: nothing moves rows between source and sink, so a batch stays in the task that has read it. It is held
    until the sink has flushed what came of it. No rows are on a link, so none can be lost but with the task, whose successor reads them
    again and writes them under the same id.

    Where somebody `leaves_epochs` to go on from, that is where the next run begins, and not where the source says.

    Its watermark is the least over its partitions, so a file that has not been opened yet holds time back, and so does a partition that
    cannot be reached; the partition that is furthest behind is read first.
    """

    is_spout = True

    def __init__(
        self, setup: TaskSetup, source: SourceParts, chain: Chain, refusals: tuple[Refusals, Refusals],
        quarantine: Quarantine, sink: SinkEnd[PendingBatch] | None = None, leaves_epochs: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(setup, chain, sink, source.settlement.commits)
        self._computer = BatchComputer(setup, chain, refusals, quarantine, source.partitions.answered_us)
        self._partitions, self._reader, self._sinks, self._settlement = source
        self._time = SourceTime(setup, source.partitions, source.reader, chain.is_timed)
        self.limit = PendingLimit(setup.settings)
        self._look_round_at = 0.0
        self._pause = 0
        self._paused_ms = 0.0
        self._commit_at = 0.0
        self._told_of_open = False
        if source.partitions.answered_us is not None:
            self.counts.began_us = source.partitions.past.closed_us
        self._leaves_epochs = leaves_epochs
        self._has_kept_epoch = False
        if not setup.incarnation and not leaves_epochs:
            self._tell_of_resumption()

    def _tell_of_resumption(self) -> None:
        past, keeps = self._partitions.past, self._partitions.keeps
        if text := describe_resumption(past, keeps, self._partitions.ways.resumes):
            again = sum(max(0, progress.read_before - progress.at) for progress in self._reader.progress)
            self.tell_user(RESUMED, f"{self.task.component}: {text}", again)

    def poll(self, now_ms: float) -> list[Instruction]:
        """Read one batch from the partition that is furthest behind, if there is room for it.

        In a pause, only what a task before this one had cut: nobody knows what became of it, and at rest nothing is on its way.
        """
        self._begin(now_ms)
        self.limit.observe(self.counts.rows_acked, now_ms)
        if not self.finished and (not self._pause or self._reader.is_repeating) and self._room():
            try:
                self._read_one()
            except OuzelError as error:
                self.give_up(str(error))
        self._say_time()
        self._release()
        return self._take()

    @property
    def is_exhausted(self) -> bool:
        """Whether all partitions are read to their ends."""
        return self._reader.first is None

    @property
    def has_read_history(self) -> bool:
        """Whether only history is read, and all of it is."""
        return all(progress.has_stopped or progress.ended for progress in self._reader.progress)

    def deactivate(self, pause: int, now_ms: float, *, for_epoch: bool = False) -> None:
        """Read nothing new until `activate`."""
        self._is_in_epoch = for_epoch
        if not self._pause:
            self._paused_ms = now_ms
        self._pause = pause

    def activate(self, now_ms: float) -> None:
        """Read on; the silence of a partition goes on from where it was."""
        if self._pause:
            self._pause = 0
            self.limit.restart(self.counts.rows_acked, now_ms)
            self._reader.on_paused(now_ms - self._paused_ms)

    def _room(self) -> bool:
        fits = self.limit.has_room(self.acker)
        ahead = self.acker.newest - self.acker.settled < SPAN
        return (
            fits
            and ahead
            and not self.acker.is_behind(self.now_ms)
            and self.acker.newest - self.acker.forgettable < REMEMBERED
            and self._past_is_known
        )

    @property
    def _past_is_known(self) -> bool:
        """Whether all down to the sinks know how far a run before had closed windows, so that nobody opens one of those again."""
        return self._sinks.written_us >= self._partitions.past.closed_us

    def _read_one(self) -> None:
        with self._reader.next_batch(self.now_ms, only_again=self._pause > 0) as read:
            if read is None:
                return
            progress, batch = read
            if isinstance(batch, SkippedRange):
                self._skip(progress, batch)
            else:
                self._emit(progress, batch)

    def _emit(self, progress: PartitionProgress, batch: ReadBatch) -> None:
        bad_before, frame_id = self.counts.rows_bad, mix(progress.id, batch.start, batch.end)
        try:
            made = self._computer.compute(progress, batch, frame_id, self.wall_us)
        finally:
            self._out += self._computer.take_events()
        rows, read, bad = batch.frame.height, batch.frame.height + len(batch.bad), self.counts.rows_bad - bad_before
        emitted = Emitted(batch.start, batch.end, progress.watermark_us, progress.newest_us, read, rows, bad)
        progress.emitted.append(emitted)
        self._send_or_write(made, rows, (progress, emitted), frame_id)

    def _send_or_write(self, made: Streams, rows: int, token: object, frame_id: int) -> None:
        told = self.chain.tell_apart(frame_id)
        if self.sink is None:
            self.emit_root(made, rows, token, told)
        else:  # under its own id, whatever was asked and answered: its rows go nowhere else, and are not written twice
            self._write(self.sink, made, rows, token, frame_id)

    def _write(self, sink: SinkEnd[PendingBatch], made: Streams, rows: int, token: object, frame_id: int) -> None:
        """Write the frames. The batch is done when they are flushed, or at once if there is nothing to wait for."""
        written, held = sink.written, self.acker.hold_here(rows, token, self.now_ms)
        for _, frame in made:
            self.counts.rows_out += frame.height
            self._out += sink.write(frame_id, frame)
        if self.tracer.is_on and self.tracer.is_traced(held.sequence):
            out = sum(frame.height for _, frame in made)
            self._out.append(self.tracer.end_first(held.sequence, READ, self.now_ms, rows, out))
        if self.tracked and sink.written > written:
            sink.unflushed.append(held)
        else:
            self._complete(self.acker.on_handled(held))
        self._flush_if_due()

    def _let_go(self, flushed: list[PendingBatch]) -> None:
        for held in flushed:
            self._complete(self.acker.on_handled(held))

    def pass_time(self, moment: WatermarkStatus) -> None:
        """A task that writes passes time when all that was written before is flushed: at the end, and in a pause, it asks for a flush."""
        if self.sink is None:
            super().pass_time(moment)
            return
        self.gate.push(self.sink.written, moment)
        if moment.status in (TimeStatus.PAUSED, TimeStatus.FINISHED):
            self._flush()

    def on_reconnected(self, now_ms: float) -> list[Instruction]:
        """The rows of a task that writes are never on a connection."""
        return [] if self.sink else super().on_reconnected(now_ms)

    def _skip(self, progress: PartitionProgress, skipped: SkippedRange) -> None:
        """Records are skipped, as if they had been handled at once. They say nothing of event time."""
        self.counts.rows_shed += skipped.end - skipped.start
        emitted = Emitted(skipped.start, skipped.end, progress.watermark_us, progress.newest_us, 0, 0, 0)
        progress.emitted.append(emitted)
        self._send_or_write([], 0, (progress, emitted), mix(progress.id, *skipped))

    def _on_completion(self, held: PendingBatch) -> None:
        self._out += self._settlement.on_acked(held)

    def _fail(self, message: Fail) -> None:
        held = self.acker.pending.get(message.root.sequence)
        is_current = held is not None and held.attempt == message.root.attempt
        if held is not None and is_current and self._settlement.is_lost(held, failed=True):
            self._give_back(held)
        else:
            super()._fail(message)

    def _resend(self, batches: Iterable[PendingBatch]) -> None:
        again = []
        for held in () if self.sink else batches:  # what is written here is never sent
            if self._settlement.is_lost(held, failed=False):
                self._give_back(held)
            else:
                again.append(held)
        super()._resend(again)

    def _give_back(self, held: PendingBatch) -> None:
        self.acker.abandon(held)
        self.counts.rows_failed += held.rows
        self._out += self._settlement.give_back(held)

    def _tick(self) -> None:
        self._say_time()
        if self.now_ms >= self._look_round_at:
            self._look_round_at = self.now_ms + LOOK_ROUND_MS
            self.counts.waiting = () if self._pause else self._time.waiting(self.now_ms)
            self._reader.measure_lag(self.counts, self.now_ms)
        if not self._pause:
            self._look_for_more()
        if self.now_ms >= self._commit_at:
            self._commit_at = self.now_ms + COMMIT_MS
            if self._settlement.has_news and not self._settlement.is_committing:
                self._commit()
            self._commit_to_source()
        self._flush_if_due()

    def _look_for_more(self) -> None:
        try:
            self._reader.look_for_more(self.now_ms)
        except OuzelError as error:
            self.give_up(str(error))

    def _commit(self) -> None:
        self._out += self._settlement.commit(self.acker.settled)

    def on_epoch_kept(self) -> None:
        """An epoch is kept: from now on nobody starts where the source says, so it may be told how far the topology is."""
        self._has_kept_epoch = True

    def _commit_to_source(self) -> None:
        if self._leaves_epochs and not self._has_kept_epoch:
            return
        told_us = self._told.time_us if self._told else BEGINNING_OF_TIME  # by this task, not by one before it
        self._out += self._settlement.commit_to_source(told_us)

    def _observe(self, message: Watermark) -> None:
        """Take in how far a sink has written."""
        self._sinks.on_watermark(message)

    def on_committed(self, number: int, now_ms: float) -> None:
        """Nothing before these offsets is read again, so receivers may drop their entries for it."""
        settled = self._settlement.on_committed(number)
        if settled is not None:
            self.acker.on_committed(settled)

    def _say_time(self) -> None:
        """Advance this task's watermark as far as its partitions allow."""
        moment = self._time.advance(self.now_ms, self._pause)
        if moment is not None:
            self.chain.advance(moment.time_us)
            self.pass_time(moment)

    def _finish(self) -> None:
        if not self.finished:
            self._commit()
            self._commit_to_source()
        super()._finish()

    def _tell(self, moment: WatermarkStatus) -> None:
        if moment.time_us > self._partitions.journal.time_us and moment.status is not TimeStatus.FINISHED:
            self._partitions.journal.tell(moment.time_us)
        super()._tell(moment)

    def _on_rest(self) -> None:
        if self._settlement.has_news:
            self._commit()
        text = describe_open_state(self._partitions.keeps)
        ends = not (self._told_of_open or self._leaves_epochs or self._is_in_epoch)
        if text and self._partitions.ways.resumes and ends:
            self._told_of_open = True
            self.tell_user("open", f"{self.task.component}: {text}")
        self._commit_to_source()

    @property
    def paused(self) -> int:
        """It is at rest when it has heard that the sinks are: what they have written by then goes with its offsets."""
        return super().paused if self._sinks.rest_in(self._pause) else 0

    def snapshot(self, whole: bool) -> TaskSnapshot:
        """With where it stands in each partition."""
        return replace(super().snapshot(whole), places=self._reader.places)

    def close(self) -> None:
        """Close the readers and the source."""
        self._commit_to_source()
        self._reader.close()

"""Computes the batches of a source task: pushes their rows through its chain, and refuses those that cannot be read or computed."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ouzel.connectors.reading import ReadBatch
from ouzel.planner.settings import BadRecordPolicy
from ouzel.runtime.operators.chain import Chain, Streams, merge_streams
from ouzel.runtime.protocol.messages import UNKNOWN_FIELD, Event, Instruction
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import TaskSetup
from ouzel.runtime.tasks.origins import MOST_PLACED, locate_records, place_of
from ouzel.runtime.tasks.partitions import PartitionProgress
from ouzel.runtime.tasks.poison import name_task, poison_records, process_in_parts, without_poison
from ouzel.runtime.tasks.refusals import Refusals, refuse_records, take_uncomputed


class BatchComputer:
    """`refusals` say what becomes of records that cannot be read, and of rows that cannot be computed.

    Rows older than `answered_us` lie in windows that a run before has answered: they are left out.
    """

    def __init__(
        self, setup: TaskSetup, chain: Chain, refusals: tuple[Refusals, Refusals], quarantine: Quarantine,
        answered_us: int | None,
    ) -> None:  # fmt: skip
        self.task, self.counts = setup.task, setup.counts
        self._chain, self._quarantine, self._answered_us = chain, quarantine, answered_us
        self._read_refusals, self._row_refusals = refusals
        self._answered = self._late = 0
        self._events: list[Instruction] = []
        chain.count_into(self.counts.counters)

    def tell_user(self, kind: str, text: str, count: int = 1) -> None:
        """Have this reported to the user."""
        self._events.append(Event(kind, text, count))

    def take_events(self) -> list[Instruction]:
        """What is to be reported since the last call, also of a batch that raised an error."""
        taken, self._events = self._events, []
        return taken

    def compute(self, progress: PartitionProgress, batch: ReadBatch, frame_id: int, wall_us: int) -> Streams:
        """What the rows become. The event time that they show is noted in `progress`; the wall clock shows `wall_us`.

        Raises:
            BadRecord: a record is refused, and the policy is to fail.
            ConnectorError: a dead letter cannot be written.
        """
        self.counts.rows_in += batch.frame.height + len(batch.bad)
        refuse_records(self, self._read_refusals, self._read_refusals.of_unread(batch.bad, batch.frame.height))
        for note in batch.notes:
            self.tell_user(UNKNOWN_FIELD, f"'{self.task.component}': {note}")
        if self._answered_us is not None:
            self._chain.leave_out(self._answered_us, progress.replays or batch.end <= progress.read_before)
        made = self._compute(progress, batch, frame_id, wall_us) if batch.frame.height else []
        self._count_left_out()
        return made

    def _compute(self, progress: PartitionProgress, batch: ReadBatch, frame_id: int, wall_us: int) -> Streams:
        partition = progress.partition.id
        poison = self._quarantine.poison_of(frame_id)
        if self._row_refusals.is_fatal:  # refuse before the rest is handled: other rows of the batch may be poison, too
            self._refuse_poison(poison, batch, partition)
        parts = process_in_parts(
            self._quarantine, frame_id, batch.frame, lambda rows: self._process(progress, rows, wall_us)
        )
        computed = without_poison(poison, batch, partition) if poison else batch
        most = MOST_PLACED if self._row_refusals.policy is BadRecordPolicy.DEAD_LETTER else 1
        uncomputed = take_uncomputed(self, self._chain)
        refuse_records(self, self._row_refusals, locate_records(uncomputed, self._chain, computed, partition, most))
        self._refuse_poison(poison, batch, partition)
        return merge_streams(parts)

    def _refuse_poison(self, poison: Mapping[int, int], batch: ReadBatch, partition: str) -> None:
        name = name_task(self, self._chain)
        records = poison_records(poison, batch.frame, name, lambda row: place_of(batch, partition, row))
        refuse_records(self, self._row_refusals, records)

    def _process(self, progress: PartitionProgress, rows: pl.DataFrame, wall_us: int) -> Streams:
        """Push the rows through the chain, and note the event time that they show."""
        made, sight = self._chain.process(rows), self._chain.sight
        if sight is not None:
            progress.watermark_us = max(progress.watermark_us, sight.watermark_us)
            progress.newest_us = max(progress.newest_us, sight.newest_us)
            progress.lag.observe(wall_us, sight)
        return made

    def _count_left_out(self) -> None:
        answered, self._answered = self._chain.answered - self._answered, self._chain.answered
        if answered:
            text = f"{self.task.component}: rows that were read again are of windows that the run before has answered"
            self.tell_user("answered", text, answered)
        late, self._late = self._chain.late - self._late, self._chain.late
        if late:
            self.counts.rows_late += late
            self.tell_user("late-rows", f"{self.task.component}: rows came after the watermark had passed them", late)

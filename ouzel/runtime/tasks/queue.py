"""A spout of SQL that reads a queue: its items are acknowledged, and given back, one by one, and no offset is ever gone back to.

A batch of items is held, and sent again from memory under the same ids, for as long as the server leaves them here: so receivers know it.
What fails, or is sent again in vain, is given back: the server hands it out anew, to this task or another, as new items that nobody can
know again. It does so by itself when the connection breaks, or the task dies. (Kulkarni et al., SIGMOD 2015; Fu et al., ICDE 2017.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from ouzel.connectors.reading import ItemReader
from ouzel.errors import OuzelError
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.acker import PendingBatch
from ouzel.runtime.protocol.messages import Fail
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import TaskSetup
from ouzel.runtime.tasks.partitions import Emitted, PartitionProgress, Partitions
from ouzel.runtime.tasks.refusals import Refusals
from ouzel.runtime.tasks.source import SourceSpout

TIMEOUTS_MAX = 2
"""A batch for which the timeout has passed so often, although later ones came through, is given back: another task may do better."""


class QueueSpout(SourceSpout):
    """One task of a spout that reads a queue.

    Ids of frames come of the number of the item, the partition and the task's epoch. There are no offsets to commit: what the queue has
    not been told to forget it hands out again.
    """

    def __init__(
        self, setup: TaskSetup, partitions: Partitions, chain: Chain, refusals: tuple[Refusals, Refusals],
        quarantine: Quarantine,
    ) -> None:  # fmt: skip
        super().__init__(setup, partitions, chain, refusals, quarantine, commits=False)

    def _carry_counts(self) -> None:
        """What a task before this one has read and not acknowledged is read, and counted, again."""

    def _on_completion(self, held: PendingBatch) -> None:
        progress, emitted = _settle(held)
        items = _items(progress)
        try:
            self._tell_again(items.acknowledge(emitted.start, emitted.end), "was acknowledged too late")
        except OuzelError as error:
            self.give_up(f"{self.task.component}: {error}")
        kept = items.kept()
        if kept is not None:
            self.counts.ranges[progress.partition.id] = kept

    def _fail(self, message: Fail) -> None:
        held = self.acker.pending.get(message.root.sequence)
        if held is not None and held.attempt == message.root.attempt:
            self._give_back(held)
        else:
            super()._fail(message)

    def _resend(self, batches: Iterable[PendingBatch]) -> None:
        wanted = []
        for held in batches:
            if self._is_lost(held):
                self._give_back(held)
            else:
                wanted.append(held)
        super()._resend(wanted)

    def _is_lost(self, held: PendingBatch) -> bool:
        """Whether it is no use to send a batch again: that was done in vain, or the server hands out all of its items by itself."""
        progress, emitted = cast(tuple[PartitionProgress, Emitted], held.token)
        return held.timeouts >= TIMEOUTS_MAX or not _items(progress).held(emitted.start, emitted.end)

    def _give_back(self, held: PendingBatch) -> None:
        self.acker.abandon(held)
        self.counts.rows_failed += held.rows
        progress, emitted = _settle(held)
        _items(progress).give_back(emitted.start, emitted.end)
        self._tell_again(emitted.end - emitted.start, "was given back")

    def _tell_again(self, items: int, why: str) -> None:
        if items:
            text = f"{self.task.component}: what {why} is handed out again, and is counted twice if it had been handled"
            self.tell_user("replayed", text, items)

    def _commit(self) -> None:
        """There are no offsets."""

    def _commit_to_source(self) -> None:
        """There are no offsets."""


def _settle(held: PendingBatch) -> tuple[PartitionProgress, Emitted]:
    """What a batch came of, which is decided now."""
    progress, emitted = cast(tuple[PartitionProgress, Emitted], held.token)
    emitted.acked = True
    progress.advance()
    return progress, emitted


def _items(progress: PartitionProgress) -> ItemReader:
    return cast(ItemReader, progress.reader)

"""What becomes of the batches of a queue: their items are acknowledged, and given back, one by one; no offset is ever gone back to.

A batch of items is held, and sent again from memory under the same ids, for as long as the server leaves them here: so receivers know it.
What fails, or is sent again in vain, is given back: the server hands it out anew, to this task or another, as new items that nobody can
know again. It does so by itself when the connection breaks, or the task dies. (Kulkarni et al., SIGMOD 2015; Fu et al., ICDE 2017.)
"""

from __future__ import annotations

from typing import cast

from ouzel.connectors.reading import ItemReader
from ouzel.errors import OuzelError
from ouzel.runtime.protocol.acker import PendingBatch
from ouzel.runtime.protocol.messages import Event, Failed, Instruction
from ouzel.runtime.protocol.task import TaskSetup
from ouzel.runtime.tasks.committing import Settlement, token_of
from ouzel.runtime.tasks.partitions import Emitted, PartitionProgress

TIMEOUTS_MAX = 2
"""A batch for which the timeout has passed so often, although later ones came through, is given back: another task may do better."""


class ItemSettlement(Settlement):
    """Of a queue. There are no offsets to commit: what the queue has not been told to forget it hands out, and this task counts, again."""

    commits = False
    has_news = False
    is_committing = False

    def __init__(self, setup: TaskSetup) -> None:
        self._component, self._counts = setup.task.component, setup.counts

    def on_acked(self, held: PendingBatch) -> list[Instruction]:
        progress, emitted = _settle(held)
        items = _items(progress)
        try:
            told = self._again(items.acknowledge(emitted.start, emitted.end), "was acknowledged too late")
        except OuzelError as error:
            told = [Failed(f"{self._component}: {error}")]
        kept = items.kept()
        if kept is not None:
            self._counts.ranges[progress.partition.id] = kept
        return told

    def is_lost(self, held: PendingBatch, failed: bool) -> bool:
        """It failed, was sent again in vain, or the server hands out all of its items by itself."""
        progress, emitted = token_of(held)
        return failed or held.timeouts >= TIMEOUTS_MAX or not _items(progress).held(emitted.start, emitted.end)

    def give_back(self, held: PendingBatch) -> list[Instruction]:
        progress, emitted = _settle(held)
        _items(progress).give_back(emitted.start, emitted.end)
        return self._again(emitted.end - emitted.start, "was given back")

    def _again(self, items: int, why: str) -> list[Instruction]:
        text = f"{self._component}: what {why} is handed out again, and is counted twice if it had been handled"
        return [Event("replayed", text, items)] if items else []

    def commit(self, settled: int) -> list[Instruction]:
        return []

    def on_committed(self, number: int) -> int | None:
        return None

    def commit_to_source(self, told_us: int) -> list[Instruction]:
        return []


def _settle(held: PendingBatch) -> tuple[PartitionProgress, Emitted]:
    """Acknowledged or given back, the batch is done: progress moves over it."""
    progress, emitted = token_of(held)
    emitted.acked = True
    progress.advance()
    return progress, emitted


def _items(progress: PartitionProgress) -> ItemReader:
    return cast(ItemReader, progress.reader)

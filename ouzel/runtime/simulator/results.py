"""The result of a simulated topology: what its sink's tasks hand over, each batch once, and after a roll back each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from ouzel.runtime.protocol.cluster.results import SeenBatches
from ouzel.runtime.protocol.cluster.since_mark import SinceMark
from ouzel.runtime.protocol.ids import mix

DeliverResult = Callable[[int, pl.DataFrame], None]
"""Takes what is delivered: (its id, frame)."""


@dataclass
class SimulatedResults:
    """The receiver of all tasks. An id is that of the batch; after a roll back it is another."""

    deliver: DeliverResult
    since: SinceMark = field(default_factory=SinceMark)
    seen: SeenBatches = field(default_factory=SeenBatches)

    def of(self, task: int) -> TaskResults:
        """What a task is given."""
        return TaskResults(self, task)


@dataclass(frozen=True)
class TaskResults:
    """See Results."""

    receiver: SimulatedResults
    task: int

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        receiver, generation = self.receiver, self.receiver.since.generation(self.task)
        if (generation, batch_id) in receiver.seen:
            return
        receiver.seen.add((generation, batch_id))
        rows = receiver.since.on_rows(self.task, frame)
        if rows is not None:
            receiver.deliver(mix(generation, batch_id) if generation > 0 else batch_id, rows)

    def mark(self, epoch: int, kept: int) -> None:
        self.receiver.since.on_mark(self.task, epoch, kept)

    def roll_back(self, epoch: int, generation: int) -> None:
        changes = self.receiver.since.on_roll_back(self.task, epoch, generation)
        if changes is not None:
            self.receiver.deliver(mix(generation, self.task, epoch), changes)

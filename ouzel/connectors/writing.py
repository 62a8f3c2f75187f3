"""What a sink is, and what the runtime asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class SinkRequest:
    """What the plan asks of a sink.

    Attributes:
        table: its name in the query.
        options: its options, as written.
        columns: the columns of its frames, in order, with their Polars types; a column of weights follows unless `mode` is append or merge.
        mode: append: rows are added. merge: rows are added to those of their `keys`. retract: weights are +1 and -1, or sums of such.
            upsert: frames are consolidated, so that a key has one +1 (the new row), one -1 (the key is gone), or nothing.
        directory: where relative paths start.
        keys: the columns of the key.
        weight: the name of the Int64 column of weights.
        name: the topology's name.
        task: the number of the task among those that write.
        run: tells one run from others that write to the same place.
        again: the task has been started before in this run.
        notes: a file of this sink alone that outlives the task; None where nothing does.
        component: tells one sink of the run from others that write to the same table.
    """

    table: str
    options: Mapping[str, str]
    columns: Mapping[str, pl.DataType]
    mode: str
    directory: Path
    keys: Sequence[str] = ()
    weight: str = "$weight"
    name: str = ""
    task: int = 0
    run: str = ""
    again: bool = False
    notes: Path | None = None
    component: str = ""

    @property
    def publisher(self) -> str:
        """Whose epochs these are: of a task of a sink of a run. The next incarnation of the task has the same, and nobody else has it."""
        return f"{self.run or self.name}-{self.component or self.table}-{self.task}"


class SinkWriter(Protocol):
    """An opened sink, one per task. A thread of its own calls it, which may wait for as long as the world behind the sink takes.

    It may also be a WithdrawingWriter or an InstantWriter.
    """

    flush_interval_ms: int
    """Inputs are acked when `flush` returns; it is called so often while anything is written, and 0 means after every write."""

    flush_rows: int
    """It is also called when so many rows have been written since the last."""

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Take a batch. The id is the same when the same batch comes again after a crash, so that a sink can write it once.

        Raises:
            ConnectorError: with the sink's name and the reason.
        """

    def flush(self) -> None:
        """Return when everything written so far is safe."""

    def close(self) -> None:
        """The last flush has happened; let go of everything."""


@runtime_checkable
class WithdrawingWriter(Protocol):
    """A writer that keeps batches apart."""

    def withdraw(self, batch_id: int) -> None:
        """Remove what an unfinished writing of the batch left, whichever tasks wrote it.

        Raises:
            ConnectorError: with the sink's name and the reason.
        """


@runtime_checkable
class StagingWriter(Protocol):
    """A writer whose rows become visible when the epoch is kept that they belong to."""

    def on_kept(self, epoch: int) -> None:
        """Epochs up to this one are kept; returns when their rows are visible.

        Raises:
            ConnectorError: with the sink's name and the reason.
        """


@runtime_checkable
class InstantWriter(Protocol):
    """A writer that may wait for nothing."""

    @property
    def instant(self) -> bool:
        """Whether it asks neither a disk nor a network. It needs no thread then, and the task calls it itself."""


@runtime_checkable
class MarkedWriter(Protocol):
    """A writer that takes back what it had written after an epoch."""

    def mark(self, epoch: int, kept: int) -> None:
        """What was written so far belongs to epochs up to this; nobody goes back behind the epoch `kept`."""

    def roll_back(self, epoch: int, generation: int) -> None:
        """In this generation all go on from that epoch, and what came after it comes again; 0 is the beginning.

        Called before anything is written.
        """


@runtime_checkable
class EpochPublisher(Protocol):
    """An opened sink that makes whole epochs visible, one per task.

    A thread of its own calls it, which may wait for as long as the world behind the sink takes. Epochs are numbers from 1 on. What has been
    published is kept for each `SinkRequest.publisher`, so that another run, whose epochs begin at 1 too, is not taken for this one.
    """

    def last_published(self) -> int:
        """The newest epoch whose rows are visible; 0 if none is.

        Called before anything is published, and after each going back. Whoever published for this task before can publish no more: it is
        fenced, and what it had begun and not finished never becomes visible.

        Raises:
            ConnectorError: with the sink's name and the reason.
        """

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        """Make these rows visible, all or none, and the epoch's number with them.

        `frames` are as SinkWriter.write gets them, in order, and may be iterated again after a failed try. Epochs come in growing order;
        not each one comes. What can be tried again is tried again within, for as long as it takes.

        Raises:
            ConnectorError: with the sink's name and the reason; nothing is visible then. Another publisher may have taken over.
        """

    def close(self) -> None:
        """Let go of everything; what is not published stays invisible."""

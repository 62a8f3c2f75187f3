"""What a source is, and what the runtime asks of it.

A source is cut into partitions; each partition has offsets, whole numbers that grow. Reading from the same offset again gives the same
rows: that is what replay after a crash rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class Partition:
    """A part of a source that is read in order: a file or a range of its row groups, a topic's partition, a generator's share.

    Where partitions may be added, `turn` modulo the number of tasks says which task reads it; None goes by a hash of the id. `called` is
    what people call it, if its id says more than that. `version` is its content's when it was found, where the
    id holds for that alone.
    """

    id: str
    bounded: bool
    turn: int | None = None
    called: str = ""
    version: str = ""


@dataclass(frozen=True)
class BadRow:
    """A record that could not be read: where it is, why, and its raw bytes as far as they are known."""

    where: str
    reason: str
    raw: bytes = b""


@dataclass(slots=True)
class ReadBatch:
    """Rows [start, end) of a partition, in offset order; `bad` are records in that range that could not be read.

    The frame of a changelog, as the connector's row says, ends with an Int64 column named as the request's `weight`: +1 for a row that
    comes, -1 for one that goes. `place` says in words where the record of a row of `frame` is; it is only asked about a row that cannot
    be computed. `notes` are sentences about the data for the user, each said once.
    """

    frame: pl.DataFrame
    start: int
    end: int
    bad: Sequence[BadRow] = ()
    place: Callable[[int], str] | None = None
    notes: Sequence[str] = ()


def before(until: int | None, end: int) -> int:
    """The end of a read that may not pass `until`."""
    return end if until is None else min(end, until)


class ReadState(Enum):
    """What a reader returns when it has no batch."""

    WAIT = "nothing now"
    END = "nothing ever again"


@dataclass(frozen=True)
class Unreachable:
    """Returned by a reader whose server did not answer; WAIT means that it has no rows. `reason` names what is away ("broker …: …")."""

    reason: str


@dataclass(frozen=True)
class OffsetRange:
    """How far a read would get now: offsets [start, end) of a partition; `last` says that nothing will ever come after `end`."""

    start: int
    end: int
    last: bool


class Reader(Protocol):
    """Reads one partition. It may also be a LaggingReader, a backlog.Backlogged or a PinnedReader.

    It is called by one thread at a time, which need not be the one that opened it.
    """

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState | Unreachable:
        """At most `rows` rows, at once or not at all: it must not block for longer than 10 ms.

        Fewer say that no more are there now: a reader that goes on giving few is asked again only after the setting `batch.linger.ms`.
        With `until` no row that begins at that offset or after it. Offsets may have gaps: when it is certain that nothing more comes
        before `until` the batch ends there, even if it holds no row.

        Raises:
            ConnectorError: the source is gone or unreadable, after the connector's own retries.
        """

    def close(self) -> None:
        """Close files and sockets."""


@runtime_checkable
class LaggingReader(Protocol):
    """A reader that can tell how far it is behind its source. If that lies in several places it is backlog.Backlogged too."""

    def lag(self) -> int | None:
        """How many records wait in the source behind what it has read; None if unknown now. It must not block, and raises nothing."""


@runtime_checkable
class PinnedReader(Protocol):
    """A reader whose first offset is recorded, so that a restarted task begins at the same one."""

    @property
    def pinned(self) -> int | None:
        """The offset at which the options opened it, if the options may mean another one tomorrow ("latest"); else None."""


class ItemReader(Reader, Protocol):
    """Reads a queue, whose row says `Replay.TOKEN`: its offsets number the items that it has been handed, from 0 on.

    It starts with the first item that it is handed, and is never read with `until`. It holds each item until that is acknowledged or given
    back; an item that is handed out again is a new one with a new number. It says END only when it holds no item.
    """

    def acknowledge(self, start: int, end: int) -> int:
        """Acknowledge handled items at the server, soon. Returns how many it had already taken back, to deliver them again.

        Raises:
            ConnectorError: what was handled is to be kept, and cannot be.
        """

    def give_back(self, start: int, end: int) -> None:
        """Have the server hand these items out again."""

    def held(self, start: int, end: int) -> int:
        """How many of these items the server still counts as delivered to this reader."""

    def kept(self) -> tuple[int, int] | None:
        """The offsets under which a batch job reads what was acknowledged since this reader began; None if nothing keeps it."""


@dataclass(frozen=True)
class SourceRequest:
    """What the plan asks of a source.

    Attributes:
        table: its name in the query.
        options: its options, as written.
        columns: all columns to deliver, in order, with their Polars types.
        directory: where relative paths start.
        metadata: columns that come from the connector, each with its metadata key; all others come from the data.
        required: columns that may not be NULL; a record that lacks one is bad.
        predicate: a BOOLEAN expression over the columns. A source that declares `filters` must apply it, and no other.
        name: the topology's name, for a consumer group.
        tasks: how many tasks read the source.
        again: the task has been started before in this run. A server that cannot be reached has been there, so it is waited for.
        weight: the column of a changelog's weights.
        tracked: False: nothing is ever acknowledged, and a queue takes each item for good.
        notes: a file of this source alone that outlives the task; None where nothing does.
        anew: the run has gone back, to an epoch or to its beginning. A partition for which no offset is asked is read from where
            it would be if nothing had been committed, for a commit may be of what the run has read since.
    """

    table: str
    options: Mapping[str, str]
    columns: Mapping[str, pl.DataType]
    directory: Path
    metadata: Mapping[str, str] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    predicate: pl.Expr | None = None
    name: str = ""
    tasks: int = 1
    again: bool = False
    weight: str = "$weight"
    tracked: bool = True
    notes: Path | None = None
    anew: bool = False


@dataclass(frozen=True)
class FoundColumns:
    """What a table holds that declares no columns: its columns, as Arrow has their types, in order.

    `options` are some that WITH lacks, without which the data would be read otherwise than it was looked at. `notes` are sentences for the
    user.
    """

    columns: Mapping[str, pa.DataType]
    options: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


class Committed(NamedTuple):
    """Where the next run starts in a partition, and a note of at most 1,000 characters for it."""

    offset: int
    note: str = ""


class Source(Protocol):
    """An opened source. One per task; all of them see the same partitions. What it can do is said by its connector's row, `Reads`.

    It may also be a RecallingSource or a SpannedSource.
    """

    def partitions(self) -> Sequence[Partition]:
        """All partitions, in a stable order; task i of n reads those whose position modulo n is i.

        A source that never ends may be asked again, every few seconds: what has appeared meanwhile comes after what was listed before.

        Raises:
            ConnectorError: nothing is there, or it cannot be reached.
        """

    def reader(self, partition: Partition, offset: int | None) -> Reader:
        """Start reading at `offset`; None is where the options say the first reading starts. Of a queue it is an ItemReader."""

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """How far a read of at most `rows` rows from `offset` on would get now, without decoding; None is where the options say.

        One caller asks again and again, each time from where it was told that the last reading ends; a rate counts from the first time.

        Raises:
            ConnectorError: the source is gone or unreadable.
        """

    def commit(self, places: Mapping[str, Committed]) -> str:
        """Start to store where the next run begins in each partition. Returns once why an earlier call failed, else ''.

        What did not succeed is part of the next call's work, and of `close`'s, which waits.
        """

    def committed(self) -> Mapping[str, Committed]:
        """What was committed, by partition; empty for a source that does not start there."""

    def close(self) -> None:
        """Release everything that is open."""


class NothingCommitted:
    """Base of sources that store no offsets: each run reads from where the options say. Offsets of a queue are no places to go on from."""

    def commit(self, places: Mapping[str, Committed]) -> str:
        """Nothing is stored."""
        return ""

    def committed(self) -> Mapping[str, Committed]:
        """Nothing was."""
        return {}

    def close(self) -> None:
        """Nothing is open."""


@runtime_checkable
class RecallingSource(Protocol):
    """A source whose partitions may change their names."""

    def recall(self, partitions: Mapping[str, int]) -> None:
        """Before it is asked for any partition: these, by their ids, were read before, and keep their ids. It raises nothing.

        `partitions` are the offsets where reading goes on.
        """


@runtime_checkable
class SpannedSource(Protocol):
    """A source that can tell, before anything is read, which offsets of a partition a batch job reads."""

    def span(self, partition: Partition) -> tuple[int, int | None]:
        """The first offset, and the one before which reading ends, as the options say now; None is never.

        Raises:
            ConnectorError: the source is gone or unreadable.
        """

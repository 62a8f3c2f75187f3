"""What a connector is: a Source, a Sink, or both, behind one row of the table in `connectors/__init__.py`.

A source is cut into partitions; each partition has offsets, whole numbers that grow. Reading from the same offset again gives the same
rows: that is what replay after a crash rests on. A connector never sees a plan, and of the project imports nothing but ouzel.errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ouzel.connectors.beside import Beside
from ouzel.connectors.read_back import ReadBack
from ouzel.connectors.shedding import Shedding

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class Partition:
    """A part of a source that is read in order: a file or a range of its row groups, a topic's partition, a generator's share.

    Where partitions may be added, `turn` modulo the number of tasks says which task reads it; None goes by a hash of the id.
    """

    id: str
    bounded: bool
    turn: int | None = None


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
    """What a reader returns when it could not ask, which differs from having nothing. `reason` names what is away ("broker …: …")."""

    reason: str


@dataclass(frozen=True)
class OffsetRange:
    """How far a read would come now: offsets [start, end) of a partition; `last` says that nothing will ever come after `end`."""

    start: int
    end: int
    last: bool


class Reader(Protocol):
    """Reads one partition.

    One that can tell may have a `lag()`: how many records wait in the source behind what it has read, None if it does not know now. If
    these lie in several places it is backlog.Backlogged. One that was opened where the options say, which may be elsewhere tomorrow
    ("latest"), says in `pinned` at which offset that is.
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
        """Let go of files and sockets."""


class ItemReader(Reader, Protocol):
    """Reads a queue, whose row says `Replay.TOKEN`: its offsets number the items that it has been handed, from 0 on.

    It starts with the first item that it is handed, and is never read with `until`. It holds each item until that is acknowledged or given
    back; an item that is handed out again is a new one with a new number. It says END only when it holds no item.
    """

    def acknowledge(self, start: int, end: int) -> int:
        """These items are wholly handled: close them at the server, soon. How many it had taken back before, so that they come again.

        Raises:
            ConnectorError: what was handled is to be kept, and cannot be.
        """

    def give_back(self, start: int, end: int) -> None:
        """Have the server hand these items out again."""

    def held(self, start: int, end: int) -> int:
        """How many of these items the server has not taken back."""

    def kept(self) -> tuple[int, int] | None:
        """Under which offsets of this partition a batch reads what was acknowledged since this reader began; None if nothing keeps it."""


@dataclass(frozen=True)
class SourceRequest:
    """What the plan asks of a source.

    `columns` are all columns to deliver, in order, with their Polars types; those that `metadata` maps to a metadata key come from the
    connector, the others from the data. `required` may not be NULL: a record that lacks one is bad. `predicate` is a boolean Polars
    expression over the columns (or None): a source that declares `filters` must apply it, and only it. `directory` is where relative
    paths start. `name` is the topology's, for a consumer group. `again` says that the task has been started before in this run, so that
    what cannot be reached has been there: it is waited for. `weight` is what a changelog calls the column of its weights. Unless it is
    `tracked` nothing is ever acknowledged: a queue takes each item for good.
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
    """An opened source. One per task; all of them see the same partitions. What it can do is said by its connector's row, `Reads`."""

    def partitions(self) -> Sequence[Partition]:
        """All partitions, in a stable order; task i of n reads those whose position modulo n is i.

        A source that never ends may be asked again, every few seconds: what has appeared meanwhile comes after what was listed before.

        Raises:
            ConnectorError: nothing is there, or it cannot be reached.
        """

    def reader(self, partition: Partition, offset: int | None) -> Reader:
        """Start reading at `offset`; None is where the options say the first reading starts. Of a queue it is an ItemReader."""

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """How far a reading of at most `rows` rows from `offset` on would come now, without decoding; None is where the options say.

        One caller asks again and again, each time from where it was told that the last reading ends; a rate counts from the first time.

        Raises:
            ConnectorError: the source is gone or unreadable.
        """

    def commit(self, places: Mapping[str, Committed]) -> str:
        """Begin to keep, partition by partition, where the next run starts; why an earlier call did not succeed, told once, else ''.

        What did not succeed is part of the next call's work, and of `close`'s, which waits.
        """

    def committed(self) -> Mapping[str, Committed]:
        """What was committed, for a source that keeps it and starts there; else empty."""

    def close(self) -> None:
        """Let go of everything."""


@dataclass(frozen=True)
class SinkRequest:
    """What the plan asks of a sink: frames have `columns`, then an Int64 column named `weight` unless `mode` is append or merge.

    In mode merge rows are to be added to those of their `keys`. In mode retract weights are +1 and -1 (or sums of such). In mode upsert
    the runtime has consolidated the frame: for a key there is
    one +1 (the new row), or one -1 (the key is gone), or nothing. `run` tells one run from others that write to the same place.
    `again` says that the task has been started before in this run.
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


class SinkWriter(Protocol):
    """An opened sink, one per task. A thread of its own calls it, which may wait for as long as the world behind the sink takes.

    One that keeps batches apart may have a `withdraw(batch_id)`: it removes what an unfinished writing of a batch left, whichever tasks
    wrote it. One that waits for nothing, for it asks neither a disk nor a network, may have `instant = True`: it needs no thread then, and
    the task calls it itself.
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


@dataclass(frozen=True)
class Alias:
    """Another system's name for an option. `values` are its values that mean the same as ours, and ours; empty: every value does."""

    name: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Option:
    """One WITH option: for checks at plan time and for docs.

    A name may hold `*`, which stands for any text (`properties.*`); the first option that fits a name counts. `kind` is what the value
    must be: text, integer, number, boolean or timestamp. A `secret` is never shown or written down. `aliases` are Flink's names for it.
    """

    name: str
    doc: str
    default: str | None = None
    required: bool = False
    choices: tuple[str, ...] = ()
    kind: str = "text"
    secret: bool = False
    aliases: tuple[Alias, ...] = ()


Options = Mapping[str, str]
"""What WITH holds, without 'connector'."""

Trait = Callable[[Options], bool]
"""A property of a table that its options decide."""


def always(options: Options) -> bool:
    """True, whatever the options."""
    return True


def never(options: Options) -> bool:
    """False, whatever the options."""
    return False


class Replay(Enum):
    """What a source can deliver again after a crash."""

    OFFSET = "all records from an offset on"
    TOKEN = "single records that were not acknowledged"


class Writers(Enum):
    """Which tasks write a sink's rows."""

    MANY = "as many tasks as there are"
    ONE = "one task, so that there is one order, or by Spark's driver"
    CALLER = "no task: whoever started the run is given the rows"


class SinkDelivery(Enum):
    """What a sink does with a batch that comes again after a crash."""

    AT_LEAST_ONCE = "it is written again"
    IDEMPOTENT = "it is not written twice"
    TRANSACTIONAL = "it becomes visible with its checkpoint only"


@dataclass(frozen=True)
class Upserts:
    """How tables are read whose records replace each other by key, as `'changelog.mode' = 'upsert'` asks.

    Args:
        order: metadata keys by which the later of two records of one key is the greater.
        gone: the metadata key that is true of a record which says only that its key is gone; empty if none can.
        keys: the option that is told the key's columns, separated by commas; empty if the source need not know.
        options: those that such a table has where it says nothing else.
    """

    order: tuple[str, ...]
    gone: str = ""
    keys: str = ""
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class BatchView:
    """Which part of a table a batch job reads.

    Args:
        options: from the table's options to those under which its source gives all that is there now, as fast as it can, and ends.
        end_option: the option that makes such a table end if it still does not; empty if none can.
        refusal: why the options make no sense in a batch, and what to write instead; None if they do, or where exact offsets are read.
    """

    options: Callable[[Options], dict[str, str]]
    end_option: str = ""
    refusal: Callable[[Options], tuple[str, str] | None] = lambda options: None


@dataclass(frozen=True)
class Reads:
    """How a connector's tables are read. What has no default is to be decided for each connector.

    Functions that are texts are import paths (`"ouzel.connectors.file.source:FileSource"`), so that nothing is imported before it is used.

    Args:
        source: import path of a function taking a SourceRequest and giving a Source.
        bounded: the table ends.
        batch: what a Spark batch job reads of it.
        replay: what can be read again after a crash.
        kept: of a queue, whether a batch can read what a run has handled.
        changelog: its batches carry weights, as rows may be taken back.
        ordered: the rows of a partition follow those of the partition before; so they are read in turn, as the files of a folder are.
        grows: partitions may be added while it is read; they are asked for again, every few seconds.
        resumes: it starts where `committed` says, in another run too.
        seeks: a reading that starts in the middle of a partition costs no more than one from its start.
        shared: other processes than the user's own can read it.
        at_rest: reading it twice gives the same rows and costs little, so a batch job need not keep them.
        sheds: what its options say of shedding load; its readers are SkippingReaders then. None if nothing is shed.
        filters: the source applies the request's `predicate`.
        upserts: how tables are read whose records replace each other by key; None if they cannot be.
        metadata: metadata keys a table may ask for, with their types.
        spark: import path of the planner's function that makes Spark's own reader of a Scan, or None; empty if only the source reads it.
        cut_by: the option that says how many partitions there are, where it is one a task by default; empty if something else decides.
        ends_at: options under which a reading of one partition ends before an offset, needed where gaps between offsets hide the end.
        between: options under which only records of a period are read: (options, from, to) as texts, None is open.
        record_time: the metadata key that `between` goes by.
        covers: import path of a function of (SourceRequest, ranges) saying whether these ranges are all that the table holds.
        file_of: which file a partition's id speaks of.
        identity: import path of a function of (options, ids of partitions) giving name -> id, where a name may come to mean another thing.
        beside: how it is read beside a stream.
        infer: import path of a function of (options, directory) giving what a table holds that declares no columns, as `FoundColumns`, or
            None where the options do not say enough; empty if columns have to be declared.
    """

    source: str
    bounded: Trait
    batch: BatchView
    replay: Replay
    changelog: Trait
    ordered: Trait
    grows: Trait
    resumes: Trait
    seeks: Trait
    shared: bool
    at_rest: bool
    kept: Trait = never
    sheds: Callable[[Options], Shedding | None] = lambda options: None
    filters: bool = False
    upserts: Upserts | None = None
    metadata: Mapping[str, pl.DataType] = field(default_factory=dict)
    spark: str = ""
    cut_by: str = ""
    ends_at: Callable[[Options, str, int], dict[str, str]] | None = None
    between: Callable[[Options, str | None, str | None], dict[str, str]] | None = None
    record_time: str = ""
    covers: str = ""
    file_of: Callable[[Options, str], str] | None = None
    identity: str = ""
    beside: Beside = Beside()
    infer: str = ""


@dataclass(frozen=True)
class Writes:
    """How a connector's tables are written.

    Args:
        sink: import path of a function taking a SinkRequest and giving a SinkWriter; empty where no task writes (`Writers.CALLER`).
        modes: what the sink accepts: append, upsert, retract, and merge: new rows that it adds to those of their keys.
        writers: which tasks write.
        delivery: what becomes of a batch that comes again.
        read_back: where what was written can be read; None if it cannot.
        changes_by: the option and its value without which it only takes new rows, though `modes` says more; None if there is none.
        replaces: a row takes the place of the one that has its PRIMARY KEY, of a query that only adds rows too.
        merged: called with the options; what adds up each column, as keyed.merged_columns says it; empty of a table that does not add up.
        spark: import path of the planner's function (name of the frame, Sink) that makes the text of Spark's own writer; empty if the
            sink itself writes in a batch job too.
    """

    sink: str
    modes: tuple[str, ...]
    writers: Writers
    delivery: SinkDelivery
    read_back: ReadBack | None = None
    changes_by: tuple[str, str] | None = None
    spark: str = ""
    replaces: Trait = never
    merged: Callable[[Options], Mapping[str, str]] = lambda options: {}


@dataclass(frozen=True)
class Connector:
    """One row of the table of connectors.

    Args:
        name: what 'connector' = says.
        doc: one paragraph for docs/connectors.md.
        options: what WITH may hold beside 'connector', 'bad.record' and the format's own options.
        reads: how it is read; None if it cannot be.
        writes: how it is written; None if it cannot be.
        extra: the pip extra it needs, or empty.
        check: looks at the options at plan time and raises QueryError for a wrong combination.
        functions: names of functions that give a table in FROM, as `read_csv`.
        opens: import path of a function of (one of these names, or none; what the query has in quotes; named arguments; directory)
            giving the table's options, or None if another connector reads it; raises QueryError. Empty if there are none.
        defines: import path of a function of (table's name, options, directory, tables that the query declares with their options)
            giving the statements that a table of it is made of, in one line, and notes; raises OuzelError. Empty if a table is one.
        subject: the option that says what is read or written, a path or a topic, which a program in Python gives first; empty if none does.
        variants: other values of 'connector' that mean this one with some options, as Flink's `upsert-kafka`.
        keyed: import path of a function of a keyed.KeyedRequest giving a keyed.KeyedRows; empty if it keeps no rows by key.
    """

    name: str
    doc: str
    options: tuple[Option, ...] = ()
    reads: Reads | None = None
    writes: Writes | None = None
    extra: str = ""
    check: Any = None
    functions: tuple[str, ...] = ()
    opens: str = ""
    subject: str = ""
    defines: str = ""
    variants: Mapping[str, Options] = field(default_factory=dict)
    keyed: str = ""

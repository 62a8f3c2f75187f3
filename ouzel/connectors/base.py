"""What a connector says of itself: one row of the table in `connectors/__init__.py`.

What it opens is a Source (`reading.py`), a SinkWriter (`writing.py`), or both. A connector never sees a plan, and of the project imports
nothing but ouzel.errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from ouzel.connectors.read_back import ReadBack
from ouzel.connectors.shedding import Shedding
from ouzel.connectors.side_table import SideTable

if TYPE_CHECKING:
    import polars as pl


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
    """What a source can deliver again after a crash.

    There is no source that can deliver nothing again, as a socket or a pipe. After a crash its rows would be missing, and a batch job could
    not read what the run has read, so no difference could be told from a fault. It is refused when the query is planned.
    """

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
class HistoryView:
    """How all that a table has given since it was first read is read again, in the same partitions and at the same offsets.

    Args:
        options: from the table's options to those under which it gives that as fast as it can.
        refusal: why it cannot with its options; empty if it can.
    """

    options: Callable[[Options], dict[str, str]] = dict
    refusal: Callable[[Options], str] = lambda options: ""


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
        spark: which of Spark's own readers reads it, by its name in READERS of `ouzel/spark/lowering/tables.py`, or the import path of such
            a function; empty if only the source reads it.
        cut_by: the option that says how many partitions there are, where it is one a task by default; empty if something else decides.
        ends_at: options under which a reading of one partition ends before an offset, needed where gaps between offsets hide the end.
        between: options under which only records of a period are read: (options, from, to) as texts, None is open.
        record_time: the metadata key that `between` goes by.
        covers: import path of a function of (SourceRequest, ranges) saying whether these ranges are all that the table holds.
        file_of: which file a partition's id speaks of.
        identity: import path of a function of (options, ids of partitions) giving name -> id, where a name may come to mean another thing.
        history: how all that it has given since it was first read is read again; None if it cannot be.
        side_table: how a join reads it as a side table, whole in each task or by key.
        infer: import path of a function of (options, directory) giving what a table holds that declares no columns, as `FoundColumns`, or
            None where the options do not say enough; empty if columns have to be declared.
        refuses: import path of a function of (options, directory) saying why what is there cannot be read at all, asked when the query is
            planned; it gives an empty text otherwise.
        suspects: import path of a function of (options, names of columns, directory) giving sentences on what is there that is hardly
            meant, asked when the query is planned.
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
    history: HistoryView | None = None
    side_table: SideTable = SideTable()
    infer: str = ""
    refuses: str = ""
    suspects: str = ""


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
        spark: which of Spark's own writers writes it, by its name in WRITERS of `ouzel/spark/lowering/sinks.py`, or the import path of
            such a function (name of the frame, Sink) -> text; empty if the
            sink itself writes in a batch job too.
        publisher: import path of a function taking a SinkRequest and giving an EpochPublisher, for rows that are to be visible effectively
            once; empty if the sink cannot.
        refuses: called with the options: why such a table cannot be written, though others of the connector can, and what to write instead.
        passing: called with the options: of rows that are gone with the processes of a run, where they were, and how they are kept.
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
    publisher: str = ""
    refuses: Callable[[Options], str] = lambda options: ""
    passing: Callable[[Options], str] = lambda options: ""


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

"""Sinks of a Structured Streaming query: our own writers, given each micro-batch under an id that a restart repeats.

New rows for a sink that any process can write go there from the tasks that have them. All else goes through the driver: it alone knows what
changed, and what is printed or handed to whoever started the run must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

import polars as pl

from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.plan import WEIGHT, Sink, SinkMode
from ouzel.connectors import open_publisher, open_sink
from ouzel.connectors.writing import EpochPublisher, SinkRequest, SinkWriter, WithdrawingWriter
from ouzel.errors import TopologyError
from ouzel.runtime.operators.consolidate import consolidate
from ouzel.runtime.tasks.compiled import sink_request
from ouzel.spark.lowering.late_tables import given_names
from ouzel.spark.lowering.streaming import OutputMode, StreamingQuery
from ouzel.spark.lowering.streaming_nodes import BRANCH
from ouzel.spark.streaming.changes import Changes, NewRows, RowsByKey, WholeTable
from ouzel.spark.streaming.parts import apply_types, write_part

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

NOTHING = "nothing"
"""What the row of a connector says whose sink forgets all rows."""

Hand = Callable[[int, pl.DataFrame], None]
"""Takes a micro-batch's number and its rows for the trailing SELECT."""


CountRows = Callable[[], int]
"""Asked once the micro-batch is committed."""


class MicroBatchSink(Protocol):
    """Where one query's micro-batches go."""

    def take(self, frame: DataFrame, number: int, batch_id: int) -> CountRows:
        """Write one; what tells how many rows or changes it had. `number` is Spark's, `batch_id` tells it apart from those of all other
        queries.

        Raises:
            OuzelError: the sink refuses.
        """

    def close(self) -> None:
        """Nothing more comes."""


def outlet(query: StreamingQuery, directory: Path, name: str, hand: Hand, publishes: bool = False) -> MicroBatchSink:
    """The outlet of a query; `hand` takes what a trailing SELECT gives. With `publishes` a row is written once, whatever dies.

    Raises:
        ConnectorError: the sink cannot be opened.
    """
    if query.late is not None:
        parts = (replace(query, late=None), replace(query, sink=query.late, late=None))
        return ByTable([(outlet(part, directory, name, hand, publishes), part.sink) for part in parts])
    sink = query.sink
    request = sink_request(sink, directory, name)
    if query.mode is OutputMode.APPEND and sink.mode is SinkMode.APPEND and sink.traits.spark == NOTHING:
        return Forgotten()
    if publishes and not (sink.traits.once or sink.traits.returned):
        return ByDriver(query, request, PublishingWriter(sink.connector, request))
    if query.mode is OutputMode.APPEND and sink.mode is SinkMode.APPEND and not sink.traits.alone:
        return ByTasks(sink.connector, request)
    writer = _Handing(hand) if sink.traits.returned else open_sink(sink.connector, request)
    return ByDriver(query, request, writer)


class ByTable:
    """Gives the rows of a micro-batch that are of several tables to the outlet of each. It is computed once: its state changes but once."""

    def __init__(self, outlets: Sequence[tuple[MicroBatchSink, Sink]]) -> None:
        self._outlets = outlets

    def take(self, frame: DataFrame, number: int, batch_id: int) -> CountRows:
        """See MicroBatchSink."""
        kept = frame.persist()
        try:
            parts = [(outlet, _rows_of(kept, sink, place)) for place, (outlet, sink) in enumerate(self._outlets)]
            counts = [outlet.take(part, number, batch_id) for outlet, part in parts]
        finally:
            kept.unpersist()
        return lambda: sum(count() for count in counts)

    def close(self) -> None:
        """Close all."""
        for outlet, _ in self._outlets:
            outlet.close()


def _rows_of(frame: DataFrame, sink: Sink, place: int) -> DataFrame:
    """The rows of one of several tables, with their weights if they may be taken back."""
    from pyspark.sql import functions as F

    columns = [F.col(column_name(given)).alias(name) for given, name in given_names(sink, place).items()]
    weight = [F.col(column_name(WEIGHT))] if sink.input.retracts else []
    return frame.where(F.col(column_name(BRANCH)) == place).select(*columns, *weight)


def batch_id_of(query_id: UUID | str, number: int) -> int:
    """An id for a query's micro-batch: the same after a restart from its checkpoint, and another one for every other query."""
    return (UUID(str(query_id)).int >> 88) << NUMBER_BITS | number


NUMBER_BITS = 24
"""Of an id that are the micro-batch's number."""


def _changes(query: StreamingQuery, columns: Mapping[str, pl.DataType], given: Sequence[str]) -> Changes:
    """What tells the changes; `given` is what the query calls the columns."""
    match query.mode:
        case OutputMode.UPDATE:
            names = dict(zip(given, columns, strict=True))
            return RowsByKey(columns, [names[key] for key in query.keys])
        case OutputMode.COMPLETE:
            return WholeTable(columns)
        case OutputMode.APPEND:
            return NewRows()


class ByDriver:
    """Collects a micro-batch, finds out what changed, and writes that here."""

    def __init__(self, query: StreamingQuery, request: SinkRequest, writer: SinkWriter) -> None:
        self._query, self._sink, self._request, self._writer = query, query.sink, request, writer
        self._changes: Changes | None = None
        self._weigh = self._sink.mode is not SinkMode.APPEND

    def take(self, frame: DataFrame, number: int, batch_id: int) -> CountRows:
        rows = pl.from_arrow(frame.toArrow())
        assert isinstance(rows, pl.DataFrame)
        self._changes = self._changes or _changes(self._query, self._request.columns, rows.columns)
        changed = self._fit(self._changes.since(_apply_types(rows, self._request.columns)))
        if changed.height:
            self._writer.write(number if self._sink.traits.returned else batch_id, changed)
            self._writer.flush()
        height = changed.height
        return lambda: height

    def _fit(self, changed: pl.DataFrame) -> pl.DataFrame:
        """The changes as the sink takes them: new rows without a weight, or one row of each key."""
        if self._sink.mode is SinkMode.UPSERT:
            return consolidate(changed, self._sink.keys)
        if self._weigh and WEIGHT not in changed.columns:
            return changed.with_columns(pl.lit(1, pl.Int64).alias(WEIGHT))
        if self._weigh or WEIGHT not in changed.columns:
            return changed
        if (changed[WEIGHT] != 1).any():
            raise TopologyError(f"table '{self._sink.table}' takes new rows only, and a row of it changed")
        return changed.drop(WEIGHT)

    def close(self) -> None:
        """Close the writer."""
        self._writer.close()


def _apply_types(rows: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """As `apply_types`; a weight stays, behind the others."""
    if WEIGHT not in rows.columns:
        return apply_types(rows, columns)
    return apply_types(rows.drop(WEIGHT), columns).with_columns(rows[WEIGHT])


class _Handing:
    """The sink of a trailing SELECT."""

    flush_interval_ms, flush_rows = 0, 1

    def __init__(self, hand: Hand) -> None:
        self._hand = hand

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        self._hand(batch_id, frame)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class PublishingWriter:
    """Makes each micro-batch visible whole, with its number as that of an epoch, so one that comes again is known to be there.

    Another driver that goes on from the same checkpoint fences this one.
    """

    flush_interval_ms, flush_rows = 0, 1

    def __init__(self, connector: str, request: SinkRequest) -> None:
        self._connector, self._request = connector, request
        self._publisher: EpochPublisher | None = None
        self._published = 0

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        if self._publisher is None:
            run = f"spark-{batch_id >> NUMBER_BITS:x}"
            self._publisher = open_publisher(self._connector, replace(self._request, run=run))
            self._published = self._publisher.last_published()
        epoch = (batch_id & (1 << NUMBER_BITS) - 1) + 1  # they begin at 1
        if epoch > self._published:
            self._publisher.publish(epoch, [frame])
            self._published = epoch

    def flush(self) -> None:
        pass

    def close(self) -> None:
        if self._publisher is not None:
            self._publisher.close()


class Forgotten:
    """Computes a micro-batch and counts its rows, in the JVM alone. How many there were Spark tells a tenth of a second later."""

    def take(self, frame: DataFrame, number: int, batch_id: int) -> CountRows:
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        seen = Observation()
        frame.observe(seen, F.count(F.lit(1)).alias("rows")).write.format("noop").mode("overwrite").save()
        return lambda: int(seen.get["rows"])

    def close(self) -> None:
        """Nothing is open."""


class ByTasks:
    """Writes a micro-batch from the tasks that have its rows, each as a batch of its own."""

    def __init__(self, connector: str, request: SinkRequest) -> None:
        self._connector, self._request = connector, request
        self._first = True

    def take(self, frame: DataFrame, number: int, batch_id: int) -> CountRows:
        """See MicroBatchSink. What an earlier run left of the batch it starts with is removed: its tasks may have been others."""
        if self._first:
            writer = open_sink(self._connector, self._request)
            if isinstance(writer, WithdrawingWriter):
                writer.withdraw(batch_id)
            writer.close()
            self._first = False
        connector, request = self._connector, self._request

        def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from write_part(connector, request, batch_id, batches)

        written = sum(row.rows for row in frame.mapInArrow(write, "rows bigint").collect())
        return lambda: written

    def close(self) -> None:
        """Nothing stays open."""

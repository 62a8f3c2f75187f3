"""Ouzel's connectors as a PySpark data source: any table, by exact offsets, as Arrow record batches. No jars.

A partition of the connector is a partition of Spark, with the offsets to read of it. They are settled once, on the driver, so a task that
is run again reads the same rows. Bad records fail the job or are left out, as the table's 'bad.record' says; see `bad_records.py`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ouzel.connectors import open_source, reads_of
from ouzel.connectors.dead_letters import RefusedRecord
from ouzel.connectors.reading import BadRow, Partition, ReadBatch, ReadState, Source, SourceRequest, SpannedSource
from ouzel.errors import BadRecord, ConnectorError, OuzelError
from ouzel.spark.io.arrow import polars_types, record_batches
from ouzel.spark.io.bounds import batch_options
from ouzel.spark.io.changelog import WEIGHT, rows_left
from ouzel.spark.io.filters import read_filters
from ouzel.spark.wheel import hand_on

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from ouzel.spark.io.bad_records import BadRecords, Found

NAME = "ouzel"
ROWS = 1 << 16
"""Most rows of a record batch."""

WAIT_S = 0.005

OffsetBounds = Mapping[str, Sequence[int]]
"""Partition id -> first offset, offset to stop before; and so on where parts between are left out."""


def read_table(
    spark: SparkSession,
    table: str,
    columns: str,
    options: Mapping[str, str],
    *,
    metadata: Mapping[str, str] | None = None,
    filters: Sequence[Sequence[str]] = (),
    folder: str = ".",
    offsets: OffsetBounds | None = None,
    bad_records: BadRecords | None = None,
) -> DataFrame:
    """A table of any connector as a DataFrame.

    Args:
        spark: the session; its workers must be able to import ouzel.
        table: name of the table, for messages.
        columns: names and types in Spark's DDL; those that are NOT NULL must be there in every record.
        options: the table's WITH, 'connector' included.
        metadata: column -> key, for those columns that the connector gives beside the data.
        filters: what rows are asked for, as `("day", ">=", "2026-01-02")`; what has none of them is not opened.
        folder: where relative paths start.
        offsets: what to read of each partition; without it all that is there, from the earliest to the latest.
        bad_records: what notes the records left out, where 'bad.record' is skip or dead-letter.

    Raises:
        OuzelError: bad records would be left out, and nothing notes them.
    """
    from pyspark.sql.types import LongType, StructType

    schema, changelog = StructType.fromDDL(columns), reads_of(options["connector"], table).changelog(options)
    hand_on(spark)
    source = _source(spark, table, options, folder, bad_records)
    given = TableRequest(
        table,
        dict(options),
        dict(metadata or {}),
        [column.name for column in schema if not column.nullable],
        str(Path(folder).resolve()),
        None if offsets is None else {name: [*span] for name, span in offsets.items()},
        spark.sparkContext.defaultParallelism,
        [[*each] for each in filters],
    )
    read = spark.read.format(source.called).option("table", json.dumps(vars(given)))
    if not changelog:
        return read.schema(schema).load()
    never_came = f"table '{table}': a row is taken back that never came; read the log from its beginning: "
    return rows_left(read.schema(schema.add(WEIGHT, LongType())).load(), WEIGHT, never_came)


def _source(
    spark: SparkSession, table: str, options: Mapping[str, str], folder: str, bad_records: BadRecords | None
) -> type[OuzelSource]:
    """The data source, registered; one of its own for what is to note bad records, since Spark makes readers far from here."""
    source: type[OuzelSource] = OuzelSource
    if options.get("bad.record", "fail") != "fail":
        if bad_records is None:
            raise OuzelError(
                f"table '{table}' leaves bad records out, and nothing notes them; write bad_records = BadRecords(spark), give it to "
                "read_table, and call bad_records.settle() once the job has answered"
            )
        bad_records.expect(table, options, Path(folder).resolve())
        found = bad_records.found
        own = {"called": f"{NAME}-{found.aid}", "found": found}
        source = type("NotingSource", (OuzelSource,), own)
    spark.dataSource.register(source)
    return source


@dataclass
class TableRequest:
    """What `read_table` was asked for, as it travels to the workers."""

    table: str
    options: dict[str, str]
    metadata: dict[str, str]
    required: list[str]
    folder: str
    offsets: dict[str, list[int]] | None
    tasks: int
    filters: list[list[str]] = field(default_factory=list)

    @property
    def connector(self) -> str:
        """What 'connector' = says."""
        return self.options["connector"]

    def stream_request(self, columns: Mapping[str, pl.DataType], query: str = "") -> SourceRequest:
        """The table as its connector is asked for it by a stream of that query; `columns` may hold WEIGHT."""
        return SourceRequest(
            self.table,
            {name: value for name, value in self.options.items() if name != "connector"},
            {name: kind for name, kind in columns.items() if name != WEIGHT},
            Path(self.folder),
            self.metadata,
            frozenset(self.required),
            read_filters(self.filters, columns),
            name=query,
        )

    def request(self, columns: Mapping[str, pl.DataType]) -> SourceRequest:
        """The same by a batch."""
        asked = self.stream_request(columns)
        return replace(asked, options=batch_options(self.connector, asked.options), tasks=self.tasks)

    @property
    def policy(self) -> str:
        """What becomes of bad records: fail, skip or dead-letter."""
        return self.options.get("bad.record", "fail")


@dataclass
class TaskRange(InputPartition):  # type: ignore[misc]
    """What one task reads: offsets [start, end) of a partition; None is where the options say."""

    id: str
    start: int | None = None
    end: int | None = None


class OuzelSource(DataSource):  # type: ignore[misc]
    """`spark.read.format("ouzel")`; made by `read_table`."""

    called = NAME
    found: Accumulator[Found] | None = None

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return cls.called

    def reader(self, schema: StructType) -> TableReader:
        """The reader of one DataFrame."""
        return TableReader(schema, TableRequest(**json.loads(self.options["table"])), self.found)


class TableReader(DataSourceReader):  # type: ignore[misc]
    """Cuts a table into spans on the driver, and reads each in a task.

    It takes no filters: Spark (4.3) keeps what the first query on a DataFrame has pushed down, and reads the next one by it too.
    """

    def __init__(self, schema: StructType, table: TableRequest, found: Accumulator[Found] | None = None) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        self._schema: pa.Schema = to_arrow_schema(schema, timezone="UTC")
        self._table, self._found = table, found

    def partitions(self) -> Sequence[TaskRange]:
        """The partitions and their offsets, settled now."""
        if self._table.offsets is not None:
            return [
                TaskRange(name, start, end)
                for name, bounds in self._table.offsets.items()
                for start, end in zip(bounds[::2], bounds[1::2], strict=True)
                if start < end
            ]
        source = self._open()
        try:
            return [_settle(source, partition) for partition in source.partitions()]
        finally:
            source.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The span's rows. Where there is no span Spark asks once all the same, for one that is none of ours."""
        if not isinstance(partition, TaskRange):
            return
        bad: list[BadRow] = []
        source = self._open(partition)
        try:
            for batch in _batches(source, partition):
                bad += batch.bad
                if bad and self._table.policy == "fail":
                    raise BadRecord(bad[0].where, bad[0].reason)
                yield from record_batches(batch.frame, self._schema)
        finally:
            self._note(partition, bad)
            source.close()

    def _note(self, span: TaskRange, bad: Sequence[BadRow]) -> None:
        """Tell the driver what is left out of a span: each record if there are dead letters, else how many."""
        if not bad or self._found is None:
            return
        table = self._table.table
        if self._table.policy == "dead-letter":
            self._found.add({(table, row.where): RefusedRecord.of(row) for row in bad})
        else:
            self._found.add({(table, f"{span.id}@{span.start}"): len(bad)})

    def _open(self, span: TaskRange | None = None) -> Source:
        request = self._table.request(polars_types(self._schema))
        ends_at = reads_of(self._table.connector, self._table.table).ends_at
        if span is not None and span.end is not None and ends_at is not None:
            request = replace(request, options=ends_at(request.options, span.id, span.end))
        return open_source(self._table.connector, request)


def _settle(source: Source, partition: Partition) -> TaskRange:
    """The partition with offsets, if its source can tell them."""
    return TaskRange(partition.id, *(source.span(partition) if isinstance(source, SpannedSource) else ()))


def _batches(source: Source, span: TaskRange) -> Iterator[ReadBatch]:
    """The span's batches."""
    at = span.start or 0
    reader = source.reader(Partition(span.id, True), span.start)
    try:
        while span.end is None or at < span.end:
            batch = reader.read(ROWS, span.end)
            if batch is ReadState.END and span.end is not None:
                raise ConnectorError(
                    f"{span.id} ends at offset {at}, and offsets up to {span.end} were found in it: it was cut or replaced meanwhile; "
                    "bring it back, or start again"
                )
            if batch is ReadState.END:
                return
            if not isinstance(batch, ReadBatch):
                time.sleep(WAIT_S)
            else:
                at = batch.end
                yield batch
    finally:
        reader.close()

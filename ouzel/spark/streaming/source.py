"""Ouzel's connectors as a PySpark streaming data source: any table, micro-batch by micro-batch, by exact offsets, as Arrow record batches.

A process beside the driver asks the source how far it reaches (`Source.reach`, which decodes nothing); the tasks then read exactly that,
with the reader of the batch source. So a micro-batch that runs again after a crash has the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows

from ouzel.connectors import open_source, reads_of
from ouzel.connectors.reading import Committed, Source
from ouzel.spark.io.arrow import polars_types
from ouzel.spark.io.changelog import WEIGHT
from ouzel.spark.io.source import TableReader, TableRequest, TaskRange
from ouzel.spark.streaming.offsets import ALL_ROWS, Position, Surveyor
from ouzel.spark.streaming.spark_files import SparkFiles

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from ouzel.spark.io.bad_records import BadRecords, Found

NAME = "ouzel-stream"
MICRO_BATCH_ROWS = 1_000_000
"""Most rows of a micro-batch unless told otherwise."""

TASK_ROWS = 1 << 17
"""Most rows that one task reads of a source that can start anywhere. Spans depend on offsets alone: a batch has the same again."""


def read_stream(
    spark: SparkSession,
    table: str,
    columns: str,
    options: Mapping[str, str],
    *,
    metadata: Mapping[str, str] | None = None,
    filters: Sequence[Sequence[str]] = (),
    folder: str | None = None,
    end_mark: str = "",
    rows: int = MICRO_BATCH_ROWS,
    query: str = "",
    bad_records: BadRecords | None = None,
    files: SparkFiles | None = None,
) -> DataFrame:
    """A table of any connector as a streaming DataFrame; with a column more, the rows' weights, where these may be taken back.

    Args:
        spark: the session; its workers must be able to import ouzel.
        table: name of the table, for messages.
        columns: names and types in Spark's DDL; those that are NOT NULL must be there in every record.
        options: the table's WITH, 'connector' included.
        metadata: column -> key, for those columns that the connector gives beside the data.
        filters: what rows are asked for, as `("day", ">=", "2026-01-02")`; what has none of them is not opened.
        folder: where relative paths start; by default the working directory.
        end_mark: name of one more BOOLEAN column, false in every row; once a bounded source has given everything, one more row comes in
            which it is true and all else NULL.
        rows: most rows of a micro-batch, over all partitions.
        query: name of the query, for Kafka's consumer group.
        bad_records: what notes the records left out, where 'bad.record' is skip or dead-letter.
    """
    from pyspark.sql.types import BooleanType, LongType, StructField, StructType

    given = StructType.fromDDL(columns)
    required = [column.name for column in given if not column.nullable]
    place, asked = str(Path(folder or ".").resolve()), [[*each] for each in filters]
    table_of = TableRequest(table, dict(options), dict(metadata or {}), required, place, None, 1, asked)
    fields = [StructField(column.name, column.dataType, bool(end_mark) or column.nullable) for column in given]
    weight = [StructField(WEIGHT, LongType())] if reads_of(options["connector"], table).changelog(options) else []
    mark = [StructField(end_mark, BooleanType())] if end_mark else []
    schema = StructType([*fields, *weight, *mark])
    source = _noting(bad_records, table, options, Path(folder or ".").resolve()) if bad_records else OuzelStream
    if files is not None and (frame := files.read(spark, table_of, schema, end_mark, rows)) is not None:
        return frame
    spark.dataSource.register(source)
    made = {"table": vars(table_of), "end_mark": end_mark, "rows": rows, "query": query}
    return spark.readStream.format(source.called).schema(schema).option("stream", json.dumps(made)).load()


def _noting(bad_records: BadRecords, table: str, options: Mapping[str, str], folder: Path) -> type[OuzelStream]:
    """The data source with an accumulator: Spark makes readers far from here."""
    bad_records.expect(table, options, folder)
    found = bad_records.found
    return type("NotingStream", (OuzelStream,), {"called": f"{NAME}-{found.aid}", "found": found})


class OuzelStream(DataSource):  # type: ignore[misc]
    """`spark.readStream.format("ouzel-stream")`; made by `read_stream`."""

    called = NAME
    found: Accumulator[Found] | None = None

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return cls.called

    def streamReader(self, schema: StructType) -> StreamReader:
        """The reader of one query."""
        made = json.loads(self.options["stream"])
        table = TableRequest(**made["table"])
        return StreamReader(schema, table, made["end_mark"], made["rows"], made["query"], self.found)


@dataclass
class End(InputPartition):  # type: ignore[misc]
    """The partition that holds the row which marks the end."""


class StreamReader(DataSourceStreamReader):  # type: ignore[misc]
    """Plans micro-batches beside the driver, and reads spans of them in tasks."""

    def __init__(
        self,
        schema: StructType,
        table: TableRequest,
        end_mark: str,
        rows: int,
        query: str,
        found: Accumulator[Found] | None = None,
    ) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        data = StructType([column for column in schema if column.name != end_mark])
        self._schema: pa.Schema = to_arrow_schema(schema, timezone="UTC")
        self._data: pa.Schema = to_arrow_schema(data, timezone="UTC")
        self._reader = TableReader(data, table, found)
        self._table, self._end_mark, self._rows, self._query = table, end_mark, rows, query
        self._opened: tuple[Source, Surveyor] | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Nothing is read; where each partition starts is settled with the first micro-batch."""
        return Position(self._table.table).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """As many rows as asked."""
        return ReadMaxRows(self._rows)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """How far the next micro-batch reaches."""
        position = Position.from_json(start)
        if position.ended:
            return start
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else ALL_ROWS
        return self._source[1].advance(position, rows).to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """What the tasks of a micro-batch read."""
        before, after = Position.from_json(start), Position.from_json(end)
        spans: list[InputPartition] = []
        for name, (first, until) in after.parts.items():
            at = before.parts[name][1] if name in before.parts else first
            step = TASK_ROWS if self._seeks else max(1, until - at)
            spans += [TaskRange(name, low, min(low + step, until)) for low in range(at, until, step)]
        if self._end_mark and after.ended and not before.ended:
            spans.append(End())
        return spans

    @property
    def _seeks(self) -> bool:
        """Whether starting in the middle costs nothing: lines of a file have to be counted."""
        return reads_of(self._table.connector, self._table.table).seeks(self._table.options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a span, or the row that marks the end."""
        if isinstance(partition, End):
            nothing = [pa.nulls(1, field.type) for field in self._data]
            yield pa.RecordBatch.from_arrays([*nothing, pa.array([True])], schema=self._schema)
            return
        for batch in self._reader.read(partition):
            if self._end_mark:
                mark = pa.repeat(pa.scalar(False), batch.num_rows)
                batch = pa.RecordBatch.from_arrays([*batch.columns, mark], schema=self._schema)
            yield batch

    def commit(self, end: dict[str, Any]) -> None:
        """Tell a source that keeps offsets itself, as Kafka's groups do."""
        self._source[0].commit({name: Committed(at) for name, (_, at) in end["parts"].items()})

    def stop(self) -> None:
        """Let go of the source."""
        if self._opened:
            self._opened[0].close()
            self._opened = None

    @property
    def _source(self) -> tuple[Source, Surveyor]:
        """Opened when it is first asked for: what travels to the workers is not."""
        if self._opened is None:
            table = self._table
            request = table.stream_request(polars_types(self._data), self._query)
            source, reads = open_source(table.connector, request), reads_of(table.connector, table.table)
            self._opened = (source, Surveyor(source, reads.ordered(table.options), reads.grows(table.options)))
        return self._opened

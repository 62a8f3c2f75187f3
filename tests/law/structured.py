"""Structured Streaming as the law sees it: a case in, the table that its micro-batches add up to out.

The tables come as Parquet parts through Spark's own file stream, one part a micro-batch, the end mark with the last; what reads through our
connectors has tests of its own.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ouzel.compiler.catalog import VALUES
from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import Scan, walk
from ouzel.connectors import reads_of
from ouzel.session import load_text
from ouzel.spark.io.accumulated import accumulator
from ouzel.spark.io.bucket_numbers import choose_buckets
from ouzel.spark.io.in_state import LateCounts, in_state
from ouzel.spark.io.source import TableReader, TableRequest
from ouzel.spark.lowering import run_job, spark_job
from ouzel.spark.lowering.streaming import OutputMode, StreamingQuery, streaming_queries
from tests.law.cases import TABLES, Case
from tests.law.compare import WEIGHT, plain_fold
from tests.law.engines import loaded

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

DISORDER = "8s"
"""By how much rows of one table are out of order; watermarks allow 10 s."""


@dataclass
class Streams:
    """Tables as streams of Parquet parts."""

    spark: SparkSession
    inputs: Path
    folder: Path
    lock: threading.Lock = field(default_factory=threading.Lock)

    def read_stream(
        self, spark: SparkSession, table: str, columns: str, options: Any, *, end_mark: str = "", **_: Any
    ) -> DataFrame:
        """As the runtime's, of the parts."""
        changelog = reads_of(options["connector"], table).changelog(options)
        mark = f", `{WEIGHT}` bigint" * changelog + f", `{end_mark}` boolean" * bool(end_mark)
        with self.lock:
            place = self._written(table, end_mark)
        reader = spark.readStream.schema(columns.replace(" NOT NULL", "") + mark).option("maxFilesPerTrigger", "1")
        return reader.parquet(str(place))

    def _written(self, table: str, end_mark: str) -> Path:
        place = self.folder / f"{table}{'-ends' * bool(end_mark)}"
        if not place.exists():
            place.mkdir(parents=True)
            cuts = self.cuts(table)
            for number, part in enumerate(cuts):
                self._write(place / f"{number}.parquet", part, end_mark, number == len(cuts) - 1)
        return place

    def cuts(self, table: str) -> list[pa.Table]:
        """The table's rows by micro-batch: two are enough for state that one writes and the next reads."""
        rows = ordered(self.rows(table))
        step = -(-rows.num_rows // (8 if table == "late" else 2)) or 1
        return [rows.slice(start, step) for start in range(0, rows.num_rows, step)] or [rows]

    def _write(self, path: Path, part: pa.Table, end_mark: str, is_last: bool) -> None:
        if end_mark:
            part = part.append_column(end_mark, pa.array([False] * part.num_rows, pa.bool_()))
            end = {name: [None] for name in part.column_names} | {end_mark: [True]}
            part = pa.concat_tables([part, pa.table(end, schema=part.schema)]) if is_last else part
        pq.write_table(part, path)
        os.utime(path, (1e9 + int(path.stem), 1e9 + int(path.stem)))  # the file stream goes by age

    def rows(self, table: str) -> pa.Table:
        """What a batch reads of the table, before anything is made of it."""
        if table == VALUES:
            return pa.table({"id": pa.array([0], pa.int64())})
        program = load_text(f"{TABLES[table]}\nSELECT * FROM {table};", self.inputs, table).program
        (sink,) = program.sinks
        (scan,) = (node for node in walk(sink) if isinstance(node, Scan))
        if scan.retracts:
            return self._log(scan)
        names = [*scan.columns.names]
        read = replace(program, sinks=(replace(sink, input=scan),))  # what is above it, the query has itself
        answer: pa.Table = run_job(spark_job(read, self.inputs), self.spark).toArrow()
        answer = answer.select(names)
        return answer.cast(pa.schema([kind.with_nullable(True) for kind in answer.schema]))

    def _log(self, scan: Scan) -> pa.Table:
        """A changelog, each row with its weight, in the order of the log."""
        from pyspark.sql.types import LongType, StructType

        columns = ", ".join(f"{column_name(field.name)} {to_spark_type(field.type)}" for field in scan.columns)
        options = {"connector": scan.connector, **dict(scan.options)}
        table = TableRequest(scan.table, options, {}, [], str(self.inputs), None, 1)
        reader = TableReader(StructType.fromDDL(columns).add(WEIGHT, LongType()), table)
        return pa.Table.from_batches([batch for span in reader.partitions() for batch in reader.read(span)])

    def answer(self, query: StreamingQuery) -> Answer:
        """Run it to its end."""
        names: dict[str, Any] = {"spark": self.spark, "folder": str(self.inputs), "read_stream": self.read_stream}
        exec("from pyspark.sql import functions as F, types as T", names)
        exec("from ouzel.spark import read_table", names)
        late: Accumulator[LateCounts] = accumulator(self.spark)
        names["in_state"] = partial(in_state, late=late, buckets=choose_buckets(2))
        exec(compile(query.functions, "functions.py", "exec"), names)
        exec(compile(query.text, "stream.py", "exec"), names)
        exec(compile(query.after, "after.py", "exec"), names)
        frame, finish = names[query.frame], names.get("finish", lambda batch: batch)
        from pyspark.sql.pandas.types import to_arrow_schema

        schema = finish(self.spark.createDataFrame([], frame.schema)).schema
        answer = Answer(polars_of(to_arrow_schema(schema, timezone="UTC").empty_table()), query)
        writer = frame.writeStream.outputMode(query.mode.value).trigger(availableNow=True)
        running = writer.foreachBatch(lambda batch, number: answer.add(polars_of(finish(batch).toArrow()))).start()
        running.awaitTermination()
        if WEIGHT in answer.rows.columns:
            answer.rows = plain_fold([answer.rows], answer.rows.columns[:-1])
        answer.late = sum(late.value.values()) + sum(
            state.numRowsDroppedByWatermark for each in running.recentProgress for state in each.stateOperators
        )
        return answer


@dataclass
class Answer:
    """The table that micro-batches add up to, how many there were, and what was dropped as late: of Spark's own aggregates
    groups of rows, of our operators rows.
    """

    rows: pl.DataFrame
    query: StreamingQuery
    batches: int = 0
    late: int = 0

    def add(self, batch: pl.DataFrame) -> None:
        """One micro-batch, as its output mode means it."""
        self.batches += 1
        if self.query.mode is OutputMode.COMPLETE:
            self.rows = batch
            return
        self.rows = pl.concat([self.rows, batch])
        if self.query.mode is OutputMode.UPDATE:
            self.rows = self.rows.unique(self.query.keys, keep="last") if self.query.keys else self.rows.tail(1)


def polars_of(table: pa.Table) -> pl.DataFrame:
    """The table as a frame, also one without rows."""
    rows = pl.from_arrow(table)
    assert isinstance(rows, pl.DataFrame)
    return rows


def ordered(rows: pa.Table) -> pa.Table:
    """Rows in the order of their time, but for some seconds; tables without time and those that are late as they are."""
    names = rows.column_names
    if "ts" not in names or "n" in names:
        return rows
    place = pl.from_arrow(rows.column("ts").combine_chunks())
    assert isinstance(place, pl.Series)
    order = pl.DataFrame({"ts": place, "bucket": place.dt.truncate(DISORDER)}).with_row_index()
    index = order.sort(["bucket", "ts"], descending=[False, True])["index"]
    return rows.take(index.to_arrow())


def streaming_of(case: Case, inputs: Path) -> StreamingQuery:
    """The case's one sink as a streaming query."""
    (query,) = streaming_queries(loaded(case, inputs, ()).program, inputs, case.name)
    return query

"""The two answers as tables of one Spark session: what the stream's sink holds, and what the batch job returns for the same input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ouzel.compiler.catalog import RESULT, RETURNED
from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import Program, Scan, Sink, SinkMode, scans_in, walk
from ouzel.compiler.types import BIGINT, Field, Schema
from ouzel.connectors import reads_of
from ouzel.errors import NotSupported, QueryError
from ouzel.job import Job
from ouzel.reconcile.comparing.forms import comparable_form
from ouzel.reconcile.comparing.lineage import batch_sink
from ouzel.reconcile.comparing.pairs import keep_on_disk
from ouzel.reconcile.explaining.bounds import PartBound
from ouzel.reconcile.explaining.shed import NOTHING_SHED, Shed, leave_out
from ouzel.reconcile.recording.parts import can_be_read_back, find_weight, parts_glob, parts_written
from ouzel.reconcile.recording.record import RESULTS, read_record
from ouzel.spark.batch.run import BatchRun, batch_run
from ouzel.spark.io.bounds import Ranges
from ouzel.spark.io.changelog import rows_left
from ouzel.spark.lowering import run_job, spark_job
from ouzel.traits import source_traits

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def choose_sink(program: Program, table: str = "") -> Sink:
    """The sink to compare: the one of that name, else the trailing SELECT's, else the only one.

    Raises:
        QueryError: there is no such sink, or several and none was named.
        NotSupported: its rows cannot be had again, or several statements write them.
    """
    sinks = {sink.table: sink for sink in program.sinks}
    sink = sinks.get(table or RESULT)
    if sink is None and not table and len(sinks) == 1:
        (sink,) = sinks.values()
    if sink is None:
        problem = f"no table '{table}' is written" if table else "this query writes several tables"
        raise QueryError(problem, instead=f"choose one of {', '.join(sinks)} with --table")
    _check_readable(sink)
    if sum(other.table == sink.table for other in program.sinks) > 1:
        raise NotSupported(
            f"table '{sink.table}' is written by several statements, and nothing in its rows tells whose they are",
            instead="write it by one INSERT INTO with UNION ALL, or each part into a table of its own",
        )
    return sink


def _check_readable(sink: Sink) -> None:
    if not sink.traits.returned and not can_be_read_back(sink):
        raise NotSupported(
            f"table '{sink.table}': what connector '{sink.connector}' has been given cannot be read back",
            instead="end the query with a SELECT, or write into a 'file' table",
        )


def batch_of(job: Job, sink: Sink, ranges: Ranges, shed: Shed = NOTHING_SHED) -> BatchRun:
    """The batch job of one sink over exactly the offsets that the stream has read, without what it has shed; without ranges, over all
    there is.

    Raises:
        NotSupported: a table has no end, or something has no Spark form.
    """
    program = replace(job.program, sinks=(sink,))
    tables = {scan.table for scan in scans_in(walk(sink))}
    made = batch_run(replace(job, program=program), {name: parts for name, parts in ranges.items() if name in tables})
    return replace(made, offsets=leave_out(made.offsets, shed))


def batch_text(made: BatchRun) -> str:
    """The batch job as a person reads it."""
    return spark_job(made.program, made.job.directory, made.job.topology.name, "", made.offsets)


def batch_answer(
    job: Job,
    sink: Sink,
    ranges: Ranges,
    spark: SparkSession,
    shed: Shed,
    bounds: Mapping[str, PartBound] = MappingProxyType({}),
) -> DataFrame:
    """What the batch job returns, with the group keys and what bounds parts of groups carried along (see lineage.batch_sink)."""
    made = batch_of(job, batch_sink(sink, bounds), ranges, shed)
    return run_job(batch_text(made), spark, sink.table)


def stream_answer(job: Job, sink: Sink, home: Path, spark: SparkSession) -> DataFrame:
    """What the stream's sink holds: the table kept with the record, or the files that this run has written.

    Raises:
        QueryError: the record holds no table.
    """
    columns = sink.columns or sink.input.schema
    if sink.traits.returned:
        if not (home / RESULTS).exists():
            raise QueryError(f"the record in {home} has no {RESULTS}", instead="run the query again with --record")
        if len({name.lower() for name in columns.names}) < len(columns):
            return _read_by_position(home / RESULTS, columns, spark)
        return spark.read.parquet(str(home / RESULTS)).select(*map(column_name, columns.names))
    run = read_record(home).run
    if not parts_written(sink, job.directory, run):
        shape = ", ".join(f"`{field.name.replace('`', '``')}` {to_spark_type(field.type)}" for field in columns)
        return spark.createDataFrame([], shape)
    options = {**dict(sink.options), "path": str(parts_glob(sink, Path(), run))}
    traits = source_traits(reads_of(sink.connector, sink.table), options)
    weight = find_weight(sink)
    written = Schema((*columns, Field(weight, BIGINT))) if weight else columns
    scan = Scan(sink.table, sink.connector, tuple(options.items()), written, traits=traits)
    reading = Program((Sink(scan, "written", RESULT, (), SinkMode.APPEND, columns=written, traits=RETURNED),))
    rows = run_job(spark_job(reading, job.directory), spark, "written")
    if not weight:
        return rows
    no_run = f"'{sink.table}' takes a row back more often than it was put in, which no run does: "
    return rows_left(rows, weight, no_run)


CASE_MATTERS = "spark.sql.caseSensitive"


def _read_by_position(path: Path, columns: Schema, spark: SparkSession) -> DataFrame:
    """A table with columns such as `a` and "A", which Spark takes for one unless case matters, under other names.

    Spark goes by that setting when it reads, so the rows are read while it holds, and kept on the workers' disks.
    """
    before = spark.conf.get(CASE_MATTERS)
    spark.conf.set(CASE_MATTERS, "true")
    try:
        held = spark.read.parquet(str(path)).select(*map(column_name, columns.names))
        return keep_on_disk(by_position(held, len(columns)))
    finally:
        spark.conf.set(CASE_MATTERS, before)


def by_position(frame: DataFrame, size: int) -> DataFrame:
    """The frame with other names for its first columns, of which several may be one but for upper and lower case."""
    return frame.toDF(*(f"x{number}" for number in range(size)), *frame.columns[size:])


def comparable(frame: DataFrame, schema: Schema, names: Sequence[str]) -> list[Column]:
    """The frame's first columns, by position, under other names and in the form in which both answers are compared."""
    triples = zip(frame.schema, schema, names, strict=False)
    return [
        comparable_form(frame[f"`{there.name}`"], field.type, there.dataType).alias(name)
        for there, field, name in triples
    ]

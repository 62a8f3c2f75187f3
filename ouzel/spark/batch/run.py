"""Runs a query's Spark job: the answer of a trailing SELECT comes back, or goes to files; INSERT INTO writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ouzel.compiler.plan import Program, Sink
from ouzel.connectors import writes_of
from ouzel.connectors.file import CONNECTOR as FILES
from ouzel.errors import OuzelError, QueryError
from ouzel.job import Job
from ouzel.spark.batch.offsets import as_run, select_needed
from ouzel.spark.batch.period import Period, program_within, widen_period
from ouzel.spark.io.bounds import Ranges, check_ends
from ouzel.spark.lowering.job import JobRanges, job_endings, load_job, spark_job
from ouzel.spark.lowering.text import URI
from ouzel.spark.session import translate_error
from ouzel.traits import sink_traits

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

ALWAYS = Period()
"""All of time."""

ENDINGS = {"": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
"""What the end of an output's name says of its format."""


@dataclass(frozen=True)
class BatchRun:
    """One query as a batch: what is to run, over which rows ({} is all there is), and what is to be said of those; empty if nothing is."""

    job: Job
    program: Program
    offsets: JobRanges
    note: str = ""

    @property
    def result(self) -> Sink | None:
        """The sink of the trailing SELECT, if there is one."""
        return self.program.result

    def text(self) -> str:
        """The job as a program of its own."""
        job = self.job
        return spark_job(self.program, job.directory, job.topology.name, job.text, self.offsets)

    def into(self, output: str | Path, form: str = "") -> BatchRun:
        """The same with the rows of the trailing SELECT written to a folder of this machine, or to a URI as Spark knows it.

        The format is `form`, csv, json or parquet; if that is empty, what the end of the name says.

        Raises:
            OuzelError: there is no trailing SELECT.
            QueryError: the name ends in what is no format.
        """
        if self.result is None:
            raise OuzelError("--output is for the rows of a trailing SELECT, and the query has none")
        place = str(output)
        path = place if URI.match(place) else str(Path(place).resolve())
        options = (("path", path), ("format", form or _format_of(place)))
        folder = sink_traits(writes_of(FILES.name, self.result.table))
        sinks = (
            replace(sink, connector=FILES.name, options=options, traits=folder) if sink is self.result else sink
            for sink in self.program.sinks
        )
        return replace(self, program=replace(self.program, sinks=tuple(sinks)))

    def run(self, spark: SparkSession, say: Callable[[str], None] = lambda text: None) -> pl.DataFrame | None:
        """Run it; the rows of the trailing SELECT, or None if there is none. `say` is told what was left out.

        Raises:
            OuzelError: Spark refuses or fails, in one sentence.
        """
        text = self.text()
        try:
            loaded = load_job(text, spark)
            for table, ending in job_endings(self.program).items():
                if self.result is None or table != self.result.table:
                    loaded.end(ending)
            rows = collect_rows(loaded.frame(self.result.table), self.result) if self.result else None
            if loaded.bad_records is not None:
                loaded.bad_records.settle(say)
            return rows
        except OuzelError:
            raise
        except Exception as error:
            raise translate_error(error) from error


def batch_run(job: Job, offsets: Ranges | None = None, period: Period = ALWAYS) -> BatchRun:
    """The query as a batch, over all its input, or over what `offsets` say, or over what happened in a period.

    Raises:
        NotSupported: a table has no end, or nothing says when its rows happened, or something has no Spark form.
        OuzelError: the offsets do not fit the query.
    """
    if period:
        note = _describe_period(job.program, period)
        text = f"{job.text.rstrip()}\n\n-- Only what happened {period}." + (f"\n-- {note}." if note else "")
        job = replace(job, text=text, program=program_within(job.program, period))
        check_ends(job.program, {})
        return BatchRun(job, job.program, {}, note)
    check_ends(job.program, offsets or {})
    if not offsets:
        return BatchRun(job, job.program, {})
    needed = select_needed(job.program, job.topology, job.directory, offsets)
    return BatchRun(job, as_run(job.program, job.topology), needed)


def _format_of(place: str) -> str:
    ending = PurePosixPath(place).suffix
    if ending not in ENDINGS:
        known = ", ".join(filter(None, ENDINGS))
        raise QueryError(
            f"--output {place}: {ending} is no format that a batch writes",
            instead=f"end it with one of {known}, or add --output-format",
        )
    return ENDINGS[ending]


def _describe_period(program: Program, period: Period) -> str:
    """What whoever asked for a period must know of it; empty if it is read as it was asked for."""
    read = widen_period(program, period)
    return "" if read == period else f"No window is cut: for those that reach beyond it rows are read {read}"


def collect_rows(frame: DataFrame, sink: Sink) -> pl.DataFrame:
    """All rows of a result, in the sink's types."""
    import polars as pl

    rows = pl.from_arrow(frame.toArrow())
    assert isinstance(rows, pl.DataFrame)
    return rows.cast(dict(zip(rows.columns, (sink.columns or sink.input.schema).polars().values(), strict=True)))

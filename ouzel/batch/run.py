"""Runs a query's Spark job: the answer of a trailing SELECT comes back, or goes to files; INSERT INTO writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.batch.bounds import Ranges, check_ends
from ouzel.batch.offsets import as_run, needed
from ouzel.batch.spark import explained
from ouzel.compiler.plan import Program, Sink
from ouzel.errors import OuzelError
from ouzel.planner.spark.job import job_endings, job_frames, job_names, spark_job, variable
from ouzel.session import Job

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

FORMATS = {".csv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
"""What an output's name says of its format; anything else is a folder of Parquet."""


@dataclass(frozen=True)
class Batch:
    """One query as a batch: what is to run, and over which rows; {} is all there is."""

    job: Job
    program: Program
    offsets: Ranges

    @property
    def result(self) -> Sink | None:
        """The sink of the trailing SELECT, if there is one."""
        return next((sink for sink in self.program.sinks if sink.connector == "result"), None)

    def text(self) -> str:
        """The job as a program of its own."""
        job = self.job
        return spark_job(self.program, job.directory, job.topology.name, job.text, self.offsets)

    def run(self, spark: SparkSession, output: Path | None = None) -> pl.DataFrame | None:
        """Run it; the rows of the trailing SELECT, or None if there is none or they went to `output`.

        Raises:
            OuzelError: Spark refuses or fails, in one sentence.
        """
        try:
            names = job_names(
                job_frames(self.program, self.job.directory, self.job.topology.name, "", self.offsets), spark
            )
            for table, ending in job_endings(self.program).items():
                if self.result is None or table != self.result.table:
                    exec(compile(ending, "job.py", "exec"), names)
            if self.result is None:
                return None
            frame = names[variable(self.result.table)]
            if output is None:
                return rows_of(frame, self.result)
            _write(frame, output)
            return None
        except OuzelError:
            raise
        except Exception as error:
            raise explained(error) from error


def batch(job: Job, offsets: Ranges | None = None) -> Batch:
    """The query as a batch, over all its input or over what `offsets` say.

    Raises:
        NotSupported: a table has no end, or something has no Spark form.
        OuzelError: the offsets do not fit the query.
    """
    check_ends(job.program, offsets or {})
    if not offsets:
        return Batch(job, job.program, {})
    return Batch(job, as_run(job.program, job.topology), needed(job.program, job.directory, offsets))


def rows_of(frame: DataFrame, sink: Sink) -> pl.DataFrame:
    """All rows of a result, in the sink's types."""
    import polars as pl

    rows = pl.from_arrow(frame.toArrow())
    assert isinstance(rows, pl.DataFrame)
    return rows.cast(dict(zip(rows.columns, (sink.columns or sink.input.schema).polars().values(), strict=True)))


def _write(frame: DataFrame, output: Path) -> None:
    """A folder of parts, in the format that the name ends in."""
    shape = FORMATS.get(output.suffix, "parquet")
    writer = frame.write.option("header", True) if shape == "csv" else frame.write
    writer.format(shape).save(str(output.resolve()))

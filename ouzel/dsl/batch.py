"""A program in Python as a PySpark job."""

from __future__ import annotations

import polars as pl

from ouzel.errors import QueryError
from ouzel.job import Job


def batch_table(job: Job) -> pl.DataFrame:
    """What the job answers, in a session of its own unless there is one; what the program writes is written.

    Raises:
        OuzelError: Spark refuses or fails.
    """
    from ouzel.spark.batch.run import batch_run
    from ouzel.spark.session import start_spark

    rows = batch_run(job).run(start_spark(job.topology.name))
    if rows is None:
        raise QueryError("the job has no result", instead="leave answers=True")
    return rows


def job_text(job: Job, title: str) -> str:
    """The text of the job.

    Raises:
        NotSupported: it has no Spark form.
    """
    from ouzel.spark.lowering import spark_job

    return spark_job(job.program, job.directory, title)

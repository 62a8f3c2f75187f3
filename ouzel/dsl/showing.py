"""The first records of a program that may never end."""

from __future__ import annotations

import polars as pl

from ouzel import session
from ouzel.job import Job
from ouzel.runtime.operators.result_table import ResultTable

WAIT_SECONDS = 0.2


def first_records(job: Job, engine: str, most: int) -> pl.DataFrame:
    """Run it until there are so many records, or no more come: those that its changes add up to by then.

    Raises:
        OuzelError: it could not be started, or it failed.
    """
    sink = job.program.result
    assert sink is not None, "the job hands its records to whoever starts it"
    found = ResultTable(sink.columns, sink.sorted_by)
    with session.start(job, engine) as run:
        ended = False
        while not ended and found.frame().height < most:
            ended = run.wait_for_results(WAIT_SECONDS)
            for frame in run.results():
                found.apply(frame)
        if ended:
            for _ in run:  # says so if it has failed
                pass
    return found.frame().head(most)

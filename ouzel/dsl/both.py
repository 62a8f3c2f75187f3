"""One program on two platforms: as a topology and as a PySpark job over exactly what the topology has read, and where they differ."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.job import Job

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from ouzel.reconcile import Reconciliation


@dataclass(frozen=True)
class BothAnswers:
    """What both platforms have answered.

    Attributes:
        online: what the topology's changes add up to, or its table holds.
        offline: what the PySpark job returns for the input that the topology has read.
        reconciliation: where they differ, row by row, and why.
    """

    online: pl.DataFrame
    offline: pl.DataFrame
    reconciliation: Reconciliation

    @property
    def agree(self) -> bool:
        """Whether there is no difference, or for each what explains it."""
        return self.reconciliation.explained

    def __str__(self) -> str:
        from ouzel.reconcile.report import verdict

        return verdict(self.reconciliation)


def answer_twice(job: Job, online: str, table: str, record: str | Path | None) -> BothAnswers:
    """Run a job on an engine to its end, then in Spark, and compare.

    Raises:
        OuzelError: it could not be run, or something of it has no place in a comparison.
    """
    from ouzel.reconcile import check, reconcile, record_run
    from ouzel.reconcile.comparing.answers import batch_answer, choose_sink, stream_answer
    from ouzel.reconcile.explaining.shed import read_shed
    from ouzel.reconcile.recording.recorder import record_in
    from ouzel.spark.session import require, start_spark

    check(job, table)
    require()  # better now than after the run
    with ExitStack() as stack:
        home = Path(record or stack.enter_context(tempfile.TemporaryDirectory(prefix="ouzel-both-")))
        record_run(job, online, home)
        spark = start_spark(job.topology.name)
        found = reconcile(job, home, spark, table=table)
        sink = choose_sink(job.program, table)
        names = (sink.columns or sink.input.schema).names
        offline = batch_answer(job, sink, record_in(home).ranges, spark, read_shed(home))
        return BothAnswers(_fetch(stream_answer(job, sink, home, spark), names), _fetch(offline, names), found)


def _fetch(frame: DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    rows = pl.from_arrow(frame.toArrow())
    assert isinstance(rows, pl.DataFrame)
    return rows.select(names)

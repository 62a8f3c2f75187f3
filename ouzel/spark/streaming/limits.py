"""What surrounds a plan and cannot run on Spark: refused before Spark starts."""

from __future__ import annotations

from collections.abc import Iterable

from ouzel.compiler.plan import MERGED, Scan, SinkMode, walk
from ouzel.errors import NotSupported, OuzelError
from ouzel.job import Job
from ouzel.planner.settings import BadRecordPolicy
from ouzel.spark.lowering.streaming import OutputMode, StreamingQuery

OLDEST = (4, 2)
"""The first PySpark whose Python sources may say how much of a stream a micro-batch reads."""


def check_streaming(job: Job, master: str | None = None) -> None:
    """See that what surrounds the plan can run on Spark too.

    Raises:
        NotSupported: a setting or a table means nothing there, or on a cluster there is no checkpoint.
    """
    settings = job.settings
    for node in (node for sink in job.program.sinks for node in walk(sink)):
        if isinstance(node, Scan) and not node.traits.shared:
            raise NotSupported(
                f"table '{node.table}': Spark cannot read connector '{node.connector}', which lives in one process",
                instead="use 'file', or run it on --engine memory",
            )
    for sink in job.program.sinks:
        if sink.mode is SinkMode.MERGE:
            raise NotSupported(
                f"table '{sink.table}' adds up what a topology's tasks give it, batch by batch, and Spark has other batches",
                instead=f"leave '{MERGED}' out, or run it on --engine heron",
            )
    if settings.late_path:
        raise NotSupported(
            "Structured Streaming counts the rows that it drops as late and does not give them away",
            instead="leave out 'late.path' and write LATE INTO, or run it on --engine heron",
        )
    if settings.error_policy is not BadRecordPolicy.FAIL:
        raise NotSupported(
            f"Spark ends a query when an expression fails, and 'error.policy' is {settings.error_policy.value}",
            instead="leave it out and write TRY_CAST and the like, or run it on --engine heron",
        )
    if settings.delivery.publishes:
        _check_publishing(job)
    if master and not master.startswith("local") and not settings.checkpoint_path:
        raise NotSupported(
            f"on {master} a checkpoint must be where every executor can write",
            instead="SET 'checkpoint.path' to a folder that they share",
        )


def _check_publishing(job: Job) -> None:
    """See that a run which goes on knows what is written; that each table can show a micro-batch all at once is seen when it is planned.

    Raises:
        NotSupported: nothing says where a run goes on.
    """
    if not job.settings.checkpoint_path:
        raise NotSupported(
            "'delivery' = 'effectively-once': on Spark a run that is started again knows what is written by its checkpoint",
            instead="SET 'checkpoint.path' to a folder",
            about=("SET", "delivery"),
        )


def check_checkpoint(job: Job, queries: Iterable[StreamingQuery]) -> None:
    """See that a run which goes on from a checkpoint needs nothing that only the driver knew.

    Raises:
        NotSupported: a sink is told what changed, which the driver finds out by the table that it holds.
    """
    for query in queries if job.settings.checkpoint_path else ():
        sink = query.sink
        if query.mode is OutputMode.COMPLETE or (query.mode is OutputMode.UPDATE and sink.mode is not SinkMode.UPSERT):
            raise NotSupported(
                f"table '{sink.table}' is told which rows change, and what it held is not in a checkpoint of Spark",
                instead="leave out 'checkpoint.path', let windows close (EMIT AFTER WATERMARK), or write to a table with a PRIMARY KEY",
            )


def check_version() -> None:
    """See that PySpark is there and new enough.

    Raises:
        OuzelError: it is not.
    """
    try:
        import pyspark
    except ModuleNotFoundError:
        raise OuzelError(
            'Structured Streaming runs on PySpark, which is not installed; write: pip install "ouzel[spark]"'
        ) from None
    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if version < OLDEST:
        raise OuzelError(
            f"Structured Streaming needs PySpark {'.'.join(map(str, OLDEST))}, and this is {pyspark.__version__}"
        )

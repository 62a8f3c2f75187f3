"""One sink's streaming query while it runs: its micro-batches on their way to the sink, and what is committed of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ouzel.errors import OuzelError, TopologyError
from ouzel.job import Job
from ouzel.spark.io.accumulated import accumulator
from ouzel.spark.io.bad_records import BadRecords
from ouzel.spark.io.bucket_numbers import Buckets
from ouzel.spark.io.functions import python_function
from ouzel.spark.io.python_steps import python_steps, python_total
from ouzel.spark.lowering.streaming import StreamingQuery
from ouzel.spark.session import translate_error
from ouzel.spark.streaming.checkpoint import HeldCheckpoint
from ouzel.spark.streaming.gate import MicroBatchGate
from ouzel.spark.streaming.progress import Account, LateCalls
from ouzel.spark.streaming.sinks import CountRows, batch_id_of, outlet
from ouzel.spark.streaming.source import read_stream
from ouzel.spark.streaming.spark_files import SparkFiles

if TYPE_CHECKING:
    import polars as pl
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery as Running

    from ouzel.spark.io.in_state import LateCounts


EXECUTED = "addBatch"
"""The duration that only the report of a micro-batch has: Spark also reports that there was none."""


@dataclass
class TakenMicroBatch:
    """One micro-batch that its sink has taken: what counts its rows, and those of a trailing SELECT."""

    count_rows: CountRows
    frames: list[pl.DataFrame] = field(default_factory=list)


class Stream:
    """One sink's query."""

    def __init__(self, plan: StreamingQuery, job: Job, gate: MicroBatchGate, checkpoint: HeldCheckpoint) -> None:
        self.plan, self.account, self._late_calls = plan, Account(), LateCalls()
        self.error: OuzelError | None = None
        self._job, self._gate, self._checkpoint = job, gate, checkpoint
        publishes = job.settings.delivery.publishes
        self._outlet = outlet(plan, job.directory, job.topology.name, self._hand, publishes)
        self._frames: list[pl.DataFrame] = []
        self._written: dict[int, TakenMicroBatch] = {}
        self._reported = -1
        self._started = threading.Event()
        self._finish: Callable[[DataFrame], DataFrame] | None = None
        self.running: Running | None = None
        self._bad: BadRecords | None = None
        self._late: Accumulator[LateCounts] | None = None
        self._files = SparkFiles("")

    def start(self, spark: SparkSession, buckets: Buckets) -> None:
        """Begin; what an earlier run left in the checkpoint goes on. `buckets` are those of our operators' state there."""
        settings, home = self._job.settings, f"{self._checkpoint.home.uri}/{self.plan.sink.table}"
        self._files = SparkFiles(home)
        self._bad, self._late = BadRecords(spark), accumulator(spark)
        writer = (
            self._define(spark, buckets)
            .writeStream.queryName(f"{self._job.topology.name} {self.plan.sink.table} {id(self):x}")
            .outputMode(self.plan.mode.value)
            .option("checkpointLocation", home)
            .trigger(processingTime=f"{settings.trigger_ms} milliseconds")
        )
        self.running = writer.foreachBatch(self._take).start()
        self._started.set()

    def _define(self, spark: SparkSession, buckets: Buckets) -> DataFrame:
        """The streaming frame that the plan's text defines."""
        from pyspark.sql import functions as F
        from pyspark.sql import types as T

        from ouzel.spark.io.asking import ask_table
        from ouzel.spark.io.in_state import in_state
        from ouzel.spark.io.source import read_table

        job = self._job
        read = partial(
            read_stream,
            rows=job.settings.trigger_rows,
            query=job.topology.name,
            bad_records=self._bad,
            files=self._files,
        )
        names: dict[str, Any] = {
            "__name__": "job", "spark": spark, "folder": str(job.directory), "F": F, "T": T, "read_stream": read,
            "python_function": python_function, "python_steps": python_steps, "python_total": python_total,
            "read_table": partial(read_table, bad_records=self._bad), "ask_table": ask_table,
            "in_state": partial(in_state, late=self._late, buckets=buckets),
        }  # fmt: skip
        exec(compile(self.plan.functions, "job.py", "exec"), names)
        exec(compile(self.plan.text, "job.py", "exec"), names)
        frame: DataFrame = names[self.plan.frame]
        if self.plan.after:
            before = set(names)
            exec(compile(self.plan.after, "job.py", "exec"), names)
            self._finish = names["finish"] if "finish" in names else names[(set(names) - before).pop()]
        return frame

    def _take(self, frame: DataFrame, number: int) -> None:
        """Spark's foreachBatch. An error is kept, and given on in one sentence: what Spark makes of a long one may overflow its stack."""
        self._started.wait()
        assert self.running is not None
        with self._gate.passing(hands=self.plan.sink.traits.returned):
            try:
                self._checkpoint.check_owner()
                with self._files.unchanged():
                    count_rows = self._write(frame, number, batch_id_of(self.running.id, number))
                self._written[number] = TakenMicroBatch(count_rows, self._frames)
                self._frames = []
            except Exception as error:
                self.error = error if isinstance(error, OuzelError) else translate_error(error)
                raise self.error from None

    def _write(self, frame: DataFrame, number: int, batch_id: int) -> CountRows:
        """What is left to do may read the micro-batch several times, and its state must change but once."""
        if self._finish is None:
            return self._outlet.take(frame, number, batch_id)
        kept = frame.persist()
        try:
            return self._outlet.take(self._finish(kept), number, batch_id)
        finally:
            kept.unpersist()

    def _hand(self, number: int, frame: pl.DataFrame) -> None:
        self._frames.append(frame)
        self._gate.add(int(frame.estimated_size()))

    def on_progress(self, report: Mapping[str, Any]) -> TakenMicroBatch:
        """Take Spark's report of a committed micro-batch; what of it the sink has taken."""
        self._reported = report["batchId"]
        self.account.add(self._files.restate(report))
        self.account.late += self._take_late()
        return self._written.pop(report["batchId"])

    @property
    def remarks(self) -> list[str]:
        """What there is to say of how the query reads its tables, once it has been started."""
        return self._files.remarks

    def reports(self) -> list[Mapping[str, Any]]:
        """Spark's reports of the micro-batches that it has committed since the last one that was taken, the oldest first.

        They are asked for, and only while one is due. PySpark's listener brings them late: it asks the JVM for every figure of a report,
        one call each, some hundred where there is state.
        """
        if self.running is None or self.settled or (last := self.running.lastProgress) is None:
            return []
        asked = [last] if last.batchId <= self._reported + 1 else self.running.recentProgress
        found = [json.loads(report.json) for report in asked if report.batchId > self._reported]
        return [report for report in found if EXECUTED in report["durationMs"]]

    def _take_late(self) -> int:
        """How many rows our operators have dropped as late since the last call."""
        assert self._late is not None
        return self._late_calls.take(self._late.value)

    def has_ended(self) -> bool:
        """Whether it has read everything there will ever be. A run that goes on from a checkpoint may have nothing left to report.

        Raises:
            OuzelError: it has failed: in one sentence, our own error if one is at its bottom.
        """
        assert self.running is not None
        if not self.running.isActive:
            raise self._reason(self.running.exception())
        if not self.account.batches and (idle := self.running.lastProgress) is not None:
            self.account.begin(self._files.restate(json.loads(idle.json)))
        return self.account.ended

    def settle(self, known: set[tuple[str, str]], say: Callable[[str], None]) -> int:
        """Tell of the bad records that the last micro-batch left out, and write their dead letters; how many there were.

        Those at places in `known`, to which theirs are added, were told of before: of another query that reads the same table.
        """
        assert self._bad is not None
        found = self._bad.found.value
        for place in [place for place in found if place in known]:
            del found[place]
        known |= found.keys()
        count = sum(what if isinstance(what, int) else 1 for what in found.values())
        self._bad.settle(say)
        found.clear()
        return count

    def stop(self) -> None:
        """Ask Spark to end it, if it has begun."""
        if self.running is not None:
            self.running.stop()

    def complete(self) -> None:
        """Let what is left happen, once everything has been read: windows close in micro-batches without data.

        Raises:
            OuzelError: it failed.
        """
        assert self.running is not None
        try:
            self.running.processAllAvailable()
        except Exception as error:
            raise self._reason(error) from error
        self.running.stop()

    def _reason(self, error: Exception | None) -> OuzelError:
        return self.error or (
            translate_error(error) if error else TopologyError("Spark ended the query without a word")
        )

    @property
    def settled(self) -> bool:
        """Whether everything that the sink has taken is committed."""
        return not self._written

    def close(self) -> None:
        """Let go of the sink and the session."""
        self._files.close()
        self._outlet.close()

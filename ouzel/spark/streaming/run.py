"""A query's Structured Streaming job in progress, behind the Handle of a run."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ouzel.errors import OuzelError, TopologyError
from ouzel.interrupts import AwaitedThread
from ouzel.job import Job
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import RowIteration, RunState, Status, make_rest_error
from ouzel.spark.lowering.streaming import StreamingQuery, streaming_queries
from ouzel.spark.session import start_spark, translate_error
from ouzel.spark.streaming.checkpoint import (
    PARTITIONS,
    Home,
    checkpoint_of,
    describe_pinned,
    forget_unbegun,
    settle_buckets,
)
from ouzel.spark.streaming.gate import MicroBatchGate
from ouzel.spark.streaming.limits import check_checkpoint, check_streaming, check_version
from ouzel.spark.wheel import hand_on

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import SparkSession

    from ouzel.spark.streaming.progress import Account
    from ouzel.spark.streaming.stream import Stream

POLL_S = 0.02
LOOK_S = 0.5
"""How often somebody who waits without a limit sees whether the run has ended."""

EVENTS_MAX = 1_000

WARM_WORKERS = (
    ("spark.python.daemon.module", "ouzel.spark.daemon"),
    ("spark.python.authenticate.socketTimeout", "60s"),
)
"""Settings for queries whose workers run our operators: they are forks of a process that has imported these, which takes seconds."""


def start_structured(
    job: Job, *, master: str | None = None, conf: Iterable[tuple[str, str]] = (), spark: SparkSession | None = None
) -> StructuredHandle:
    """Run a job on Spark: on `spark`, which lives on, or on a session started for it on `master` with the settings `conf`.

    Raises:
        NotSupported: Structured Streaming cannot run something of the query.
        OuzelError: PySpark or a JDK is missing, or is too old.
    """
    check_version()
    check_streaming(job, None if spark else master or os.environ.get("SPARK_MASTER"))
    queries = streaming_queries(job.program, job.directory, job.topology.name)
    check_checkpoint(job, queries)
    settings = (*(WARM_WORKERS if any(query.ours for query in queries) else ()), *conf)
    start = (lambda: spark) if spark else (lambda: start_spark(job.topology.name, master, settings))
    return StructuredHandle(job, queries, start, ends=spark is None)


class StructuredHandle(RowIteration):
    """Queries that run on a Spark session, followed from a thread."""

    def __init__(
        self, job: Job, queries: Sequence[StreamingQuery], start: Callable[[], SparkSession], ends: bool
    ) -> None:
        self._job, self._queries, self._start, self._ends = job, queries, start, ends
        self._state, self._reason = RunState.STARTING, ""
        self._streams: list[Stream] = []
        self._frames: deque[pl.DataFrame] = deque()
        self._events: deque[Event] = deque(maxlen=EVENTS_MAX)
        self._bad_places = set[tuple[str, str]]()
        self._rows_out = self._rows_bad = 0
        self._lock, self._news, self._stop = threading.RLock(), threading.Event(), threading.Event()
        self._followed = threading.Event()
        self._unreported: Exception | None = None
        self._gate = MicroBatchGate()
        self._thread = AwaitedThread(self._run, "structured")
        self._thread.start()

    def results(self) -> list[pl.DataFrame]:
        """Frames of the result sink since the last call: those of committed micro-batches."""
        frames = [self._frames.popleft() for _ in range(len(self._frames))]
        self._gate.add(-sum(int(frame.estimated_size()) for frame in frames))
        return frames

    def status(self) -> Status:
        """Totals over all queries, of committed micro-batches."""
        with self._lock:
            accounts = [stream.account for stream in self._streams]
            late = sum(account.late for account in accounts)
            told = (Event("late-rows", "rows came after their window had closed, and were dropped", late),)
            times = [account.watermark_us for account in accounts if account.watermark_us is not None]
            rows = sum(_most(account.rows for account in accounts).values())
            return Status(
                self._state,
                rows_in=rows,
                rows_acked=rows,
                rows_out=self._rows_out,
                rows_late=late,
                rows_bad=self._rows_bad,
                watermark_us=min(times, default=None),
                reason=self._reason,
                events=(*self._events, *(told if late else ())),
                ranges=_ranges(accounts),
            )

    def wait(self, timeout_s: float | None = None) -> bool:
        with self._gate.without_limit():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def wait_for_results(self, timeout_s: float | None = None) -> bool:
        if self._frames:
            return not self._thread.is_alive()
        while timeout_s is None and self._thread.is_alive() and not self._news.wait(LOOK_S):
            pass
        self._news.wait(timeout_s or 0.0)
        self._news.clear()
        return not self._thread.is_alive()

    def fresh_status(self, timeout_s: float) -> Status:
        """How it stands; a micro-batch is in the result and in the ranges at once."""
        return self.status()

    def pause(self, timeout_s: float) -> Status:
        """Let the micro-batches that are being written end, and hold the next ones back before their sinks."""
        deadline = time.monotonic() + timeout_s
        rests = self._gate.shut(timeout_s)
        while rests and not all(stream.settled for stream in self._streams) and self._thread.is_alive():
            rests = time.monotonic() < deadline
            time.sleep(POLL_S)
        if not rests:
            self._gate.open()
            raise make_rest_error(timeout_s)
        self._state = RunState.PAUSED if self._state is RunState.RUNNING else self._state
        return self.status()

    def resume(self) -> None:
        """Let them through."""
        self._state = RunState.RUNNING if self._state is RunState.PAUSED else self._state
        self._gate.open()

    def drain(self) -> None:
        """Begin to stop; the micro-batch that runs is left, and comes again if there is a checkpoint."""
        self._stop.set()
        self._gate.stop()

    def stop(self) -> Status:
        """See `drain`."""
        self.drain()
        self._thread.join()
        return self.status()

    def end(self) -> Status:
        """As `stop`: it waits for nothing that was read."""
        return self.stop()

    def _run(self) -> None:
        ended = RunState.FAILED
        try:
            spark = self._start()
            try:
                ended = self._stream(spark)
            finally:
                if self._ends:
                    spark.stop()
        except OuzelError as error:
            self._reason = str(error)
        except Exception as error:
            self._reason = str(translate_error(error))
        self._state = RunState.STOPPED if self._stop.is_set() and ended is not RunState.FINISHED else ended
        self._news.set()

    def _stream(self, spark: SparkSession) -> RunState:
        """Start the queries and follow them to their end; how it came."""
        from ouzel.spark.streaming.stream import Stream

        hand_on(spark)
        spark.conf.set("spark.sql.ansi.enabled", "true")
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        with checkpoint_of(self._job, self._queries, spark) as checkpoint:
            reporting = threading.Thread(target=self._take_reports, name="reports", daemon=True)
            reporting.start()
            try:
                for query in self._queries:
                    self._streams.append(Stream(query, self._job, self._gate, checkpoint))
                    self._start_stream(self._streams[-1], spark, checkpoint.home)
                self._state = RunState.RUNNING
                self._follow()
            finally:
                self._followed.set()
                reporting.join()
                self._end()
            self._check_told()
        return RunState.STOPPED if self._stop.is_set() else RunState.FINISHED

    def _start_stream(self, stream: Stream, spark: SparkSession, home: Home) -> None:
        partitions, table = spark.conf.get(PARTITIONS), stream.plan.sink.table
        forget_unbegun(home, table)
        self._say_note(describe_pinned(home, table, partitions))
        buckets = settle_buckets(home, table, int(partitions)) if stream.plan.ours else ()
        stream.start(spark, buckets)
        for remark in stream.remarks:
            self._say_note(remark)

    def _follow(self) -> None:
        """Until each query has read everything, or the user stops. What is left then are windows that close: batches without data."""
        left = list(self._streams)
        while left and not self._stop.is_set() and self._unreported is None:
            for stream in left[:]:
                if stream.has_ended():
                    stream.complete()
                    left.remove(stream)
            self._stop.wait(POLL_S)

    def _end(self) -> None:
        """Stop the queries, and take the reports that have come meanwhile."""
        self._gate.stop()
        for stream in self._streams:
            stream.stop()
        for stream in self._streams:
            if self._unreported is None:
                self._take_reports_of(stream)
            stream.close()
        if self._unreported is not None:
            raise self._unreported

    def _check_told(self) -> None:
        """See that no micro-batch is missing in the answer of a run that has come to its end.

        Raises:
            TopologyError: Spark has told of fewer than it has committed.
        """
        if not self._stop.is_set() and not all(stream.settled for stream in self._streams):
            raise TopologyError(
                "Spark has not told of all micro-batches that it has committed, and the answer lacks some"
            )

    def _take_reports(self) -> None:
        """Until the queries are followed no more: also while one of them waits for its last windows."""
        try:
            while not self._followed.wait(POLL_S):
                for stream in self._streams[:]:
                    self._take_reports_of(stream)
        except Exception as error:
            self._unreported = error
            self._gate.stop()

    def _take_reports_of(self, stream: Stream) -> None:
        for report in stream.reports():
            with self._lock:
                written = stream.on_progress(report)
                self._rows_out += written.count_rows()
                self._frames += written.frames
                self._rows_bad += stream.settle(self._bad_places, self._say_bad)
            self._news.set()

    def _say_note(self, text: str) -> None:
        if text:
            self._events.append(Event("note", text))

    def _say_bad(self, text: str) -> None:
        self._events.append(Event("bad-record", text))


def _most(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Of each table the most rows that any query has read of it: queries read for themselves."""
    most = Counter[str]()
    for count in counts:
        most |= Counter(count)
    return most


def _ranges(accounts: Iterable[Account]) -> dict[str, dict[str, tuple[int, int]]]:
    """What of each table is in the answer; of a table that several queries read, what all of them have read."""
    ranges: dict[str, dict[str, tuple[int, int]]] = {}
    for position in (position for account in accounts for position in account.positions if position):
        parts = ranges.setdefault(position.table, dict(position.parts))
        for name, (first, at) in position.parts.items():
            parts[name] = (first, min(at, parts.get(name, (first, at))[1]))
    return ranges

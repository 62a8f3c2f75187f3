"""A store rolled forward: the batches that are over since its last version, computed in Spark and added to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from ouzel.compiler.catalog import RESULT, RETURNED
from ouzel.compiler.plan import Program, Sink, SinkMode
from ouzel.errors import QueryError
from ouzel.job import Job
from ouzel.spark.batch.period import Period
from ouzel.spark.batch.run import batch_run
from ouzel.stores.batcher import EPOCH, Batcher, BatchRange, in_utc, parse_batcher
from ouzel.stores.client import ClientStore, Disagreement
from ouzel.stores.columns import StoreColumns, stored_columns
from ouzel.stores.folder import FolderStore, check_same
from ouzel.stores.keyed import KeyedStream
from ouzel.stores.rows import StoredStream, stream_of
from ouzel.stores.store import extend

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_BATCHES = 10_000
"""Batches that are computed at once; more are most likely a mistake."""

Compute = Callable[[Job, Period | None], pl.DataFrame]
"""What answers a query over a period, or over all its input."""


@dataclass(frozen=True)
class Advance:
    """What is to be computed for a store.

    Attributes:
        store: where it goes.
        batcher: how time is cut.
        columns: what the query's columns mean.
        batches: those that are to be computed; none if no batch is over since the last version.
        job: the query, whose rows are handed back.
        sums: where a stream by the same query writes; None if it writes nowhere.
    """

    store: FolderStore
    batcher: Batcher
    columns: StoreColumns
    batches: BatchRange
    job: Job
    sums: Sink | None

    @property
    def begin(self) -> datetime:
        """When the first of the batches begins."""
        return self.batcher.earliest_time_of(self.batches.start)

    @property
    def end(self) -> datetime:
        """When the last of the batches is over."""
        return self.batcher.earliest_time_of(self.batches.end)

    def run(self, compute: Compute) -> None:
        """Compute the batches, and make a version of the store with them; nothing if there are none.

        Raises:
            OuzelError: the job fails, or the store cannot take it; it stays as it was.
        """
        if not self.batches:
            return
        found = compute(self.job, Period(_microseconds(self.begin), _microseconds(self.end)))
        sink = self.job.program.result
        assert sink is not None, "plan_advance has made it"
        found.columns = (sink.columns or sink.input.schema).names
        self.store.put(self.batcher, self.columns, self.batches, found, lambda job: compute(job, None))

    def disagreements(self) -> list[Disagreement[Any, Any]] | None:
        """Where the stream has other sums of these batches; None if the query's rows go nowhere where they can be read now.

        Raises:
            OuzelError: the store or the stream's table cannot be read.
        """
        stream = self.stream()
        if stream is None or not self.store.exists:
            return None
        client: ClientStore[Any, Any, Any] = ClientStore(self.store, stream, self.store.monoid)
        return client.disagreements(self.batches)

    def stream(self) -> StoredStream | KeyedStream | None:
        """What a stream by the same query has written; None if it writes nowhere, or where nothing can be read now."""
        sink = self.sums
        if sink is None:
            return None
        options = {"connector": sink.connector, **dict(sink.options)}
        found = stream_of(self.batcher, self.columns, sink.table, options, self.job.directory)
        return found if found.at_rest else None


def plan_advance(
    job: Job,
    store: FolderStore,
    batcher: Batcher | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> Advance:
    """What is to be computed so that a store holds all batches that are over.

    Args:
        job: a query of sums by windows of time; what it inserts into a table a stream keeps there.
        store: where the totals are.
        batcher: how time is cut; by default as in the store.
        start: where to begin; by default where the store ends. Batches that are in the store are computed again.
        end: what is over by then is computed; by default now.

    Raises:
        QueryError: the query's rows cannot be added up, the store is another query's, or a batch would be missing.
    """
    sink = _sink(job.program)
    columns = stored_columns(sink)
    page = store.page if store.exists else None
    batcher = batcher or (page.batcher if page else None)
    if batcher is None:
        raise QueryError(f"the store {store.path} is new", instead="say how time is cut, as in --batcher '1 day'")
    start = start or (batcher.earliest_time_of(page.batches.end) if page else None)
    if start is None:
        raise QueryError(f"the store {store.path} is new", instead="say with --from where its first batch begins")
    now = in_utc(datetime.now(UTC))
    start, end = in_utc(start), in_utc(end or now)
    if end > now:
        raise QueryError(f"{end} is still to come, so no batch is known to be over by then", instead="leave out --to")
    if not batcher.is_edge(start):
        near, after = batcher.interval_of(batcher.batch_of(start))
        raise QueryError(f"no batch of '{batcher}' begins at {start}", instead=f"begin at {near} or {after}")
    batches = batcher.whole_in(start, max(start, end))
    if len(batches) > MAX_BATCHES:
        raise QueryError(
            f"from {start} to {end} there are {len(batches):,} batches of '{batcher}', and at most {MAX_BATCHES:,} are computed at once",
            instead="give an earlier end with --to",
        )
    if page is not None:
        check_same(store.path, page, batcher, columns)
        extend(page.batches, batches, batcher)
    inserts = sink if sink is not job.program.result else None
    return Advance(store, batcher, columns, batches, _answering(job, sink), inserts)


def _sink(program: Program) -> Sink:
    """Whose rows a store is to keep: those of the only INSERT, or those of the trailing SELECT.

    Raises:
        QueryError: there are several.
    """
    inserts = [sink for sink in program.sinks if sink is not program.result]
    if len(inserts) > 1:
        raise QueryError(
            f"the query writes into {', '.join(sink.table for sink in inserts)}, and a store keeps the sums of one",
            instead="leave one INSERT",
        )
    found = [*inserts, *filter(None, [program.result])]
    if not found:
        raise QueryError("the query asks for nothing", instead="end it with SELECT …, or with INSERT INTO")
    return found[0]


def _answering(job: Job, sink: Sink) -> Job:
    """The job with no other sink than one that hands back what this one is given."""
    columns = sink.columns or sink.input.schema
    handed = Sink(sink.input, RESULT, RESULT, (), SinkMode.APPEND, columns=columns, traits=RETURNED)
    return replace(job, program=replace(job.program, sinks=(handed,)))


def on_spark(spark: SparkSession, say: Callable[[str], None] = lambda text: None) -> Compute:
    """What computes in a session of Spark; `say` is told what was left out."""

    def compute(job: Job, period: Period | None) -> pl.DataFrame:
        rows = batch_run(job, period=period or Period()).run(spark, say)
        assert rows is not None, "the job hands its rows back"
        return rows

    return compute


class WritingProgram(Protocol):
    """A program's stream that writes."""

    def job(self, *, answers: bool) -> Job:
        """Its query."""


def advance(
    job: Job | WritingProgram,
    store: str | FolderStore,
    *,
    batcher: Batcher | str | None = None,
    start: date | None = None,
    end: date | None = None,
) -> Advance:
    """Compute in Spark what a store lacks, or batches that are in it again; twice is as good as once.

    Args:
        job: a query of sums by windows of time, `ouzel.query(...)` or `stream.job(answers=False)`; or that stream.
        store: the store, or its folder.
        batcher: how time is cut, also as text, '1 day'; of a store that there is already it may be left out.
        start: where to begin; by default where the store ends.
        end: what is over by then is computed; by default now.

    Raises:
        OuzelError: the query's rows cannot be added up, a batch would be missing, or Spark fails; the store stays as it was.
    """
    from ouzel.spark.session import start_spark

    folder = store if isinstance(store, FolderStore) else FolderStore(store)
    job = job if isinstance(job, Job) else job.job(answers=False)
    cut = parse_batcher(batcher) if isinstance(batcher, str) else batcher
    planned = plan_advance(job, folder, cut, _midnight(start), _midnight(end))
    if planned.batches:
        planned.run(on_spark(start_spark(job.topology.name)))
    return planned


def _midnight(day: date | None) -> datetime | None:
    """The time, or the beginning of a day."""
    return day if day is None or isinstance(day, datetime) else datetime(day.year, day.month, day.day)


def _microseconds(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)

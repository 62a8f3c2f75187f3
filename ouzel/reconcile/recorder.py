"""Keeps the record of a run: a handle around a run's handle, which folds the result as it passes and writes both down in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel import session
from ouzel.compiler.plan import Scan
from ouzel.errors import QueryError, TopologyError
from ouzel.planner.topology import Topology
from ouzel.record import LATE, RECORD, RESULTS, Ranges, RunRecord, read_record
from ouzel.runtime.run import Handle, RunState, Status

if TYPE_CHECKING:
    import polars as pl

    from ouzel.runtime.operators.result_table import ResultTable

Pairs = Sequence[tuple[str, str]]

WAIT_SECONDS = 0.5


def recordable(job: session.Job, home: Path) -> session.Job:
    """The job with its late rows kept in the record in `home`, unless the query has a file of its own for them.

    What an earlier run left there is removed.
    """
    home.mkdir(parents=True, exist_ok=True)
    for name in (RECORD, RESULTS, LATE):
        (home / name).unlink(missing_ok=True)
    if job.settings.late_path:
        return job
    settings = replace(job.topology.settings, late_path=str(home.resolve() / LATE))
    return replace(job, topology=replace(job.topology, settings=settings))


class Recorder:
    """A run's handle (see run.Handle) that keeps its record in the directory `home` once the run has ended well or was stopped."""

    def __init__(self, handle: Handle, job: session.Job, engine: str, home: Path, pairs: Pairs = ()) -> None:
        self.home = home
        self._handle, self._job, self._engine, self._pairs = handle, job, engine, tuple(pairs)
        self._table = _result_table(job)

    def results(self) -> list[pl.DataFrame]:
        """The run's frames, on their way to whoever asked."""
        frames = self._handle.results()
        if self._table is not None:
            for frame in frames:
                self._table.apply(frame)
        return frames

    def status(self) -> Status:
        """How the run stands."""
        return self._handle.status()

    def wait(self, timeout_s: float) -> bool:
        """See run.Handle."""
        return self._handle.wait(timeout_s)

    def stop(self) -> Status:
        """Stop, and write the record; what was read before is in it, so the last stop comes after the last results."""
        status = self._handle.stop()
        if status.state in (RunState.FINISHED, RunState.STOPPED):
            self.record(status).save(self.home)
            if self._table is not None:
                self._table.frame().write_parquet(self.home / RESULTS)
        return status

    def record(self, status: Status) -> RunRecord:
        """What is to be known of a run that ended like this."""
        job, stopped = self._job, status.state is RunState.STOPPED
        return RunRecord(
            query=job.topology.name,
            text=job.text,
            directory=str(job.directory),
            engine=self._engine,
            delivery=job.settings.delivery.value,
            ranges=_by_table(job.topology, status),
            closed_us=status.watermark_us if stopped else None,
            events=tuple(_events(status)),
            settings=self._pairs,
        )


def record_in(home: Path) -> RunRecord:
    """The record that is in a directory.

    Raises:
        QueryError: there is none.
    """
    try:
        return read_record(home)
    except FileNotFoundError:
        raise QueryError(
            f"there is no record of a run in {home}", instead="make one with ouzel run --record DIR"
        ) from None


def record_run(job: session.Job, engine: str, home: Path, pairs: Pairs = ()) -> Status:
    """Run the job to its end and keep its record in `home`.

    Raises:
        TopologyError: it failed.
    """
    started = session.start(recordable(job, home), engine)
    with _stopped(Recorder(started, job, engine, home, pairs)) as handle:
        while not handle.wait(WAIT_SECONDS):
            handle.results()
        handle.results()
    status = handle.status()
    if status.state is RunState.FAILED:
        raise TopologyError(status.reason)
    return status


@contextmanager
def _stopped(handle: Recorder) -> Iterator[Recorder]:
    try:
        yield handle
    finally:
        handle.stop()


def _result_table(job: session.Job) -> ResultTable | None:
    from ouzel.runtime.operators.result_table import ResultTable

    sink = next((sink for sink in job.program.sinks if sink.connector == "result"), None)
    return None if sink is None else ResultTable(sink.columns or sink.input.schema)


def _by_table(topology: Topology, status: Status) -> Ranges:
    """What a spout has read is what its table has given."""
    tables = {part.name: node.table for part in topology.components for node in part.chain if isinstance(node, Scan)}
    ranges: dict[str, dict[str, tuple[int, int]]] = {}
    for spout, parts in status.ranges.items():
        ranges.setdefault(tables.get(spout, spout), {}).update(parts)
    return ranges


def _events(status: Status) -> Iterator[tuple[str, str, int]]:
    """What the run told, equal words once with their count; rows that were sent again are told of here."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in status.events:
        counts[event.kind, event.text] += event.count
    if status.rows_failed:
        counts["replayed", "rows were sent again, for they had not been wholly acked"] += status.rows_failed
    yield from ((kind, text, count) for (kind, text), count in counts.items())

"""Keeps the record of a run: a handle around the run's handle, which folds the result as it passes and writes both at the end.

While the run goes on, the record is written on request (see live.py), with or without a pause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, TypeVar

from ouzel import session
from ouzel.compiler.plan import Scan, scans_in, walk
from ouzel.connectors import reads_of
from ouzel.errors import OuzelError, QueryError, TopologyError
from ouzel.planner.epochs import with_epochs_of_run
from ouzel.planner.topology import Topology
from ouzel.reconcile.explaining.losses import Losses
from ouzel.reconcile.recording import lock
from ouzel.reconcile.recording.live import LiveRecord, is_live
from ouzel.reconcile.recording.marks import Marked, mark_of
from ouzel.reconcile.recording.parts import can_be_read_back, parts_written
from ouzel.reconcile.recording.record import (
    DROPPED_LINES,
    LATE,
    LIVE,
    RECORD,
    RESULTS,
    SENT_AGAIN,
    SHED,
    RunRecord,
    read_record,
    replace_file,
)
from ouzel.reconcile.recording.topics import ids_of
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME
from ouzel.runtime.run import Handle, RowIteration, RunState, Status, was_cut_short
from ouzel.runtime.tasks.late import lines_that_stand
from ouzel.spark.io.bounds import Ranges

if TYPE_CHECKING:
    import polars as pl

    from ouzel.runtime.operators.result_table import ResultTable

Pairs = Sequence[tuple[str, str]]

WAIT_SECONDS = 0.5

LOOK_SECONDS = 30.0
"""A task silent for so long makes a record impossible."""

T = TypeVar("T")


def recordable(job: session.Job, home: Path, engine: str) -> session.Job:
    """The job with a hash seed, and with its late rows kept in the record in `home`, unless the query has a file of its own for them or
    `engine` is Spark, which gives none away.

    What an earlier run left there is removed. The directory is this process's until the `Recorder` of the run has stopped.

    Raises:
        QueryError: a run that goes on is recorded there.
    """
    home.mkdir(0o700, parents=True, exist_ok=True)
    lock.hold_directory(home)
    if is_live(home):
        raise QueryError(
            f"{home} is the record of a run that goes on", instead="stop that run, or choose another directory"
        )
    for name in (RECORD, RESULTS, LATE, DROPPED_LINES, SHED, LIVE):
        (home / name).unlink(missing_ok=True)
    job = session.draw_seed(job)
    if engine == "spark":
        return job
    job = session.mark_sides(job)
    started = with_epochs_of_run(job.topology) if engine == "heron" else job.topology
    late = job.settings.late_path or str(home.resolve() / (DROPPED_LINES if started.settings.has_epochs else LATE))
    return session.with_settings(job, replace(job.settings, late_path=late, shed_path=str(home.resolve() / SHED)))


class Recorder(RowIteration):
    """A run's handle (see run.Handle) that keeps its record in the directory `home`: as often as it is asked for, and at the end.
    `job` is as it was started: see `recordable`.

    Of a run that failed, or was ended at once, nothing is kept.
    """

    def __init__(self, handle: Handle, job: session.Job, engine: str, home: Path, pairs: Pairs = ()) -> None:
        self.home = home
        self._handle, self._job, self._engine, self._pairs = handle, job, engine, tuple(pairs)
        self._table = _result_table(job)
        self._frames: list[pl.DataFrame] = []
        self._folding, self._observing, self._writing = Lock(), Lock(), RLock()
        self._pauses = 0
        self._losses, self._marked = Losses(job.topology), Marked()
        self._topics: Mapping[str, Mapping[str, str]] = {}
        try:
            self._live = LiveRecord(self, home)
        except BaseException:
            handle.stop()
            raise

    def results(self) -> list[pl.DataFrame]:
        """The run's frames, on their way to whoever asked."""
        with self._folding:
            self._fold()
            frames, self._frames = self._frames, []
        return frames

    def status(self) -> Status:
        """How the run stands."""
        return self._observe(self._handle.status())

    def wait(self, timeout_s: float | None = None) -> bool:
        return self._handle.wait(timeout_s)

    def wait_for_results(self, timeout_s: float | None = None) -> bool:
        return self._handle.wait_for_results(0.0 if self._frames else timeout_s)

    def fresh_status(self, timeout_s: float) -> Status:
        return self._observe(self._handle.fresh_status(timeout_s))

    def pause(self, timeout_s: float) -> Status:
        """Pause the run, unless somebody has: it is resumed when all who paused it have resumed it."""
        with self._writing:
            status = self._handle.fresh_status(timeout_s) if self._pauses else self._handle.pause(timeout_s)
            self._pauses += 1
        return status

    def resume(self) -> None:
        """Resume it, unless somebody else still wants it paused."""
        with self._writing:
            self._pauses = max(0, self._pauses - 1)
            if not self._pauses:
                self._handle.resume()

    def snapshot(self) -> RunRecord:
        """Write the record as the run stands: all that is closed by then is in the result, and all rows that it came of in the ranges.

        The result is taken between two looks: after the first it has whatever that look calls closed, and the second, being later, has
        seen every row that the result came of. A run that is paused stands still, so that its record is exact altogether.

        Raises:
            TopologyError: the run has failed, or some task does not say how it stands.
        """
        with self._writing:
            first = self.fresh_status(LOOK_SECONDS)
            result = self._result()
            later = self.fresh_status(LOOK_SECONDS)
            if RunState.FAILED in (first.state, later.state):
                raise TopologyError(f"the run has failed: {later.reason}")
            return self._save(replace(later, state=first.state, watermark_us=first.watermark_us), result)

    def drain(self) -> None:
        self._handle.drain()

    def stop(self) -> Status:
        """Stop, and write the record; what was read before is in it, so the last stop comes after the last results."""
        status = self._handle.stop()
        try:
            with self._writing:
                if status.state in (RunState.FINISHED, RunState.STOPPED) and not was_cut_short(status):
                    self._save(status, self._result())
        except OSError as error:
            raise OuzelError(
                f"the run is over, and its record cannot be written to {self.home}: {error.strerror}; run it again to compare it"
            ) from error
        finally:
            self._live.close()
            lock.release_directory(self.home)
        return status

    def end(self) -> Status:
        """End at once; the record is that of the last time somebody asked for it."""
        self._handle.end()
        return self.stop()

    def _observe(self, status: Status) -> Status:
        """Take in what the status says of losses, and return it."""
        with self._observing:
            self._losses.observe(status)
        return status

    def _fold(self) -> None:
        """Fold what has come."""
        fresh = self._handle.results()
        self._frames += fresh
        if self._table is not None:
            for frame in fresh:
                self._table.apply(frame)

    def _result(self) -> pl.DataFrame | None:
        """The table that all changes so far add up to."""
        with self._folding:
            self._fold()
            return None if self._table is None else self._table.frame()

    def _save(self, status: Status, result: pl.DataFrame | None) -> RunRecord:
        """Write the result before the record: one that stops halfway leaves a record that says less than there is."""
        record = self.record(status)
        answer = self._marked.of(_list_written(self._job, record.run))
        if result is not None:
            replace_file(self.home / RESULTS, result.write_parquet)
            answer = {**answer, RESULTS: mark_of(self.home / RESULTS)}
        _write_late(self.home)
        scans = _scans(self._job)
        sources = self._marked.of(_files_read(scans, record.ranges))
        if not self._topics:
            self._topics = ids_of(scans.values(), record.ranges)
        evidence = {name: mark_of(self.home / name) for name in (LATE, SHED) if (self.home / name).exists()}
        record = replace(record, sources=sources, topics=self._topics, answer=answer, evidence=evidence)
        record.save(self.home)
        return record

    def record(self, status: Status) -> RunRecord:
        """The record of a run with this status."""
        job, closed_us = self._job, BEGINNING_OF_TIME if status.watermark_us is None else status.watermark_us
        self._observe(status)
        losses = self._losses.found
        return RunRecord(
            query=job.topology.name,
            text=job.text,
            directory=str(job.directory),
            engine=self._engine,
            delivery=job.settings.delivery.value,
            ranges=_by_table(job.topology, status.ranges),
            closed_us=None if status.state is RunState.FINISHED else closed_us,
            events=tuple(_events(status)),
            settings=self._pairs,
            times=_by_table(job.topology, status.times),
            began={_tables(job.topology)[spout]: time_us for spout, time_us in status.began.items()},
            run="" if self._engine == "spark" else job.settings.run,  # its sinks name parts by micro-batch
            losses=losses,
            late=None if self._engine == "spark" else status.rows_late,
            shed=None if self._engine == "spark" else status.rows_shed,
            sides={table: dict(content) for table, content in job.topology.sides},
            seed=job.settings.seed if any(loss.tasks > 1 for loss in losses) else 0,
        )


def _write_late(home: Path) -> None:
    """Write the late rows of a run with epochs: those that stand."""
    if (home / DROPPED_LINES).exists():
        with (home / DROPPED_LINES).open() as lines:
            standing = "".join(lines_that_stand(lines))
        replace_file(home / LATE, lambda path: path.write_text(standing))


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
    except ValueError as error:
        raise QueryError(
            f"{home / RECORD} is no record that this version reads: it is torn, edited or of another version ({error})",
            instead="record the run again",
        ) from None


def record_run(job: session.Job, engine: str, home: Path, pairs: Pairs = ()) -> Status:
    """Run the job to its end and keep its record in `home`.

    Raises:
        TopologyError: it failed.
    """
    job = recordable(job, home, engine)
    with _stop_after(Recorder(session.start(job, engine), job, engine, home, pairs)) as handle:
        while not handle.wait_for_results(WAIT_SECONDS):
            handle.status()
            handle.results()
        handle.results()
    status = handle.status()
    if status.state is RunState.FAILED:
        raise TopologyError(status.reason)
    return status


@contextmanager
def _stop_after(handle: Recorder) -> Iterator[Recorder]:
    try:
        yield handle
    finally:
        handle.stop()


def _result_table(job: session.Job) -> ResultTable | None:
    from ouzel.runtime.operators.result_table import ResultTable

    sink = job.program.result
    return None if sink is None else ResultTable(sink.columns or sink.input.schema)


def _tables(topology: Topology) -> dict[str, str]:
    """Spout -> the table that it reads."""
    return {part.name: scan.table for part in topology.components for scan in scans_in(part.chain)}


def _by_table(topology: Topology, by_spout: Mapping[str, Mapping[str, T]]) -> dict[str, dict[str, T]]:
    """The same by table instead of by spout."""
    tables = _tables(topology)
    found: dict[str, dict[str, T]] = {}
    for spout, parts in by_spout.items():
        found.setdefault(tables.get(spout, spout), {}).update(parts)
    return found


def _scans(job: session.Job) -> dict[str, Scan]:
    """The tables that are read, by name."""
    return {scan.table: scan for sink in job.program.sinks for scan in scans_in(walk(sink))}


def _files_read(scans: Mapping[str, Scan], ranges: Ranges) -> list[str]:
    """The files that were read, each once."""
    found: set[str] = set()
    for table, scan in scans.items():
        file_of = reads_of(scan.connector, table).file_of
        if file_of:
            found |= {file_of(dict(scan.options), name) for name in ranges.get(table, {})}
    return sorted(found)


def _list_written(job: session.Job, run: str) -> list[str]:
    """The parts of its tables that the run has written."""
    sinks = [sink for sink in job.program.sinks if can_be_read_back(sink)]
    return sorted({str(part) for sink in sinks for part in parts_written(sink, job.directory, run)})


def _events(status: Status) -> Iterator[tuple[str, str, int]]:
    """The run's messages, equal ones once with their count, and how many rows were sent again."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in status.events:
        counts[event.kind, event.text] += event.count
    if status.rows_failed:
        counts["replayed", SENT_AGAIN] += status.rows_failed
    yield from ((kind, text, count) for (kind, text), count in counts.items())

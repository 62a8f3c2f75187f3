"""Makes the comparisons that the command line and the RECONCILE statements of a file ask for, and prints them."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ouzel import session
from ouzel.cli.choices import Engine, ResultFormat
from ouzel.cli.differences import summary
from ouzel.cli.failure import Exit
from ouzel.cli.keeping import keep_reconciliation
from ouzel.cli.query import QuerySource
from ouzel.cli.speech import speaker
from ouzel.cli.table import PIPE_WIDTH
from ouzel.compiler.plan import Program, Reconcile, scans_in, walk
from ouzel.errors import QueryError, TopologyError
from ouzel.reconcile.comparing.cut import Cut
from ouzel.reconcile.recording.record import RECORD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ouzel.reconcile import Reconciliation
    from ouzel.reconcile.recording.record import RunRecord
    from ouzel.spark.io.bounds import Ranges


@dataclass(frozen=True)
class Request:
    """The options of the command line; None and empty text for those not given.

    Attributes:
        query: where the text of the query is.
        engine: what runs the topology.
        record: the record of a run that has ended; None: the query is run now.
        table: the sink that is compared; empty: all are.
        between: the event times, in microseconds, between which rows are compared; None at an end that is open.
        closed_windows: only windows that the run has closed are compared.
        tolerance: by how much two floating-point numbers may differ.
        report: the file that the report goes to.
        master: the master of the Spark session.
        pairs: settings, as names and values.
    """

    query: QuerySource
    engine: Engine = Engine.HERON
    record: Path | None = None
    table: str = ""
    between: tuple[int | None, int | None] | None = None
    closed_windows: bool | None = None
    tolerance: float | None = None
    report: Path | None = None
    master: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Wanted:
    """One comparison: which table, which part of it, and how."""

    table: str
    cut: Cut
    tolerance: float
    report: Path | None
    master: str | None


def choose_comparisons(program: Program, request: Request) -> list[Wanted]:
    """A comparison for each RECONCILE of the file (of the requested table, if one is), or one if there is none; options of the request win.

    A report of several has a directory for each.
    """
    said = [each for each in program.reconciles if request.table in ("", each.table)] or [Reconcile(request.table)]
    return [_read_wanted(each, number if len(said) > 1 else 0, request) for number, each in enumerate(said, 1)]


def _read_wanted(said: Reconcile, number: int, request: Request) -> Wanted:
    from ouzel.reconcile.reconciliation import TOLERANCE

    begin, end = request.between or (said.from_us, said.to_us)
    closed = said.closed_windows if request.closed_windows is None else request.closed_windows
    given = [value for value in (request.tolerance, said.tolerance, TOLERANCE) if value is not None]
    report = request.report and (request.report / f"{number}-{said.table}" if number else request.report)
    if report is None and said.report:
        report = request.query.directory / said.report
    return Wanted(said.table, Cut(begin, end, closed), given[0], report, request.master or said.master or None)


def reconcile_file(request: Request) -> Exit:
    """Reconcile a query's file, with a run of its own or with one that was or is recorded; the exit code.

    Raises:
        OuzelError: it could not be run or compared.
    """
    job, earlier = load_request(request)
    asked = check_comparisons(job, request, earlier.ranges if earlier else {})
    with _home(request.record, asked) as home:
        if request.record is None:
            _run(job, request, home)
        return compare_each(
            job, home, asked, start_session(job, asked), Console(highlight=False, width=_width(sys.stdout.isatty()))
        )


def run_and_reconcile(job: session.Job, request: Request, form: ResultFormat) -> Exit:
    """Run a file that ends with RECONCILE until its input ends or the user stops it, and compare; stdout is that of the run alone.

    Raises:
        OuzelError: it could not be run or compared.
    """
    from ouzel.cli.run import run_query
    from ouzel.spark.session import require

    asked = check_comparisons(job, request, _read_to_the_stop(job.program))
    require()  # better now than after the run
    with _home(request.record, asked) as home:
        ended = run_query(job, request.engine, form, home, request.pairs)
        if ended is Exit.FAILED or not (home / RECORD).exists():
            return ended
        found = compare_each(job, home, asked, start_session(job, asked), speaker())
    return found if found is Exit.DIFFERENT else ended


def load_request(request: Request) -> tuple[session.Job, RunRecord | None]:
    """The query, planned with the settings of the run that is or was recorded, and that run's record."""
    from ouzel.reconcile.recording.live import is_live, snapshot
    from ouzel.reconcile.recording.recorder import record_in

    home, earlier = request.record, None
    if home is not None:
        with suppress(TopologyError):  # it ended while it was asked
            earlier = snapshot(home) if is_live(home) else None
        earlier = earlier or record_in(home)
    return request.query.load((*(earlier.settings if earlier else ()), *request.pairs)), earlier


def check_comparisons(job: session.Job, request: Request, ranges: Ranges) -> list[Wanted]:
    """The comparisons; refused before anything runs if one cannot be made. `ranges` are those of a recorded run."""
    from ouzel.reconcile import check

    asked = choose_comparisons(job.program, request)
    for each in asked:
        check(job, each.table, ranges, each.cut)
    masters = {each.master for each in asked}
    if len(masters) > 1:
        raise QueryError("the file's RECONCILE statements name several masters", instead="choose one with --master")
    return asked


def _read_to_the_stop(program: Program) -> Ranges:
    """The ranges of unbounded tables end where the user stops the run, which its record will say."""
    from ouzel.spark.io.bounds import never_ends

    scans = [scan for sink in program.sinks for scan in scans_in(walk(sink))]
    return {scan.table: {} for scan in scans if never_ends(scan)}


def start_session(job: session.Job, asked: Sequence[Wanted]) -> SparkSession:
    """The Spark session of all comparisons."""
    from ouzel.cli.jobs import tell_meanwhile
    from ouzel.spark.session import start_spark

    say("starting Spark")
    began = time.monotonic()
    with tell_meanwhile(lambda seconds: say(f"starting Spark for {seconds:.0f} s")):
        spark = start_spark(f"reconcile {job.topology.name}", asked[0].master)
    say(f"Spark has started, after {time.monotonic() - began:.0f} s")
    return spark


def compare_each(job: session.Job, home: Path, asked: Sequence[Wanted], spark: SparkSession, out: Console) -> Exit:
    """Each comparison in turn, printed; the exit code says whether any found what nothing explains."""
    exits = [_compare(job, home, each, spark, out, len(asked) > 1) for each in asked]
    return max(exits)


def _compare(job: session.Job, home: Path, each: Wanted, spark: SparkSession, out: Console, titled: bool) -> Exit:
    from ouzel.reconcile import reconcile
    from ouzel.reconcile.comparing.answers import choose_sink
    from ouzel.reconcile.recording.standing import standing
    from ouzel.runtime.observe.reconciled import new_id

    with standing(home, choose_sink(job.program, each.table), each.cut.closed_only, say) as run:
        found = _await_comparison(
            lambda: reconcile(
                job, run.home, spark, table=each.table, tolerance=each.tolerance, cut=each.cut, live=run.live, say=say
            ),
            spark,
        )  # fmt: skip
    if titled:
        out.print(Text(f"\n{each.table}", style="bold"))
    out.print(summary(found))
    save_report(found, each.report)
    keep_reconciliation(found, new_id(), is_live=run.live)
    return Exit.ANSWERED if found.explained else Exit.DIFFERENT


def _await_comparison(work: Callable[[], Reconciliation], spark: SparkSession) -> Reconciliation:
    """What `work` finds; while Spark computes, its stages are shown on a terminal, and told from time to time elsewhere."""
    from ouzel.cli.jobs import ToldStages, await_work, stages

    told = ToldStages(say)
    with stages(speaker()) as draw:
        follow = draw if speaker().is_terminal else told.follow
        found: Reconciliation = await_work(work, spark, lambda: follow(spark))
    return found


def save_report(found: Reconciliation, report: Path | None, further: bool = False) -> None:
    """Write the report, if there is to be one; differences `further` to those that are there."""
    if report is not None:
        from ouzel.reconcile.report import write_report

        page = write_report(found, report, further)
        if not further:
            say(f"the report is {page}")


@contextmanager
def _home(record: Path | None, asked: Sequence[Wanted]) -> Iterator[Path]:
    """Where the run's record is, or will be: beside the report if there is one."""
    reports = [each.report for each in asked if each.report is not None]
    if record is not None:
        yield record
    elif reports:
        yield reports[0] / "record"
    else:
        with tempfile.TemporaryDirectory(prefix="ouzel-record-") as directory:
            yield Path(directory)


def _run(job: session.Job, request: Request, home: Path) -> None:
    from ouzel.cli.run import describe_events
    from ouzel.cli.status import RunProgress
    from ouzel.reconcile import record_run

    progress = RunProgress()
    say(f"running {job.topology.name} as a topology on {request.engine.value}")
    status = record_run(job, request.engine.value, home, request.pairs)
    for line in describe_events(status.events):
        say(line, "yellow")
    speaker().print(progress.totals(status, PIPE_WIDTH))


def _width(terminal: bool) -> int | None:
    return None if terminal else PIPE_WIDTH


def say(text: str, style: str = "dim") -> None:
    """Say what is being done."""
    speaker().print(Text(text, style=style))

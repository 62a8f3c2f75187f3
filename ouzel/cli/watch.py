"""`ouzel reconcile --watch`: one line for each round of comparing a live run, and the whole at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ouzel.cli.comparing import Request, check_comparisons, load_request, save_report, say, start_session
from ouzel.cli.differences import show_unexplained, summary
from ouzel.cli.failure import Exit
from ouzel.cli.keeping import keep_reconciliation
from ouzel.cli.screen import may_draw
from ouzel.cli.status import watermark_text
from ouzel.cli.table import PIPE_WIDTH
from ouzel.errors import OuzelError, QueryError, TopologyError
from ouzel.reconcile.comparing.answers import choose_sink
from ouzel.reconcile.metrics import LOOPBACK, Metrics
from ouzel.reconcile.recording.live import is_live, status
from ouzel.reconcile.watch import Round, Watch
from ouzel.runtime.observe.reconciled import new_id

LOOK_SECONDS = 0.5
"""Seconds between two checks that the run still goes on."""

FAILURES_MAX = 3
"""Rounds that may fail in a row before the watch gives up."""


def watch_file(request: Request, every_s: float, served: tuple[str, int] | None) -> Exit:
    """Watch a recorded run until it ends or the user stops watching; the exit code says whether anything unexplained was seen.

    Raises:
        OuzelError: it cannot be watched, or Spark fails.
    """
    job, earlier = load_request(request)
    asked = check_comparisons(job, request, earlier.ranges if earlier else {})
    if len(asked) > 1:
        raise QueryError("the file has several RECONCILE statements", instead="choose one with --table to watch it")
    (each,) = asked
    assert request.record is not None
    out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    with ExitStack() as stack:
        table = choose_sink(job.program, each.table).table
        metrics = _metrics(job.topology.name, table, served, stack)
        watch = Watch(
            job,
            request.record,
            start_session(job, asked),
            table=each.table,
            tolerance=each.tolerance,
            cut=each.cut,
            say=say,
        )
        return Watching(watch, each.report, metrics, out).follow(request.record, every_s)


def _metrics(query: str, table: str, served: tuple[str, int] | None, stack: ExitStack) -> Metrics | None:
    if served is None:
        return None
    host, port = served
    metrics = Metrics(query, table, port, host or LOOPBACK)
    stack.callback(metrics.close)
    say(f"metrics are on {metrics.address}")
    return metrics


class Watching:
    """Shows the rounds of a watch, keeps its report and metrics, and it itself among the reconciliations of OUZEL_HOME."""

    def __init__(
        self,
        watch: Watch,
        report: Path | None,
        metrics: Metrics | None,
        out: Console,
        wait: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watch, self._report, self._metrics, self._out, self._wait, self._now = (
            watch,
            report,
            metrics,
            out,
            wait,
            now,
        )
        self._rounds = self._failures = 0
        self._id = new_id()

    def follow(self, home: Path, every_s: float) -> Exit:
        """Compare every so many seconds, and once more when the run has ended; Ctrl-C ends the watch and leaves the run alone.

        Raises:
            OuzelError: the first round fails, or FAILURES_MAX in a row.
        """
        try:
            while True:
                due = self._now() + every_s
                look = self._look()
                self._show_lag(home)
                if look is not None:
                    self._show(look)
                    if look.over:
                        return self._end(Exit.ANSWERED)
                self._rest(home, due)
        except KeyboardInterrupt:
            return self._end(Exit.INTERRUPTED)

    def _look(self) -> Round | None:
        """One look; None if it failed after others that did not: the next one compares what it would have compared."""
        try:
            with self._out.status(Text("comparing", style="dim")) if may_draw(self._out) else ExitStack():
                look = self._watch.round()
        except OuzelError as error:
            self._failures += 1
            if self._rounds == 0:
                raise
            if self._failures == FAILURES_MAX:
                self._end(Exit.FAILED)
                raise
            self._out.print(Text.assemble(clock(), ("  could not be compared: ", "bold red"), str(error)))
            if self._metrics is not None:
                self._metrics.on_failure()
            return None
        self._failures = 0
        return look

    def _rest(self, home: Path, due: float) -> None:
        with (
            self._out.status(Text("waiting; Ctrl-C ends the watch", style="dim"))
            if may_draw(self._out)
            else ExitStack()
        ):
            while (left := due - self._now()) > 0 and is_live(home):
                self._wait(min(left, LOOK_SECONDS))

    def _show_lag(self, home: Path) -> None:
        """What waits to be read; nothing once the run has ended."""
        if self._metrics is not None:
            try:
                backlogs = status(home).backlogs
            except TopologyError:
                backlogs = {}
            self._metrics.show_lag(backlogs)

    def _show(self, look: Round) -> None:
        self._rounds += 1
        if self._metrics is not None:
            self._metrics.add(look, self._watch)
        self._out.print(line(look, self._watch.by_windows))
        if look.found is not None:
            for problem in look.found.tampered:
                self._out.print(Text(f"{problem}.", style="red"))
            if look.found.unexplained:
                self._out.print(show_unexplained(look.found), Text(""))
            assert self._watch.total is not None
            save_report(
                self._watch.total, self._report, further=self._watch.by_windows and len(self._watch.total.rounds) > 1
            )
            keep_reconciliation(self._watch.total, self._id, is_live=not look.over, rounds=self._rounds)

    def _end(self, ended: Exit) -> Exit:
        total = self._watch.total
        if total is None:
            self._out.print(Text("nothing was compared", style="yellow"))
            return ended
        self._out.print(Text(""), summary(total))
        windows = f"{self._watch.windows:,} windows in " if self._watch.by_windows else ""
        self._out.print(Text(f"{windows}{self._rounds:,} rounds", style="dim"))
        return ended if total.explained else Exit.DIFFERENT


def clock() -> Text:
    """The time of day."""
    return Text(datetime.now().strftime("%H:%M:%S"), style="dim")


def line(look: Round, by_windows: bool) -> Text:
    """One round: when, how far windows had closed, how many were compared, and what became of them."""
    text = clock()
    if by_windows:
        upto = "to the end of the input" if look.closed_us is None else f"to {watermark_text(look.closed_us)}"
        text.append(f"  {upto:<23}", "cyan")
    if look.found is None:
        return text.append("  no window has closed", "dim")
    if by_windows:
        text.append(f"  {look.windows:>5,} window{' ' if look.windows == 1 else 's'}")
    text.append(f"  {look.found.matched:>9,} rows agree", "green")
    for kind, count in look.found.counts.items():
        text.append(f" · {kind.value} {count:,}", "yellow" if kind.explained else "bold red")
    return text.append(f"  {look.seconds:.1f} s", "dim")

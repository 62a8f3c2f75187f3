"""`ouzel reconcile`: runs the topology and the batch job, and prints where their answers differ, and why."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ouzel import session
from ouzel.cli.choices import Engine
from ouzel.cli.failure import Exit
from ouzel.cli.table import PIPE_WIDTH
from ouzel.cli.values import texts

if TYPE_CHECKING:
    from ouzel.reconcile import Reconciliation
    from ouzel.reconcile.reconciliation import Difference

SAMPLED = 5
"""Rows of each unexplained class that the summary shows."""


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    file: Path
    engine: Engine
    record: Path | None
    table: str
    tolerance: float
    report: Path | None
    master: str | None
    pairs: tuple[tuple[str, str], ...]


def reconcile_file(request: Request) -> Exit:
    """Reconcile a query's file; the exit code.

    Raises:
        OuzelError: it could not be run or compared.
    """
    from ouzel.batch.spark import start_spark
    from ouzel.reconcile import check, reconcile
    from ouzel.reconcile.recorder import record_in

    earlier = None if request.record is None else record_in(request.record)
    job = session.load(request.file, (*(earlier.settings if earlier else ()), *request.pairs))
    check(job, request.table, earlier.ranges if earlier else None)
    with _home(request) as home:
        if request.record is None:
            _run(job, request, home)
        _say("starting Spark")
        spark = start_spark(f"reconcile {job.topology.name}", request.master)
        found = reconcile(job, home, spark, table=request.table, tolerance=request.tolerance, say=_say)
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    Console(highlight=False, width=width).print(summary(found))
    if request.report is not None:
        from ouzel.reconcile.report import write_report

        _say(f"the report is {write_report(found, request.report)}")
    return Exit.ANSWERED if found.explained else Exit.DIFFERENT


@contextmanager
def _home(request: Request) -> Iterator[Path]:
    """Where the run's record is, or will be: beside the report if there is one."""
    if request.record is not None:
        yield request.record
    elif request.report is not None:
        yield request.report / "record"
    else:
        with tempfile.TemporaryDirectory(prefix="ouzel-record-") as directory:
            yield Path(directory)


def _run(job: session.Job, request: Request, home: Path) -> None:
    from ouzel.cli.run import told
    from ouzel.cli.status import Progress
    from ouzel.reconcile import record_run

    progress = Progress()
    _say(f"running {job.topology.name} as a topology on {request.engine.value}")
    status = record_run(job, request.engine.value, home, request.pairs)
    for line in told(status.events):
        _say(line, "yellow")
    _console().print(progress.totals(status, PIPE_WIDTH))


def _console() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def _say(text: str, style: str = "dim") -> None:
    _console().print(Text(text, style=style))


def summary(found: Reconciliation) -> RenderableType:
    """The terminal's report: the verdict, how many rows are of which class, and some of those that nothing explains."""
    parts: list[RenderableType] = [_verdict(found), Text(_totals(found), style="dim")]
    if found.counts:
        parts += [Text(""), _counts(found)]
    parts += [Text(note, style="yellow") for note in found.notes]
    for kind, rows in found.samples.items():
        if not kind.explained:
            parts += [Text(""), Text(f"{kind.value}: {kind.meaning}", style="bold"), _rows(found, rows[:SAMPLED])]
    return Group(*parts)


def _verdict(found: Reconciliation) -> Text:
    from ouzel.reconcile.report import verdict

    style = "bold red" if found.unexplained else "bold yellow" if found.differing else "bold green"
    return Text(verdict(found), style=style)


def _totals(found: Reconciliation) -> str:
    keys = f", by {', '.join(found.facts.keys)}" if found.facts.keys else ", as multisets"
    return f"stream {found.stream_rows:,} rows · batch {found.batch_rows:,} rows · matched {found.matched:,}{keys}"


def _counts(found: Reconciliation) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right")
    for kind, count in found.counts.items():
        style = "" if kind.explained else "red"
        table.add_row(Text(f"{count:,}", style=style), Text(kind.value, style=style), Text(kind.meaning, style="dim"))
    return table


def _rows(found: Reconciliation, rows: tuple[Difference, ...]) -> Table:
    """Each row once; a column that differs shows the stream's value, then the batch's."""
    from rich.box import SIMPLE_HEAD

    table = Table(box=SIMPLE_HEAD, header_style="bold cyan", pad_edge=False, show_edge=False)
    for field in found.facts.columns:
        table.add_column(Text(field.name), no_wrap=True, overflow="ellipsis")
    cells = [
        zip(
            *(texts([_cell(row, side, number) for row in rows], field.type) for side in ("stream", "batch")),
            strict=True,
        )
        for number, field in enumerate(found.facts.columns)
    ]
    for row, values in zip(rows, zip(*cells, strict=True), strict=True):
        pairs = zip(found.facts.columns.names, values, strict=True)
        table.add_row(*(_shown(ours, theirs, name in row.differing) for name, (ours, theirs) in pairs))
    return table


def _cell(row: Difference, side: str, number: int) -> object:
    values = row.stream if side == "stream" else row.batch
    return row.row[number] if values is None else values[number]


def _shown(ours: str | None, theirs: str | None, differs: bool) -> Text:
    if differs:
        return Text.assemble(
            (ours or "NULL", "bold red"), (" stream  ", "dim"), (theirs or "NULL", "bold"), (" batch", "dim")
        )
    return Text("NULL", style="dim italic") if ours is None else Text(ours)

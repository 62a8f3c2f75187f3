"""`ouzel run`: starts the topology, shows it, prints what it answers and how it ended."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ouzel import session
from ouzel.cli.answer import Answer, NoAnswer, answer
from ouzel.cli.choices import Engine, ResultFormat
from ouzel.cli.failure import Exit, say_error
from ouzel.cli.folders import Folders, spell_count
from ouzel.cli.follow import follow, interrupts
from ouzel.cli.output import StandardOutput
from ouzel.cli.screen import screen
from ouzel.cli.status import RunProgress
from ouzel.cli.table import PIPE_WIDTH
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.plan import Program, Sink, scans_in
from ouzel.errors import NotSupported
from ouzel.planner.settings import Settings
from ouzel.printable import printable
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import Handle, RunState, Status, describe_lost_state

if TYPE_CHECKING:
    from ouzel.savepoints import PlannedStart

MOST_EVENTS = 20
"""Beyond so many different ones, events are only counted."""

EXITS = {RunState.FINISHED: Exit.ANSWERED, RunState.STOPPED: Exit.INTERRUPTED}


def run_query(
    job: session.Job,
    engine: Engine,
    form: ResultFormat,
    record: Path | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    master: str | None = None,
    conf: Sequence[tuple[str, str]] = (),
    planned: PlannedStart | None = None,
) -> Exit:
    """Run it to its end and print the answer; the exit code. With `record` that directory keeps what a reconciliation needs.

    `master` and `conf` say where and how Spark runs it; `planned` how it goes on from a savepoint.

    Raises:
        OuzelError: it could not be started.
    """
    progress = RunProgress()
    folders = Folders(job, engine is Engine.HERON) if engine is not Engine.SPARK else None
    if folders:
        folders.say_what_is_there()
    start = partial(session.start, engine=engine.value, master=master, conf=conf)
    if planned is not None:
        job = planned.job
        start = partial(_start_planned, planned)
    with interrupts() as interrupted:
        out = StandardOutput(interrupted)
        if job.program.result is not None:
            out.check()
        handle = start(job) if record is None else _record(job, start, engine, record, pairs)
        rows = _answer(job.program, form, out)  # what this imports comes in while the processes start
        try:
            with screen(rows, title(job, engine), progress) as shown:
                status = follow(handle, rows, shown, interrupted)
        except KeyboardInterrupt:
            status, rows = handle.end(), NoAnswer()
        finally:
            handle.stop()
        return _end(status, rows, progress, job.settings, folders)


def _start_planned(planned: PlannedStart, job: session.Job) -> Handle:
    assert job is planned.job
    return planned.start()


def warn_of_state(job: session.Job) -> None:
    """Say on standard error what goes on as long as a table that never ends: state that grows, first rows that change.

    Raises:
        NotSupported: a result is to be in an order that nobody can ever know.
    """
    from ouzel.connectors import reads_of
    from ouzel.explain.state import warn_of_growth
    from ouzel.planner.endless import refuse_endless_order, say_first_rows_change

    refuse_endless_order(job.program)
    scans = [scan for part in job.topology.components for scan in scans_in(part.chain)]
    endless = frozenset(
        scan.table for scan in scans if not reads_of(scan.connector, scan.table).bounded(dict(scan.options))
    )
    for text in (*warn_of_growth(job.topology, endless), *say_first_rows_change(job.program)):
        warnings.warn(text, QueryWarning, stacklevel=2)


def warn_of_order(job: session.Job) -> None:
    """Say on standard error that a topology would refuse the ORDER BY of a result; a batch job of what is there may take it."""
    from ouzel.planner.endless import refuse_endless_order

    try:
        refuse_endless_order(job.program)
    except NotSupported as error:
        warnings.warn(str(error), QueryWarning, stacklevel=2)


def _record(
    job: session.Job,
    start: Callable[[session.Job], Handle],
    engine: Engine,
    home: Path,
    pairs: Sequence[tuple[str, str]],
) -> Handle:
    from ouzel.reconcile.recording.recorder import Recorder, recordable

    job = recordable(job, home, engine.value)
    return Recorder(start(job), job, engine.value, home, pairs)


def title(job: session.Job, engine: Engine) -> str:
    """What runs, in one line."""
    tasks, containers = len(job.topology.tasks()), len(job.packing.containers)
    delivery = job.settings.delivery.value
    match engine:
        case Engine.HERON:
            where = f"{delivery} · {spell_count(tasks, 'task')} in {spell_count(containers, 'container')}"
        case Engine.MEMORY:
            where = f"{delivery} · in one process"
        case Engine.SPARK:
            where = "Structured Streaming"
    return f"{job.topology.name} · {where}"


def result_of(program: Program) -> Sink | None:
    """The sink of the trailing SELECT, if there is one."""
    return program.result


def _answer(program: Program, form: ResultFormat, out: StandardOutput) -> Answer:
    sink = result_of(program)
    if sink is None:
        return NoAnswer()
    return answer(form, sink.columns or sink.input.schema, sink.input.retracts, out, sink.sorted_by)


def _end(status: Status, rows: Answer, progress: RunProgress, settings: Settings, folders: Folders | None) -> Exit:
    """Print the answer (of a stopped run, as it stands), then where rows were written and the summary of the run."""
    console = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)
    totals = progress.totals(status, console.width)
    if status.state is not RunState.FAILED:
        rows.finish()
    for line in describe_events(status.events):
        console.print(Text(line, style="yellow"))
    for line in folders.describe_written(status) if folders else ():
        console.print(Text(line))
    console.print(totals)
    if status.state is RunState.FAILED:
        say_error(status.reason or "the topology failed")
    elif describe_lost_state(status, settings):
        say_error("state was lost, so the answer may lack rows; --set state.lost=accept takes it as it is")
        return Exit.STATE_LOST
    return EXITS.get(status.state, Exit.FAILED)


def describe_events(events: Iterable[Event]) -> list[str]:
    """Events in words, equal ones once with their count."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in events:
        counts[event.kind, event.text] += event.count
    lines = [
        f"{kind}: {printable(text)}" + (f" ({count:,} in all)" if count > 1 else "")
        for (kind, text), count in counts.items()
    ]
    left = len(lines) - MOST_EVENTS
    return lines if left <= 0 else [*lines[:MOST_EVENTS], f"... and {left:,} more of this kind"]

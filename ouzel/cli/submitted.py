"""Commands on topologies that are submitted and stay."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli.asking import sample_rows, set_log_level
from ouzel.cli.choices import (
    AllowStateLoss,
    Debug,
    DeliveryOption,
    FromSavepoint,
    Parallelism,
    PartName,
    ResultFormat,
    Set,
    TopologyName,
    pairs,
)
from ouzel.cli.columns import print_columns
from ouzel.cli.failure import Exit, report_errors, say_error
from ouzel.cli.query import STDIN, Execute, is_sql, read_query
from ouzel.cli.savepoints import make_savepoint, refuse_without_from, submit_job_from
from ouzel.cli.updating import update_submitted
from ouzel.compiler.catalog import SecretWarning
from ouzel.errors import QueryError, SubmissionError
from ouzel.interrupts import interruptible

if TYPE_CHECKING:
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
    from ouzel.runtime.run import Status
    from ouzel.session import Job

PAUSE_S = 60.0
"""How long a pause may take to come to rest."""

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until it ends or Ctrl-C.")]


def _submit(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE.sql|PROGRAM.py",
            help="The query, - for standard input; or a program, which runs up to its first start.",
        ),
    ] = None,
    execute: Execute = [],  # noqa: B006
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", help="By which it is known.  [default: that of the file]", show_default=False
        ),
    ] = "",
    delivery: DeliveryOption = None,
    parallelism: Parallelism = None,
    origin: FromSavepoint = None,
    allow_state_loss: AllowStateLoss = False,
    settings: Set = [],  # noqa: B006
    debug: Debug = False,
) -> None:
    """Start a topology that stays when this terminal is gone.

    It is nobody's child: it runs on when the shell and the user are gone, too.
    `ouzel start` brings it back when its processes are gone. What it needs is kept in OUZEL_HOME, by default ~/.ouzel.
    """
    with report_errors(debug), interruptible():
        refuse_without_from(origin, allow_state_loss)
        given = pairs(settings, "--set")
        given += [("delivery", delivery.value)] if delivery else []
        given += [("parallelism", str(parallelism))] if parallelism else []
        from ouzel.runtime.warm import prepare

        prepare()
        if file is not None and file.suffix == ".py":
            if given or execute:
                raise typer.BadParameter(
                    "a program says its settings itself; leave out --set, --delivery, --parallelism and -e",
                    param_hint=str(file),
                )
            from ouzel.submitting import load_program_job, name_for

            job = load_program_job(file)
            say_submitted(submit_job_from(job, name or name_for(file.stem), origin, allow_state_loss))
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecretWarning)  # such a query is refused
            job = read_query(file, execute).load(given)
        submit_query(job, name, origin, allow_state_loss)


def submit_query(job: Job, name: str = "", origin: str | None = None, allow_state_loss: bool = False) -> None:
    """Submit a query under a name, or under its own, and say so; it goes on from a savepoint if there is an origin."""
    from ouzel.cli.run import warn_of_state
    from ouzel.submitting import name_for

    if job.program.reconciles:
        raise QueryError("a submitted topology does nothing at its end, so RECONCILE", instead="use `ouzel run`")
    warn_of_state(job)
    if name and not job.settings.query_name:  # sources that keep offsets keep them by it: no two topologies share them
        job = replace(job, topology=replace(job.topology, name=name))
    say_submitted(submit_job_from(job, name or name_for(job.topology.name), origin, allow_state_loss))


def say_submitted(handle: AttachedHandle) -> None:
    """Say that it is there, and what to write now."""
    handle.let_go()
    typer.echo(f"submitted '{handle.name}'")
    typer.echo(f"`ouzel status {handle.name}` shows how it is doing, `ouzel kill {handle.name}` removes it", err=True)
    say_page(handle.name)


def say_page(name: str) -> None:
    """Say where its page is, if any `ouzel ui` runs."""
    from ouzel.tracker.presence import find_page

    if page := find_page(_registry().home, name):
        typer.echo(f"its page is {page}", err=True)


def _list_all(debug: Debug = False) -> None:
    """Show all submitted topologies, and how each stands."""
    with report_errors(debug):
        from ouzel.cli.status import watermark_text
        from ouzel.runtime.cluster.submitted.verbs import list_submitted

        registry = _registry()
        rows = [
            (record.name, condition.value, watermark_text(record.since_us), str(record.starts))
            for record, condition in list_submitted(registry)
        ]
        print_columns(("NAME", "STATE", "SINCE (UTC)", "STARTS"), rows)
        if not rows:
            typer.echo("no topology has been submitted; `ouzel submit FILE.sql` starts one", err=True)
        if damaged := registry.find_damaged():
            raise SubmissionError("\n".join(damaged.values()))


def _status(name: TopologyName, debug: Debug = False) -> None:
    """Show how a submitted topology stands.

    That is its rows, its event time, what it waits for, and what has happened to it.
    """
    with report_errors(debug):
        from ouzel.cli.run import describe_events

        registry = _registry()
        record, condition = _look_up("status", registry, name)
        found, lines = _find_standing(registry, record, condition)
        typer.echo("\n".join([*lines, *_describe_epoch(registry, record), *_describe_asks(registry, record)]))
        for line in [*_describe_health(registry, record, found), *describe_events(found.events if found else ())]:
            typer.echo(line)


def _describe_epoch(registry: Registry, record: Submitted) -> list[str]:
    """The newest complete epoch, and which task was the slowest in it; nothing if there is none."""
    from ouzel.cli.status import watermark_text
    from ouzel.printable import printable
    from ouzel.tracker.topologies.epochs import list_recorded_epochs

    lines = []
    for one in list_recorded_epochs(registry, record, most=1):
        slowest = f"; slowest {one.slowest}: {one.took}" if one.took else ""
        lines.append(printable(f"epoch {one.number}, made {watermark_text(one.made_us)} UTC{slowest}"))
    return lines


def _describe_asks(registry: Registry, record: Submitted) -> list[str]:
    """What is asked of its tasks for some minutes, a line each."""
    from ouzel.printable import printable
    from ouzel.runtime.cluster.submitted.asking import ToldFiles
    from ouzel.tracker.topologies.asked import describe_asks, describe_unreadable

    if not registry.is_alive(record.name):
        return []
    told = ToldFiles(registry.folder(record.name).load(record.run))
    return [printable(line) for line in [*describe_asks(told, time.time()), *describe_unreadable(told)]]


def _describe_health(registry: Registry, record: Submitted, found: Status | None) -> list[str]:
    """What is the matter with it, a line each, the evidence below, and what was done about it by itself."""
    from ouzel.printable import printable
    from ouzel.tracker.health.checkup import check_submitted
    from ouzel.tracker.health.telling import describe_log

    lines: list[str] = []
    for each in check_submitted(registry, record, found, time.time()):
        lines += [f"{each.title}: {each.advice}", *(f"  {one.text}" for one in each.evidence)]
    return [printable(line) for line in (*lines, *describe_log(registry, record))]


def is_submitted(file: Path) -> bool:
    """Whether what stands in the place of a file is the name of a submitted topology: no file is there, and it looks like none."""
    return file != STDIN and not (file.suffix or is_sql(str(file))) and file.name == str(file) and not file.exists()


def explain_submitted(name: str) -> str:
    """The plan of a submitted topology, and how it stands."""
    registry = _registry()
    record, condition = _look_up("explain", registry, name)
    _, lines = _find_standing(registry, record, condition)
    return "\n".join([registry.folder(name).about().explanation, "", *lines])


def _find_standing(registry: Registry, record: Submitted, condition: Condition) -> tuple[Status | None, list[str]]:
    from ouzel.cli.status import live_text, watermark_text
    from ouzel.runtime.cluster.submitted.verbs import find_status
    from ouzel.runtime.protocol.cluster.submitted import Condition

    found = find_status(registry, record)
    starts = f"{record.starts:,} start{'' if record.starts == 1 else 's'}"
    since = ", last seen" if condition is Condition.INTERRUPTED else " since"
    stands = f"{record.name} · {condition.value}{since} {watermark_text(record.since_us)} UTC · {starts}"
    lines = [stands, f"files: {registry.folder(record.name).run(record.run)}"]
    if record.reason:
        lines.append(f"reason: {record.reason}")
    return found, [*lines, *([live_text(found, time.time())] if found else [])]


def _logs(name: TopologyName, of: PartName = "", follow: Follow = False, debug: Debug = False) -> None:
    """Show the logs of a submitted topology, or of a part of it."""
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.verbs import find_logs

        registry = _registry()
        record, _ = _look_up("logs", registry, name)
        shown: dict[Path, int] = {}
        try:
            while True:
                is_over = not (follow and registry.is_alive(name))
                for title, path in find_logs(registry, record, of):
                    _show_new(title, path, shown)
                if is_over:
                    return
                time.sleep(LOOK_S)
        except KeyboardInterrupt:
            raise typer.Exit(Exit.INTERRUPTED) from None


LOOK_S = 0.2
"""How often what is followed is looked at."""


def _show_new(title: str, path: Path, shown: dict[Path, int]) -> None:
    """Print what has come to a log file since the last time, whole lines only while it grows."""
    try:
        with path.open("rb") as file:
            file.seek(shown.get(path, 0))
            text = file.read()
    except FileNotFoundError:
        return
    whole = text[: text.rfind(b"\n") + 1]
    shown[path] = shown.get(path, 0) + len(whole)
    for line in whole.decode(errors="replace").splitlines():
        typer.echo(f"{title}: {line}")


def _results(
    name: TopologyName,
    follow: Follow = False,
    form: Annotated[ResultFormat, typer.Option("--format", help="How they are printed.")] = ResultFormat.TABLE,
    debug: Debug = False,
) -> None:
    """Print what a submitted topology has answered so far.

    It is the result of its trailing SELECT, printed as `ouzel run` does.
    Of a result that only grows the latest rows are kept, up to 1 GiB a task; of one that takes rows back the whole table.
    """
    with report_errors(debug):
        from ouzel.cli.answer import answer
        from ouzel.cli.output import StandardOutput
        from ouzel.runtime.process.kept_results import KeptResults, gather

        registry = _registry()
        record, _ = _look_up("results", registry, name)
        shape = registry.folder(name).about().shape
        if shape is None:
            raise SubmissionError(f"topology '{name}' writes into tables and has no result; read it there")
        if follow:
            raise typer.Exit(_follow_results(registry, record, form))
        rows = answer(form, shape.schema, shape.retracts, StandardOutput(), shape.sorted_by, shape.zone)
        for frame in gather(KeptResults(registry.folder(name).results, shape.schema.names).read()):
            rows.add(frame)
        rows.finish()


def _follow_results(registry: Registry, record: Submitted, form: ResultFormat) -> Exit:
    """Print them as they come; Ctrl-C ends that, and the topology runs on."""
    from ouzel.cli.answer import answer
    from ouzel.cli.follow import WAIT_SECONDS, interrupts
    from ouzel.cli.output import StandardOutput
    from ouzel.cli.screen import screen
    from ouzel.cli.status import RunProgress
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle

    shape = registry.folder(record.name).about().shape
    assert shape is not None
    handle = AttachedHandle(registry, record)
    with interruptible(), interrupts() as interrupted, handle:
        out = StandardOutput(interrupted)
        rows = answer(form, shape.schema, shape.retracts, out, shape.sorted_by, shape.zone, endless=True)
        ended = False
        with screen(rows, record.name, RunProgress()) as shown:
            while not (ended or interrupted()):
                ended = handle.wait_for_results(WAIT_SECONDS)
                for frame in handle.results():
                    rows.add(frame)
                shown.show(handle.status())
        rows.finish()
    if ended and handle.status().reason:
        say_error(handle.status().reason)
        return Exit.FAILED
    return Exit.ANSWERED if ended else Exit.INTERRUPTED


def _pause(name: TopologyName, debug: Debug = False) -> None:
    """Bring a submitted topology to rest.

    Sources stop reading, and what is on its way is handled. Windows stay open.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.verbs import pause_topology

        pause_topology(_registry(), name, PAUSE_S)


def _resume(name: TopologyName, debug: Debug = False) -> None:
    """Have a paused topology go on."""
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.verbs import resume_topology

        resume_topology(_registry(), name)


def _restart(name: TopologyName, of: PartName = "", debug: Debug = False) -> None:
    """Start a submitted topology, or a part of it, again.

    It ends at once. A part that keeps state is refused, for that would be lost.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.verbs import restart_topology

        restart_topology(_registry(), name, of)


def _stop(
    name: TopologyName,
    savepoint: Annotated[
        str | None,
        typer.Option(
            "--savepoint",
            metavar="DIR",
            help="Copy its last epoch there, or to s3://bucket/prefix, with all that --from of `run` and `submit` needs.",
            show_default=False,
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Stop a submitted topology cleanly.

    What is on its way is handled first. `ouzel start` starts it again.
    With --savepoint it may be stopped already.
    """
    with report_errors(debug):
        if savepoint is not None:
            make_savepoint(name, savepoint)
            return
        from ouzel.runtime.cluster.submitted.verbs import stop_topology

        stop_topology(_registry(), name)
        typer.echo(f"stopped '{name}'; `ouzel start {name}` starts it again", err=True)


def _kill(name: TopologyName, debug: Debug = False) -> None:
    """End a submitted topology at once, and remove it.

    Its results and logs go with it. Tables that it wrote stay.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.verbs import kill_topology

        kill_topology(_registry(), name)
        typer.echo(f"killed '{name}': its results and logs are gone, tables that it wrote stay", err=True)


def _start(
    name: Annotated[str, typer.Argument(metavar="NAME", help="By which it was submitted.", show_default=False)] = "",
    every: Annotated[
        bool, typer.Option("--all", help="All that were running when their processes went: after a reboot, say.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Start a submitted topology again.

    It was stopped, has failed, or its processes are gone.
    It goes on from its last epoch, with the same query; `ouzel update` puts another one there.
    One that keeps nothing goes on where it was. Only one that keeps state without epochs begins a new run: its sources read from their
    committed offsets, or from the beginning if they keep none.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.verbs import start_all, start_topology

        if every == bool(name):
            raise typer.BadParameter("write either a name or --all", param_hint="NAME")
        registry = _registry()
        if name:
            start_topology(registry, name)
            say_page(name)
            return
        failed = False
        for started, problem in start_all(registry):
            failed |= bool(problem)
            say_error(f"{started}: {problem}") if problem else typer.echo(f"started '{started}'")
        raise typer.Exit(Exit.FAILED if failed else Exit.ANSWERED)


def _registry() -> Registry:
    from ouzel.runtime.cluster.submitted.registry import Registry

    return Registry()


def _look_up(verb: str, registry: Registry, name: str) -> tuple[Submitted, Condition]:
    from ouzel.runtime.protocol.cluster.submitted import Verb

    return registry.look_up(Verb(verb), name)


COMMANDS: dict[str, Callable[..., None]] = {
    "submit": _submit,
    "list": _list_all,
    "status": _status,
    "logs": _logs,
    "results": _results,
    "pause": _pause,
    "resume": _resume,
    "restart": _restart,
    "stop": _stop,
    "kill": _kill,
    "start": _start,
    "update": update_submitted,
    "log-level": set_log_level,
    "sample": sample_rows,
}
"""By name, in the order in which `ouzel --help` shows them."""

"""`ouzel`: run a query, explain it, reconcile it with its batch job."""

from __future__ import annotations

import gc
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli.alerts import alerts
from ouzel.cli.batch import batch
from ouzel.cli.checkpoints import checkpoint
from ouzel.cli.choices import (
    AllowStateLoss,
    Conf,
    Debug,
    DeliveryOption,
    Engine,
    FromSavepoint,
    Master,
    NoOutput,
    Parallelism,
    ResultFormat,
    Set,
    pairs,
)
from ouzel.cli.failure import report_errors
from ouzel.cli.health import health
from ouzel.cli.metrics import metrics
from ouzel.cli.query import Execute, QueryArgument, read_query
from ouzel.cli.reconcile import reconcile
from ouzel.cli.resources import Against, LagGoal, RateOption, ResourceOptions, SampleOption, explain_resources
from ouzel.cli.savepoints import plan_from, refuse_without_from
from ouzel.cli.submitted import COMMANDS, explain_submitted, is_submitted, submit_query
from ouzel.cli.top import top
from ouzel.cli.ui import ui
from ouzel.cli.wording import Commands
from ouzel.descriptors import open_standard_streams
from ouzel.interrupts import end_at_once, interruptible
from ouzel.planner.settings import Delivery

if TYPE_CHECKING:
    from ouzel.session import Job

PLAIN_WIDTH = 120
"""Width of an explanation that goes elsewhere than to a terminal."""

OBJECTS_PER_COLLECTION = 100_000
"""Modules are objects that stay: what a command imports would else be searched for garbage some five hundred times."""

app = typer.Typer(
    name="ouzel",
    cls=Commands,
    help="One question, in SQL or Python, as a topology that runs for ever.",
    epilog="Exit codes: 0 answered; 1 the topology failed; 2 the query or the command is wrong; 3 stream and batch differ; "
    "4 answered, but state was lost; 130 stopped by Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

EngineOption = Annotated[
    Engine,
    typer.Option(
        help="heron: real processes. memory: one process, the simulator without faults. spark: Structured Streaming."
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", file_okay=False, help="Keep what `ouzel reconcile --record DIR` needs of this run."),
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ouzel {version('ouzel')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """One question, in SQL or Python, as a topology that runs for ever."""


@app.command()
def run(
    file: QueryArgument = None,
    execute: Execute = [],  # noqa: B006 (typer's way to say that there may be none)
    engine: EngineOption = Engine.HERON,
    delivery: DeliveryOption = None,
    parallelism: Parallelism = None,
    form: Annotated[
        ResultFormat, typer.Option("--format", help="How the result of a trailing SELECT is printed on stdout.")
    ] = ResultFormat.TABLE,
    record: RecordOption = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Submit it under its own name, as `ouzel submit` does.")
    ] = False,
    origin: FromSavepoint = None,
    allow_state_loss: AllowStateLoss = False,
    settings: Set = [],  # noqa: B006
    master: Master = None,
    conf: Conf = [],  # noqa: B006
    output: NoOutput = None,
    debug: Debug = False,
) -> None:
    """Run a query until its input ends, or until Ctrl-C.

    The result of a trailing SELECT goes to stdout, everything else to stderr. On a terminal the result is a live table.
    What RECONCILE statements ask for is done when the run is over.
    """
    with report_errors(debug):
        given = _settings(settings, delivery, parallelism)
        spark_settings = pairs(conf, "--conf")
        _refuse_mixed(engine, "--master" if master else "--conf" if conf else "", detach, record, origin)
        refuse_without_from(origin, allow_state_loss)
        query = read_query(file, execute)
        if engine is Engine.HERON:
            _prepare()
        job = query.load(given, may_only_tell=True)
        if _only_tells(job, form):
            return
        if detach:
            with interruptible():
                submit_query(job, origin=origin, allow_state_loss=allow_state_loss)
            return
        if job.program.reconciles and not origin:
            from ouzel.cli.comparing import Request, run_and_reconcile

            request = Request(query, engine, record, pairs=tuple(given))
            with interruptible():
                raise typer.Exit(run_and_reconcile(job, request, form))
        from ouzel.cli.run import run_query, warn_of_state

        warn_of_state(job)
        with interruptible():
            planned = plan_from(job, origin, allow_state_loss) if origin else None
            raise typer.Exit(run_query(job, engine, form, record, given, master, spark_settings, planned))


@app.command()
def explain(
    file: QueryArgument = None,
    execute: Execute = [],  # noqa: B006
    logical: Annotated[bool, typer.Option("--logical", help="Only the logical plan.")] = False,
    topology: Annotated[bool, typer.Option("--topology", help="Only the components and groupings.")] = False,
    packing: Annotated[bool, typer.Option("--packing", help="Only the containers.")] = False,
    engine: Annotated[
        Engine | None,
        typer.Option("--engine", help="Of spark: what a stream there is, and which nodes are Spark's own."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    live: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="How far the run of `ouzel run --record DIR` is, and what it waits for.",
        ),
    ] = None,
    resources: Annotated[
        bool, typer.Option("--resources", help="What it would need: a sample of it runs, or NAME is measured.")
    ] = False,
    sample: SampleOption = "",
    rate: RateOption = None,
    lag_goal: LagGoal = "",
    against: Against = None,
    settings: Set = [],  # noqa: B006
    debug: Debug = False,
) -> None:
    """Show what a query becomes; nothing runs, but with --resources a sample. With --live, why a run of it that goes on has no output yet.

    The name of a submitted topology in place of a file shows what that became, and how it stands.

    That is its logical plan, its topology of components, and the containers they run in.
    For each operator: the schema, whether it appends or retracts, its watermark, the bound of its state, its parallelism and grouping.
    """
    from ouzel.cli.run import warn_of_order

    with report_errors(debug):
        if live is not None:
            typer.echo(_standing(live))
            return
        wanted_resources = ResourceOptions(sample, rate, lag_goal, against)
        if resources:
            load = partial(_load, file, execute, settings)
            explain_resources(file, load, wanted_resources, as_json=as_json)
            return
        wanted_resources.refuse_without_resources()
        if file is not None and is_submitted(file):
            typer.echo(explain_submitted(str(file)))
            return
        job = _load(file, execute, settings)
        warn_of_order(job)
        chosen = {"logical": logical, "topology": topology, "packing": packing, "streaming": engine is Engine.SPARK}
        details = tuple(name for name, wanted in chosen.items() if wanted) or job.program.explain or ()
        typer.echo(_explanation_json(job, details) if as_json else _explanation(job, details))


def _load(file: Path | None, execute: list[str], settings: list[str]) -> Job:
    return read_query(file, execute).load(pairs(settings, "--set"))


app.command()(reconcile)
app.command()(batch)
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
app.command()(top)
app.command()(alerts)
app.command()(health)
app.command()(ui)
app.add_typer(checkpoint)
app.add_typer(metrics)


def _refuse_mixed(engine: Engine, for_spark: str, detach: bool, record: Path | None, origin: str | None) -> None:
    if engine is not Engine.SPARK and for_spark:
        raise typer.BadParameter("it is for Spark; write --engine spark", param_hint=for_spark)
    if detach and (engine is not Engine.HERON or record):
        raise typer.BadParameter("it is for --engine heron, and without --record", param_hint="--detach")
    if origin and (engine is not Engine.HERON or record):
        raise typer.BadParameter("it is for --engine heron, and without --record", param_hint="--from")


def _settings(settings: list[str], delivery: Delivery | None, parallelism: int | None) -> list[tuple[str, str]]:
    given = pairs(settings, "--set")
    if delivery is not None:
        given.append(("delivery", delivery.value))
    if parallelism is not None:
        given.append(("parallelism", str(parallelism)))
    return given


def _prepare() -> None:
    """Let the warm server, which the topology's processes fork from, import what it needs while the query is compiled."""
    from ouzel.runtime.warm import prepare

    prepare()


def _only_tells(job: Job, form: ResultFormat) -> bool:
    """Print what DESCRIBE, SHOW and EXPLAIN ask for; whether the query asks for nothing else."""
    from ouzel.cli.listing import print_before

    if print_before(job.program, form):
        return True
    if job.program.explain is not None:
        typer.echo(_explanation(job, job.program.explain))
    return job.program.explain is not None


def _standing(record: Path) -> str:
    from ouzel.cli.status import live_text
    from ouzel.reconcile.recording.live import status

    return live_text(status(record), time.time())


def _explanation(job: Job, details: tuple[str, ...]) -> str:
    from rich.console import Console

    from ouzel.explain import explain
    from ouzel.runtime.process.usage import count_cores

    console = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    colour = console.color_system is not None
    return explain(job.program, job.topology, job.packing, details, console.width, colour, count_cores()).rstrip()


def _explanation_json(job: Job, details: tuple[str, ...]) -> str:
    from ouzel.explain import explain_json

    return json.dumps(explain_json(job.program, job.topology, job.packing, details), indent=2)


def main() -> None:
    """The commands, with the arguments of this process."""
    end_at_once()
    open_standard_streams()
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    app()

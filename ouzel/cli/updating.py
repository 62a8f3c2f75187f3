"""`ouzel update`: another query, or other numbers of tasks, for a submitted topology."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ouzel.cli.choices import AllowStateLoss, Debug, Set, TopologyName, pairs
from ouzel.cli.failure import report_errors
from ouzel.cli.query import read_query
from ouzel.compiler.catalog import SecretWarning
from ouzel.errors import SubmissionError

TrustFunctions = Annotated[
    bool,
    typer.Option(
        "--trust-functions",
        help="Keep the state behind functions of yours that have other code: of all rows so far they give what they gave.",
    ),
]


def update_submitted(
    name: TopologyName,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.sql|PROGRAM.py", help="The query that takes its place.", show_default=False),
    ] = None,
    parallelism: Annotated[
        list[str],
        typer.Option(
            "--parallelism",
            metavar="COMPONENT=N",
            help="Without FILE: how many tasks a component has from now on; may be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve what becomes of the topology.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would become of it.")] = False,
    allow_state_loss: AllowStateLoss = False,
    settings: Set = [],  # noqa: B006
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="Fill what cannot be kept from all that the tables have given so far.")
    ] = False,
    trust_functions: TrustFunctions = False,
    debug: Debug = False,
) -> None:
    """Change a submitted topology while it keeps its state.

    It stops with a last epoch, and starts from that with another query, or other numbers of tasks.
    One that was stopped, has failed or was interrupted starts from its newest epoch.
    What becomes of each operator's state is printed, and waits to be approved. What cannot be changed is refused before it stops.
    """
    with report_errors(debug):
        from ouzel.runtime.warm import prepare

        if bool(file) == bool(parallelism):
            raise typer.BadParameter("write either FILE.sql or --parallelism COMPONENT=N", param_hint="NAME")
        prepare()
        if file is not None:
            approval = Approval(yes, dry_run, allow_state_loss, bootstrap, trust_functions)
            _update_query(name, file, pairs(settings, "--set"), approval)
            return
        for given, option in ((bootstrap, "--bootstrap"), (trust_functions, "--trust-functions")):
            if given:
                raise typer.BadParameter("other numbers of tasks keep all state; leave it out", param_hint=option)
        wanted = {component: _number_of_tasks(tasks) for component, tasks in pairs(parallelism, "--parallelism")}
        from ouzel.submitting import update_parallelism

        changed = update_parallelism(name, wanted).items()
        told = ", ".join(
            f"{component} has {_spell_tasks(now)} now, and had {had:,}" for component, (had, now) in changed
        )
        typer.echo(f"updated '{name}': {told}")


class Approval(NamedTuple):
    """What the options of an update say of what becomes of the topology."""

    yes: bool
    dry_run: bool
    allow_state_loss: bool
    bootstrap: bool = False
    trust_functions: bool = False


def _update_query(name: str, file: Path, given: Sequence[tuple[str, str]], approval: Approval) -> None:
    from ouzel.submitting import load_program_job, plan_update

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecretWarning)  # such a query is refused
        job = load_program_job(file) if file.suffix == ".py" else read_query(file, ()).load(given)
    update = plan_update(job, name, bootstrap=approval.bootstrap, trust_functions=approval.trust_functions)
    typer.echo(update.text)
    if approval.dry_run:
        return
    if update.evolution.losses and not approval.allow_state_loss:
        update.carry_out()  # which is refused
    if not (approval.yes or _is_approved(name)):
        raise SubmissionError(f"topology '{name}' is not updated, and is as it was")
    update.carry_out(allow_state_loss=approval.allow_state_loss)
    typer.echo(f"updated '{name}'")


def _is_approved(name: str) -> bool:
    """Whether whoever sits at the terminal approves.

    Raises:
        SubmissionError: nobody does.
    """
    if not sys.stdin.isatty():
        raise SubmissionError(
            f"topology '{name}' is not updated, for nobody has approved what becomes of it; add --yes to do that"
        )
    return typer.confirm(f"Update '{name}'?", err=True)


def _spell_tasks(number: int) -> str:
    return "1 task" if number == 1 else f"{number:,} tasks"


def _number_of_tasks(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(f"'{text}' is no number of tasks; write COMPONENT=N", param_hint="--parallelism")
    return int(text)

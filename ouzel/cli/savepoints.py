"""What commands do with savepoints: make one, and go on from one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ouzel.errors import QueryError

if TYPE_CHECKING:
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.savepoints import PlannedStart
    from ouzel.session import Job


def make_savepoint(name: str, place: str) -> None:
    """Stop a topology, make a savepoint of it, and say so."""
    from ouzel.runtime.checkpoints.objects import parse_store_place
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.cluster.submitted.saving import stop_with_savepoint

    made = stop_with_savepoint(Registry(), name, parse_store_place(place))
    files, size = made.size
    typer.echo(f"stopped '{name}', savepoint of epoch {made.note.epoch} in {place}: {files:,} files, {size:,} bytes")


def submit_job_from(job: Job, name: str, origin: str | None, allow_state_loss: bool) -> AttachedHandle:
    """Submit a job under a name; it goes on from a savepoint if there is an origin.

    Raises:
        OuzelError: it cannot be submitted, or cannot go on from there.
    """
    from ouzel.submitting import submit_job

    return submit_job(job, name) if origin is None else plan_from(job, origin, allow_state_loss).submit(name)


def plan_from(job: Job, origin: str, allow_state_loss: bool) -> PlannedStart:
    """See what becomes of a savepoint when a query goes on from it, and say so.

    Raises:
        SubmissionError: the query cannot go on from it, or state would be lost and that is not allowed.
        OuzelError: the savepoint cannot be used.
    """
    from ouzel.runtime.checkpoints.objects import parse_store_place
    from ouzel.savepoints import plan_start

    if job.program.reconciles:
        raise QueryError(
            "what goes on from a savepoint has no record to RECONCILE", instead="leave out --from, or RECONCILE"
        )
    planned = plan_start(job, parse_store_place(origin))
    typer.echo(planned.text, err=True)
    if not allow_state_loss:
        planned.check_losses()
    return planned


def refuse_without_from(origin: str | None, allow_state_loss: bool) -> None:
    """Refuse an option that says nothing without another.

    Raises:
        typer.BadParameter: it is given alone.
    """
    if allow_state_loss and not origin:
        raise typer.BadParameter(
            "only what goes on from a savepoint has state; write --from DIR", param_hint="--allow-state-loss"
        )

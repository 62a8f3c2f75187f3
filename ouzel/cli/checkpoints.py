"""Commands on checkpoints: of a submitted topology, or of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli.choices import Debug
from ouzel.cli.columns import print_columns
from ouzel.cli.failure import Exit, report_errors, say_error
from ouzel.errors import StateError, SubmissionError
from ouzel.printable import printable

if TYPE_CHECKING:
    from ouzel.runtime.checkpoints.manifest import Manifest, TaskFile
    from ouzel.runtime.checkpoints.store import CheckpointStore

checkpoint = typer.Typer(
    name="checkpoint", help="Show, check, copy and remove checkpoints of a topology.", no_args_is_help=True
)

StorePlace = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FOLDER", help="A submitted topology, or a folder that holds checkpoints, or s3://bucket/prefix."
    ),
]
EpochNumber = Annotated[
    int | None, typer.Argument(metavar="EPOCH", min=1, help="Its number, as `list` shows it.", show_default=False)
]


@checkpoint.command("list")
def _list_epochs(place: StorePlace, debug: Debug = False) -> None:
    """Show the complete epochs, oldest first.

    BYTES is what is read to restore it; WRITTEN is what it has added to the epochs before. SLOWEST is the task whose part came last:
    how long it took to come to rest (aligned), to copy its state, and to write it.
    """
    with report_errors(debug):
        store = _find_store(place)
        rows, problems = [], []
        for epoch in store.epochs():
            try:
                manifest = store.manifest(epoch)
                problem = store.find_missing(manifest)
            except StateError as error:
                rows.append((str(epoch), "damaged", *[""] * 6))
                problem = str(error)
            else:
                rows.append(_row(manifest, "damaged" if problem else "complete"))
            problems += [f"epoch {epoch}: {problem}"] if problem else []
        print_columns(("EPOCH", "STATE", "MADE (UTC)", "TASKS", "FILES", "BYTES", "WRITTEN", "SLOWEST"), rows)
        for problem in problems:
            typer.echo(problem, err=True)


def _row(manifest: Manifest, state: str) -> tuple[str, ...]:
    from ouzel.cli.status import watermark_text
    from ouzel.runtime.checkpoints.names import epoch_of_task_file

    files = manifest.files
    own = [file.size for file in files if epoch_of_task_file(file.name) == manifest.epoch]
    figures = (len(manifest.tasks), len(files), sum(file.size for file in files), sum(own))
    slowest = manifest.find_slowest()
    told = f"{printable(str(slowest[0]))}: {slowest[1]}" if slowest else ""
    return (str(manifest.epoch), state, watermark_text(manifest.made_us), *(f"{figure:,}" for figure in figures), told)


@checkpoint.command("verify")
def _verify(place: StorePlace, epoch: EpochNumber = None, debug: Debug = False) -> None:
    """Read every byte of an epoch, or of all, and say what is wrong.

    Exit code 1 if anything is.
    """
    with report_errors(debug):
        store = _find_store(place)
        failed = False
        for number in _choose(store, epoch):
            beside, harmed = _look_beside(store)
            problems = [*store.verify(number), *harmed]
            for problem in problems:
                say_error(f"epoch {number}: {problem}")
            if not problems:
                told = _all_as_written(store.manifest(number).files)
                typer.echo(f"epoch {number}: {told}" + (f"; beside it {_all_as_written(beside)}" if beside else ""))
            failed |= bool(problems)
        raise typer.Exit(Exit.FAILED if failed else Exit.ANSWERED)


def _all_as_written(files: Sequence[TaskFile]) -> str:
    return f"{len(files):,} files, {sum(file.size for file in files):,} bytes, all as written"


def _look_beside(store: CheckpointStore) -> tuple[Sequence[TaskFile], list[str]]:
    """The files that a savepoint has besides its epoch, and what is wrong with them."""
    from ouzel.runtime.checkpoints.savepoint import Savepoint, is_savepoint

    if not is_savepoint(store):
        return (), []
    try:
        savepoint = Savepoint(store.folder)
        return savepoint.note.files, list(savepoint.verify_files())
    except StateError as error:
        return (), [str(error)]


@checkpoint.command("fork")
def _fork(
    place: StorePlace,
    to: Annotated[
        str,
        typer.Option("--to", metavar="FOLDER", help="The new folder, which must not be there, or s3://bucket/prefix."),
    ],
    epoch: EpochNumber = None,
    debug: Debug = False,
) -> None:
    """Copy an epoch into a new folder, by default the newest that can be used.

    The new folder belongs to no topology until one starts from it. Files are shared where both folders are on one disk.
    """
    with report_errors(debug):
        from ouzel.runtime.checkpoints.fork import fork_epoch
        from ouzel.runtime.checkpoints.objects import parse_store_place

        store = _find_store(place)
        if epoch is None:
            newest, problems = store.newest()
            for problem in problems:
                typer.echo(problem, err=True)
            if newest is None:
                raise StateError(f"{store.folder} holds no epoch that can be used")
            epoch = newest.epoch
        (epoch,) = _choose(store, epoch)
        fork_epoch(store, epoch, parse_store_place(to))
        typer.echo(f"copied epoch {epoch} into {to}")


@checkpoint.command("prune")
def _prune(
    place: StorePlace,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="How many of the newest epochs stay.")],
    debug: Debug = False,
) -> None:
    """Remove all but the newest epochs, and the files that only those needed.

    What a kept epoch needs stays, and what is being written. The topology may run meanwhile.
    """
    with report_errors(debug):
        from ouzel.runtime.checkpoints.names import EPOCHS

        removed = _find_store(place).prune(keep)
        epochs = [name for name in removed if name.startswith(f"{EPOCHS}/")]
        typer.echo(f"removed {_count(len(epochs), 'epoch')} and {_count(len(removed) - len(epochs), 'file')}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _choose(store: CheckpointStore, epoch: int | None) -> list[int]:
    epochs = store.epochs()
    if epoch is not None and epoch not in epochs:
        raise SubmissionError(
            f"{store.folder} holds no epoch {epoch}; `ouzel checkpoint list` shows all that there are"
        )
    if not epochs:
        raise SubmissionError(f"{store.folder} holds no complete epoch")
    return epochs if epoch is None else [epoch]


def _find_store(place: str) -> CheckpointStore:
    from ouzel.runtime.checkpoints.objects import parse_store_place
    from ouzel.runtime.checkpoints.store import CheckpointStore
    from ouzel.runtime.cluster.submitted.registry import Registry

    store = CheckpointStore(parse_store_place(place))
    if store.is_there:
        return store
    if "/" in place:
        raise SubmissionError(f"{place} holds no checkpoints; write a submitted topology, or a folder that holds some")
    registry = Registry()
    record = registry.find(place)
    if record is None:
        raise SubmissionError(
            f"'{place}' is neither a submitted topology nor a folder that holds checkpoints; `ouzel list` shows all topologies"
        )
    return CheckpointStore(registry.folder(place).find_checkpoints(record.run))

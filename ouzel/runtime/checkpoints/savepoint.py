"""A savepoint: one epoch in a folder of its own, with all that another topology needs to go on from it.

It is a folder of checkpoints that holds one epoch, and beside that

savepoint    the note: what it is of, and the size and the digest of each of these files
program      the query as it was planned, signed
results/     what had been answered up to the epoch
notes/       what sources have noted of the files that they read

The folder gets its name when all of it is on disk and was read once, so what has this name is whole.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import xxhash

from ouzel.connectors.file.durable import name_synced, sync
from ouzel.errors import StateError, SubmissionError
from ouzel.runtime.checkpoints.fresh_file import FreshFile, make_folder
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFile
from ouzel.runtime.checkpoints.names import EPOCHS, TASKS
from ouzel.runtime.checkpoints.owner import NOTE as OWNER
from ouzel.runtime.checkpoints.sealed import seal, unreadable_file, unseal
from ouzel.runtime.checkpoints.store import CheckpointStore

NOTE = "savepoint"
RESULTS, NOTES = "results", "notes"
SAVEPOINT_VERSION = 1
"""Raised when a savepoint of another make is written."""

_OWNER_ID = "savepoint"
"""Stands for the id of a topology, so that none takes the folder for its own."""

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class SavepointNote:
    """What a savepoint says of itself.

    Attributes:
        topology: the name of the topology that it was made of.
        epoch: the number of its epoch.
        ouzel: the version of Ouzel that has made it.
        directory: where relative paths of the topology's tables start.
        columns: of the result, by name; empty if there is none.
        files: all files but those of the epoch.
    """

    topology: str
    epoch: int
    ouzel: str
    directory: str
    columns: tuple[str, ...]
    files: tuple[TaskFile, ...]


class Savepoint:
    """A savepoint in a folder.

    Raises:
        StateError: there is none, or its note is damaged or of another version.
        SubmissionError: it is not the path of a folder.
    """

    def __init__(self, folder: Path) -> None:
        _refuse_address(folder)
        self.folder, self.store = folder, CheckpointStore(folder)
        if not is_savepoint(folder):
            raise StateError(f"{folder} is no savepoint; write a folder that `ouzel stop NAME --savepoint` has made")
        self.note = _read_note(folder / NOTE)

    @property
    def manifest(self) -> Manifest:
        """Its epoch.

        Raises:
            StateError: it cannot be read.
        """
        return self.store.manifest(self.note.epoch)

    @property
    def size(self) -> tuple[int, int]:
        """How many files it has, and how many bytes these are."""
        files = [*self.manifest.files, *self.note.files]
        return len(files), sum(file.size for file in files)

    def verify(self) -> list[str]:
        """What is wrong with it, a sentence each; every byte is read."""
        return [*self.store.verify(self.note.epoch), *self.verify_files()]

    def verify_files(self) -> Iterator[str]:
        """What is wrong with files that are not of the epoch."""
        for file in self.note.files:
            if problem := _find_problem(self.folder / file.name, file):
                yield problem


def is_savepoint(folder: Path) -> bool:
    """Whether a folder is a savepoint, whole or damaged."""
    return (folder / NOTE).is_file()


def check_is_free(folder: Path) -> None:
    """See that a savepoint can be put there.

    Raises:
        SubmissionError: there is something else, or it is not the path of a folder that can be made.
        OSError: it cannot be looked at.
    """
    _refuse_address(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SubmissionError(f"{folder} holds something else; write a folder that is not there yet")
    above = next(path for path in folder.absolute().parents if path.exists())
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise SubmissionError(f"{folder} cannot be made, for nothing can be written into {above}; write another folder")


def _refuse_address(folder: Path) -> None:
    scheme = folder.parts[0] if folder.parts else ""
    if scheme.endswith(":"):
        raise SubmissionError(
            f"{scheme}//... is not supported: a savepoint is a folder of this machine; write its path"
        )


def write_savepoint(
    folder: Path, store: CheckpointStore, epoch: int, directory: Path, add: Callable[[Path], Sequence[str]]
) -> Savepoint:
    """Make a savepoint of an epoch; it is there whole and on disk, or not at all.

    Args:
        folder: where it is to be.
        store, epoch: what it is made of; its files are copied.
        directory: where relative paths of the topology's tables start.
        add: puts all else into a folder, and gives the columns of the result.

    Raises:
        StateError: something is wrong with the epoch.
        SubmissionError: the folder holds something.
        OSError: it cannot be written.
    """
    check_is_free(folder)
    folder = folder.absolute()
    if problems := store.verify(epoch):
        raise StateError(f"epoch {epoch} cannot be copied: {problems[0]}")
    manifest = store.manifest(epoch)
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.partial")
    try:
        _copy_epoch(store, manifest, fresh)
        columns = add(fresh)
        _sync_all(fresh)
        note = SavepointNote(
            manifest.topology, epoch, version("ouzel"), str(directory), tuple(columns), tuple(_list_files(fresh))
        )
        with FreshFile(fresh, epoch) as file:
            file.write(seal(SAVEPOINT_VERSION, asdict(note)))
            file.keep(fresh / NOTE)
        if problems := Savepoint(fresh).verify():
            raise StateError(f"what was written is not what is there: {problems[0]}")
        name_synced(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return Savepoint(folder)


def _copy_epoch(store: CheckpointStore, manifest: Manifest, fresh: Path) -> None:
    make_folder(fresh / TASKS)
    for name in {file.name for file in manifest.files}:
        shutil.copyfile(store.folder / name, fresh / name)
        sync(fresh / name)
    sync(fresh / TASKS)
    copy = CheckpointStore(fresh)
    copy.claim(manifest.topology, _OWNER_ID)
    copy.complete(manifest)


def _sync_all(folder: Path) -> None:
    for path in folder.rglob("*"):
        sync(path)


def _list_files(folder: Path) -> Iterator[TaskFile]:
    """All files but those of the epoch."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and name.parts[0] not in (EPOCHS, TASKS, OWNER):
            yield TaskFile(str(name), path.stat().st_size, _digest(path))


def _read_note(path: Path) -> SavepointNote:
    fields: dict[str, Any] = unseal(path, SAVEPOINT_VERSION)
    try:
        files = tuple(TaskFile(**file) for file in fields.pop("files"))
        return SavepointNote(**{**fields, "columns": tuple(fields["columns"])}, files=files)
    except (TypeError, KeyError):
        raise StateError(f"{path} is no note of a savepoint") from None


def _find_problem(path: Path, told: TaskFile) -> str:
    """What is wrong with a file; empty if nothing is."""
    try:
        if (size := os.stat(path).st_size) != told.size:
            return f"{path} has {size:,} bytes, not {told.size:,}"
        return "" if _digest(path) == told.digest else f"{path} is damaged: its checksum is not that of its content"
    except OSError as error:
        return unreadable_file(path, error)


def _digest(path: Path) -> str:
    digest = xxhash.xxh3_128()
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()

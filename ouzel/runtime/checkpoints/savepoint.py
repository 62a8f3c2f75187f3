"""A savepoint: one epoch in a folder of its own, or in S3, with all that another topology needs to go on from it.

It is a folder of checkpoints that holds one epoch, and beside that

savepoint    the note: what it is of, and the size and the digest of each of these files
program      the query as it was planned, signed
results/     what had been answered up to the epoch
notes/       what sources have noted of the files that they read

The folder gets its name when all of it is on disk and was read once, so what has this name is whole. In S3 the note is written last, so
what has a note is whole.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import xxhash

from ouzel.errors import StateError, SubmissionError
from ouzel.files import name_synced, sync
from ouzel.runtime.checkpoints.folder_store import FolderObjects, copy_object
from ouzel.runtime.checkpoints.fork import refuse_taken
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFile, manifest_name
from ouzel.runtime.checkpoints.names import EPOCHS, TASKS
from ouzel.runtime.checkpoints.objects import ObjectStore, StoreLocation
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
    """A savepoint in a folder, or in S3.

    Attributes:
        place: where it is, for messages.
        store: its epoch.
        note: see SavepointNote.

    Raises:
        StateError: there is none, or its note is damaged or of another version.
        OSError: the store does not answer.
    """

    def __init__(self, place: StoreLocation) -> None:
        self.place, self.store = place, CheckpointStore(place)
        if not is_savepoint(self.store):
            raise StateError(f"{place} is no savepoint; write what `ouzel stop NAME --savepoint` has made")
        self.note = _read_note(self.store.objects)
        self._copied: tempfile.TemporaryDirectory[str] | None = None

    @property
    def folder(self) -> Path:
        """The folder that it is in: of one in S3 only what `fetch` gives has one."""
        assert isinstance(self.store.folder, Path), self.place
        return self.store.folder

    def fetch(self) -> Savepoint:
        """The savepoint in a folder of this machine, which is removed with it if it was copied there.

        Raises:
            OSError: there is no room, or the store does not answer.
        """
        if isinstance(self.store.folder, Path):
            return self
        fetched = copy(self)
        fetched._copied = tempfile.TemporaryDirectory(prefix="ouzel-savepoint-")
        fetched.store = CheckpointStore(Path(fetched._copied.name))
        for name in _all_names(self.note.files, self.manifest):
            self.store.objects.copy(name, fetched.store.objects)
        return fetched

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
            if problem := _find_problem(self.store.objects, file):
                yield problem


def is_savepoint(store: CheckpointStore) -> bool:
    """Whether a folder or a prefix is a savepoint, whole or damaged."""
    return store.objects.has(NOTE)


def check_is_free(place: StoreLocation) -> None:
    """See that a savepoint can be put there.

    Raises:
        SubmissionError: there is something else, or it is not the path of a folder that can be made.
        OSError: it cannot be looked at.
    """
    try:
        refuse_taken(place)
    except StateError:
        what = "a folder that is not there yet" if isinstance(place, Path) else "a prefix that nothing has"
        raise SubmissionError(f"{place} holds something else; write {what}") from None
    if isinstance(place, Path):
        _check_can_be_made(place)


def _check_can_be_made(folder: Path) -> None:
    above = next(path for path in folder.absolute().parents if path.exists())
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise SubmissionError(f"{folder} cannot be made, for nothing can be written into {above}; write another folder")


def write_savepoint(
    place: StoreLocation, store: CheckpointStore, epoch: int, directory: Path, add: Callable[[Path], Sequence[str]]
) -> Savepoint:
    """Make a savepoint of an epoch; it is there whole and on disk, or not at all.

    One that goes to S3 is put together in a temporary folder.

    Args:
        place: where it is to be.
        store, epoch: what it is made of; its files are copied.
        directory: where relative paths of the topology's tables start.
        add: puts all else into a folder, and gives the columns of the result.

    Raises:
        StateError: something is wrong with the epoch.
        SubmissionError: the folder holds something.
        OSError: it cannot be written.
    """
    check_is_free(place)
    if isinstance(place, Path):
        return _write_into_folder(place.absolute(), store, epoch, directory, add)
    with tempfile.TemporaryDirectory(prefix="ouzel-savepoint-") as name:
        _send(_write_into_folder(Path(name) / "savepoint", store, epoch, directory, add), place)
    return _verify(Savepoint(place))


def _write_into_folder(
    folder: Path, store: CheckpointStore, epoch: int, directory: Path, add: Callable[[Path], Sequence[str]]
) -> Savepoint:
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
        with FolderObjects(fresh).fresh("", epoch) as file:
            file.write(seal(SAVEPOINT_VERSION, asdict(note)))
            file.keep(NOTE)
        _verify(Savepoint(fresh))
        name_synced(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return Savepoint(folder)


def _verify(savepoint: Savepoint) -> Savepoint:
    if problems := savepoint.verify():
        raise StateError(f"what was written is not what is there: {problems[0]}")
    return savepoint


def _send(savepoint: Savepoint, place: StoreLocation) -> None:
    """Put a savepoint into a store, its note last."""
    source, other = savepoint.store.objects, CheckpointStore(place).objects
    for name in _all_names(savepoint.note.files, savepoint.manifest):
        if name != NOTE:
            source.copy(name, other)
    with other.fresh("", 0) as file:
        file.write(source.get(NOTE))
        file.keep_if_first(NOTE)


def _all_names(files: Sequence[TaskFile], manifest: Manifest) -> list[str]:
    of_the_epoch = [*dict.fromkeys(file.name for file in manifest.files), manifest_name(manifest.epoch)]
    return [*of_the_epoch, OWNER, *(file.name for file in files), NOTE]


def _copy_epoch(store: CheckpointStore, manifest: Manifest, fresh: Path) -> None:
    made = CheckpointStore(fresh)
    for name in {file.name for file in manifest.files}:
        copy_object(store.objects, name, made.objects)
    made.claim(manifest.topology, _OWNER_ID)
    made.complete(manifest)


def _sync_all(folder: Path) -> None:
    for path in folder.rglob("*"):
        sync(path)


def _list_files(folder: Path) -> Iterator[TaskFile]:
    """All files but those of the epoch."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and name.parts[0] not in (EPOCHS, TASKS, OWNER):
            with path.open("rb") as file:
                yield TaskFile(str(name), path.stat().st_size, _digest(file))


def _read_note(store: ObjectStore) -> SavepointNote:
    fields: dict[str, Any] = unseal(store, NOTE, SAVEPOINT_VERSION)
    try:
        files = tuple(TaskFile(**file) for file in fields.pop("files"))
        note = SavepointNote(**{**fields, "columns": tuple(fields["columns"])}, files=files)
        outside = next((file.name for file in files if not _is_below(file.name)), "")
    except (TypeError, KeyError):
        raise StateError(f"{store.where(NOTE)} is no note of a savepoint") from None
    if outside:
        raise StateError(f"{store.where(NOTE)} names {outside}, which is no file of a savepoint")
    return note


def _is_below(name: str) -> bool:
    """Whether a name is relative, and leads nowhere else: files of a savepoint that comes from S3 are copied under these names."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _find_problem(store: ObjectStore, told: TaskFile) -> str:
    """What is wrong with a file; empty if nothing is.

    Raises:
        StoreAway: the store does not answer.
    """
    where = store.where(told.name)
    try:
        with store.open(told.name) as file:
            if (size := file.seek(0, os.SEEK_END)) != told.size:
                return f"{where} has {size:,} bytes, not {told.size:,}"
            file.seek(0)
            is_same = _digest(file) == told.digest
            return "" if is_same else f"{where} is damaged: its checksum is not that of its content"
    except OSError as error:
        if isinstance(problem := unreadable_file(where, error), StateError):
            return str(problem)
        raise problem from None


def _digest(file: BinaryIO) -> str:
    digest = xxhash.xxh3_128()
    while piece := file.read(_PIECE_BYTES):
        digest.update(piece)
    return digest.hexdigest()

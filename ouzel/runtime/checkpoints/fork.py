"""An epoch as the beginning of another folder or prefix, which belongs to nobody until a topology starts from it."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from ouzel.errors import StateError
from ouzel.files import name_synced, sync
from ouzel.runtime.checkpoints.folder_store import FolderObjects
from ouzel.runtime.checkpoints.fresh_file import make_folder
from ouzel.runtime.checkpoints.manifest import Manifest
from ouzel.runtime.checkpoints.names import TASKS
from ouzel.runtime.checkpoints.objects import StoreLocation
from ouzel.runtime.checkpoints.store import CheckpointStore


def fork_epoch(store: CheckpointStore, epoch: int, place: StoreLocation) -> Manifest:
    """Copy an epoch, which keeps its number, to a new place, where it is whole and on disk, or not at all.

    Its files are shared where both places are folders of one file system. A copy to a store that is not ended leaves objects without a
    manifest, which are no epoch.

    Raises:
        StateError: something is wrong with the epoch, or the place holds something.
        OSError: it cannot be written.
    """
    refuse_taken(place)
    if problems := store.verify(epoch):
        raise StateError(f"epoch {epoch} cannot be copied: {problems[0]}")
    manifest = store.manifest(epoch)
    if isinstance(place, Path):
        _fork_into_folder(store, manifest, place.absolute())
    else:
        copy_epoch(store, manifest, CheckpointStore(place))
    return manifest


def refuse_taken(place: StoreLocation) -> None:
    """See that nothing is at a place.

    Raises:
        StateError: something is.
        OSError: it cannot be looked at.
    """
    if isinstance(place, Path):
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise StateError(f"{place} is not empty; write a folder that is not there yet")
    elif (store := CheckpointStore(place)).is_there or store.objects.list():
        raise StateError(f"{place} is not empty; write a prefix that nothing has")


def copy_epoch(store: CheckpointStore, manifest: Manifest, other: CheckpointStore) -> None:
    """Have another store hold an epoch, its manifest last.

    Raises:
        StateError: what was written is not there.
        OSError: it cannot be written.
    """
    for name in {file.name for file in manifest.files}:
        store.objects.copy(name, other.objects)
    other.complete(manifest)


def _fork_into_folder(store: CheckpointStore, manifest: Manifest, folder: Path) -> None:
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.partial")
    try:
        make_folder(fresh / TASKS)
        for name in {file.name for file in manifest.files}:
            store.objects.copy(name, FolderObjects(fresh))
        sync(fresh / TASKS)
        CheckpointStore(fresh).complete(manifest)
        name_synced(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)

"""An epoch of one folder as the beginning of another, which belongs to nobody until a topology starts from it."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from ouzel.connectors.file.durable import name_synced, sync
from ouzel.errors import StateError
from ouzel.runtime.checkpoints.fresh_file import make_folder
from ouzel.runtime.checkpoints.manifest import Manifest
from ouzel.runtime.checkpoints.names import TASKS
from ouzel.runtime.checkpoints.store import CheckpointStore


def fork_epoch(store: CheckpointStore, epoch: int, folder: Path) -> Manifest:
    """Copy an epoch, which keeps its number, into a new folder, which is there whole and on disk, or not at all.

    Its files are shared where both folders are on one file system.

    Raises:
        StateError: something is wrong with the epoch, or the folder holds something.
        OSError: it cannot be written.
    """
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StateError(f"{folder} is not empty; write a folder that is not there yet")
    if problems := store.verify(epoch):
        raise StateError(f"epoch {epoch} cannot be copied: {problems[0]}")
    manifest = store.manifest(epoch)
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.partial")
    try:
        make_folder(fresh / TASKS)
        for name in {file.name for file in manifest.files}:
            share_file(store.folder / name, fresh / name)
        sync(fresh / TASKS)
        CheckpointStore(fresh).complete(manifest)
        name_synced(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return manifest


def share_file(file: Path, other: Path) -> None:
    """One content under two names; two contents where the names are on two file systems, or theirs has no such links."""
    try:
        os.link(file, other)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(file, other)
        sync(other)

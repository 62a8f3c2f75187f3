"""A folder as a store: what has a name in it is whole and on disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import BinaryIO

from ouzel.files import sync
from ouzel.runtime.checkpoints.fresh_file import FreshFile, make_folder
from ouzel.runtime.checkpoints.objects import ObjectStore

_PIECE_BYTES = 1 << 20


class FolderObjects(ObjectStore):
    """See ObjectStore. The folder is made when something is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.place = folder

    def where(self, name: str) -> str:
        return str(self.folder / name)

    def fresh(self, folder: str, epoch: int) -> FreshFile:
        return FreshFile(self.folder, folder, epoch)

    def get(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def open(self, name: str) -> BinaryIO:
        return (self.folder / name).open("rb")

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for name in names:
            try:
                found[name] = (self.folder / name).stat().st_size
            except FileNotFoundError:
                continue
        return found

    def list(self, folder: str = "") -> list[str]:
        try:
            return sorted(os.listdir(self.folder / folder))
        except FileNotFoundError:
            return []

    def delete(self, names: Iterable[str]) -> None:
        folders = set[str]()
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
            folders.add(os.path.dirname(name))
        for folder in folders:
            sync(self.folder / folder)

    def copy(self, name: str, other: ObjectStore) -> None:
        """See ObjectStore. Two folders on one file system share what the file holds."""
        if isinstance(other, FolderObjects):
            make_folder((other.folder / name).parent)
            share_file(self.folder / name, other.folder / name)
        else:
            copy_object(self, name, other)

    def check_first_wins(self) -> None:
        """See ObjectStore. A file system without hard links does not tell two apart that begin at once; see FreshFile."""


def share_file(file: Path, other: Path) -> None:
    """One content under two names; two contents where the names are on two file systems, or theirs has no such links.

    Raises:
        OSError: it cannot be written.
    """
    try:
        os.link(file, other)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(file, other)
        sync(other)


def copy_object(store: ObjectStore, name: str, other: ObjectStore) -> None:
    """Have another store hold a file under the same name; its content comes through this process, piece by piece.

    Raises:
        OSError: it cannot be read or written.
    """
    with store.open(name) as file, other.fresh(os.path.dirname(name), 0) as fresh:
        while piece := file.read(_PIECE_BYTES):
            fresh.write(piece)
        fresh.keep(name)

"""A folder of checkpoints on a disk that may be slow, full, or lie: what it says is written may turn out to be torn."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ouzel.runtime.checkpoints.manifest import Manifest, TaskFile
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.state.task_snapshot import TaskSnapshot


@dataclass
class EpochDisk:
    """How the disk is now.

    Attributes:
        is_full: whether nothing can be written.
        tears: of so many files that are written from now on half is lost, and nobody is told.
    """

    is_full: bool = False
    tears: int = 0

    def check_room(self) -> None:
        """See that something can be written.

        Raises:
            OSError: the disk is full.
        """
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def tear(self, path: Path) -> None:
        """Half of a file that has been written is lost, if it is its turn."""
        if self.tears > 0:
            self.tears -= 1
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size // 2)


class SimulatedStore(CheckpointStore):
    """The store of checkpoints as one process has it; `turn` is called where others may run in between."""

    def __init__(self, folder: Path, disk: EpochDisk, turn: Callable[[], None] = lambda: None) -> None:
        super().__init__(folder)
        self._folder, self._disk, self._turn = folder, disk, turn

    def take_over(self, leadership: int) -> int:
        self._turn()
        self._disk.check_room()
        return super().take_over(leadership)

    def check_leads(self, leadership: int) -> None:
        self._turn()
        super().check_leads(leadership)

    def write_task(self, epoch: int, snapshot: TaskSnapshot) -> TaskFile:
        self._disk.check_room()
        file = super().write_task(epoch, snapshot)
        self._disk.tear(self._folder / file.name)
        return file

    def complete(self, manifest: Manifest) -> None:
        self._turn()
        self._disk.check_room()
        super().complete(manifest)
        self._turn()

    def newest(self, before: int | None = None, revision: int | None = None) -> tuple[Manifest | None, list[str]]:
        self._turn()
        found = super().newest(before, revision)
        self._turn()
        return found

    def prune(self, keep: int) -> list[str]:
        self._turn()
        return super().prune(keep)

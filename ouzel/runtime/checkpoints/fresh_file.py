"""Files that are there whole or not at all: written under a hidden name, synced, renamed, and their folder synced."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path
from types import TracebackType

from ouzel.files import name_synced, sync
from ouzel.runtime.checkpoints.names import partial_name
from ouzel.runtime.checkpoints.objects import FreshObject

SMALL_BYTES = 1 << 20
"""A file of no more than this may take the last of a disk."""

RESERVE_BYTES, RESERVE_SHARE = 64 << 20, 20
"""A larger file leaves RESERVE_BYTES of a disk free, or one part in RESERVE_SHARE of a small one. Sources write their journals there, and
a run ends if they cannot; an epoch that is not kept costs less."""

_ROOM_BYTES = 1 << 20
"""How many bytes are written between two looks at the free space."""


class FreshFile(FreshObject):
    """A file that is being written into a folder below another, to which its names are relative."""

    def __init__(self, root: Path, folder: str, epoch: int) -> None:
        super().__init__()
        make_folder(root / folder)
        self._root = root
        self._path: Path | None = root / folder / partial_name(epoch, secrets.token_hex(8))
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def _append(self, piece: memoryview, size: int) -> None:
        self._leave_room(size + len(piece))
        while piece:
            piece = piece[os.write(self._file, piece) :]

    def _leave_room(self, size: int) -> None:
        """Raise an error if a file of this size left too little of the disk free."""
        if size > SMALL_BYTES:
            disk = os.fstatvfs(self._file)
            reserve = min(RESERVE_BYTES, disk.f_blocks * disk.f_frsize // RESERVE_SHARE)
            if disk.f_bavail * disk.f_frsize < reserve + _ROOM_BYTES:
                raise OSError(
                    errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: the last {reserve:,} bytes are left to what runs"
                )

    def keep(self, name: str) -> None:
        """Give it its name, in the same folder, where it stays though power is lost now."""
        assert self._path is not None
        os.fsync(self._file)
        name_synced(self._path, self._root / name)
        self._path = None

    def keep_if_first(self, name: str) -> None:
        """Give it its name, unless another has it already; then that one stays."""
        assert self._path is not None
        path = self._root / name
        os.fsync(self._file)
        try:
            path.hardlink_to(self._path)
        except FileExistsError:
            return
        except OSError:  # a file system without such links, where two that begin at once are not told apart
            self.keep(name)
        else:
            sync(path.parent)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()


def make_folder(path: Path) -> None:
    """Have a folder, with all above it, that stays though power is lost now.

    Raises:
        OSError: it cannot be made.
    """
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
        sync(path.parent)

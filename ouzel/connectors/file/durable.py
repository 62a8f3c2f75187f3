"""What survives a loss of power: a file whose bytes were synced, under a name that its directory was synced with."""

from __future__ import annotations

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until a file's bytes, or a directory's names, are on disk.

    Raises:
        OSError: they cannot be written.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def name_synced(fresh: Path, path: Path) -> None:
    """Rename a file or directory whose content is synced, durably, replacing a file of that name.

    Raises:
        OSError: that cannot be done.
    """
    fresh.rename(path)
    sync(path.parent)

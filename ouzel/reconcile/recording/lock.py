"""One run at a time in the directory of a record: two would remove and overwrite each other's files, and both would seem to be recorded."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path

from ouzel.errors import QueryError

LOCK = "lock"

_held: dict[Path, int] = {}
"""The directories that runs of this process have, and their locks."""


def hold_directory(home: Path) -> None:
    """Have the directory for a run of this process, until it lets go or ends. What it took for a run that never started it has already.

    Raises:
        QueryError: another process has it.
        OSError: there is no room, or no permission.
    """
    if home.resolve() in _held:
        return
    lock = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 1_000, 0).decode(errors="replace") or "another process"
        os.close(lock)
        raise QueryError(
            f"{home} is the record of a run that goes on, of {holder}",
            instead="stop that run, or choose another directory",
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    _held[home.resolve()] = lock


def release_directory(home: Path) -> None:
    """The run has ended. Harmless where none has it."""
    lock = _held.pop(home.resolve(), None)
    if lock is not None:
        with suppress(OSError):
            os.close(lock)

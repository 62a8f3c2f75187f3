"""Files that are there whole or not at all, and files that survive a loss of power.

Who reads a file by its name finds what it held before or what it holds now, never a part: new content is written beside it and renamed.
Power is another matter: a file stays if its bytes were synced before it had its name, and the directory that holds the name after that.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def put_bytes(path: Path, content: bytes, mode: int | None = None, beside: str = ".new") -> None:
    """Make this the content of a file, which is not synced.

    Args:
        path: of the file, which need not be there.
        content: all of it.
        mode: who may read and write it, from the first byte on; None for whom the process's umask lets.
        beside: the suffix under which it is written first. Where several processes write the file each has its own, `suffix_of_process()`.

    Raises:
        OSError: it cannot be written. The file has the content that it had.
    """
    fresh = path.with_suffix(beside)
    if mode is not None:
        fresh.touch(mode)
    fresh.write_bytes(content)
    fresh.rename(path)


def put_synced(path: Path, content: bytes) -> None:
    """Make this the content of a file, which stays though power is lost as soon as this returns.

    Raises:
        OSError: it cannot be written. The file has the content that it had.
    """
    fresh = path.with_suffix(".new")
    fresh.write_bytes(content)
    sync(fresh)
    name_synced(fresh, path)


def append_whole(file: int, content: bytes, is_synced: bool = False) -> None:
    """Append this to an open file, all of it or nothing, and wait until it is on disk if it is to be synced.

    Raises:
        OSError: it cannot be written. The file is as long as it was.
    """
    size, rest = os.fstat(file).st_size, memoryview(content)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
        if is_synced:
            os.fdatasync(file)
    except OSError:
        os.ftruncate(file, size)
        raise


def is_locked(lock: Path, *, by_several: bool = False) -> bool:
    """Whether a process holds the lock (flock) on a file. Who looks takes it for a moment, and another who looks then does not take that
    for a holder, unless holders share it.

    Args:
        lock: the file.
        by_several: whether its holders share it; otherwise each holds it alone.

    Raises:
        OSError: it cannot be opened; FileNotFoundError where there is none.
    """
    mode, look = (os.O_RDWR, fcntl.LOCK_EX) if by_several else (os.O_RDONLY, fcntl.LOCK_SH)
    descriptor = os.open(lock, mode | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, look | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def suffix_of_process() -> str:
    """A suffix that no other process uses."""
    return f".{os.getpid()}.new"


def sync(path: Path) -> None:
    """Wait until a file's bytes, or a directory's names, are on disk.

    Raises:
        OSError: they cannot be written.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
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

"""What following asks of a file system; the tests have one in memory that reuses inodes at once."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import time
from pathlib import Path
from typing import NamedTuple, Protocol

from ouzel.connectors.file.identity import FileKey, Print
from ouzel.connectors.file.paths import find_files
from ouzel.errors import ConnectorError

FRESH_NS = 100_000_000
"""What was written so short a time ago may be written again without its times telling: it is looked at once more."""


class Told(NamedTuple):
    """What is told of a file: when it was written and changed, in nanoseconds; `links` is 0 when it was deleted and is still open."""

    key: FileKey
    size: int
    written_ns: int
    changed_ns: int
    links: int


class Disk(Protocol):
    """A file system. What is not there, or is no file, is None; any other failure is a ConnectorError that names the path."""

    def find(self, path: str, directory: Path) -> list[str]:
        """The names that a table's `path` means now."""

    def stat(self, path: str) -> Told | None:
        """What a name stands for, through links."""

    def born(self, path: str) -> int:
        """When the file was made, in nanoseconds; 0 if that is not known."""

    def open(self, path: str) -> int | None:
        """A handle by which the file is read, whatever becomes of its names."""

    def fstat(self, file: int) -> Told:
        """What is told of an open file."""

    def pread(self, file: int, size: int, at: int) -> bytes:
        """At most so many bytes of it from `at` on; fewer only at its end."""

    def close(self, file: int) -> None:
        """Let go of it."""

    def names_in(self, directory: str) -> dict[int, list[str]]:
        """All names in a folder, by their inodes."""

    def now(self) -> float:
        """Seconds on a clock that only goes forward."""

    def wall_ns(self) -> int:
        """The time by which files are written."""


class RealDisk:
    """The machine's own file systems."""

    def find(self, path: str, directory: Path) -> list[str]:
        return find_files(path, directory)

    def stat(self, path: str) -> Told | None:
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(path, error) from None
        return _told(found) if stat.S_ISREG(found.st_mode) else None

    def born(self, path: str) -> int:
        return _birth_ns(path)

    def open(self, path: str) -> int | None:
        try:
            file = os.open(path, _READ)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(path, error) from None
        if _is_regular(file):
            return file
        os.close(file)
        return None

    def fstat(self, file: int) -> Told:
        return _told(os.fstat(file))

    def pread(self, file: int, size: int, at: int) -> bytes:
        return os.pread(file, size, at)

    def close(self, file: int) -> None:
        os.close(file)

    def names_in(self, directory: str) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    found.setdefault(entry.inode(), []).append(entry.path)
        except OSError:
            return {}
        return found

    def now(self) -> float:
        return time.monotonic()

    def wall_ns(self) -> int:
        return time.time_ns()


_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe that has taken a file's place is opened at once, too, and no writer is waited for."""


def _is_regular(file: int) -> bool:
    return stat.S_ISREG(os.fstat(file).st_mode)


def open_file(path: str) -> int:
    """A handle of a file that must be there.

    Raises:
        ConnectorError: it cannot be opened, or is no file any more.
    """
    try:
        file = os.open(path, _READ)
    except OSError as error:
        raise unreadable(path, error) from None
    if not _is_regular(file):
        os.close(file)
        raise ConnectorError(
            f"{path} cannot be read: it was a file when it was found, and is a folder, a pipe or a device now"
        )
    return file


def read_head(disk: Disk, path: str, file: int, size: int) -> bytes:
    """The first bytes of an open file.

    Raises:
        ConnectorError: they cannot be read.
    """
    try:
        return disk.pread(file, size, 0)
    except OSError as error:
        raise unreadable(path, error) from None


def still_has(disk: Disk, file: int, read: Print) -> bool:
    """Whether an open file still has, at both ends of what was read of it, what was read there."""
    first = disk.pread(file, len(read.first), 0)
    return read.is_of(first, disk.pread(file, len(read.last), read.at - len(read.last)))


def unreadable(path: str, error: OSError) -> ConnectorError:
    """A file that the system does not give."""
    return ConnectorError(f"{path} cannot be read: {error.strerror or error}")


def _told(found: os.stat_result) -> Told:
    return Told(
        FileKey(found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_nlink
    )


_AT_FDCWD, _STATX_BTIME = -100, 0x800
_MASK, _BTIME = struct.Struct("<I"), struct.Struct("<qI")
_BTIME_AT = 80
_STATX = getattr(ctypes.CDLL(None), "statx", None)


def _birth_ns(path: str) -> int:
    """statx(2), which Python does not have yet."""
    told = ctypes.create_string_buffer(256)
    if (
        _STATX is None
        or _STATX(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, told)
        or not _MASK.unpack_from(told)[0] & _STATX_BTIME
    ):
        return 0
    seconds, nanoseconds = _BTIME.unpack_from(told, _BTIME_AT)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


DISK = RealDisk()
"""The one that there is."""

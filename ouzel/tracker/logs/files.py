"""The files of a container that may be read from elsewhere: logs, and what its processes tell. Nothing else of a job directory leaves it.

A job directory also holds the key that its files are signed with, the program, sockets and state. So a file is given only if its name is
on the list, and only if it is a plain file, below the container's directory, that no link leads out of.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ouzel.errors import OuzelError
from ouzel.tracker.api.models import FileData, FileStats
from ouzel.tracker.topologies.snapshot import TopologySnapshot

READ_MAX = 1 << 20
"""Most bytes of a file in one answer."""

CHUNK = 1 << 16

_GIVEN = re.compile(r"[A-Za-z0-9_.-]+\.log|(metrics|thinned)-\d+\.jsonl|processes\.json")


class FileRefused(OuzelError):
    """There is no such file, or it is not given away."""


def container_folder(snapshot: TopologySnapshot, container: str) -> Path:
    """The directory of a container.

    Raises:
        FileRefused: the topology has no such container.
    """
    numbers = {str(number): number for number in snapshot.job.containers}
    if container not in numbers:
        raise FileRefused(
            f"topology '{snapshot.name}' has no container '{container}'; write one of {', '.join(numbers)}"
        )
    return snapshot.home / f"container-{numbers[container]}"


def find_file(folder: Path, path: str) -> Path:
    """The file of that path below a container's directory.

    Raises:
        FileRefused: there is none, or it is not given away.
    """
    refusal = FileRefused(
        f"'{path}' is no file of the container that can be read; write a name that filestats lists, as instance-1.log"
    )
    try:
        asked = Path(path)
        if asked.is_absolute() or not _GIVEN.fullmatch(asked.name) or ".." in asked.parts:
            raise refusal
        found = (folder / asked).resolve(strict=True)
        if not found.is_relative_to(folder.resolve(strict=True)) or not _GIVEN.fullmatch(found.name):
            raise refusal
    except (OSError, ValueError, RuntimeError):  # a path with a zero byte; links in a circle
        raise refusal from None
    return found


def open_given_file(folder: Path, path: str) -> BinaryIO:
    """That file, opened so that a link put in its place meanwhile is not followed.

    Raises:
        FileRefused: as in `find_file`.
    """
    found = find_file(folder, path)
    try:
        file = os.fdopen(os.open(found, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        raise FileRefused(f"'{path}' cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FileRefused(f"'{path}' is no plain file")
    return file


def read_part(folder: Path, path: str, offset: int, length: int) -> FileData:
    """A part of a file, at most READ_MAX bytes of it. An offset of -1 is the end, a length of -1 all that follows.

    Raises:
        FileRefused: as in `find_file`.
    """
    with open_given_file(folder, path) as file:
        size = os.fstat(file.fileno()).st_size
        begin = size if offset == -1 else min(size, max(0, offset))
        file.seek(begin)
        text = file.read(min(READ_MAX, size - begin if length == -1 else max(0, length)))
    return FileData(data=text.decode(errors="replace"), offset=begin, length=len(text))


def stream_file(file: BinaryIO) -> Iterator[bytes]:
    """All of an open file as it is now, which is closed at the end."""
    with file:
        left = os.fstat(file.fileno()).st_size
        while left > 0 and (chunk := file.read(min(CHUNK, left))):
            left -= len(chunk)
            yield chunk


def list_files(folder: Path) -> dict[str, FileStats]:
    """The files of a container that can be read, by name, as `ls -l` shows them."""
    found = {}
    for path in sorted(folder.glob("*")):
        status = path.lstat()
        if _GIVEN.fullmatch(path.name) and stat.S_ISREG(status.st_mode):
            when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(status.st_mtime))
            shown = f"{stat.filemode(status.st_mode)} {status.st_size:>10} {when} {path.name}"
            found[path.name] = FileStats(formatted_stat=shown, is_dir=False, path=path.name)
    return found

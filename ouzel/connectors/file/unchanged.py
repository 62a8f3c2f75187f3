"""Files that are read whole: whether a task that starts again finds them as they were when the run first read them.

Offsets are lines or rows: in another file of the same name they stand for others.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ouzel.connectors.file.content import OnRead, is_packed
from ouzel.connectors.file.disk import open_file, unreadable
from ouzel.connectors.file.identity import TAIL_BYTES, Print, hash_bytes
from ouzel.errors import ConnectorError


class FileVersion(NamedTuple):
    """A file as it was: its inode, its size, when it was written, and a hash of the two ends of its bytes."""

    ino: int
    size: int
    written_ns: int
    ends: str


class Unchanged:
    """The versions of the files that one task reads, in a file that outlives it; `notes` is None where nothing does."""

    def __init__(self, notes: Path | None) -> None:
        self._notes = notes
        lines = notes.read_bytes().split(b"\n")[:-1] if notes and notes.exists() else []
        self._known = {path: FileVersion(*version) for path, version in map(json.loads, lines)}

    def check(self, path: str) -> None:
        """Note a file that is read for the first time, or see that it is still the one that was; text may have grown.

        Raises:
            ConnectorError: it is another, or cannot be read.
        """
        if self._notes is None:
            return
        known = self._known.get(path)
        now = version_of(path, known.size if known else None)
        if known is None:
            self._note(self._notes, path, now)
        elif not _is_same(path, known, now):
            raise ConnectorError(
                f"{path} was replaced or changed while its task was down ({known.size} bytes when it was first read, {now.size} now), and "
                "its rows cannot be told from those that were read; start the topology again"
            )

    def watch(self, path: str) -> OnRead | None:
        """What is to be told of a file of text that is read: where it has grown meanwhile, that is held against it, too."""
        return None if self._notes is None else partial(self._on_read, self._notes, path)

    def _on_read(self, notes: Path, path: str, ino: int, read: Print) -> None:
        """Before rows of what was added are given out: what was read must be there for whoever reads on."""
        if read.at > self._known[path].size:
            self._note(notes, path, FileVersion(ino, read.at, 0, hash_bytes(read.first + read.last)))

    def _note(self, notes: Path, path: str, version: FileVersion) -> None:
        self._known[path] = version
        self._write(notes, json.dumps([path, version]).encode() + b"\n")

    def _write(self, notes: Path, line: bytes) -> None:
        try:
            with notes.open("ab") as file:
                file.write(line)
        except OSError as error:
            raise ConnectorError(f"what is read cannot be noted in {notes}: {error.strerror}") from None


def _is_same(path: str, known: FileVersion, now: FileVersion) -> bool:
    if (known.size, known.written_ns, known.ends) == (now.size, now.written_ns, now.ends):
        return True
    grows = not is_packed(path) and not path.endswith((".parquet", ".pq"))
    return grows and now.size >= known.size and (known.ino, known.ends) == (now.ino, now.ends)


def version_of(path: str, size: int | None = None) -> FileVersion:
    """What a file is now; the ends are those of its first `size` bytes, or of all.

    Raises:
        ConnectorError: it cannot be read.
    """
    file = open_file(path)
    try:
        told = os.fstat(file)
        size = told.st_size if size is None else size
        first = os.pread(file, min(TAIL_BYTES, size), 0)
        last = os.pread(file, min(TAIL_BYTES, size), max(0, size - TAIL_BYTES))
    except OSError as error:
        raise unreadable(path, error) from None
    finally:
        os.close(file)
    return FileVersion(told.st_ino, told.st_size, told.st_mtime_ns, hash_bytes(first + last))

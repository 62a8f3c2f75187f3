"""Which file is this? A file is its device, its inode, its time of birth and its first bytes, whatever its name is. No I/O here.

What was seen goes in, what it means comes out: a file that is new, one that is known under another name, one whose name or inode has gone
to another. As the best shippers of logs do it (Vector's fingerprint, Filebeat's inode and device), with both kinds of evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

from ouzel.errors import ConnectorError

HEAD_BYTES = 1024
"""A file's first bytes are its first line, up to so many bytes: these do not change while it grows."""

TAIL_BYTES = 512
"""So many of the bytes read last, and of those read first, are looked at again before more is read."""

_ID = re.compile(r"(.+)#([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]{16}|0)(?:-(\d+))?", re.DOTALL)
_LINE_END = re.compile(rb"[\r\n]")


class FileKey(NamedTuple):
    """What the system calls a file: the same under each of its names."""

    dev: int
    ino: int


class FileId(NamedTuple):
    """A followed file as its partition is called, for ever: by the name under which it was met first, and what tells it from others.

    `born` is when it was made, in nanoseconds, 0 where the file system does not tell; `head` a hash of its first bytes, empty if it had
    none when it was met. `life` counts files that are alike in all of this, one after the other.
    """

    path: str
    ino: int
    born: int = 0
    head: str = ""
    life: int = 1

    def __str__(self) -> str:
        more = f"-{self.life}" if self.life > 1 else ""
        return f"{self.path}#{self.ino:x}-{self.born:x}-{self.head or '0'}{more}"

    def fits(self, seen: Seen) -> bool:
        """Whether the file that was seen may be this one: nothing contradicts it."""
        return (
            seen.key.ino == self.ino
            and (not self.born or not seen.born or self.born == seen.born)
            and (not self.head or self.head == seen.head)
        )


class Seen(NamedTuple):
    """A name, the file that it stands for now, and what its first bytes hash to (empty if they are not there)."""

    path: str
    key: FileKey
    born: int = 0
    head: str = ""


def parse_id(partition: str) -> FileId | None:
    """The followed file that a partition is; None if it is named by its path alone."""
    found = _ID.fullmatch(partition)
    if found is None:
        return None
    path, ino, born, head, life = found.groups()
    return FileId(path, int(ino, 16), int(born, 16), "" if head == "0" else head, int(life or 1))


def head_of(data: bytes) -> str:
    """The hash of a file's first line, of its first HEAD_BYTES if it is longer; empty as long as they are not all there."""
    data = data[:HEAD_BYTES]
    end = _LINE_END.search(data)
    if end is None and len(data) < HEAD_BYTES:
        return ""
    return hash_bytes(data[: end.end()] if end else data)


def hash_bytes(data: bytes) -> str:
    """A hash that tells bytes apart that were not made to be mistaken."""
    return blake2b(data, digest_size=8).hexdigest()


class Print(NamedTuple):
    """What was read of a file up to byte `at`: the first and the last of these bytes."""

    at: int = 0
    first: bytes = b""
    last: bytes = b""

    def then(self, data: bytes) -> Print:
        """With what was read next."""
        room = TAIL_BYTES - len(self.first)
        first = self.first + data[:room] if room else self.first
        last = data[-TAIL_BYTES:] if len(data) >= TAIL_BYTES else (self.last + data)[-TAIL_BYTES:]
        return Print(self.at + len(data), first, last)

    def is_of(self, first: bytes, last: bytes) -> bool:
        """Whether a file that now has these bytes in those places still begins with what was read."""
        return (first, last) == (self.first, self.last)


class Register:
    """The files that are followed: what each is called, and the name under which it is found now."""

    def __init__(self) -> None:
        self._files: dict[FileKey, FileId] = {}
        self._recalled: dict[int, list[FileId]] = {}
        self._used: set[str] = set()
        self.names: dict[FileKey, str] = {}

    @property
    def files(self) -> Mapping[FileKey, FileId]:
        """Those known, in the order in which they were met."""
        return self._files

    @property
    def recalled(self) -> list[FileId]:
        """Those of a task before this one that have not been seen yet."""
        return [file for files in self._recalled.values() for file in files]

    @property
    def missing(self) -> list[tuple[FileKey, FileId]]:
        """Those that the last look found under no name."""
        return [(key, file) for key, file in self._files.items() if key not in self.names]

    def recall(self, files: Iterable[FileId], over: Iterable[FileId] = ()) -> None:
        """Files that a task before this one has read keep what they are called; nothing more comes of those that are `over`."""
        for file in files:
            self._recalled.setdefault(file.ino, []).append(file)
            self._used.add(str(file))
        self._used |= set(map(str, over))

    def begin(self) -> None:
        """Forget what names stood for: they are looked at again."""
        self.names.clear()

    def knows(self, path: str, key: FileKey) -> bool:
        """Note what a name stands for; whether that file is known. A file of two names goes by the first."""
        if key not in self._files:
            return False
        self.names.setdefault(key, path)
        return True

    def take(self, seen: Seen) -> FileId:
        """A file that is not known, whose first bytes have been looked at now: what it is called.

        Raises:
            ConnectorError: it has the inode of a file that was read, and is another.
        """
        former = self._recalled.pop(seen.key.ino, [])
        file = next((one for one in former if one.fits(seen)), None)
        others = [one for one in former if one is not file]
        if others and file is None and not any(_told_apart_by_birth(one, seen) for one in others):
            raise mistaken(others[0], seen.path)
        if others:
            self._recalled[seen.key.ino] = others
        self._files[seen.key] = file = file or self._named(seen)
        self.names.setdefault(seen.key, seen.path)
        return file

    def _named(self, seen: Seen) -> FileId:
        file = FileId(seen.path, seen.key.ino, seen.born, seen.head)
        while str(file) in self._used:
            file = file._replace(life=file.life + 1)
        self._used.add(str(file))
        return file

    def end(self, key: FileKey) -> None:
        """A file is gone for good: whatever has its inode next is another."""
        self._files.pop(key, None)
        self.names.pop(key, None)


def _told_apart_by_birth(file: FileId, seen: Seen) -> bool:
    """Whether the inode has plainly gone to a file that was made later, so that the one before it is gone."""
    return bool(file.born and seen.born and file.born != seen.born)


ROTATE = "rotate logs by renaming them (logrotate: 'create' and not 'copytruncate')"
"""What to do about files that are written over."""


def mistaken(file: FileId, path: str) -> ConnectorError:
    """A file that was followed, and another that has taken its place on the disk."""
    return ConnectorError(
        f"{path} is not the file that was followed as {file.path}: it has the same inode ({file.ino}) and begins otherwise, so that one "
        f"was deleted or written over before it was known to be read to its end; {ROTATE}, and start the topology again"
    )

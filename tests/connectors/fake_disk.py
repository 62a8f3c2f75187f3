"""A file system in memory that gives an inode to the next file at once, and whose clocks stand still unless they are moved."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from ouzel.connectors.file.disk import Told
from ouzel.connectors.file.identity import FileKey


@dataclass
class Inode:
    """A file: its bytes, when it was made and written, how many names and handles it has."""

    ino: int
    born: int
    data: bytes = b""
    written: int = 0
    links: int = 0
    handles: int = 0


class FakeDisk:
    """See ouzel.connectors.file.disk.Disk. `tells_birth` says whether it knows when a file was made."""

    def __init__(self, tells_birth: bool = True) -> None:
        self.names: dict[str, Inode] = {}
        self.open_files: dict[int, Inode] = {}
        self.time, self.tells_birth = 0.0, tells_birth
        self._used: dict[int, Inode] = {}
        self._handles = 0

    def create(self, path: str) -> Inode:
        """A new file, with the least inode that is free."""
        ino = next(number for number in range(1, 1_000) if number not in self._used)
        made = Inode(ino, int(self.time * 1e9) + 1, written=self.wall_ns())
        self._used[ino] = made
        self._bind(path, made)
        return made

    def write(self, file: Inode, data: bytes) -> None:
        """Put other bytes in it, or more."""
        file.data, file.written = data, self.wall_ns()

    def rename(self, old: str, new: str) -> None:
        """A name that was there already goes from the file that had it."""
        file = self.names.pop(old)
        file.links -= 1
        self._bind(new, file)

    def link(self, old: str, new: str) -> None:
        """One more name."""
        self._bind(new, self.names[old])

    def unlink(self, path: str) -> None:
        """A file without name or handle is gone."""
        file = self.names.pop(path)
        file.links -= 1
        self._free(file)

    def handles_of(self, ino: int) -> list[int]:
        """The handles by which a file is open."""
        return [handle for handle, file in self.open_files.items() if file.ino == ino]

    def _bind(self, path: str, file: Inode) -> None:
        if path in self.names:
            self.unlink(path)
        self.names[path] = file
        file.links += 1

    def _free(self, file: Inode) -> None:
        if not file.links and not file.handles:
            self._used.pop(file.ino, None)

    def find(self, path: str, directory: Path) -> list[str]:
        """See Disk."""
        return sorted(name for name in self.names if fnmatch(name, path))

    def stat(self, path: str) -> Told | None:
        """See Disk."""
        return self._told(self.names[path]) if path in self.names else None

    def born(self, path: str) -> int:
        """See Disk."""
        return self.names[path].born if self.tells_birth and path in self.names else 0

    def open(self, path: str) -> int | None:
        """See Disk."""
        if path not in self.names:
            return None
        self._handles += 1
        self.open_files[self._handles] = file = self.names[path]
        file.handles += 1
        return self._handles

    def fstat(self, file: int) -> Told:
        """See Disk."""
        return self._told(self.open_files[file])

    def pread(self, file: int, size: int, at: int) -> bytes:
        """See Disk."""
        return self.open_files[file].data[at : at + size]

    def close(self, file: int) -> None:
        """See Disk."""
        gone = self.open_files.pop(file)
        gone.handles -= 1
        self._free(gone)

    def names_in(self, directory: str) -> dict[int, list[str]]:
        """See Disk."""
        found: dict[int, list[str]] = {}
        for name, file in self.names.items():
            if name.rpartition("/")[0] == directory:
                found.setdefault(file.ino, []).append(name)
        return found

    def now(self) -> float:
        """See Disk."""
        return self.time

    def wall_ns(self) -> int:
        """See Disk."""
        return int(self.time * 1e9)

    def _told(self, file: Inode) -> Told:
        return Told(FileKey(1, file.ino), len(file.data), file.written, file.written, file.links)

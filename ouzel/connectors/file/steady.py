"""A file that is read once, from its beginning to its end: whether what was read of it is still what it holds.

Whoever appends meanwhile does no harm. Whoever cuts the file or writes it over gives rows of two contents, of which nobody could say which.
"""

from __future__ import annotations

import xxhash

from ouzel.connectors.file.disk import DISK, FRESH_NS, open_file, still_has, unreadable
from ouzel.connectors.file.identity import Print
from ouzel.errors import ConnectorError

_PIECE_BYTES = 1 << 20


class SteadyFile:
    """The bytes of an open file in sequence.

    As long as the system tells the same of it nothing is looked at twice. Once that differs, both ends of what was read are looked
    at before more is read, and all of them at the end.

    Raises:
        ConnectorError: it cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = open_file(path)
        self._begun = self._told = DISK.fstat(self._file)
        self._moved = DISK.wall_ns() - self._told.written_ns < FRESH_NS
        self._print, self._digest = Print(), xxhash.xxh3_128()

    @property
    def at(self) -> int:
        """How many bytes were read."""
        return self._print.at

    @property
    def read_so_far(self) -> Print:
        """What was read."""
        return self._print

    @property
    def ino(self) -> int:
        """The file's inode."""
        return self._begun.key.ino

    @property
    def grew(self) -> bool:
        """Whether it was added to while it was read."""
        return self._told.size > self._begun.size

    def read(self, size: int) -> bytes:
        """The next bytes; fewer than `size` only at the end.

        Raises:
            ConnectorError: it cannot be read, or has lost or changed what was read of it.
        """
        try:
            self._look()
            data = DISK.pread(self._file, size, self.at)
            self._print = self._print.then(data)
            self._digest.update(data)
            self._look()
            if len(data) < size and self._moved:
                self._check_all()
                self._moved = False
        except OSError as error:
            raise unreadable(self.path, error) from None
        return data

    def _look(self) -> None:
        """If what is told of the file has changed, see that it has not become shorter, and that what was read is there by both its ends."""
        told = DISK.fstat(self._file)
        if told == self._told:
            return
        self._told, self._moved = told, True
        if told.size < max(self.at, self._begun.size):
            raise ConnectorError(
                f"{self.path} was cut while it was read, from {self._begun.size:,} bytes to {told.size:,}: rows of it are lost; let nobody "
                "write to it meanwhile, and start again"
            )
        if not still_has(DISK, self._file, self._print):
            raise self._written_over()

    def _check_all(self) -> None:
        """See that all that was read is there."""
        again, at = xxhash.xxh3_128(), 0
        while at < self.at and (data := DISK.pread(self._file, min(_PIECE_BYTES, self.at - at), at)):
            again.update(data)
            at += len(data)
        if again.digest() != self._digest.digest():
            raise self._written_over()

    def _written_over(self) -> ConnectorError:
        return ConnectorError(
            f"{self.path} was written over while it was read, so its rows are of two contents; write to another file and rename that, "
            "and start again"
        )

    def close(self) -> None:
        """Close the file."""
        DISK.close(self._file)

"""One file that is followed: read under whatever name, and looked at, before more of it is read, whether it still is what was read."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Callable
from functools import cache

from ouzel.connectors.file.content import refuse_packed
from ouzel.connectors.file.disk import FRESH_NS, Disk, Told, still_has, unreadable
from ouzel.connectors.file.identity import ROTATE, FileId, FileKey, Print
from ouzel.descriptors import allow_files
from ouzel.errors import ConnectorError

SIZE_S = 1.0
"""A size that was told before that is asked for anew."""

GONE_S = 10.0
"""A file that was deleted is over when it has not grown for so long since: whoever had it open may have written on."""


def open_limit() -> int:
    """So many followed files stay open in a process although they do not grow: half of what it may open."""
    return max(8, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


@cache
def widen_limit() -> None:
    """Let the process open as many files as it may let itself: the usual limit of 1,024 is there for old programs."""
    with contextlib.suppress(OSError, ValueError):
        allow_files(sys.maxsize)


def are_too_many(count: int) -> bool:
    """Whether fewer than so many followed files have to be open; a limit that is in the way is raised first."""
    if count > open_limit():
        widen_limit()
    return count > open_limit()


class Followed:
    """The bytes of a file that may grow (see Content).

    It stays open, so that it is read to its end whatever becomes of its name, and nobody gets its inode; where very many are followed, one
    that has nothing new is closed and looked at by the name that `name_of` says it has.
    """

    def __init__(self, file: FileId, key: FileKey, disk: Disk, name_of: Callable[[FileKey], str | None]) -> None:
        self.file, self.key, self._disk, self._name_of = file, key, disk, name_of
        self.read_so_far = Print()
        self.is_over = False
        self._handle: int | None = None
        self._quiet: Told | None = None
        self._size, self._sized_s = 0, -SIZE_S
        self._gone_since: float | None = None

    def open(self) -> bool:
        """Open it, by the name that it has now; False if it is not found under that."""
        path = self._name_of(self.key)
        handle = None if path is None else self._disk.open(path)
        if handle is None:
            return False
        if self._disk.fstat(handle).key != self.key:
            self._disk.close(handle)
            return False
        self._handle = handle
        _open.add(self)
        return True

    def read(self, at: int, size: int) -> bytes:
        """See Content.

        Raises:
            ConnectorError: the file has lost bytes that were read, or has others in their place.
        """
        assert at == self.read_so_far.at, f"{self.file.path} is read up to {self.read_so_far.at}, and not {at}"
        told = self._look()
        if self.is_over or told is None:
            return b""
        data = b"" if told == self._quiet else self._read(told, size)
        if not data:
            self._rest(told)
        return data

    def check(self, told: Told) -> None:
        """See that the file still begins with what was read of it; `told` is what the system says of it.

        Raises:
            ConnectorError: it does not.
        """
        known = self.read_so_far
        if told.size < known.at:
            raise ConnectorError(
                f"{self.called} became shorter ({told.size} bytes) than what was read of it ({known.at} bytes): what was written between "
                f"the last look and the cut is lost; {ROTATE}, and start the topology again"
            )
        assert self._handle is not None
        if not still_has(self._disk, self._handle, known):
            raise ConnectorError(
                f"{self.called} was written over: its first {known.at} bytes are not those that were read, and what was written before "
                f"that may be lost; {ROTATE}, and start the topology again"
            )

    def _look(self) -> Told | None:
        """What is told of the file; None if it is nowhere to be found. It is open then, unless it is what it was."""
        told = self._ask()
        if told is None or told == self._quiet or self._handle is not None:
            return told
        return self._disk.fstat(self._handle) if self.open() and self._handle is not None else None

    def _ask(self) -> Told | None:
        """What the system says of the file, open or under its name; None if that is not this file."""
        if self._handle is not None:
            told: Told | None = self._disk.fstat(self._handle)
        else:
            path = self._name_of(self.key)
            told = None if path is None else self._disk.stat(path)
            told = told if told and told.key == self.key else None
        if told is not None:
            self._size, self._sized_s = told.size, self._disk.now()
        return told

    def find_size(self) -> int:
        """How long it is, or was a second ago at most, or when it was last to be found. It raises nothing."""
        if self._disk.now() - self._sized_s >= SIZE_S:
            with contextlib.suppress(ConnectorError, OSError):
                self._ask()
        return self._size

    def _read(self, told: Told, size: int) -> bytes:
        assert self._handle is not None
        at = self.read_so_far.at
        try:
            if not told.size:
                self._check_size(self._handle)
            data = self._disk.pread(self._handle, size, at) if told.size > at else b""
            self.check(told)
        except OSError as error:
            raise unreadable(self.called, error) from None
        if at == 0:
            refuse_packed(self.file.path, data)
        self.read_so_far = self.read_so_far.then(data)
        settled = not data and self._disk.wall_ns() - told.written_ns > FRESH_NS
        self._quiet = told if settled else None
        if data:
            self._gone_since = None
        return data

    def _check_size(self, handle: int) -> None:
        """See that an empty file is one: those of /proc have no size whatever they hold, so that nothing would ever come of them."""
        if self._disk.pread(handle, 1, 0) and not self._disk.fstat(handle).size:
            raise ConnectorError(
                f"{self.called} does not say how long it is, as files of /proc do not, so it cannot be followed; copy it, or leave out "
                "'follow'"
            )

    def _rest(self, told: Told) -> None:
        """There is nothing new: a file without a name is over after a while, and where many are open this one is closed."""
        if not told.links:
            now = self._disk.now()
            self._gone_since = now if self._gone_since is None else self._gone_since
            if now - self._gone_since >= GONE_S:
                self.is_over = True
                self.close()
        elif are_too_many(len(_open)):
            self.close()

    @property
    def is_open(self) -> bool:
        """Whether it is read on whatever becomes of its name."""
        return self._handle is not None

    @property
    def size(self) -> int:
        """How long it is; it must be open."""
        assert self._handle is not None
        return self._disk.fstat(self._handle).size

    def peek(self, at: int, size: int) -> bytes:
        """Bytes of it, which do not count as read; it must be open."""
        assert self._handle is not None
        try:
            return self._disk.pread(self._handle, size, at)
        except OSError as error:
            raise unreadable(self.called, error) from None

    @property
    def grew(self) -> bool:
        """A line without its end waits for it; of a file that is over nothing more comes."""
        return False

    @property
    def called(self) -> str:
        """The file's present name, and its former one."""
        now = self._name_of(self.key)
        return self.file.path if now in (None, self.file.path) else f"{now} (followed as {self.file.path})"

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            self._disk.close(self._handle)
            self._handle = None
            _open.discard(self)


_open: set[Followed] = set()
"""Those that are open in this process."""

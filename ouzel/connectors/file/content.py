"""The bytes of a file from its beginning on, decompressed if its name says that it is compressed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ouzel.connectors.formats.base import looks_packed
from ouzel.errors import ConnectorError

CODECS = {".gz": "gzip", ".zst": "zstd"}
"""By the end of a file's name. Spark goes by that too."""

FOLLOWED_OPEN = 100
"""So many of the files that a process follows stay open although they do not grow."""


def is_packed(path: str) -> bool:
    """Whether the file's name says that it is packed."""
    return Path(path).suffix in CODECS


class Content(Protocol):
    """Bytes read in sequence: each read starts where the last one ended."""

    def read(self, at: int, size: int) -> bytes:
        """At most `size` bytes from `at` on; fewer only at what is the end now.

        Raises:
            ConnectorError: the file cannot be read, is packed otherwise than its name says, or is not whole.
        """

    def close(self) -> None:
        """Close the file."""


def open_content(path: str, follow: bool = False) -> Content:
    """The content of a file; of one that is followed whoever asks behind its end hears when its name has gone to another.

    Raises:
        ConnectorError: it cannot be opened.
    """
    return _Packed(path) if is_packed(path) else _Followed(path) if follow else _Plain(path)


class _Plain:
    """A file as it is."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = _open(path)

    @property
    def identity(self) -> tuple[int, int]:
        """What the file is, whatever its name becomes."""
        told = os.fstat(self._file)
        return told.st_dev, told.st_ino

    def read(self, at: int, size: int) -> bytes:
        try:
            _check_length(self._path, os.fstat(self._file), at)
            data = os.pread(self._file, size, at)
        except OSError as error:
            raise _unreadable(self._path, error) from None
        if at == 0 and looks_packed(data):
            raise ConnectorError(
                f"{self._path} is compressed, and its name does not say how; end it with {' or '.join(CODECS)}, or unpack it first"
            )
        return data

    def close(self) -> None:
        os.close(self._file)


class _Followed:
    """A file that may grow. Open while it does; where many are followed one that has nothing new is closed, and looked at by its name."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._open: _Plain | None = None
        self._known = self._opened().identity

    def _opened(self) -> _Plain:
        if self._open is None:
            self._open = _Plain(self._path)
            _followed.add(self)
        return self._open

    def read(self, at: int, size: int) -> bytes:
        if self._open is None and not self._has_grown(at):
            return b""
        data = self._opened().read(at, size)
        if not data:
            self._check_name()
            if len(_followed) > FOLLOWED_OPEN:
                self.close()
        return data

    def _has_grown(self, at: int) -> bool:
        """Whether the file, which is closed, has more now."""
        found = self._check_name()
        if found is not None:
            _check_length(self._path, found, at)
        return found is not None and found.st_size > at

    def _check_name(self) -> os.stat_result | None:
        """What the name stands for now, None for nothing: a file that is gone is read to its end. After a log was rotated it is another."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(self._path, error) from None
        if (found.st_dev, found.st_ino) != self._known:
            raise ConnectorError(
                f"{self._path} is another file now than the one that was followed; where logs are rotated, give each file a name of its "
                "own from the beginning, and follow all: 'path' = 'logs/*.json'"
            )
        return found

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
            _followed.discard(self)


_followed: set[_Followed] = set()
"""Those that are open in this process."""


class _Packed:
    """A file that is unpacked while it is read."""

    def __init__(self, path: str) -> None:
        self._path, self._at = path, 0
        try:
            self._stream = pa.CompressedInputStream(pa.OSFile(path), CODECS[Path(path).suffix])
        except OSError as error:
            raise _unreadable(path, error) from None

    def read(self, at: int, size: int) -> bytes:
        assert at == self._at, f"{self._path} is unpacked up to {self._at}, and not at {at}"
        try:
            data: bytes = self._stream.read(size)
        except OSError as error:
            raise ConnectorError(f"{self._path} cannot be unpacked: {error} (behind {self._at:,} bytes)") from None
        self._at += len(data)
        return data

    def close(self) -> None:
        self._stream.close()


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(path, error) from None


def _check_length(path: str, found: os.stat_result, read: int) -> None:
    if found.st_size < read:
        raise ConnectorError(f"{path} became shorter ({found.st_size} bytes) than what was read of it ({read} bytes)")


def _unreadable(path: str, error: OSError) -> ConnectorError:
    return ConnectorError(f"{path} cannot be read: {error.strerror or error}")

"""The bytes of a file from its beginning on, decompressed if its name says that it is compressed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ouzel.connectors.file.disk import unreadable
from ouzel.connectors.formats.base import looks_packed
from ouzel.errors import ConnectorError

CODECS = {".gz": "gzip", ".zst": "zstd"}
"""By the end of a file's name. Spark goes by that too."""


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


def open_content(path: str) -> Content:
    """The content of a file.

    Raises:
        ConnectorError: it cannot be opened.
    """
    return _Packed(path) if is_packed(path) else _Plain(path)


def refuse_packed(path: str, data: bytes) -> None:
    """See that a file's first bytes are not those of a packed one.

    Raises:
        ConnectorError: they are.
    """
    if looks_packed(data):
        raise ConnectorError(
            f"{path} is compressed, and its name does not say how; end it with {' or '.join(CODECS)}, or unpack it first"
        )


class _Plain:
    """A file as it is."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = _open(path)

    def read(self, at: int, size: int) -> bytes:
        try:
            _check_length(self._path, os.fstat(self._file), at)
            data = os.pread(self._file, size, at)
        except OSError as error:
            raise unreadable(self._path, error) from None
        if at == 0:
            refuse_packed(self._path, data)
        return data

    def close(self) -> None:
        os.close(self._file)


class _Packed:
    """A file that is unpacked while it is read."""

    def __init__(self, path: str) -> None:
        self._path, self._at = path, 0
        try:
            self._stream = pa.CompressedInputStream(pa.OSFile(path), CODECS[Path(path).suffix])
        except OSError as error:
            raise unreadable(path, error) from None

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
        raise unreadable(path, error) from None


def _check_length(path: str, found: os.stat_result, read: int) -> None:
    if found.st_size < read:
        raise ConnectorError(f"{path} became shorter ({found.st_size} bytes) than what was read of it ({read} bytes)")

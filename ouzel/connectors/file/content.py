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


class _Plain:
    """A file as it is."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise _unreadable(path, error) from None

    def read(self, at: int, size: int) -> bytes:
        try:
            there = os.fstat(self._file).st_size
            if there < at:
                raise ConnectorError(
                    f"{self._path} became shorter ({there} bytes) than what was read of it ({at} bytes)"
                )
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


def _unreadable(path: str, error: OSError) -> ConnectorError:
    return ConnectorError(f"{path} cannot be read: {error.strerror or error}")

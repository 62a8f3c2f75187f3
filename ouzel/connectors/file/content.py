"""The bytes of a file from its beginning on, decompressed if its name says that it is compressed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ouzel.connectors.file.identity import Print
from ouzel.connectors.file.steady import SteadyFile
from ouzel.connectors.formats.base import looks_packed
from ouzel.errors import ConnectorError

CODECS = {".gz": "gzip", ".zst": "zstd"}
"""By the end of a file's name. Spark goes by that too."""


def is_packed(path: str) -> bool:
    """Whether the file's name says that it is packed."""
    return Path(path).suffix in CODECS


class Content(Protocol):
    """Bytes read in sequence: each read starts where the last one ended."""

    @property
    def grew(self) -> bool:
        """Whether a file that is read to its end was added to meanwhile: its last line may be half of one."""

    def read(self, at: int, size: int) -> bytes:
        """At most `size` bytes from `at` on; fewer only at what is the end now.

        Raises:
            ConnectorError: the file cannot be read, is packed otherwise than its name says, or is not whole.
        """

    def close(self) -> None:
        """Close the file."""


OnRead = Callable[[int, Print], None]
"""Is told the inode of a file of text, and what was read of it, after each read."""


def open_content(path: str, on_read: OnRead | None = None) -> Content:
    """The content of a file.

    Raises:
        ConnectorError: it cannot be opened.
    """
    return _Packed(path) if is_packed(path) else _Plain(path, on_read)


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

    def __init__(self, path: str, on_read: OnRead | None = None) -> None:
        self._file, self._on_read = SteadyFile(path), on_read

    @property
    def grew(self) -> bool:
        return self._file.grew

    def read(self, at: int, size: int) -> bytes:
        assert at == self._file.at, f"{self._file.path} is read up to {self._file.at}, and not {at}"
        data = self._file.read(size)
        if at == 0:
            refuse_packed(self._file.path, data)
        if self._on_read:
            self._on_read(self._file.ino, self._file.read_so_far)
        return data

    def close(self) -> None:
        self._file.close()


class _Packed:
    """A file that is unpacked while it is read."""

    def __init__(self, path: str) -> None:
        self._path, self._at = path, 0
        self._file = SteadyFile(path)
        self._stream = pa.CompressedInputStream(pa.PythonFile(_Bytes(self._file), "r"), CODECS[Path(path).suffix])

    @property
    def grew(self) -> bool:
        return self._file.grew

    def read(self, at: int, size: int) -> bytes:
        assert at == self._at, f"{self._path} is unpacked up to {self._at}, and not at {at}"
        try:
            data: bytes = self._stream.read(size)
        except OSError as error:
            raise ConnectorError(
                f"{self._path} cannot be unpacked: {error} (behind {self._at:,} bytes): it is damaged or not whole; if it is still being "
                "written start again when it is done, else copy it anew"
            ) from None
        self._at += len(data)
        return data

    def close(self) -> None:
        self._stream.close()
        self._file.close()


class _Bytes(io.RawIOBase):
    """What Arrow reads."""

    def __init__(self, file: SteadyFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

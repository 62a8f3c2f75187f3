"""What a run has handled of a queue, kept so that a batch can read it: a file for each spout task, whose offsets are its records.

An item is written when all that came of it has been handled, before the server is told to forget it. A process that dies between the two
leaves it in both places: it comes again, to the topology and into the file. A record is the item's length, a checksum and its bytes.
"""

from __future__ import annotations

import fcntl
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path

from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.csv.format import CsvDecoder
from ouzel.connectors.reading import (
    BadRow,
    NothingCommitted,
    OffsetRange,
    Partition,
    ReadBatch,
    ReadState,
    SourceRequest,
    before,
)
from ouzel.errors import ConnectorError
from ouzel.files import append_whole

_HEAD = struct.Struct("<II")
_BYTES_MAX = 32 << 20
_SUFFIX = ".items"


class ItemDecoder:
    """Makes rows of items; each becomes one row, or one bad record."""

    def __init__(self, request: SourceRequest, shape: str) -> None:
        self._decoder = open_decoder(shape, request.options, request.columns, request.required & request.columns.keys())
        if isinstance(self._decoder, CsvDecoder) and not self._decoder.names:
            raise ConnectorError(
                f"table '{request.table}': nothing says which CSV field is which column; list the fields in order in 'csv.columns'"
            )

    def decode(self, items: Sequence[bytes], start: int, where: Callable[[int], str]) -> ReadBatch:
        """Items numbered from `start` on as a batch; `where` says in words where one of them is from."""
        decoded = self._decoder.decode(Records.of(items))
        bad = [BadRow(where(index), reason, items[index]) for index, reason in decoded.bad]
        place = where if decoded.frame.height == len(items) else None
        return ReadBatch(decoded.frame, start, start + len(items), bad, place, decoded.notes)


class ItemLog:
    """The file that one task writes. What a process that died has left half written is cut off."""

    def __init__(self, directory: Path, partition: str) -> None:
        self._path = directory / f"{partition}{_SUFFIX}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise ConnectorError(
                f"{self._path} is written by another run; give each its own 'items.path', or stop that one"
            ) from None
        except OSError as error:
            raise ConnectorError(f"'items.path': {self._path} cannot be written: {error.strerror}") from None
        self.first, size = _measure(self._path)
        os.ftruncate(self._file, size)
        self.end = self.first

    def append(self, items: Sequence[bytes]) -> None:
        """Keep these items; all of them or none.

        Raises:
            ConnectorError: they cannot be written.
        """
        data = b"".join(_HEAD.pack(len(item), zlib.crc32(item)) + item for item in items)
        try:
            append_whole(self._file, data)
        except OSError as error:
            raise ConnectorError(f"what was handled cannot be kept in {self._path}: {error.strerror}") from None
        self.end += len(items)

    def close(self) -> None:
        """Let another write it."""
        os.close(self._file)


def _measure(path: Path) -> tuple[int, int]:
    """How many whole records the file has, and how many bytes they take."""
    with path.open("rb") as file:
        count = size = 0
        for item in _records(file):
            count, size = count + 1, size + _HEAD.size + len(item)
        return count, size


def _records(file: BufferedReader) -> Iterator[bytes]:
    """Up to the first that is not whole."""
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        length, checksum = _HEAD.unpack(head)
        item = file.read(length)
        if len(item) < length or zlib.crc32(item) != checksum:
            return
        yield item


class KeptItems(NothingCommitted):
    """A source of what runs have handled: a partition for each file, read by offsets, which ends."""

    def __init__(self, request: SourceRequest, directory: Path, shape: str) -> None:
        self._directory, self._decoder = directory, ItemDecoder(request, shape)

    def partitions(self) -> Sequence[Partition]:
        """The files that are there."""
        return [Partition(path.stem, True) for path in sorted(self._directory.glob(f"*{_SUFFIX}"))]

    def reader(self, partition: Partition, offset: int | None) -> KeptReader:
        """Read a file from a record on."""
        return KeptReader(self._path(partition), offset or 0, self._decoder)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """Up to what is there."""
        start, end = offset or 0, _measure(self._path(partition))[0]
        return OffsetRange(start, min(start + rows, end), start + rows >= end)

    def _path(self, partition: Partition) -> Path:
        return self._directory / f"{partition.id}{_SUFFIX}"


class KeptReader:
    """Reads one file of items."""

    def __init__(self, path: Path, offset: int, decoder: ItemDecoder) -> None:
        self._path, self._at, self._decoder = path, offset, decoder
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise ConnectorError(f"what was handled cannot be read from {path}: {error.strerror}") from None
        self._records = _records(self._file)
        if sum(1 for _ in islice(self._records, offset)) < offset:
            raise ConnectorError(f"{path} ends before its record {offset:,}: it is not what the run has kept")

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        """The next items, of bounded size."""
        start, end = self._at, before(until, self._at + rows)
        items: list[bytes] = []
        size = 0
        while start + len(items) < end and size < _BYTES_MAX and (item := next(self._records, None)) is not None:
            items.append(item)
            size += len(item)
        if not items:
            return ReadState.END
        self._at = start + len(items)
        return self._decoder.decode(items, start, lambda row: f"{self._path}, item {start + row:,}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

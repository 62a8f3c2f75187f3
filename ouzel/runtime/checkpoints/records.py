"""Files of records, each with a kind, a number and a checksum: what is torn at a file's end is told from what is whole."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import polars as pl

_HEAD = struct.Struct("<4sIQQI")
_MAGIC = b"OZR1"


class StoredRecord(NamedTuple):
    """One record: `end` is the offset behind it."""

    kind: int
    id: int
    body: bytes
    end: int


def pack_record(kind: int, number: int, body: bytes) -> bytes:
    """A record's bytes."""
    check = zlib.crc32(body, zlib.crc32(struct.pack("<IQ", kind, number)))
    return _HEAD.pack(_MAGIC, kind, number, len(body), check) + body


def records_in(path: Path, start: int = 0) -> Iterator[StoredRecord]:
    """The whole records of a file from an offset on; it ends where one is not whole, or not yet.

    Raises:
        FileNotFoundError: the file is gone.
    """
    with path.open("rb") as file:
        file.seek(start)
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            magic, kind, number, length, check = _HEAD.unpack(head)
            if magic != _MAGIC or file.tell() + length > os.fstat(file.fileno()).st_size:
                return
            body = file.read(length)
            if len(body) < length or zlib.crc32(body, zlib.crc32(struct.pack("<IQ", kind, number))) != check:
                return
            start += _HEAD.size + length
            yield StoredRecord(kind, number, body, start)


def to_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as the body of a record."""
    text = BytesIO()
    frame.write_ipc_stream(text, compression="lz4", compat_level=pl.CompatLevel.newest())
    return text.getvalue()


def to_frame(body: bytes) -> pl.DataFrame:
    """The rows of such a body."""
    return pl.read_ipc_stream(BytesIO(body))

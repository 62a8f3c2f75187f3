"""The files of a kept result: parts, which are sequences of records, each with a checksum.

A part `part-N.rows` holds what came; `part-N.fold` what all parts up to and with N add up to. In a topology with epochs each part begins
with what was known at its beginning: the generation, and where the marks are.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

ROWS, IDS, MARK, BEGIN, ROLL_BACK = 1, 2, 3, 4, 5
"""Kinds of records. MARK: its id is the epoch, its body the epoch that is kept; BEGIN and ROLL_BACK: the body is a PartState."""

_HEAD = struct.Struct("<4sIQQI")
_MAGIC = b"OZR1"


class PartRecord(NamedTuple):
    """One record: `end` is the offset behind it."""

    kind: int
    id: int
    body: bytes
    end: int


class KeptPart(NamedTuple):
    """One file. They are in order."""

    number: int
    is_fold: bool
    path: Path


class Spot(NamedTuple):
    """A place between two records; before all of them it is 0, 0."""

    part: int
    offset: int


class PartState(NamedTuple):
    """What is known at the beginning of a part: the generation, and by epoch, the oldest first, where the marks are.

    The last mark of a roll back is that of the epoch to which it went.
    """

    generation: int
    marks: dict[int, Spot]

    def pack(self, kind: int) -> bytes:
        """The record."""
        marks = [number for epoch, spot in self.marks.items() for number in (epoch, *spot)]
        return pack_record(kind, 0, np.array([self.generation, *marks], np.int64).tobytes())

    @classmethod
    def of(cls, record: PartRecord) -> PartState:
        """What the record says."""
        generation, *marks = np.frombuffer(record.body, np.int64).tolist()
        return cls(generation, {marks[at]: Spot(*marks[at + 1 : at + 3]) for at in range(0, len(marks), 3)})


def pack_record(kind: int, number: int, body: bytes) -> bytes:
    """A record's bytes."""
    check = zlib.crc32(body, zlib.crc32(struct.pack("<IQ", kind, number)))
    return _HEAD.pack(_MAGIC, kind, number, len(body), check) + body


def pack_mark(epoch: int, kept: int) -> bytes:
    """The record of a mark."""
    return pack_record(MARK, epoch, struct.pack("<q", kept))


def kept_epoch(record: PartRecord) -> int:
    """The epoch that a MARK says is kept."""
    return int.from_bytes(record.body, "little")


def records_in(part: Path, start: int = 0) -> Iterator[PartRecord]:
    """The whole records of a part from an offset on; it ends where one is not whole, or not yet.

    Raises:
        FileNotFoundError: the part is gone.
    """
    with part.open("rb") as file:
        file.seek(start)
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            magic, kind, number, length, check = _HEAD.unpack(head)
            if magic != _MAGIC or file.tell() + length > os.fstat(file.fileno()).st_size:
                return
            body = file.read(length)
            if len(body) < length or zlib.crc32(body, zlib.crc32(struct.pack("<IQ", kind, number))) != check:
                return
            start += _HEAD.size + length
            yield PartRecord(kind, number, body, start)


def kept_parts_of(folder: Path) -> list[KeptPart]:
    """The parts of a task, oldest first."""
    paths = [path for path in folder.glob("part-*") if path.suffix in (".fold", ".rows")]
    return sorted(KeptPart(int(path.stem.partition("-")[2]), path.suffix == ".fold", path) for path in paths)


def part_path(folder: Path, number: int, *, is_fold: bool = False) -> Path:
    """Where that part is."""
    return folder / f"part-{number:08}.{'fold' if is_fold else 'rows'}"


def write_kept_part(path: Path, text: bytes) -> None:
    """Make a part that begins with this: whole, or not at all.

    Raises:
        OSError: there is no room.
    """
    hidden = path.with_suffix(".new")
    with hidden.open("wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    hidden.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def to_bytes(frame: pl.DataFrame) -> bytes:
    """The body of ROWS."""
    text = BytesIO()
    frame.write_ipc_stream(text, compression="lz4", compat_level=pl.CompatLevel.newest())
    return text.getvalue()


def to_frame(body: bytes) -> pl.DataFrame:
    """The rows of such a body."""
    return pl.read_ipc_stream(BytesIO(body))

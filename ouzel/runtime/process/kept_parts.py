"""The files of a kept result: parts, which are sequences of records, each with a checksum.

A part `part-N.rows` holds what came; `part-N.fold` what all parts up to and with N add up to. In a topology with epochs each part begins
with what was known at its beginning: the generation, and where the marks are.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ouzel.files import put_synced
from ouzel.runtime.checkpoints.records import StoredRecord, pack_record

ROWS, IDS, MARK, BEGIN, ROLL_BACK = 1, 2, 3, 4, 5
"""Kinds of records. MARK: its id is the epoch, its body the epoch that is kept; BEGIN and ROLL_BACK: the body is a PartState."""


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
    def of(cls, record: StoredRecord) -> PartState:
        """What the record says."""
        generation, *marks = np.frombuffer(record.body, np.int64).tolist()
        return cls(generation, {marks[at]: Spot(*marks[at + 1 : at + 3]) for at in range(0, len(marks), 3)})


def pack_mark(epoch: int, kept: int) -> bytes:
    """The record of a mark."""
    return pack_record(MARK, epoch, struct.pack("<q", kept))


def kept_epoch(record: StoredRecord) -> int:
    """The epoch that a MARK says is kept."""
    return int.from_bytes(record.body, "little")


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
    put_synced(path, text)

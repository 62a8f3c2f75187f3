"""The result of a submitted topology, on disk: its sink's tasks write parts, and whoever wants them reads, now or later.

Each task has a folder of its own. A part is a sequence of batches, each with its id and a checksum; what a killed process left half is cut
off by the next one. A batch that comes again, because a task or all of them were started again, is kept once.

What is kept is bounded. Of a result that only grows these are the latest rows, up to KEPT_BYTES a task. A result that takes rows back is
folded: once the changes since the last fold take more than FOLD_BYTES, and more than what that fold gave, all are added up into one part.
Parts before the last fold but one are removed, so that a reader may be a whole fold behind.
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

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import TopologyError
from ouzel.runtime.operators.consolidate import consolidate, weighted

PART_BYTES = 16 << 20
KEPT_BYTES = 1 << 30
FOLD_BYTES = 64 << 20
_REMOVED = "results were removed before they were read, for more came than is kept; read them anew"
IDS_KEPT = 1 << 16
"""Ids of the latest batches that are known when they come again: a source sends none again that lie further back (REMEMBERED)."""

_ROWS, _IDS = 1, 2
_HEAD = struct.Struct("<4sIQQI")
_MAGIC = b"OZR1"


class _Batch(NamedTuple):
    kind: int
    id: int
    body: bytes
    end: int


def _pack(kind: int, number: int, body: bytes) -> bytes:
    check = zlib.crc32(body, zlib.crc32(struct.pack("<IQ", kind, number)))
    return _HEAD.pack(_MAGIC, kind, number, len(body), check) + body


def _batches_in(part: Path, start: int = 0) -> Iterator[_Batch]:
    """The whole batches of a part from an offset on; it ends where one is not whole, or not yet."""
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
            yield _Batch(kind, number, body, start)


class _Part(NamedTuple):
    number: int
    is_fold: bool
    path: Path


def _parts_of(folder: Path) -> list[_Part]:
    """The parts of a task, oldest first."""
    paths = [path for path in folder.glob("part-*") if path.suffix in (".fold", ".rows")]
    return sorted(_Part(int(path.stem.partition("-")[2]), path.suffix == ".fold", path) for path in paths)


def _to_bytes(frame: pl.DataFrame) -> bytes:
    text = BytesIO()
    frame.write_ipc_stream(text, compression="lz4", compat_level=pl.CompatLevel.newest())
    return text.getvalue()


def _to_frame(body: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(BytesIO(body))


class ResultKeeper:
    """The end of one task of the sink. Nothing is made before its first batch.

    Args:
        folder: of this task, in this run.
        part_bytes, kept_bytes, fold_bytes: the bounds.
    """

    def __init__(
        self, folder: Path, part_bytes: int = PART_BYTES, kept_bytes: int = KEPT_BYTES, fold_bytes: int = FOLD_BYTES
    ) -> None:
        self._folder = folder
        self._part_bytes, self._kept_bytes, self._fold_bytes = part_bytes, kept_bytes, fold_bytes
        self._seen: dict[int, None] = {}
        self._file = -1

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Keep a batch; it is on disk when this returns, even if the machine goes down.

        Raises:
            TopologyError: there is no room for it.
        """
        try:
            if self._file < 0:
                self._recover()
            if batch_id in self._seen:
                return
            self._append(_pack(_ROWS, batch_id % (1 << 64), _to_bytes(frame)))
            self._seen[batch_id] = None
            if os.fstat(self._file).st_size > self._part_bytes:
                self._begin_part()
                self._bound(WEIGHT in frame.columns)
        except OSError as error:
            raise self._make_error(error) from error

    def _append(self, text: bytes) -> None:
        size = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(text):
                written += os.write(self._file, text[written:])
            os.fdatasync(self._file)
        except OSError:
            os.ftruncate(self._file, size)
            raise

    def _recover(self) -> None:
        """Know what those before this process have kept; cut off what they left half."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self._folder.glob("*.new"):
            left.unlink()
        parts = _parts_of(self._folder)
        end = 0
        for part in parts:
            end = 0
            for batch in _batches_in(part.path):
                end = batch.end
                ids = np.frombuffer(batch.body, np.uint64).tolist() if batch.kind == _IDS else [batch.id]
                self._seen.update(dict.fromkeys(ids))
        if not parts or parts[-1].is_fold:
            self._open(parts[-1].number + 1 if parts else 1)
            return
        self._open(parts[-1].number)
        os.ftruncate(self._file, end)

    def _open(self, number: int) -> None:
        if self._file >= 0:
            os.close(self._file)
        path = self._folder / f"part-{number:08}.rows"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def _begin_part(self) -> None:
        """Go on in a new part, and forget ids that do not come again: a topology that runs for ever would keep ever more."""
        self._seen = dict.fromkeys(list(self._seen)[-IDS_KEPT:])
        self._open(_parts_of(self._folder)[-1].number + 1)

    def _bound(self, takes_back: bool) -> None:
        """Remove what is more than is kept, or fold it."""
        parts = _parts_of(self._folder)
        if takes_back:
            self._fold_if_due(parts)
            return
        kept = 0
        for part in reversed(parts):
            kept += part.path.stat().st_size
            if kept > self._kept_bytes and part is not parts[-1]:
                part.path.unlink()

    def _fold_if_due(self, parts: list[_Part]) -> None:
        last = next((part for part in reversed(parts) if part.is_fold), None)
        since = [part for part in parts if last is None or part.number > last.number]
        least = max(self._fold_bytes, last.path.stat().st_size if last else 0)
        if sum(part.path.stat().st_size for part in since) <= least:
            return
        self._fold([last, *since] if last else since)
        for part in parts:
            if last and part.number < last.number:
                part.path.unlink()

    def _fold(self, parts: list[_Part]) -> None:
        """Make one part of these, and begin another after it."""
        total = _add_up(
            [_to_frame(batch.body) for part in parts for batch in _batches_in(part.path) if batch.kind == _ROWS]
        )
        number = parts[-1].number + 1
        whole = self._folder / f"part-{number:08}.fold"
        hidden = whole.with_suffix(".new")
        ids = np.array([one % (1 << 64) for one in self._seen], np.uint64).tobytes()
        with hidden.open("wb") as file:
            file.write(_pack(_IDS, 0, ids) + _pack(_ROWS, 0, _to_bytes(total)))
            file.flush()
            os.fsync(file.fileno())
        hidden.rename(whole)
        self._open(number + 1)

    def _make_error(self, error: OSError) -> TopologyError:
        return TopologyError(f"results cannot be kept in {self._folder}: {error.strerror}")


def _add_up(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The changes that are left of these, one row for each +1 and -1."""
    net = consolidate(pl.concat(frames))
    weights = net[WEIGHT].to_numpy()
    rows = np.repeat(np.arange(net.height), np.abs(weights))
    return weighted(net[pl.Series(rows, dtype=pl.UInt32)], 1).with_columns(
        pl.Series(WEIGHT, np.sign(weights[rows]).astype(np.int64))
    )


class KeptResults:
    """What is kept of a submitted topology's result, read on and on: each call of `read` goes on where the last one ended.

    Args:
        folder: with a folder for each run, and in it one for each task.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[Path, tuple[int, int]] = {}

    def read(self) -> Iterator[pl.DataFrame]:
        """What has come since the last call, in the order of runs.

        Raises:
            TopologyError: it was folded or removed before it was read.
        """
        for task in sorted(self._folder.glob("*/task-*")):
            yield from self._read_task(task)

    def _read_task(self, task: Path) -> Iterator[pl.DataFrame]:
        parts = _parts_of(task)
        begins = task not in self._places
        if begins and parts:
            first = next((part for part in reversed(parts) if part.is_fold), parts[0])
            self._places[task] = first.number, 0
        number, offset = self._places.get(task, (0, 0))
        if parts and parts[0].number > number:
            raise TopologyError(_REMOVED)
        for part in parts:
            if part.number < number:
                continue
            if part.number > number:
                number, offset = part.number, 0
            skips = part.is_fold and not begins
            try:
                for batch in _batches_in(part.path, offset):
                    offset = batch.end
                    self._places[task] = number, offset
                    if batch.kind == _ROWS and not skips:
                        yield _to_frame(batch.body)
            except FileNotFoundError:
                raise TopologyError(_REMOVED) from None
            self._places[task] = number, offset
            begins = False

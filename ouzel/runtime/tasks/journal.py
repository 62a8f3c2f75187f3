"""Where a spout's batches were cut, so that after a crash it cuts them there again.

A source gives what is there at the moment, so the same rows may be cut otherwise when they are read again. A receiver recognises a replay
by the id of its frame, and that comes of the cut. Two invariants follow:

- A cut is written down before its batch leaves the task.
- A watermark is written down before it is sent. A spout that is started again in a pause reads nothing, so it learns no time. If it knew
  less of time than its predecessor had sent, receivers would already have closed windows that its rows still go into.

A file in the page cache outlives a killed process, but not its host. After the host has gone a replay may be cut anew, and is then handled
at least once.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from ouzel.errors import TopologyError
from ouzel.files import append_whole
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME


class BatchBoundaries(NamedTuple):
    """One batch: offsets [start, end) of a partition, and how many records they held, good and bad."""

    partition: str
    start: int
    end: int
    rows: int

    @property
    def is_pin(self) -> bool:
        """Whether it holds nothing, but says where a partition was opened (see PinnedReader): that is noted as long as the run lasts."""
        return self.start == self.end


_TIME = struct.Struct("<q")


class Journal(Protocol):
    """The batch boundaries of one spout task, oldest first, and its watermark."""

    time_us: int
    """The last watermark, in microseconds, that this process or one before it has sent."""

    def tell(self, time_us: int) -> None:
        """This watermark is about to be sent."""

    def cuts(self) -> list[BatchBoundaries]:
        """The boundaries noted so far, by this process or those before it."""

    def note(self, cut: BatchBoundaries) -> None:
        """This batch is about to be sent."""

    def forget(self, committed: Mapping[str, int]) -> None:
        """What ends at or before these offsets will never be read again."""


class MemoryJournal(Journal):
    """A journal for the simulator, which keeps it over the tasks it kills."""

    def __init__(self) -> None:
        self._cuts: list[BatchBoundaries] = []
        self.time_us = BEGINNING_OF_TIME

    def tell(self, time_us: int) -> None:
        self.time_us = time_us

    def cuts(self) -> list[BatchBoundaries]:
        return list(self._cuts)

    def note(self, cut: BatchBoundaries) -> None:
        self._cuts.append(cut)

    def forget(self, committed: Mapping[str, int]) -> None:
        self._cuts = [cut for cut in self._cuts if cut.is_pin or cut.end > committed.get(cut.partition, -1)]


class UnnotedJournal(MemoryJournal):
    """The journal of a queue's partitions: their batches are never cut again, so no cut is noted."""

    def note(self, cut: BatchBoundaries) -> None:
        """Nothing."""


class FileJournal(MemoryJournal):
    """A journal in a file: a line a cut, rewritten without what is committed. Time is in a file of its own, eight bytes long."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._cuts = _read(path)
        self._file = self._rewrite()
        self._clock = os.open(path.with_suffix(".time"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.tell(_TIME.unpack(told)[0] if (told := os.pread(self._clock, _TIME.size, 0)) else BEGINNING_OF_TIME)

    def tell(self, time_us: int) -> None:
        """Write it over the last one: that needs no more room on a disk that is full."""
        super().tell(time_us)
        os.pwrite(self._clock, _TIME.pack(time_us), 0)

    def note(self, cut: BatchBoundaries) -> None:
        """Append a line, which is whole or not there.

        Raises:
            TopologyError: it cannot be written, so the batch must not leave: after a crash nobody would know where it was cut.
        """
        try:
            append_whole(self._file, _line(cut))
        except OSError as error:
            raise TopologyError(f"what is read cannot be noted in {self._path}: {error.strerror}") from error
        super().note(cut)

    def forget(self, committed: Mapping[str, int]) -> None:
        """Rewrite the file; where that fails it keeps more than is needed, which does no harm."""
        super().forget(committed)
        with contextlib.suppress(OSError):
            former, self._file = self._file, self._rewrite()
            os.close(former)

    def _rewrite(self) -> int:
        fresh = _write_beside(self._path, self._cuts)
        file = os.open(fresh, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        fresh.rename(self._path)
        return file


def copy_pins(old: Path, new: Path) -> None:
    """Begin a journal with where partitions began that say so of themselves (see PinnedReader), as another has noted it."""
    _write_beside(new, [cut for cut in _read(old) if cut.is_pin]).rename(new)


def _write_beside(path: Path, cuts: Iterable[BatchBoundaries]) -> Path:
    """The file of these that is to be renamed to `path`."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(b"".join(map(_line, cuts)))
    return fresh


def _line(cut: BatchBoundaries) -> bytes:
    """A line, also where the partition is a file with a line end in its name."""
    return f"{cut.start} {cut.end} {cut.rows} {json.dumps(cut.partition)}\n".encode()


def _read(path: Path) -> list[BatchBoundaries]:
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    fields = (line.decode().split(" ", 3) for line in lines)
    return [BatchBoundaries(json.loads(name), int(start), int(end), int(rows)) for start, end, rows, name in fields]

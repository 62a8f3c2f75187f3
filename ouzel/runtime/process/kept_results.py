"""The result of a submitted topology, on disk: its sink's tasks write parts, and whoever wants them reads, now or later.

Each task has a folder of its own. A part is a sequence of batches, each with its id and a checksum; what a killed process left half is cut
off by the next one. A batch that comes again, because a task or all of them were started again, is kept once.

What is kept is bounded. Of a result that only grows these are the latest rows, up to KEPT_BYTES a task. A result that takes rows back is
folded: once the changes since the last fold take more than FOLD_BYTES, and more than what that fold gave, all are added up into one part.
Parts before the last fold but one are removed, so that a reader may be a whole fold behind. What a roll back may cut off is not folded.

A roll back begins a new part with a record of it, then cuts off what lies behind the mark. Who has read that already sees the record, and
knows what of that he has (see SinceMark): so each reader has each row once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import TopologyError
from ouzel.files import append_whole
from ouzel.runtime.checkpoints.records import StoredRecord, pack_record, records_in, to_bytes, to_frame
from ouzel.runtime.operators.consolidate import net_changes
from ouzel.runtime.process import kept_parts as parts
from ouzel.runtime.process.kept_parts import KeptPart, PartState, Spot, kept_parts_of, part_path
from ouzel.runtime.protocol.cluster.since_mark import SinceMark

PART_BYTES = 16 << 20
KEPT_BYTES = 1 << 30
FOLD_BYTES = 64 << 20
GATHERED_ROWS = 20_000
_REMOVED = "results were removed before they were read, for more came than is kept; read them anew"
IDS_KEPT = 1 << 16
"""Ids of the latest batches that are known when they come again: a source sends none again that lie further back (REMEMBERED)."""


class ResultKeeper:
    """The end of one task of the sink (see Results). Nothing is made before it is first told something.

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
        self._state = PartState(-1, {})
        self._file, self._number = -1, 0

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Keep a batch; it is on disk when this returns, even if the machine goes down.

        Raises:
            TopologyError: there is no room for it.
        """
        with self._open_file():
            if batch_id in self._seen:
                return
            self._append(pack_record(parts.ROWS, batch_id % (1 << 64), to_bytes(frame)))
            self._seen[batch_id] = None
            if os.fstat(self._file).st_size > self._part_bytes:
                self._begin_part()
                self._bound(WEIGHT in frame.columns)

    def mark(self, epoch: int, kept: int) -> None:
        """See Results; it is on disk when this returns.

        Raises:
            TopologyError: there is no room for it.
        """
        with self._open_file():
            self._append(parts.pack_mark(epoch, kept))
            self._on_mark(epoch, kept, Spot(self._number, os.fstat(self._file).st_size))

    def roll_back(self, epoch: int, generation: int) -> None:
        """Cut off what lies behind the mark; a process that dies in the midst of that leaves it to the next one.

        Raises:
            TopologyError: there is no room for the record of it.
        """
        with self._open_file():
            if generation <= self._state.generation:
                return
            end = Spot(self._number, os.fstat(self._file).st_size)
            self._close()  # if anything goes wrong, what is on disk is looked at anew
            later = (spot for one, spot in self._state.marks.items() if one >= epoch)
            spot = min(later, default=end) if epoch else Spot(0, 0)
            before = {one: at for one, at in self._state.marks.items() if one < epoch}
            self._state = PartState(generation, {**before, epoch: spot})
            self._seen.clear()
            record = self._state.pack(parts.ROLL_BACK)
            parts.write_kept_part(part_path(self._folder, self._number + 1), record)
            self._cut_off(spot, self._number + 1)
            self._open(self._number + 1, len(record))

    @contextmanager
    def _open_file(self) -> Iterator[None]:
        try:
            if self._file < 0:
                self._recover()
            yield
        except OSError as error:
            raise TopologyError(f"results cannot be kept in {self._folder}: {error.strerror}") from error

    def _append(self, text: bytes) -> None:
        append_whole(self._file, text, is_synced=True)

    def _recover(self) -> None:
        """Know what those before this process have kept; cut off what they left half, or did not come to cut off."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self._folder.glob("*.new"):
            left.unlink()
        self._seen, self._state = {}, PartState(-1, {})
        end, known = 0, kept_parts_of(self._folder)
        for part in known:
            end = 0
            for record in records_in(part.path):
                end = record.end
                self._on_record(part, record)
        if not known or known[-1].is_fold:
            self._open(known[-1].number + 1 if known else 1)
            return
        self._open(known[-1].number, end)

    def _on_record(self, part: KeptPart, record: StoredRecord) -> None:
        match record.kind:
            case parts.ROWS:
                self._seen[record.id] = None
            case parts.IDS:
                self._seen.update(dict.fromkeys(np.frombuffer(record.body, np.uint64).tolist()))
            case parts.MARK:
                self._on_mark(record.id, parts.kept_epoch(record), Spot(part.number, record.end))
            case parts.BEGIN if not part.is_fold:
                self._state = PartState.of(record)
            case parts.ROLL_BACK:
                self._state = PartState.of(record)
                self._seen.clear()
                self._cut_off(self._state.marks[max(self._state.marks)], part.number)

    def _on_mark(self, epoch: int, kept: int, spot: Spot) -> None:
        marks = {one: at for one, at in self._state.marks.items() if one < epoch} | {epoch: spot}
        needed = max((one for one in marks if one <= kept), default=0)
        self._state = self._state._replace(marks={one: at for one, at in marks.items() if one >= needed})

    def _cut_off(self, spot: Spot, before: int) -> None:
        """Remove what lies behind a mark and before a part; the latest first, so that what is left is always a whole beginning."""
        for part in reversed(kept_parts_of(self._folder)):
            if spot.part < part.number < before:
                part.path.unlink()
            elif part[:2] == (spot.part, False) and part.path.stat().st_size > spot.offset:
                os.truncate(part.path, spot.offset)

    def _open(self, number: int, size: int = 0) -> None:
        self._close()
        path = part_path(self._folder, number)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._number = number
        os.ftruncate(self._file, size)
        if not size and (self._state.marks or self._state.generation >= 0):
            self._append(self._state.pack(parts.BEGIN))

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _begin_part(self) -> None:
        """Go on in a new part, and forget ids that do not come again: a topology that runs for ever would keep ever more."""
        self._seen = dict.fromkeys(list(self._seen)[-IDS_KEPT:])
        self._open(self._number + 1)

    def _bound(self, takes_back: bool) -> None:
        """Remove what is more than is kept, or fold it."""
        known = kept_parts_of(self._folder)
        if takes_back:
            self._fold_if_due(known)
            return
        kept = 0
        for part in reversed(known):
            kept += part.path.stat().st_size
            if kept > self._kept_bytes and part is not known[-1]:
                part.path.unlink()

    def _fold_if_due(self, known: list[KeptPart]) -> None:
        last = next((part for part in reversed(known) if part.is_fold), None)
        needed = min((spot.part for epoch, spot in self._state.marks.items() if epoch), default=self._number)
        since = [part for part in known if (last is None or part > last) and part.number < needed]
        least = max(self._fold_bytes, last.path.stat().st_size if last else 0)
        if sum(part.path.stat().st_size for part in since) <= least:
            return
        folded = [last, *since] if last else since
        records = (record for part in folded for record in records_in(part.path))
        if frames := [to_frame(record.body) for record in records if record.kind == parts.ROWS]:
            self._fold(frames, folded[-1].number)
            for part in known:
                if last and part < last:
                    part.path.unlink()

    def _fold(self, frames: list[pl.DataFrame], number: int) -> None:
        """Make a part of what all up to this one add up to."""
        ids = np.array([one % (1 << 64) for one in self._seen], np.uint64).tobytes()
        text = pack_record(parts.IDS, 0, ids) + pack_record(parts.ROWS, 0, to_bytes(net_changes(frames)))
        if self._state.generation >= 0:
            text = PartState(self._state.generation, {0: Spot(0, 0)}).pack(parts.BEGIN) + text
        parts.write_kept_part(part_path(self._folder, number, is_fold=True), text)


class KeptResults:
    """What is kept of a submitted topology's result, read on and on: each call of `read` goes on where the last one ended.

    What a roll back has cut off after it was read is taken back, if the result retracts, or does not come a second time.

    Args:
        folder: with a folder for each run, and in it one for each task.
        columns: what the columns are called now; an update may have renamed them.
    """

    def __init__(self, folder: Path, columns: Sequence[str] = ()) -> None:
        self._folder, self._columns = folder, list(columns)
        self._begun: dict[Path, tuple[int, bool]] = {}
        self._places: dict[Path, tuple[tuple[int, bool], int]] = {}
        self._since: dict[Path, SinceMark] = {}

    def read(self) -> Iterator[pl.DataFrame]:
        """What has come since the last call, in the order of runs.

        Raises:
            TopologyError: it was folded or removed before it was read.
        """
        for task in sorted(self._folder.glob("*/task-*")):
            while True:
                try:
                    yield from self._read_task(task)
                    break
                except FileNotFoundError:  # cut off, folded or removed since its folder was looked at
                    if self._places[task] == (self._begun[task], 0):
                        del self._places[task]

    def _read_task(self, task: Path) -> Iterator[pl.DataFrame]:
        known = kept_parts_of(task)
        if known and task not in self._places:
            first = next((part for part in reversed(known) if part.is_fold), known[0])
            self._begun[task] = first[:2]
            self._places[task] = first[:2], 0
        place, offset = self._places.get(task, ((0, False), 0))
        if known and known[0][:2] > place and not _is_cut_behind(known[0], place[0]):
            raise TopologyError(_REMOVED)
        for part in known:
            if part[:2] < place:
                continue
            if part[:2] > place:
                place, offset = part[:2], 0
            skips = part.is_fold and place != self._begun[task]
            for record in records_in(part.path, offset):
                offset = record.end
                self._places[task] = place, offset
                if not skips:
                    yield from self._take(task, record)
            self._places[task] = place, offset

    def _take(self, folder: Path, record: StoredRecord) -> Iterator[pl.DataFrame]:
        since = self._since.setdefault(folder.parent, SinceMark())
        task = int(folder.name.partition("-")[2])
        rows: pl.DataFrame | None = None
        match record.kind:
            case parts.ROWS:
                rows = since.on_rows(task, to_frame(record.body))
            case parts.MARK:
                since.on_mark(task, record.id, parts.kept_epoch(record))
            case parts.BEGIN:
                state = PartState.of(record)
                since.on_met(task, max(state.marks, default=0), state.generation)
            case parts.ROLL_BACK:
                state = PartState.of(record)
                rows = since.on_roll_back(task, max(state.marks), state.generation)
        if rows is not None:
            yield with_names(rows, self._columns)


def gather(frames: Iterable[pl.DataFrame], rows: int = GATHERED_ROWS) -> Iterator[pl.DataFrame]:
    """The same rows in the same order, in frames of at least so many: what is done with a frame takes milliseconds, however small it is."""
    waiting: list[pl.DataFrame] = []
    height = 0
    for frame in frames:
        waiting.append(frame)
        height += frame.height
        if height >= rows:
            yield pl.concat(waiting)
            waiting, height = [], 0
    if waiting:
        yield pl.concat(waiting)


def with_names(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The rows under the names that their columns have now; as they are if nobody says so."""
    names = [*columns, *[WEIGHT] * (rows.columns[-1:] == [WEIGHT])]
    renames = len(names) == rows.width and bool(columns)
    return rows.rename(dict(zip(rows.columns, names, strict=True))) if renames else rows


def _is_cut_behind(part: KeptPart, number: int) -> bool:
    """Whether all that was between part `number` and this one was cut off by the roll back that this one begins with."""
    first = next(records_in(part.path), None)
    if first is None or first.kind != parts.ROLL_BACK:
        return False
    marks = PartState.of(first).marks
    return marks[max(marks)].part < number

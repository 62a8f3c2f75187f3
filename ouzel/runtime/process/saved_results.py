"""The result of a topology as it was at an epoch, on its way into a savepoint and out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import StateError
from ouzel.runtime.checkpoints.records import pack_record, records_in, to_bytes, to_frame
from ouzel.runtime.operators.consolidate import net_changes
from ouzel.runtime.process import kept_parts as parts
from ouzel.runtime.process.kept_parts import KeptPart, PartState, Spot, kept_parts_of, part_path
from ouzel.runtime.process.kept_results import with_names


def results_at(epoch: int, folder: Path, now: Path | None) -> Iterator[pl.DataFrame]:
    """The result of a topology that does not run, as it was at an epoch.

    Args:
        epoch: what comes after its mark is left out.
        folder: with a folder for each run.
        now: that of the run that the epoch is of; None if it has no result. Former runs are there to their ends.

    Raises:
        StateError: it is not known any more how the result was.
    """
    for task in sorted(folder.glob("*/task-*")):
        known = kept_parts_of(task)
        folds = [place for place, part in enumerate(known) if part.is_fold]
        known = known[folds[-1] if folds else 0 :]
        end = _find_mark(epoch, known) if task.parent == now else None
        if known and task.parent == now and end is None:
            raise StateError(f"the result in {task} has gone on since epoch {epoch}, and is not known as it was then")
        for part in known:
            for record in records_in(part.path):
                is_before = end is None or part.is_fold or Spot(part.number, record.end) <= end
                if record.kind == parts.ROWS and is_before:
                    yield to_frame(record.body)


def _find_mark(epoch: int, known: Sequence[KeptPart]) -> Spot | None:
    """Where the mark of an epoch is; None if there is none."""
    spot: Spot | None = None
    for part in known:
        for record in records_in(part.path):
            if record.kind == parts.MARK and record.id == epoch:
                spot = Spot(part.number, record.end)
            elif record.kind in (parts.BEGIN, parts.ROLL_BACK):
                spot = PartState.of(record).marks.get(epoch, spot)
    return spot


def write_results(task: Path, frames: Iterator[pl.DataFrame]) -> None:
    """Keep a result as a task of a former run has kept its own: of one that takes rows back what it adds up to.

    Raises:
        OSError: there is no room.
    """
    task.mkdir(mode=0o700, parents=True)
    with part_path(task, 1).open("wb") as file:
        for number, frame in enumerate(add_up_changes(frames)):
            file.write(pack_record(parts.ROWS, number, to_bytes(frame)))


def add_up_changes(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The frames of a result; of one that takes rows back what they add up to."""
    changes = list[pl.DataFrame]()
    for frame in frames:
        if WEIGHT in frame.columns:
            changes.append(frame)
        else:
            yield frame
    if changes:
        yield net_changes(changes)


def read_results(task: Path, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """What `write_results` was given, under the names that its columns have now."""
    for part in kept_parts_of(task):
        for record in records_in(part.path):
            yield with_names(to_frame(record.body), columns)

"""Snapshots and stores for tests of checkpoints."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ouzel.runtime.checkpoints.manifest import Manifest, PartTimes, TaskFile, TaskFiles
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.state.context import KeyGroups, Snapshot
from ouzel.runtime.state.task_snapshot import TaskSnapshot

SEED = 11


def counts(number: int = 1, *, whole: bool = True, operator: str = "count", rows: int = 3) -> Snapshot:
    """A snapshot of one operator."""
    frame = pl.DataFrame({"key": [f"key {row}" for row in range(rows)], "n": [number * row for row in range(rows)]})
    return Snapshot(
        operator, KeyGroups(), SEED, number, whole, {"counts": frame, "time": pl.DataFrame({"value": [number]})}
    )


def task(*states: Snapshot, component: str = "counts", index: int = 0) -> TaskSnapshot:
    """A snapshot of one task."""
    return TaskSnapshot(component, index, states, {"lines": Place(7, 5, 7, 6, 1)}, 5, {"rows_late": 2})


def write_epoch(store: CheckpointStore, epoch: int, *before: TaskFile, number: int | None = None) -> Manifest:
    """An epoch of one task that keeps something, whose files begin with `before`, and of one that keeps nothing."""
    number = len(before) + 1 if number is None else number
    first = store.write_task(epoch, task(counts(number, whole=not before)))
    second = store.write_task(epoch, task(component="lines"))
    tasks = (
        TaskFiles("counts", 0, (*before, first), PartTimes(4.0, 3.4, 40.2)),
        TaskFiles("lines", 0, (second,), PartTimes(41.0, 0.1, 5.0)),
    )
    manifest = Manifest(epoch, "words", SEED, 1_700_000_000_000_000 + epoch, tasks)
    store.complete(manifest)
    return manifest


def chain_of(manifest: Manifest) -> tuple[TaskFile, ...]:
    """The files of the task that keeps something."""
    return manifest.tasks[0].files


def claimed(folder: Path) -> CheckpointStore:
    """A store of the topology 'words'."""
    store = CheckpointStore(folder)
    store.claim("words", "its id")
    return store


def present(store: CheckpointStore) -> set[str]:
    """The names of all files, relative to the folder."""
    return {str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file()}

"""What is written to stay is synced before it has its name, and so is the directory that holds the name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ouzel.reconcile.recording.record import RECORD, RunRecord
from ouzel.runtime.checkpoints.manifest import Manifest
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from tests.state.test_context import filled


def write_task(home: Path) -> Path:
    store = CheckpointStore(home)
    store.claim("toy", "1")
    return home / store.write_task(1, TaskSnapshot("toy", 0, (filled().state.snapshot(),))).name


def complete_epoch(home: Path) -> Path:
    store = CheckpointStore(home)
    store.claim("toy", "1")
    store.complete(Manifest(1, "toy", 0, 0, ()))
    return home / "epochs" / f"{1:020}"


def write_record(home: Path) -> Path:
    RunRecord("q", "SELECT 1", "/", "memory", "at-least-once", {}).save(home)
    return home / RECORD


@pytest.mark.parametrize("write", [write_task, complete_epoch, write_record])
def test_it_is_on_disk_before_its_name_is(
    write: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, int]] = []
    sync, rename, link = os.fsync, Path.rename, Path.hardlink_to

    def note_sync(file: int) -> None:
        done.append(("sync", os.fstat(file).st_ino))
        sync(file)

    def note_rename(fresh: Path, path: Path) -> Path:
        done.append(("name", fresh.stat().st_ino))
        return rename(fresh, path)

    def note_link(path: Path, fresh: Path) -> None:
        done.append(("name", fresh.stat().st_ino))
        link(path, fresh)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "rename", note_rename)
    monkeypatch.setattr(Path, "hardlink_to", note_link)
    path = write(tmp_path)
    named = done.index(("name", path.stat().st_ino))
    files = [path, *path.glob("*")] if path.is_dir() else [path]
    assert all(("sync", file.stat().st_ino) in done[:named] for file in files)
    assert done[named + 1 :] == [("sync", path.parent.stat().st_ino)]

"""What a topology master does whose folder of epochs is damaged, and a task whose base of changes is."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.manifest import PartTimes
from ouzel.runtime.checkpoints.objects import StoreAway
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.process.epoch_keeper import Epochal, EpochKeeper
from ouzel.runtime.process.epochs import CHANGES_MAX, PartWatch, SnapshotFiles
from ouzel.runtime.process.patience import when_it_answers
from ouzel.runtime.protocol.cluster.epochs import Generation, GoBack, KeepEpoch
from tests.checkpoints.samples import claimed, counts, task, write_epoch


class Master(Epochal):
    """Is told what the keeper has found."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def tick(self) -> KeepEpoch | GoBack | None:
        return None

    def on_epoch_kept(self, epoch: int) -> None:
        self.told.append(epoch)

    def on_epoch_lost(self, epoch: int, reason: str) -> None:
        self.told.append(reason)

    def on_gone_back(self, generation: Generation, problems: list[str]) -> None:
        self.told.append(generation)

    def on_nothing_to_go_back_to(self, problems: list[str]) -> None:
        self.told += problems


def keeper_of(tmp_path: Path) -> EpochKeeper:
    """Of a topology that has its epochs in a folder, and leads for the first time."""
    job: Any = SimpleNamespace(
        id="its id",
        leaves_epochs=True,
        topology=SimpleNamespace(name="words"),
        checkpoints=tmp_path / "epochs",
        revision=0,
    )
    state = LocalState(tmp_path / "state")
    state.lead("/tmanagers/its id", b"", 0)
    return EpochKeeper(cast(Any, job), state, 1, CheckpointStore(tmp_path / "epochs"))


def take_over(keeper: EpochKeeper, patience: int = 3) -> tuple[Generation, int]:
    """Take over as a topology master does; it would wait for ever where patience ends."""
    left = iter(range(patience))

    def lose_patience(_: float) -> None:
        assert next(left, None) is not None, "it waits for what does not mend itself"

    return when_it_answers(keeper.take_over, "to take over", lose_patience)


@pytest.mark.parametrize("name", ["", "leaders", "owner"])
def test_a_topology_master_ends_where_something_is_in_the_way_of_its_epochs(name: str, tmp_path: Path) -> None:
    place = tmp_path / "epochs" / name
    place.parent.mkdir(exist_ok=True)
    place.mkdir() if name == "owner" else place.write_text("in the way")
    with pytest.raises(StateError, match=r"epochs") as told:
        take_over(keeper_of(tmp_path))
    assert str(place) in str(told.value)


def test_a_topology_master_ends_that_may_not_write_its_epochs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_epoch(claimed(tmp_path / "epochs"), 1)
    keeper, real = keeper_of(tmp_path), os.open

    def refusing(path: Any, flags: int, *mode: Any, **options: Any) -> int:
        if flags & os.O_CREAT and "epochs" in str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, flags, *mode, **options)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(StateError, match=r"epochs are kept in .*Permission denied; mend that, and start the topology"):
        take_over(keeper)


@pytest.mark.parametrize("passing", [OSError(errno.ENOSPC, "no room"), StoreAway(errno.EACCES, "it lets nobody in")])
def test_a_store_that_is_full_or_away_is_waited_for(
    passing: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_epoch(claimed(tmp_path / "epochs"), 1)
    keeper, claim, fails = keeper_of(tmp_path), CheckpointStore.claim, iter([passing, passing])

    def claiming(*arguments: Any) -> None:
        if error := next(fails, None):
            raise error
        claim(*arguments)

    monkeypatch.setattr(CheckpointStore, "claim", claiming)
    assert take_over(keeper) == (Generation(), 1)


def test_a_topology_stops_whose_epochs_are_gone_or_no_folder_when_all_are_to_go_back(tmp_path: Path) -> None:
    keeper, master = keeper_of(tmp_path), Master()
    take_over(keeper)
    keeper._do(master, GoBack(1))
    assert master.told == [Generation(1, 0)]  # nothing was ever kept
    (tmp_path / "epochs").rename(tmp_path / "away")
    keeper._do(master, GoBack(2, 3))
    assert master.told[1:] == [f"epoch 3 was kept in {tmp_path}/epochs, and is gone"]
    (tmp_path / "epochs").write_text("in the way")
    keeper._do(master, GoBack(2, 3))
    assert "cannot be used: Not a directory" in str(master.told[2])


@pytest.mark.parametrize(
    ("changes", "chain"),
    [(0.1, [1, 2, 3, 4, 5, 6, 7, 1, 2, 3]), (0.4, [1, 2, 3, 1, 2]), (0.8, [1, 2, 1, 2])],
    ids=str,
)
def test_a_whole_snapshot_is_written_again_when_a_restart_would_load_much(
    changes: float, chain: list[int], tmp_path: Path
) -> None:
    files = SnapshotFiles(claimed(tmp_path / "epochs"))
    found: list[int] = []
    for epoch, _ in enumerate(chain, 1):
        whole = files.needs_whole
        rows = 10_000 if whole else int(10_000 * changes)
        files.write(epoch, task(replace(counts(epoch, whole=whole, rows=rows), live=10_000)))
        found.append(len(files.saved.files))
    assert found == chain


def test_what_only_grows_is_not_written_again_until_there_are_many_files(tmp_path: Path) -> None:
    files = SnapshotFiles(claimed(tmp_path / "epochs"))
    for epoch in range(1, CHANGES_MAX + 2):
        assert files.needs_whole == (epoch == 1)
        files.write(epoch, task(replace(counts(epoch, whole=epoch == 1, rows=5_000), live=5_000 * epoch)))
    assert files.needs_whole


@pytest.mark.parametrize("harm", ["torn", "gone"])
def test_changes_whose_base_is_damaged_are_followed_by_a_whole_snapshot_at_once(harm: str, tmp_path: Path) -> None:
    files = SnapshotFiles(store := claimed(tmp_path / "epochs"))
    for epoch in (1, 2):
        files.write(epoch, task(counts(epoch, whole=epoch == 1)))
    assert not files.saved.failed
    base = tmp_path / "epochs" / files.saved.files[0].name
    os.truncate(base, 100) if harm == "torn" else base.unlink()
    failed = 0
    for epoch in range(3, 3 + CHANGES_MAX):
        files.write(epoch, task(counts(epoch, whole=files.needs_whole)))
        if not files.saved.failed and not store.find_missing_file(files.saved.files):
            break
        failed += 1
        assert str(base) in files.saved.failed
    assert failed == 1
    assert len(files.saved.files) == 1


def test_a_part_is_measured_from_when_the_task_hears_of_the_epoch_until_its_files_are_written(tmp_path: Path) -> None:
    clock = iter([17.0])
    files = SnapshotFiles(claimed(tmp_path / "epochs"), lambda: next(clock))
    watch = PartWatch(1, 10.0)
    watch.on_rest(12.0)
    watch.on_copied(12.5)
    files.write(1, task(replace(counts(), live=5, keys=3)), watch)
    assert (files.saved.took, files.saved.keys) == (PartTimes(2.0, 0.5, 4.5), 3)
    files.write(2, "its code failed", PartWatch(2, 20.0))
    assert files.saved.took is None

"""A crash or a full disk at each call in turn: former epochs stay whole, and what is new is there whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ouzel.runtime.checkpoints.fork import fork_epoch
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFiles
from ouzel.runtime.checkpoints.names import epoch_of_partial
from ouzel.runtime.checkpoints.store import CheckpointStore
from tests.checkpoints.failing_disk import Crash, Failure, failing
from tests.checkpoints.samples import SEED, chain_of, claimed, counts, present, task, write_epoch

Step = Callable[[CheckpointStore], object]
CALLS_MOST = 100


def write(store: CheckpointStore) -> object:
    """A task's file of the epoch after the newest."""
    epoch = (store.epochs() or [0])[-1] + 1
    return store.write_task(epoch, task(counts(epoch, whole=epoch == 1)))


def complete(store: CheckpointStore) -> object:
    """The epoch after the newest, of a file that is there."""
    epoch, before = (store.epochs() or [0])[-1] + 1, store.newest()[0]
    chain = chain_of(before) if before else ()
    file = store.write_task(epoch, task(counts(len(chain) + 1, whole=not chain)))
    store.complete(Manifest(epoch, "words", SEED, epoch, (TaskFiles("counts", 0, (*chain, file)),)))
    return epoch


def prune(store: CheckpointStore) -> object:
    """All but the newest two."""
    return store.prune(2)


def claim(store: CheckpointStore) -> object:
    """The folder."""
    store.claim("words", "its id")
    return store.owner()


def nothing(folder: Path) -> CheckpointStore:
    """A folder that is not there."""
    return CheckpointStore(folder / "new" / "checkpoints")


def some(folder: Path) -> CheckpointStore:
    """Two chains: epochs 1 to 3, of which 3 goes on from 2 and 2 from 1, then 4 and 5; and a file of one that is not complete."""
    template = folder.parent / "template"
    if not template.exists():
        store = claimed(template)
        manifest = write_epoch(store, 2, *chain_of(write_epoch(store, 1)))
        write_epoch(store, 3, *chain_of(manifest))
        write_epoch(store, 5, *chain_of(write_epoch(store, 4)))
        store.write_task(6, task(counts(9)))
    shutil.copytree(template, folder)
    return CheckpointStore(folder)


def fail_at(step: Step, store: CheckpointStore, at: int, failure: Failure) -> str:
    """Which call has failed; none if there are fewer."""
    with failing(at, failure) as done:
        try:
            step(store)
        except (Crash, OSError):
            assert len(done) > at, done
    return done[at] if len(done) > at else ""


@pytest.mark.parametrize("failure", list(Failure), ids=lambda failure: failure.name)
@pytest.mark.parametrize("step", [write, complete, prune, claim])
@pytest.mark.parametrize("begin", [nothing, some])
def test_what_was_complete_stays_so(
    begin: Callable[[Path], CheckpointStore], step: Step, failure: Failure, tmp_path: Path
) -> None:
    for at in range(CALLS_MOST):
        store = begin(tmp_path / str(at))
        before, newest, files = store.epochs(), store.newest()[0], present(store)
        failed = fail_at(step, store, at, failure)
        after = [epoch for epoch in store.epochs() if not store.verify(epoch)]
        assert after == store.epochs(), "an epoch has a manifest and not all files"
        assert (newest, []) == store.newest(before=newest.epoch + 1 if newest else 1), "the newest epoch is gone"
        assert set(after[-2:]) >= set(before[-2:]) or step is complete
        if failure is not Failure.CRASH and failed != "unlink":
            partial = {name for name in present(store) - files if epoch_of_partial(Path(name).name) is not None}
            assert not partial
        step(store)  # it can be done again
        left = store.epochs()
        store.prune(len(left) or 1)
        assert store.newest() == (store.manifest(left[-1]) if left else None, [])
        if not failed:
            return
    pytest.fail("it never ends")


def test_a_writer_that_died_leaves_nothing_for_long(tmp_path: Path) -> None:
    store = some(tmp_path / "one")
    files = present(store)
    for at in range(3, 6):
        fail_at(complete, store, at, Failure.CRASH)
    left = present(store) - files
    assert left
    store.prune(5)
    assert present(store) - files == left, "of epoch 6, which may be being written"
    complete(store)
    store.prune(6)
    assert not present(store) & left


@pytest.mark.parametrize("failure", [Failure.CRASH, Failure.FULL], ids=lambda failure: failure.name)
def test_a_fork_is_there_whole_or_not_at_all(failure: Failure, tmp_path: Path) -> None:
    store = some(tmp_path / "one")
    for at in range(CALLS_MOST):
        folder = tmp_path / "forks" / str(at)
        failed = fail_at(lambda store, folder=folder: fork_epoch(store, 3, folder), store, at, failure)
        assert not folder.exists() or CheckpointStore(folder).newest() == (store.manifest(3), [])
        if failure is Failure.FULL and folder.parent.exists():
            assert {path for path in folder.parent.iterdir() if path.name.startswith(".")} == set()
        assert store.verify(3) == []
        if not failed:
            assert folder.exists()
            return
    pytest.fail("it never ends")


def test_a_fork_on_another_disk_has_files_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = some(tmp_path / "one")
    fork_epoch(store, 5, tmp_path / "same")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", refuse)
    fork_epoch(store, 5, tmp_path / "other")
    assert [CheckpointStore(tmp_path / name).newest() for name in ("same", "other")] == [(store.manifest(5), [])] * 2
    file = chain_of(store.manifest(5))[0].name
    same, other = (os.path.samefile(store.folder / file, tmp_path / name / file) for name in ("same", "other"))
    assert (same, other) == (True, False)


def test_a_disk_that_takes_little_at_a_time_gets_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:70]))
    store = claimed(tmp_path)
    written = write_epoch(store, 1)
    assert store.newest() == (written, [])

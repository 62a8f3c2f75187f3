"""Whatever byte is lost or changed in a file of a checkpoint: it is found, the file is named, and the epoch before it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.manifest import Manifest
from ouzel.runtime.checkpoints.names import epoch_name
from ouzel.runtime.checkpoints.store import CheckpointStore
from tests.checkpoints.samples import claimed, write_epoch


@pytest.fixture
def epochs(tmp_path: Path) -> tuple[CheckpointStore, Manifest, Manifest]:
    """Two epochs, each with files of its own."""
    store = claimed(tmp_path)
    return store, write_epoch(store, 1), write_epoch(store, 2)


def flipped(data: bytes) -> Iterator[bytes]:
    """The data with a bit changed, each byte in turn."""
    for place in range(len(data)):
        yield bytes([*data[:place], data[place] ^ (1 << place % 8), *data[place + 1 :]])


def cut(data: bytes) -> Iterator[bytes]:
    """The data cut at each length, and with something more."""
    yield from (data[:size] for size in range(len(data)))
    yield data + b"\0"


def swapped(data: bytes) -> Iterator[bytes]:
    """The data with two blocks in each other's place, and with one of zeros, as a torn disk has it."""
    for place in range(0, len(data) - 128, 64):
        yield data[:place] + data[place + 64 : place + 128] + data[place : place + 64] + data[place + 128 :]
        yield data[:place] + bytes(64) + data[place + 64 :]


def of_a_task(manifest: Manifest) -> str:
    """The file of the task that keeps something."""
    return manifest.tasks[0].files[0].name


def of_a_source(manifest: Manifest) -> str:
    """The file of the task that has places only."""
    return manifest.tasks[1].files[0].name


def of_the_epoch(manifest: Manifest) -> str:
    """The manifest."""
    return f"epochs/{epoch_name(manifest.epoch)}"


@pytest.mark.parametrize("harm", [flipped, cut, swapped])
@pytest.mark.parametrize("part", [of_a_task, of_a_source, of_the_epoch])
def test_harm_is_found_and_named(
    part: Callable[[Manifest], str],
    harm: Callable[[bytes], Iterator[bytes]],
    epochs: tuple[CheckpointStore, Manifest, Manifest],
) -> None:
    store, before, harmed = epochs
    path = store.folder / part(harmed)
    data = path.read_bytes()
    for number, wrong in enumerate(harm(data)):
        if wrong == data:
            continue
        path.write_bytes(wrong)
        problems = store.verify(2)
        assert len(problems) == 1, f"{harm.__name__} {number}"
        assert str(path) in problems[0]
        if number % 50 == 0:
            assert store.newest() == (before, [f"epoch 2 cannot be used: {problems[0]}"])
            refuses(store, harmed)
    path.write_bytes(data)
    assert store.newest() == (harmed, [])


def refuses(store: CheckpointStore, manifest: Manifest) -> None:
    """Reading says so too."""
    with pytest.raises(StateError):
        [store.read_task(task) for task in store.manifest(manifest.epoch).tasks]


@pytest.mark.parametrize("part", [of_a_task, of_a_source])
def test_a_missing_file_is_named(
    part: Callable[[Manifest], str], epochs: tuple[CheckpointStore, Manifest, Manifest]
) -> None:
    store, before, harmed = epochs
    (store.folder / part(harmed)).unlink()
    assert store.newest() == (before, [f"epoch 2 cannot be used: {store.folder / part(harmed)} is missing"])
    (store.folder / part(before)).unlink()
    found, problems = store.newest()
    assert (found, [problem[:7] for problem in problems]) == (None, ["epoch 2", "epoch 1"])


def test_a_file_that_cannot_be_read_is_named(epochs: tuple[CheckpointStore, Manifest, Manifest]) -> None:
    store, before, harmed = epochs
    path = store.folder / of_a_task(harmed)
    path.unlink()
    path.mkdir()
    assert store.newest() == (before, [f"epoch 2 cannot be used: {path} cannot be read: Is a directory"])


def test_files_of_other_versions_are_named(
    epochs: tuple[CheckpointStore, Manifest, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _, _ = epochs
    monkeypatch.setattr("ouzel.runtime.checkpoints.task_file.TASK_FILE_VERSION", 2)
    assert [problem.partition(" is ")[2] for problem in store.verify(1)] == [
        "of version 1; this version of Ouzel reads version 2"
    ] * 2
    monkeypatch.setattr("ouzel.runtime.checkpoints.manifest.MANIFEST_VERSION", 3)
    (problem,) = store.verify(1)
    assert problem == f"{store.folder}/epochs/{epoch_name(1)} is of version 1; this version of Ouzel reads version 3"

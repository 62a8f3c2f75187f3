"""Checkpoints in a folder: what is written is read again, and whatever is wrong with it is found and named."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.fresh_file import SMALL_BYTES, FreshFile
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFile, TaskFiles
from ouzel.runtime.checkpoints.names import epoch_name, epoch_of, task_file_name
from ouzel.runtime.checkpoints.store import CheckpointStore
from tests.checkpoints.samples import SEED, chain_of, claimed, counts, present, task, write_epoch

LARGE = [1, 2, 9, 10, 2**31, 2**31 + 1, 2**63 - 1, 2**63, 10**20 - 1, 10**20, 10**21, 10**40]
"""Epochs of every width, in order."""


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    store = claimed(tmp_path)
    one = write_epoch(store, 1)
    two = write_epoch(store, 2, *chain_of(one))
    kept = store.read_task(two.tasks[0])
    assert [(one.component, one.index, one.time_us, one.counts) for one in kept] == [
        ("counts", 0, 5, {"rows_late": 2})
    ] * 2
    assert [[state.number for state in one.states] for one in kept] == [[1], [2]]
    assert kept[1].states[0].parts["counts"].equals(counts(2).parts["counts"])
    assert kept[0].places == task().places
    assert store.read_task(two.tasks[1])[0] == task(component="lines")
    assert (store.newest(), store.newest(before=2)) == ((two, []), (one, []))


def test_where_nothing_is_is_told_apart_from_what_cannot_be_used(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "none")
    assert (store.newest(), store.epochs(), store.prune(1)) == ((None, []), [], [])
    write_epoch(store, 7)
    (store.folder / "epochs" / epoch_name(7)).write_bytes(b"")
    found, problems = store.newest()
    assert found is None
    assert problems == [
        f"epoch 7 cannot be used: {store.folder}/epochs/{epoch_name(7)} is torn or damaged: its checksum is not that of its content"
    ]
    with pytest.raises(StateError, match="holds no epoch 8"):
        store.manifest(8)


def test_a_folder_that_cannot_be_read_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "epochs").write_text("")
    with pytest.raises(NotADirectoryError):
        CheckpointStore(tmp_path).newest()


def test_epochs_are_numbers_whatever_their_size(tmp_path: Path) -> None:
    assert sorted(map(epoch_name, LARGE)) == list(map(epoch_name, LARGE))
    assert [epoch_of(epoch_name(epoch)) for epoch in LARGE] == LARGE
    assert {epoch_of(name) for name in ("7", "", "x", "x0001", "²", "-1", epoch_name(10**20)[1:], f"x0005{10**4}")} == {
        None
    }
    store = claimed(tmp_path)
    for epoch in reversed(LARGE):
        write_epoch(store, epoch)
    assert store.epochs() == LARGE
    assert store.newest()[0] == store.manifest(10**40)
    store.prune(2)
    assert store.epochs() == LARGE[-2:]
    assert store.verify(LARGE[-1]) == store.verify(LARGE[-2]) == []
    assert len(present(store)) == 1 + 2 * 3


@pytest.mark.parametrize("component", ["a/../b", "a_b", "a.b-c", "", "ü" * 300, "a\udc80", "x" * 500, "."])
def test_any_component_has_files(component: str, tmp_path: Path) -> None:
    store = claimed(tmp_path)
    file = store.write_task(1, task(component=component))
    assert store.read_task(TaskFiles(component, 0, (file,))) == [task(component=component)]
    store.complete(Manifest(1, "words", SEED, 0, (TaskFiles(component, 0, (file,)),)))
    assert store.verify(1) == []
    assert (tmp_path / file.name).parent == tmp_path / "tasks"


def test_names_that_look_alike_when_written_are_different_files() -> None:
    names = {task_file_name(1, component, 0, "0" * 32) for component in ("a b", "a/b", "a_b", "x" * 200, "x" * 201)}
    assert len(names) == 5


def told(store: CheckpointStore, *files: TaskFile, of: str = "counts") -> str:
    with pytest.raises(StateError) as caught:
        store.read_task(TaskFiles(of, 0, files))
    return str(caught.value).replace(f"{store.folder}/", "")


def test_a_foreign_file_is_named(tmp_path: Path) -> None:
    store, other = claimed(tmp_path / "one"), CheckpointStore(tmp_path / "two")
    other.claim("others", "2")
    own, foreign = store.write_task(1, task(counts())), other.write_task(1, task(counts()))
    assert own.digest != foreign.digest
    os.replace(other.folder / foreign.name, store.folder / own.name)
    assert told(store, replace(own, size=foreign.size)) == (
        f"{own.name} is another file than the one that was written: it holds counts[0] of topology 'others' in epoch 1"
    )
    two = store.write_task(2, task(counts()))
    third = store.write_task(3, task(counts(3, whole=False)))
    assert (
        told(store, two, of="lines")
        == f"{two.name} holds counts[0] of topology 'words' in epoch 2, and is needed for lines[0]"
    )
    assert told(store, two, third) == f"{third.name} does not follow on the file before, of epoch 2"
    assert told(store, third) == f"{third.name} holds changes only, and no file before it"
    assert told(store, two, two) == f"{two.name} does not follow on the file before, of epoch 2"
    assert told(store) == "there is no file of task counts[0]"
    assert told(store, replace(two, name=third.name.replace("3", "4"))).endswith(" is missing")


def test_a_foreign_manifest_is_named(tmp_path: Path) -> None:
    store, other = claimed(tmp_path / "one"), CheckpointStore(tmp_path / "two")
    one, two = write_epoch(store, 1), write_epoch(other, 2)
    os.replace(other.folder / "epochs" / epoch_name(2), store.folder / "epochs" / epoch_name(2))
    assert store.verify(2) == [f"{store.folder}/epochs/{epoch_name(2)} is of another folder, of topology 'words'"]
    os.rename(store.folder / "epochs" / epoch_name(2), store.folder / "epochs" / epoch_name(3))
    found, problems = store.newest()
    assert (found, problems) == (
        one, [f"epoch 3 cannot be used: {store.folder}/epochs/{epoch_name(3)} is the manifest of epoch 2, not of epoch 3"],
    )  # fmt: skip
    assert two != one


def test_an_epoch_is_complete_once_and_with_all_its_files(tmp_path: Path) -> None:
    store = claimed(tmp_path)
    one = write_epoch(store, 1)
    store.complete(one)
    with pytest.raises(StateError, match="holds epoch 1 already, with other content"):
        store.complete(replace(one, made_us=5))
    (tmp_path / chain_of(one)[0].name).unlink()
    with pytest.raises(StateError, match=r"epoch 2 cannot be complete: .* is missing"):
        store.complete(replace(one, epoch=2))
    again = write_epoch(store, 1, number=2)
    assert store.newest() == (again, [])
    with pytest.raises(StateError, match="holds the checkpoints of topology 'words'"):
        store.complete(replace(again, epoch=2, topology="others"))


def test_a_late_writer_replaces_nothing(tmp_path: Path) -> None:
    store = claimed(tmp_path)
    one = write_epoch(store, 1)
    assert store.write_task(1, task(counts(1))) == chain_of(one)[0]
    late = store.write_task(1, task(counts(5)))
    assert store.newest() == (one, [])
    assert store.prune(1) == [late.name]
    assert store.newest() == (one, [])


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    store = claimed(tmp_path)
    store.claim("words", "its id")
    with pytest.raises(
        StateError, match=r"holds the checkpoints of another run of topology 'words': keep those of this one"
    ):
        store.claim("words", "2")
    for its_id in ("2", "its id"):
        with pytest.raises(
            StateError, match=r"holds the checkpoints of topology 'words': have topology 'others' keep its own"
        ):
            store.claim("others", its_id)


def test_of_two_that_claim_a_folder_at_once_one_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, looked = CheckpointStore(tmp_path), CheckpointStore.owner

    def look_early(one: CheckpointStore) -> object:
        found = looked(one)
        if one is store:
            CheckpointStore(tmp_path).claim("others", "2")
        return found

    monkeypatch.setattr(CheckpointStore, "owner", look_early)
    with pytest.raises(StateError, match="holds the checkpoints of topology 'others'"):
        store.claim("words", "its id")
    CheckpointStore(tmp_path).claim("others", "2")


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"{}")])
def test_a_lost_owner_note_is_found_again_in_the_manifests(harm: object, tmp_path: Path) -> None:
    store = claimed(tmp_path)
    one = write_epoch(store, 1)
    assert callable(harm)
    harm(tmp_path / "owner")
    assert store.newest() == (one, [])
    with pytest.raises(StateError, match="of topology 'words'"):
        store.claim("others", "2")
    store.claim("words", "its id")
    assert store.newest() == (one, [])
    two = write_epoch(store, 2)
    assert store.newest() == (two, [])


def test_a_large_file_leaves_room_on_the_disk_for_what_runs_and_a_small_one_need_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ouzel.runtime.checkpoints.fresh_file.RESERVE_BYTES", 1 << 62)
    monkeypatch.setattr("ouzel.runtime.checkpoints.fresh_file.RESERVE_SHARE", 1)  # the whole disk
    told = r"No space left on device: the last [0-9,]+ bytes are left to what runs"
    with FreshFile(tmp_path, "", 1) as file, pytest.raises(OSError, match=told):
        file.write(bytes(2 * SMALL_BYTES))
    assert list(tmp_path.iterdir()) == []
    with FreshFile(tmp_path, "", 1) as file:
        file.write(bytes(SMALL_BYTES))
        file.keep("small")
    assert (tmp_path / "small").stat().st_size == SMALL_BYTES

"""Stores of files: a folder does what ObjectStore says, and addresses and settings that none can serve are refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.errors import NotSupported, OuzelError, StateError
from ouzel.planner.epochs import check_path
from ouzel.planner.settings import Settings
from ouzel.planner.store_address import StoreAddress, parse_address
from ouzel.runtime.checkpoints.folder_store import FolderObjects, copy_object
from ouzel.runtime.checkpoints.objects import ObjectStore, StoreAway, parse_store_place
from ouzel.runtime.checkpoints.opening import open_store
from ouzel.runtime.checkpoints.sealed import MissingFile, seal, unreadable_file, unseal
from ouzel.runtime.checkpoints.store import CheckpointStore


@pytest.fixture
def store(tmp_path: Path) -> FolderObjects:
    """A folder that is not there yet."""
    return FolderObjects(tmp_path / "kept")


def test_a_folder_does_what_a_store_is_to_do(store: FolderObjects, tmp_path: Path) -> None:
    does_what_it_says(store)
    copies_to(store, FolderObjects(tmp_path / "other"))


def test_a_file_is_no_folder_of_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "counted").touch()
    assert not CheckpointStore(tmp_path / "counted").is_there


def does_what_it_says(store: ObjectStore) -> None:
    """What every store does, whatever is behind it."""
    assert (store.list(), store.list("tasks"), store.sizes(["note", "tasks/a"])) == ([], [], {})
    store.check_first_wins()
    assert store.list() == []
    with pytest.raises(FileNotFoundError):
        store.get("tasks/a")
    with pytest.raises(FileNotFoundError), store.open("tasks/a"):
        pass
    assert keep(store, "tasks/a~1.task", b"first", b"second") == 11
    keep(store, "note", b"whose")
    assert [store.has(name) for name in ("note", "tasks", "tasks/a~1.task", "epochs", "not")] == [True] * 3 + [
        False
    ] * 2
    assert (store.list(), store.list("tasks")) == (["note", *_folders(store)], ["a~1.task"])
    assert store.sizes(["note", "tasks/a~1.task", "tasks/none"]) == {"note": 5, "tasks/a~1.task": 11}
    with store.open("tasks/a~1.task") as file:
        assert (file.read(5), file.seek(0, 2), file.seek(5), file.read()) == (b"first", 11, 5, b"second")
    with store.fresh("", 0) as fresh:
        fresh.write(b"later")
        fresh.keep_if_first("note")
    assert store.get("note") == b"whose"
    keep(store, "note", b"replaced")
    assert store.get("note") == b"replaced"
    with store.fresh("tasks", 1) as fresh:
        fresh.write(b"never named")
    assert store.list("tasks") == ["a~1.task"]
    keep(store, "empty")
    assert (store.get("empty"), store.sizes(["empty"])) == (b"", {"empty": 0})
    store.delete(["note", "tasks/a~1.task", "empty"])
    store.delete([])
    assert (store.list("tasks"), store.sizes(["note", "empty"])) == ([], {})


def copies_to(store: ObjectStore, other: ObjectStore) -> None:
    """A file comes to another store as it is, whatever that is."""
    keep(store, "tasks/large", content := bytes(range(256)) * 40_000)
    store.copy("tasks/large", other)
    assert other.get("tasks/large") == content
    copy_object(other, "tasks/large", store)
    store.delete(["tasks/large"])
    assert other.sizes(["tasks/large"]) == {"tasks/large": len(content)}


def keep(store: ObjectStore, name: str, *pieces: bytes) -> int:
    """Write a file; its size."""
    with store.fresh(name.rpartition("/")[0], 1) as fresh:
        for piece in pieces:
            fresh.write(piece)
        fresh.keep(name)
    return fresh.size


def _folders(store: ObjectStore) -> list[str]:
    return ["tasks"] if isinstance(store, FolderObjects) else []


def test_what_a_store_cannot_tell_is_not_damage(store: FolderObjects) -> None:
    keep(store, "note", seal(1, {"a": 1}))
    assert unseal(store, "note", 1) == {"a": 1}
    with pytest.raises(MissingFile, match="none is missing"):
        unseal(store, "none", 1)
    away = StoreAway(5, "does not answer")
    assert unreadable_file("it", away) is away
    assert isinstance(unreadable_file("it", OSError(28, "No space left on device")), StoreAway)
    assert isinstance(unreadable_file("it", OSError(5, "Input/output error")), StateError)


@pytest.mark.parametrize(
    ("path", "endpoint", "told"),
    [
        ("gs://bucket/a", "", "'gs://...': epochs and savepoints are kept in a folder of this machine, or in S3"),
        ("hdfs://host/a", "", "write the path of a folder, or s3://bucket/prefix"),
        ("s3a://bucket/a", "", "'s3a://...'"),
        ("s3://me:hidden@bucket/a", "", "an address of S3 holds a bucket and a prefix, and nothing else"),
        ("s3://", "", "an address of S3 holds a bucket"),
        ("s3://bucket/a/../b", "", "an address of S3 holds a bucket"),
        ("s3://bucket/a?key=hidden", "", "an address of S3 holds a bucket"),
        ("s3://bucket/a", "http://me:hidden@host", "'checkpoint.endpoint' is to be the URL of a server"),
        ("kept", "host:9000", "write https://host:port"),
    ],
)
def test_what_no_store_is_behind_is_refused_when_planned(path: str, endpoint: str, told: str) -> None:
    settings = Settings().with_values([("checkpoint.path", path), ("checkpoint.endpoint", endpoint)])
    with pytest.raises(NotSupported) as error:
        check_path(settings)
    assert told in str(error.value)
    assert "hidden" not in str(error.value)


def test_an_address_is_read_as_it_is_written() -> None:
    check_path(
        Settings().with_values([("checkpoint.path", "s3://bucket/jobs/words/"), ("checkpoint.endpoint", "http://h:1")])
    )
    assert parse_address("s3://bucket/jobs/words/", "http://h:1") == StoreAddress("bucket", "jobs/words", "http://h:1")
    assert [str(parse_store_place(text)) for text in ("s3://bucket", "s3://bucket/a b", "some/folder")] == [
        "s3://bucket",
        "s3://bucket/a b",
        "some/folder",
    ]


def test_profiles_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.setenv("AWS_PROFILE", "work")
    with pytest.raises(OuzelError, match="AWS_PROFILE is not supported, for files of profiles are not read"):
        open_store(StoreAddress("bucket", "a"))

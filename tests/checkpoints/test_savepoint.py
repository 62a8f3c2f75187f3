"""Savepoints as files: whole or not at all, and what is damaged or missing of one is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.errors import StateError, SubmissionError
from ouzel.runtime.checkpoints.savepoint import SAVEPOINT_VERSION, Savepoint, write_savepoint
from ouzel.runtime.checkpoints.sealed import seal
from ouzel.runtime.checkpoints.store import CheckpointStore
from tests.checkpoints.failing_disk import Crash, Failure, failing
from tests.checkpoints.samples import chain_of, claimed, present, write_epoch

CALLS_MOST = 200


def add(fresh: Path) -> Sequence[str]:
    """What a topology puts beside its epoch."""
    (fresh / "results/task-00000").mkdir(parents=True)
    (fresh / "results/task-00000/part-00000001.rows").write_bytes(b"rows")
    (fresh / "program").write_bytes(b"program")
    return ("word", "n")


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    """Epochs 1 and 2; 2 goes on from 1."""
    made = claimed(tmp_path / "kept")
    write_epoch(made, 2, *chain_of(write_epoch(made, 1)))
    return made


def saved(store: CheckpointStore, name: str = "monday") -> Savepoint:
    """A savepoint of epoch 2."""
    return write_savepoint(store.folder.parent / name, store, 2, Path("/queries"), add)


def test_a_savepoint_holds_one_epoch_and_all_that_it_needs(store: CheckpointStore) -> None:
    before = present(store)
    made = Savepoint(saved(store).folder)
    note = made.note
    assert (note.topology, note.epoch, note.directory, note.columns) == ("words", 2, "/queries", ("word", "n"))
    assert [file.name for file in note.files] == ["program", "results/task-00000/part-00000001.rows"]
    assert made.verify() == []
    assert made.manifest == store.manifest(2)
    for name in [file.name for file in made.manifest.files]:
        (store.folder / name).unlink()
    assert made.verify() == []
    assert present(CheckpointStore(store.folder)) < before


def test_no_topology_takes_its_folder_and_nothing_else_is_written_over(store: CheckpointStore) -> None:
    made = saved(store)
    for name in ("words", "others"):
        with pytest.raises(StateError, match="holds the checkpoints of"):
            made.store.claim(name, "another id")
    with pytest.raises(SubmissionError, match="monday holds something else; write a folder that is not there yet"):
        saved(store)
    store.folder.with_name("tuesday").mkdir()
    assert saved(store, "tuesday").verify() == []
    with pytest.raises(SubmissionError, match="cannot be made, for nothing can be written into"):
        saved(store, "kept/owner/monday")
    with pytest.raises(StateError, match="is no savepoint; write what `ouzel stop NAME --savepoint` has made"):
        Savepoint(store.folder)


@pytest.mark.parametrize("name", ["../key", "/etc/passwd", "results/../../key"])
def test_a_note_that_names_what_is_elsewhere_is_refused(name: str, store: CheckpointStore) -> None:
    made = saved(store)
    note = asdict(replace(made.note, files=(replace(made.note.files[0], name=name),)))
    (made.folder / "savepoint").write_bytes(seal(SAVEPOINT_VERSION, note))
    with pytest.raises(StateError, match="which is no file of a savepoint"):
        Savepoint(made.folder)


def test_each_file_that_is_missing_or_damaged_is_named(store: CheckpointStore) -> None:
    made = saved(store)
    names = present(made.store) - {"owner"}
    assert len(names) == 7
    for name in sorted(names):
        path = made.folder / name
        content = path.read_bytes()
        for harm in (b"", content[:-1], bytes([content[0] ^ 1]) + content[1:], None):
            path.unlink() if harm is None else path.write_bytes(harm)
            is_manifest_gone = harm is None and name.startswith("epochs/")
            assert ("monday holds no epoch 2" if is_manifest_gone else str(path)) in _told(made.folder), name
            path.write_bytes(content)
    assert Savepoint(made.folder).verify() == []


def _told(folder: Path) -> str:
    try:
        return "; ".join(Savepoint(folder).verify())
    except StateError as error:
        return f"{folder / 'savepoint'}: {error}"


def test_verify_reads_what_stands_beside_the_epoch(store: CheckpointStore) -> None:
    made = saved(store)
    whole = CliRunner().invoke(app, ["checkpoint", "verify", str(made.folder)])
    assert (whole.exit_code, whole.stderr) == (0, "")
    assert "all as written" in whole.stdout
    (made.folder / "program").write_bytes(b"progrAm")
    wrong = CliRunner().invoke(app, ["checkpoint", "verify", str(made.folder)])
    told = f"error: epoch 2: {made.folder}/program is damaged: its checksum is not that of its content\n"
    assert (wrong.exit_code, wrong.stdout, wrong.stderr) == (1, "", told)


@pytest.mark.parametrize("failure", Failure)
def test_whatever_call_fails_it_is_whole_or_not_there(store: CheckpointStore, failure: Failure) -> None:
    before = {name: (store.folder / name).read_bytes() for name in present(store)}
    for at in range(CALLS_MOST):
        folder = store.folder.with_name(f"monday-{at}")
        done: list[str] = []
        try:
            with failing(at, failure) as done:
                saved(store, folder.name)
        except (OSError, Crash):
            pass
        assert not folder.exists() or Savepoint(folder).verify() == []
        assert {name: (store.folder / name).read_bytes() for name in present(store)} == before
        if len(done) <= at:
            break
    assert 20 < at < CALLS_MOST
    assert folder.exists()

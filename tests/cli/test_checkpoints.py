"""`ouzel checkpoint`: what it shows, checks, copies and removes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ouzel.cli.main import app
from ouzel.runtime.checkpoints.names import epoch_name
from ouzel.runtime.checkpoints.store import CheckpointStore
from tests.checkpoints.samples import chain_of, claimed, present, write_epoch


def ask(*arguments: object) -> Result:
    """What the command says."""
    return CliRunner().invoke(app, ["checkpoint", *map(str, arguments)])


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    """Epochs 1, 2 and 10; 2 goes on from 1."""
    made = claimed(tmp_path / "kept")
    write_epoch(made, 2, *chain_of(write_epoch(made, 1)))
    write_epoch(made, 10)
    return made


PAGE = Path(__file__).parents[2] / "docs/operations.md"
SECTION = PAGE.read_text().partition("### Checkpoints")[2].partition("\n### ")[0]
TRANSCRIPT = re.findall(r"^\$ ouzel checkpoint (.*)\n((?:(?!\$ |```).*\n)*)", SECTION, re.MULTILINE)


def test_the_transcript_of_the_page_is_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = claimed(tmp_path / "kept")
    write_epoch(made, 2, *chain_of(write_epoch(made, 1)))
    monkeypatch.chdir(tmp_path)
    assert [command.split()[0] for command, _ in TRANSCRIPT] == ["list", "verify", "fork", "prune"]
    for command, printed in TRANSCRIPT:
        shown = ask(*command.split())
        assert (shown.exit_code, shown.stdout, shown.stderr) == (0, printed, "")


def test_list_shows_the_epochs_by_number(store: CheckpointStore) -> None:
    shown = ask("list", store.folder)
    sizes = [[file.size for file in store.manifest(epoch).files] for epoch in (1, 2, 10)]
    written = [sum(sizes[0]), sum(sizes[1][1:]), sum(sizes[2])]
    assert shown.exit_code == 0
    slowest = "counts[0]: aligned 4 ms, copied 3 ms, written 40 ms"
    assert [re.split(r"  +", line) for line in shown.stdout.splitlines()] == [
        ["EPOCH", "STATE", "MADE (UTC)", "TASKS", "FILES", "BYTES", "WRITTEN", "SLOWEST"],
        *(
            [str(epoch), "complete", "2023-11-14 22:13:20", "2", str(len(size)), f"{sum(size):,}", f"{own:,}", slowest]
            for epoch, size, own in zip((1, 2, 10), sizes, written, strict=True)
        ),
    ]


def test_list_names_what_is_damaged_at_first_sight(store: CheckpointStore) -> None:
    harmed, lost = store.folder / "epochs" / epoch_name(10), store.folder / chain_of(store.manifest(2))[1].name
    harmed.write_text("harmed")
    lost.unlink()
    shown = ask("list", store.folder)
    assert shown.exit_code == 0
    assert [line.split()[1] for line in shown.stdout.splitlines()[1:]] == ["complete", "damaged", "damaged"]
    assert shown.stderr.splitlines() == [
        f"epoch 2: {lost} is missing",
        f"epoch 10: {harmed} is torn or damaged: its checksum is not that of its content",
    ]


def test_verify_says_what_is_wrong(store: CheckpointStore) -> None:
    whole = ask("verify", store.folder)
    assert (whole.exit_code, whole.stderr) == (0, "")
    assert [line.split(":")[0] for line in whole.stdout.splitlines()] == ["epoch 1", "epoch 2", "epoch 10"]
    harmed = store.folder / chain_of(store.manifest(1))[0].name
    harmed.write_bytes(harmed.read_bytes()[:-1] + b"?")
    wrong = ask("verify", store.folder)
    told = f"{harmed} is damaged: its checksum is not that of its content"
    assert (wrong.exit_code, wrong.stderr.splitlines()) == (1, [f"error: epoch 1: {told}", f"error: epoch 2: {told}"])
    assert wrong.stdout.startswith("epoch 10: 2 files, ")
    assert ask("verify", store.folder, 10).exit_code == 0
    assert ask("verify", store.folder, 2).exit_code == 1


def test_fork_copies_the_newest_that_can_be_used(store: CheckpointStore, tmp_path: Path) -> None:
    harmed = store.folder / "epochs" / epoch_name(10)
    harmed.write_text("harmed")
    copied = ask("fork", store.folder, "--to", tmp_path / "new" / "fork")
    assert (copied.exit_code, copied.stdout) == (0, f"copied epoch 2 into {tmp_path}/new/fork\n")
    assert copied.stderr.startswith("epoch 10 cannot be used: ")
    assert CheckpointStore(tmp_path / "new" / "fork").newest() == (store.manifest(2), [])
    again = ask("fork", store.folder, 1, "--to", tmp_path / "new" / "fork")
    assert (again.exit_code, again.stderr) == (
        1, f"error: {tmp_path}/new/fork is not empty; write a folder that is not there yet\n",
    )  # fmt: skip
    (store.folder / chain_of(store.manifest(1))[0].name).unlink()
    none = ask("fork", store.folder, "--to", tmp_path / "third")
    assert (none.exit_code, none.stderr.splitlines()[-1]) == (
        1,
        f"error: {store.folder} holds no epoch that can be used",
    )
    assert not (tmp_path / "third").exists()


def test_prune_removes_all_but_the_newest(store: CheckpointStore) -> None:
    pruned = ask("prune", store.folder, "--keep", 2)
    assert (pruned.exit_code, pruned.stdout) == (0, "removed 1 epoch and 1 file\n")
    assert ask("prune", store.folder, "--keep", 1).stdout == "removed 1 epoch and 3 files\n"
    assert store.epochs() == [10]
    assert len(present(store)) == 1 + 1 + 2
    assert ask("prune", store.folder, "--keep", 0).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list", "none"], "'none' is neither a submitted topology nor a folder that holds checkpoints; `ouzel list` shows all topologies"),
        (["list", "./none"], "./none holds no checkpoints; write a submitted topology, or a folder that holds some"),
        (["verify", "kept", 3], "kept holds no epoch 3; `ouzel checkpoint list` shows all that there are"),
        (["fork", "kept", 3, "--to", "new"], "kept holds no epoch 3; `ouzel checkpoint list` shows all that there are"),
        (["verify", "begun"], "begun holds no complete epoch"),
    ],
)  # fmt: skip
def test_a_wrong_command_is_refused(
    arguments: list[object], told: str, store: CheckpointStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path / "home"))
    claimed(tmp_path / "begun")
    refused = ask(*arguments)
    assert (refused.exit_code, refused.stderr) == (2, f"error: {told}\n")


def test_a_number_over_63_bits_is_an_epoch(store: CheckpointStore) -> None:
    write_epoch(store, 2**63 + 1)
    assert ask("verify", store.folder, 2**63 + 1).exit_code == 0
    assert ask("list", store.folder).stdout.splitlines()[-1].startswith(f"{2**63 + 1}  complete")


def test_a_fork_belongs_to_who_starts_from_it(store: CheckpointStore, tmp_path: Path) -> None:
    ask("fork", store.folder, 2, "--to", tmp_path / "fork")
    fork = CheckpointStore(tmp_path / "fork")
    fork.claim("others", "2")
    manifest = store.manifest(2)
    assert fork.newest() == (manifest, [])
    assert [fork.read_task(task)[-1].index for task in manifest.tasks] == [0, 0]
    fork.complete(replace(manifest, epoch=3, topology="others"))
    assert fork.prune(1) == [f"epochs/{epoch_name(2)}"]
    assert store.verify(2) == []

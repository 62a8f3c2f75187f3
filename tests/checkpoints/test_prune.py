"""Old epochs go, and with them what no kept epoch needs; nothing else."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ouzel.runtime.checkpoints.manifest import Manifest, TaskFile, TaskFiles
from ouzel.runtime.checkpoints.names import epoch_name, epoch_of_task_file
from tests.checkpoints.samples import SEED, chain_of, claimed, counts, present, task, write_epoch
from tests.effort import seeds


def test_a_chain_keeps_its_first_file(tmp_path: Path) -> None:
    store = claimed(tmp_path)
    one = write_epoch(store, 1)
    two = write_epoch(store, 2, *chain_of(one))
    three = write_epoch(store, 3, *chain_of(two))
    removed = store.prune(1)
    names = [f"epochs/{epoch_name(epoch)}" for epoch in (1, 2)] + [
        one.tasks[1].files[0].name,
        two.tasks[1].files[0].name,
    ]
    assert removed == [*names[:2], *sorted(names[2:])]
    assert store.newest() == (three, [])
    four = write_epoch(store, 4)
    store.prune(1)
    assert present(store) == {"owner", f"epochs/{epoch_name(4)}", *(file.name for file in four.files)}
    assert store.prune(1) == []


def test_an_epoch_that_has_lost_a_file_is_not_counted(tmp_path: Path) -> None:
    store = claimed(tmp_path)
    one, two, three = (write_epoch(store, epoch) for epoch in (1, 2, 3))
    (tmp_path / chain_of(two)[0].name).unlink()
    (tmp_path / "epochs" / epoch_name(3)).write_bytes(b"harmed")
    assert store.prune(1) == []
    assert (store.newest()[0], store.epochs()) == (one, [1, 2, 3])
    write_epoch(store, 4)
    store.prune(1)
    assert store.epochs() == [4]
    assert not any((tmp_path / file.name).exists() for file in (*one.files, *three.files))


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    store = claimed(tmp_path)
    for epoch in (1, 2):
        write_epoch(store, epoch)
    strangers = {"notes", "tasks/notes", "tasks/1.task", "epochs/1", "epochs/.hidden", "tasks/.1.partial"}
    for name in strangers:
        (tmp_path / name).touch()
    store.prune(1)
    assert strangers <= present(store)
    assert store.epochs() == [2]


@pytest.mark.parametrize("seed", seeds())
def test_kept_epochs_are_whole_whatever_was_written(seed: int, tmp_path: Path) -> None:
    """Tasks go on from files of epochs that never became complete, too, and begin anew at any time."""
    random, store = Random(seed), claimed(tmp_path)
    chains: dict[int, tuple[TaskFile, ...]] = {0: (), 1: ()}
    complete: list[Manifest] = []
    for epoch in range(1, 40):
        for index, chain in chains.items():
            begins = not chain or random.random() < 0.2
            file = store.write_task(epoch, task(counts(1 if begins else len(chain) + 1, whole=begins), index=index))
            chains[index] = (file,) if begins else (*chain, file)
        if random.random() < 0.7:
            tasks = tuple(TaskFiles("counts", index, chain) for index, chain in chains.items())
            complete.append(Manifest(epoch, "words", SEED, epoch, tasks))
            store.complete(complete[-1])
        if random.random() < 0.4 and complete:
            keep = random.randrange(1, 4)
            store.prune(keep)
            complete = complete[-keep:]
            needed = {file.name for manifest in complete for file in manifest.files}
            left = {name for name in present(store) if name.startswith("tasks/")}
            newer = {name for name in left if (epoch_of_task_file(name) or 0) > complete[-1].epoch}
            assert left == needed | newer
        assert [store.manifest(epoch) for epoch in store.epochs()] == complete
        assert [problem for epoch in store.epochs() for problem in store.verify(epoch)] == []

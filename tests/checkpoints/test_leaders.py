"""What a topology master completes when another one leads already does not count, wherever it was stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.manifest import Manifest
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.protocol.cluster.leadership import Deposed
from tests.checkpoints.samples import claimed, task, write_epoch


def led(store: CheckpointStore, epoch: int, leadership: int) -> Manifest:
    """A manifest that is to be completed, whose files are written."""
    earlier = store.manifest(1)
    file = store.write_task(epoch, task(component="lines"))
    return replace(earlier, epoch=epoch, leadership=leadership, tasks=(replace(earlier.tasks[1], files=(file,)),))


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    """With an epoch that nobody has led."""
    made = claimed(tmp_path)
    write_epoch(made, 1)
    return made


def test_a_leader_goes_on_from_what_it_finds(store: CheckpointStore) -> None:
    assert store.take_over(1) == 1
    store.complete(two := led(store, 2, 1))
    store.check_leads(1)
    assert store.take_over(2) == 2
    assert store.newest() == (two, [])
    store.complete(three := led(store, 3, 2))
    assert store.newest() == (three, [])


def test_an_epoch_that_a_deposed_leader_completes_does_not_count(store: CheckpointStore) -> None:
    store.take_over(1)
    late = led(store, 2, 1)
    store.take_over(2)
    store.complete(late)
    with pytest.raises(Deposed, match="leadership 2; this one's was 1"):
        store.check_leads(1)
    assert store.newest() == (store.manifest(1), [])
    with pytest.raises(StateError, match="epoch 2 was completed by a topology master when another one led already"):
        store.manifest(2)
    assert store.take_over(3) == 1


def test_what_is_completed_while_another_takes_over_is_found_or_its_leader_learns_of_it(store: CheckpointStore) -> None:
    store.take_over(1)
    store._leaders.begin(2)
    store.complete(two := led(store, 2, 1))
    with pytest.raises(Deposed):
        store.check_leads(1)
    assert store.take_over(2) == 2
    assert store.newest() == (two, [])


def test_the_number_of_an_epoch_that_does_not_count_is_not_used_again(store: CheckpointStore) -> None:
    """To write over it would be to write over what a third leader may have completed meanwhile."""
    store.take_over(1)
    late = led(store, 2, 1)
    store.take_over(2)
    store.complete(late)
    with pytest.raises(StateError, match="holds epoch 2 already, with other content"):
        store.complete(led(store, 2, 2))
    store.complete(three := led(store, 3, 2))
    assert store.newest() == (three, [])


def test_a_leader_that_takes_over_too_late_changes_nothing(store: CheckpointStore) -> None:
    store.take_over(2)
    store.complete(two := led(store, 2, 2))
    with pytest.raises(Deposed):
        store.take_over(1)
    assert store.newest() == (two, [])


def test_epochs_that_do_not_count_are_pruned_as_others_are(store: CheckpointStore) -> None:
    store.take_over(1)
    late = led(store, 2, 1)
    store.take_over(2)
    store.complete(late)
    for epoch in (3, 4, 5):
        store.complete(led(store, epoch, 2))
    store.prune(2)
    assert store.epochs() == [4, 5]

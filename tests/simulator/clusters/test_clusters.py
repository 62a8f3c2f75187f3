"""Whole clusters from seeds: whatever dies, hangs, is cut off, slow, full or away, the answer is that of a run without faults."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from ouzel.runtime.checkpoints.manifest import Manifest
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.simulator.cluster.faults import ClusterFault, FaultKind
from ouzel.runtime.simulator.cluster.simulation import drop_needless
from tests.simulator.clusters.questions import run_seed, tell_failure

QUICK = (4, 5, 6, 7, 16, 20, 23, 24, 26, 27, 30, 33, 34, 35, 36, 37, 38, 39, 41, 42, 45)
"""Seeds whose runs are short, and in which most kinds of faults come."""

FOUND = {10: "a task that had died was read after the one after it, and took its link: nothing moved any more"}
"""Seeds that failed once, and what was wrong."""


UPDATED, TAKEN_BACK = 16, 19
"""Seeds in which the topology is updated, and in which an update is taken back."""


@pytest.mark.parametrize("seed", sorted({*QUICK, *FOUND}))
def test_the_answer_is_exact(seed: int) -> None:
    assert (told := tell_failure(seed)) == "", told


@pytest.mark.parametrize("seed", [seed for seed in range(40) if seed not in {*QUICK, *FOUND}])
def test_the_answer_is_exact_in_longer_runs(seed: int) -> None:
    assert (told := tell_failure(seed)) == "", told


def test_topologies_are_updated_and_updates_are_taken_back() -> None:
    assert run_seed(UPDATED).revision == 1
    taken_back = run_seed(TAKEN_BACK)
    assert taken_back.revision == 0
    assert taken_back.generation > 1, "nothing of the new revision had begun"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = run_seed(4), run_seed(4)
    assert (first.steps, first.generation, first.epoch) == (second.steps, second.generation, second.epoch)
    assert [frame.rows() for frame in first.frames] == [frame.rows() for frame in second.frames]


def test_each_epoch_says_how_long_each_part_of_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Manifest] = []
    complete = CheckpointStore.complete

    def note(store: CheckpointStore, manifest: Manifest) -> None:
        complete(store, manifest)
        kept.append(manifest)

    monkeypatch.setattr(CheckpointStore, "complete", note)
    run_seed(4)
    parts = [part for manifest in kept for part in (manifest.tasks)]
    assert parts
    assert all(part.took is not None and min(asdict(part.took).values()) >= 0.0 for part in parts)
    for manifest in kept:
        slowest = manifest.find_slowest()
        assert slowest is not None
        assert slowest[1].total_ms == max(part.took.total_ms for part in manifest.tasks if part.took) > 0.0
    assert len({str(manifest.find_slowest()) for manifest in kept}) > 1


@pytest.mark.parametrize("needed", [(), (1,), (1, 3), (0, 1, 2, 3, 4)], ids=str)
def test_of_the_faults_those_are_left_without_which_it_does_not_fail(needed: tuple[int, ...]) -> None:
    faults = [ClusterFault(FaultKind.KILL, float(number)) for number in range(5)]
    wanted = [faults[number] for number in needed]
    assert drop_needless(faults, lambda fewer: {*wanted} <= {*fewer}) == wanted


def test_a_fault_that_is_needed_only_beside_another_goes_with_it() -> None:
    first, second, third = (ClusterFault(FaultKind.KILL, float(number)) for number in range(3))
    failing = ({first, second, third}, {second, third}, {third})  # not without the second while the first is there
    assert drop_needless([first, second, third], lambda fewer: {*fewer} in failing) == [third]

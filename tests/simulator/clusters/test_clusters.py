"""Whole clusters from seeds: whatever dies, hangs, is cut off, slow, full or away, the answer is that of a run without faults."""

from __future__ import annotations

import pytest

from ouzel.runtime.simulator.cluster.faults import ClusterFault, FaultKind
from ouzel.runtime.simulator.cluster.simulation import drop_needless
from tests.simulator.clusters.questions import run_seed, tell_failure

QUICK = (4, 5, 6, 7, 16, 20, 23, 24, 26, 27, 30, 33, 34, 35, 36, 37, 38, 39, 41, 42, 45)
"""Seeds whose runs are short, and in which most kinds of faults come."""

FOUND = {10: "a task that had died was read after the one after it, and took its link: nothing moved any more"}
"""Seeds that failed once, and what was wrong."""


@pytest.mark.parametrize("seed", sorted({*QUICK, *FOUND}))
def test_the_answer_is_exact(seed: int) -> None:
    assert (told := tell_failure(seed)) == "", told


@pytest.mark.parametrize("seed", [seed for seed in range(40) if seed not in {*QUICK, *FOUND}])
def test_the_answer_is_exact_in_longer_runs(seed: int) -> None:
    assert (told := tell_failure(seed)) == "", told


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = run_seed(4), run_seed(4)
    assert (first.steps, first.generation, first.epoch) == (second.steps, second.generation, second.epoch)
    assert [frame.rows() for frame in first.frames] == [frame.rows() for frame in second.frames]


def test_of_the_faults_those_are_left_without_which_it_does_not_fail() -> None:
    faults = [ClusterFault(FaultKind.KILL, at_ms) for at_ms in (1.0, 2.0, 3.0, 4.0)]
    needed = {faults[1], faults[3]}
    assert drop_needless(faults, lambda fewer: needed <= set(fewer)) == [faults[1], faults[3]]

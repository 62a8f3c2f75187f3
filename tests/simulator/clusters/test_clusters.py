"""Whole clusters from seeds: whatever dies, hangs, is cut off, slow, full or away, the answer is that of a run without faults."""

from __future__ import annotations

import pytest

from tests.simulator.clusters.questions import tell_failure

GATE = 24

FOUND: dict[int, str] = {}
"""Seeds that failed once, and what was wrong."""


@pytest.mark.parametrize("seed", [*range(GATE), *FOUND])
def test_the_answer_is_exact(seed: int) -> None:
    assert (told := tell_failure(seed)) == "", told

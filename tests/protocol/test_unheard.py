"""A topology master that says nothing is given up, but not one that has no core, nor by a client that has none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ouzel.runtime.protocol.cluster.starvation import LOOKS, STEP, Usage
from ouzel.runtime.protocol.unheard import Unheard

LIMIT_MS = 10_000.0


def given_up_at(usage_of: Callable[[int], Usage | None], look_ms: int = 200, until_ms: int = 200_000) -> int | None:
    """When a topology master is given up that says nothing, and of which the kernel says what `usage_of` gives for each time."""
    unheard = Unheard(LIMIT_MS)
    for now in range(0, until_ms, look_ms):
        if unheard.look(now):
            unheard.see(usage_of(now))
        if unheard.is_over:
            return now
    return None


@pytest.mark.parametrize(
    "usage_of",
    [lambda now: Usage(0, now), lambda now: Usage(0, 0, is_runnable=True), lambda now: Usage(now / 50, 0.98 * now)],
    ids=["waits for a core", "has waited since", "has a fiftieth of a core"],
)
def test_one_without_a_core_is_waited_for(usage_of: Callable[[int], Usage]) -> None:
    assert given_up_at(usage_of) is None


@pytest.mark.parametrize(
    "usage_of",
    [lambda now: Usage(now / 150, now / 1_000), lambda now: Usage(9, 9, is_stopped=True), lambda now: None],
    ids=["rests", "is stopped", "is gone"],
)
def test_one_that_could_speak_is_given_up_after_the_limit(usage_of: Callable[[int], Usage | None]) -> None:
    at = given_up_at(usage_of)
    assert at is not None
    assert LIMIT_MS < at < (1 + 2 * LOOKS) * LIMIT_MS


def test_a_client_without_a_core_counts_a_part_of_the_time() -> None:
    assert given_up_at(lambda now: None, look_ms=60_000, until_ms=600_000) == 60_000 * (1 / STEP + 1)


def test_with_each_word_the_whole_limit_begins() -> None:
    unheard = Unheard(LIMIT_MS)
    for now in range(0, 100_000, 200):
        unheard.look(now)
        if now % 9_000 == 0:
            unheard.on_heard()
        assert not unheard.is_over

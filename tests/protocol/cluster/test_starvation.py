"""A silent process is dead only if it could have spoken: who has no core, or computes, is not killed; who is stopped or asleep is."""

from __future__ import annotations

import pytest

from ouzel.runtime.protocol.cluster.starvation import ENDLESS, LOOKS, QUIET, Usage
from ouzel.runtime.protocol.cluster.supervision import Kill, Supervision

LIMIT_MS = 1_000.0
STEP_MS = 50.0


def killed_at(usage_of: object, until_ms: float = 20 * LIMIT_MS, hangs: bool = False) -> float | None:
    """When a process is killed that spoke at 0 for the last time, and of which the kernel says what `usage_of` gives for each time."""
    assert callable(usage_of)
    supervision = Supervision(("a",), LIMIT_MS)
    supervision.tick(0)
    now = 0.0
    while now < until_ms:
        now += STEP_MS
        supervision.tick(now)
        if supervision.is_suspect("a", now, now) and supervision.on_silence("a", now, now, usage_of(now), hangs):
            return now
    return None


@pytest.mark.parametrize(
    "usage_of",
    [
        lambda now: Usage(0, now),
        lambda now: Usage(0, 0, is_runnable=True),
        lambda now: Usage(now / 100, 0.99 * now),
        lambda now: Usage(now / 150, now // 400 * 400, is_runnable=now % 400 != 0),
        lambda now: Usage(0, 8 * now),
    ],
    ids=["waits for a core", "has waited since", "has a hundredth of a core", "is given a core now and then", "eight threads wait"],
)  # fmt: skip
def test_a_starved_process_is_not_killed(usage_of: object) -> None:
    assert killed_at(usage_of) is None


@pytest.mark.parametrize(
    "usage_of",
    [
        lambda now: Usage(70, 900),
        lambda now: Usage(70, 900, is_stopped=True),
        lambda now: Usage(now, now, is_stopped=True),
        lambda now: None,
        lambda now: Usage(now / 1_000, now / 1_000),
    ],
    ids=["sleeps", "is stopped", "is stopped, whatever it had", "the kernel does not say", "wakes to do nothing"],
)
def test_who_could_have_spoken_is_killed_in_time(usage_of: object) -> None:
    at = killed_at(usage_of)
    assert at is not None
    assert LIMIT_MS < at <= (1 + 2 * LOOKS) * LIMIT_MS


def test_half_of_the_time_counts_for_who_had_a_core_for_half_of_it() -> None:
    at = killed_at(lambda now: Usage(0, now / 2))
    assert at is not None
    assert abs(at - (QUIET + 2 * (1 - QUIET)) * LIMIT_MS) <= 2 * LOOKS * LIMIT_MS


def test_a_computation_without_end_is_killed_but_has_several_times_as_long() -> None:
    at = killed_at(lambda now: Usage(now, 0, is_runnable=True))
    assert at is not None
    assert ENDLESS * LIMIT_MS < at <= (ENDLESS + QUIET + 2 * LOOKS) * LIMIT_MS


def test_who_says_that_it_hangs_is_not_excused_by_its_other_threads() -> None:
    at = killed_at(lambda now: Usage(now, now), hangs=True)
    assert at is not None
    assert at <= (1 + 2 * LOOKS) * LIMIT_MS


def test_one_that_stands_still_after_it_starved_is_killed_in_time_from_then() -> None:
    at = killed_at(lambda now: Usage(0, min(now, 5_000)))
    assert at is not None
    assert 5_000 + (1 - QUIET) * LIMIT_MS <= at <= 5_000 + (1 + 2 * LOOKS) * LIMIT_MS


def test_with_each_word_the_whole_limit_begins() -> None:
    supervision = Supervision(("a",), LIMIT_MS)
    supervision.tick(0)
    for now in range(50, 60_000, 50):
        age = now % 900
        suspect = supervision.is_suspect("a", age, now)
        assert age > QUIET * LIMIT_MS or not suspect, "who has just spoken is not looked at"
        assert not suspect or not supervision.on_silence("a", age, now, Usage(now, 0))


def test_who_is_silent_is_looked_at_now_and_then_only() -> None:
    supervision = Supervision(("a",), LIMIT_MS)
    supervision.tick(0)
    looks = 0
    for now in range(1, 900):
        if supervision.is_suspect("a", now, now):
            looks += 1
            assert not supervision.on_silence("a", now, now, Usage(0, 0))
    assert looks <= (1 - QUIET) / LOOKS


def test_one_started_again_begins_anew() -> None:
    supervision = Supervision(("a",), LIMIT_MS)
    supervision.tick(0)
    supervision.on_silence("a", 300, 300, Usage(0, 0))
    supervision.on_exited("a", 400)
    supervision.tick(5_000)
    for now in range(5_050, 6_051, 50):
        assert not supervision.on_silence("a", now - 400, now, Usage(5_000, 5_000))
    assert supervision.on_silence("a", 5_651, 6_051, Usage(5_000, 5_000)) == [Kill("a")]

"""Processes come up again, each by itself: at once, then later and later; silence is death; there is an end to trying."""

from __future__ import annotations

from ouzel.runtime.protocol.cluster.starvation import STEP
from ouzel.runtime.protocol.cluster.supervision import (
    DEATHS_IN_A_ROW_MAX,
    HEALTHY_AFTER_MS,
    LONGEST_WAIT_MS,
    GiveUp,
    Kill,
    Start,
    Supervision,
)


def started(*names: str) -> Supervision:
    supervision = Supervision(names, hang_timeout_ms=1000)
    assert supervision.tick(0) == [Start(name, 0) for name in names]
    return supervision


def test_the_first_death_is_followed_by_a_start_at_once() -> None:
    supervision = started("a", "b")
    supervision.on_exited("a", 500)
    assert supervision.tick(500) == [Start("a", 1)]
    assert supervision.restarts() == 1


def test_one_that_keeps_dying_waits_longer_and_holds_up_nobody() -> None:
    supervision = started("a", "b")
    waits, now = [], 0.0
    for _ in range(9):
        supervision.on_exited("a", now)
        due = supervision.next_ms()
        assert due is not None
        waits.append(due - now)
        now = due
        assert [one.name for one in supervision.tick(now) if isinstance(one, Start)] == ["a"]
    assert waits == [0, 100, 200, 400, 800, 1600, 3200, LONGEST_WAIT_MS, LONGEST_WAIT_MS]
    supervision.on_exited("b", now)
    assert supervision.tick(now) == [Start("b", 1)]


def test_one_that_has_run_well_starts_at_once_again() -> None:
    supervision = started("a")
    for _ in range(3):
        supervision.on_exited("a", 0)
        supervision.tick(10_000)
    supervision.on_exited("a", 10_000 + HEALTHY_AFTER_MS)
    assert supervision.next_ms() == 10_000 + HEALTHY_AFTER_MS


def test_one_that_never_stays_up_is_given_up() -> None:
    supervision = started("a")
    for _ in range(DEATHS_IN_A_ROW_MAX):
        supervision.on_exited("a", 0)
        supervision.tick(1e6)
        supervision._processes["a"].started_ms = 0
    supervision.on_exited("a", 0)
    assert supervision.tick(1e9) == [GiveUp("a", f"a died {DEATHS_IN_A_ROW_MAX + 1} times in a row")]
    assert supervision.tick(2e9) == []


def test_a_silent_process_is_killed_but_not_one_that_has_just_started() -> None:
    supervision = started("a")
    for now in range(0, 5001, 50):
        assert supervision.on_silence("a", now % 1_000 if now > 900 else 9e9, now) == []
    for now in range(5_050, 6_001, 50):
        assert supervision.on_silence("a", now - 5_000, now) == []
    assert supervision.on_silence("a", 1001, 6001) == [Kill("a")]
    supervision.on_exited("a", 5000)
    assert supervision.on_silence("a", 9e9, 9000) == []


def test_who_was_not_looked_after_is_given_time_to_show_life() -> None:
    """The machine stood still for a minute, or the executor alone did: its processes come to their next beat when it looks."""
    supervision = started("a", "b")
    for now in range(0, 1001, 50):
        assert supervision.on_silence("a", 10, now) == supervision.on_silence("b", 10, now) == []
    assert supervision.on_silence("a", 60_010, 61_000) == supervision.on_silence("b", 60_010, 61_000) == []
    for now in range(61_050, 61_751, 50):
        assert supervision.on_silence("a", 5, now) == supervision.on_silence("b", now - 990, now) == []
    assert supervision.on_silence("a", 6, 61_751) == []
    assert supervision.on_silence("b", 60_761, 61_751) == [Kill("b")]


def test_a_silent_process_is_killed_though_every_look_is_late() -> None:
    """Each late look gave it half of the limit to show life, so that on a machine with too much to do it was never killed."""
    supervision = started("a")
    killed = [bool(supervision.on_silence("a", now, now)) for now in range(600, 6_000, 600)]
    assert killed.index(True) == 1 / STEP + 1


def test_nobody_is_killed_where_the_kernel_says_nothing_and_every_look_is_late() -> None:
    """Who has a core only every 400 ms looks so often; whom it looks after has one no more often."""
    supervision = started("a")
    for now in range(400, 40_000, 400):
        assert supervision.on_silence("a", now % 1_600, now) == []


def test_a_time_that_is_rounded_is_no_sign_of_life() -> None:
    """The time of the last one is computed from its age; the sum of both may be greater by a last digit."""
    supervision = started("a")
    spoke = 0.1 + 0.2
    killed = [supervision.on_silence("a", now - spoke, float(now)) for now in range(50, 1_200, 50)]
    assert killed[-1] == [Kill("a")]


def test_an_executor_that_comes_up_anew_adopts_what_runs() -> None:
    supervision = Supervision(("a", "b", "c"), hang_timeout_ms=1000)
    supervision.adopt("a", 2, True, 0)
    supervision.adopt("b", 0, False, 0)
    assert supervision.tick(0) == [Start("b", 1), Start("c", 0)]
    assert supervision.restarts() == 3

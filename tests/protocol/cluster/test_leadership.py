"""When a candidate tries to lead, and whose orders are obeyed."""

from __future__ import annotations

from dataclasses import replace

from ouzel.runtime.protocol.cluster.leadership import DEFERRED_LOOKS, HANG, Campaign, Candidate, Fence, Leader
from ouzel.runtime.protocol.cluster.starvation import Usage

HANG_MS = 2_000.0
LIMIT_MS = HANG * HANG_MS
LEADER = Leader(3, is_held=True, runs=True, beat_ms=0.0)
STEP_MS = 50.0


def waits_ms(candidate: Candidate, leader: Leader, waited_for_a_core: bool = False) -> float:
    """How long it watches a leader that says nothing any more; at most ten times the limit."""
    now = 0.0
    while now < 10 * LIMIT_MS and candidate.on_look(leader, now) is None:
        now += STEP_MS
        if candidate.asks_for_usage:
            candidate.on_usage(Usage(0.0, now if waited_for_a_core else 0.0, is_runnable=waited_for_a_core))
    return now


def test_where_nobody_has_led_it_tries_at_once() -> None:
    assert Candidate(HANG_MS).on_look(Leader(), 0.0) == Campaign(0)


def test_it_waits_as_long_as_the_leader_shows_life() -> None:
    candidate = Candidate(HANG_MS)
    for now in range(0, 20_000, 50):
        assert candidate.on_look(replace(LEADER, beat_ms=float(now)), now) is None


def test_a_leader_whose_process_is_gone_is_followed_at_once_whether_it_is_held_or_not() -> None:
    assert Candidate(HANG_MS).on_look(replace(LEADER, runs=False), 0.0) == Campaign(3)
    assert Candidate(HANG_MS).on_look(replace(LEADER, runs=False, is_held=False), 0.0) == Campaign(3)


def test_who_led_and_was_started_again_lets_its_standby_go_first_but_not_for_ever() -> None:
    candidate, former = Candidate(HANG_MS), replace(LEADER, runs=False, is_held=False, had_standby=True)
    assert [candidate.on_look(former, 50.0 * look) for look in range(DEFERRED_LOOKS)] == [None] * DEFERRED_LOOKS
    assert candidate.on_look(former, 1_000.0) == Campaign(3)


def test_a_leader_that_is_silent_is_deposed() -> None:
    assert LIMIT_MS < waits_ms(Candidate(HANG_MS), LEADER) <= LIMIT_MS + 2 * STEP_MS


def test_a_leader_that_waits_for_a_core_is_not_deposed() -> None:
    assert waits_ms(Candidate(HANG_MS), LEADER, waited_for_a_core=True) > 4 * LIMIT_MS


def test_a_leader_that_has_lost_its_hold_has_time_to_come_back() -> None:
    candidate = Candidate(HANG_MS)
    lost = replace(LEADER, is_held=False)
    assert candidate.on_look(lost, 0.0) is None
    assert candidate.on_look(replace(LEADER, beat_ms=1.0), 50.0) is None
    waited = 0.0
    while candidate.on_look(replace(lost, beat_ms=waited), 50.0 + waited) is None:
        waited += STEP_MS
    assert LIMIT_MS <= waited <= LIMIT_MS + STEP_MS


def test_a_candidate_that_stood_still_itself_blames_nobody() -> None:
    candidate = Candidate(HANG_MS)
    assert candidate.on_look(LEADER, 0.0) is None
    assert candidate.on_look(LEADER, 60_000.0) is None


def test_a_fence_lets_through_only_the_newest_leadership_that_it_has_heard_of() -> None:
    fence = Fence()
    assert [fence.admit(number) for number in (0, 1, 1, 3, 2, 1, 3)] == [True, True, True, True, False, False, True]

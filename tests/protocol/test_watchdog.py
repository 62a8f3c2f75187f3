"""A hang is a call in which nothing is computed and nothing outside is waited for, or a computation without end."""

from __future__ import annotations

import pytest

from ouzel.runtime.protocol.cluster.starvation import STEP, Usage
from ouzel.runtime.protocol.watchdog import Watchdog


def stuck_since(since: float) -> Watchdog:
    watchdog = Watchdog(1_000, Clock())
    watchdog.busy_since = since
    return watchdog


def test_a_call_that_uses_no_cpu_hangs() -> None:
    watchdog = stuck_since(100)
    assert not any(watchdog.is_hanging(now, cpu_ms=7) for now in range(100, 1_101, 100))
    assert watchdog.is_hanging(1_101, cpu_ms=7)


def test_time_in_which_nobody_asked_is_no_hang() -> None:
    """The process was stopped, with the task's thread in the middle of a call: that goes on when the asking does."""
    watchdog = stuck_since(100)
    assert not any(watchdog.is_hanging(now, cpu_ms=7) for now in (100, 300))
    assert not any(watchdog.is_hanging(now, cpu_ms=7) for now in range(60_000, 60_551, 50))
    assert watchdog.is_hanging(60_551, cpu_ms=7)


def test_a_call_that_uses_no_cpu_hangs_though_every_question_comes_late() -> None:
    """Each late one gave it half of the limit, so that on a machine with too much to do no hang was found."""
    watchdog = stuck_since(100)
    assert [watchdog.is_hanging(now, cpu_ms=7) for now in range(600, 6_000, 600)].index(True) == 1 / STEP + 1


def test_a_long_computation_does_not_hang() -> None:
    watchdog = stuck_since(100)
    assert not any(watchdog.is_hanging(now, cpu_ms=now / 4) for now in range(100, 12_000, 250))


def test_an_endless_computation_hangs_once_it_has_used_three_times_the_limit() -> None:
    watchdog = stuck_since(100)
    assert not any(watchdog.is_hanging(now, cpu_ms=now / 4) for now in range(100, 12_250, 250))
    assert watchdog.is_hanging(12_250, cpu_ms=12_250 / 4)


def test_two_threads_have_as_long_as_one() -> None:
    watchdog = stuck_since(100)
    assert not any(watchdog.is_hanging(now, cpu_ms=2 * now) for now in range(100, 3_100, 250))


def test_a_long_computation_that_moves_on_does_not_hang() -> None:
    watchdog = stuck_since(100)
    for now in range(100, 60_000, 250):
        watchdog.busy_since = now - now % 2_000
        assert not watchdog.is_hanging(now, cpu_ms=now)


def test_a_deadlock_after_a_long_computation_is_found() -> None:
    watchdog = stuck_since(100)
    assert not any(watchdog.is_hanging(now, cpu_ms=now) for now in range(100, 2_100, 250))
    assert not any(watchdog.is_hanging(now, cpu_ms=1_850) for now in range(1_950, 2_851, 100))
    assert watchdog.is_hanging(2_851, cpu_ms=1_850)


def test_each_call_has_the_whole_time() -> None:
    watchdog = stuck_since(100)
    assert not any(watchdog.is_hanging(now, cpu_ms=0) for now in range(100, 901, 100))
    watchdog.busy_since = 950
    assert not any(watchdog.is_hanging(now, cpu_ms=0) for now in range(1_000, 1_901, 100))
    assert [watchdog.is_hanging(now, cpu_ms=0) for now in (1_950, 1_951)] == [False, True]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_to_wait_for_something_outside_is_no_hang() -> None:
    watchdog = Watchdog(1_000, clock := Clock())
    watchdog.enter()
    with watchdog.outside():
        clock.now = 1e9
        assert not watchdog.is_hanging(clock.now, cpu_ms=0)
        assert not watchdog.busy_ms(clock.now)
    assert not any(watchdog.is_hanging(1e9 + more, cpu_ms=0) for more in range(0, 1_001, 100))
    assert watchdog.is_hanging(1e9 + 1_001, cpu_ms=0)


def test_progress_gives_a_call_the_whole_time_again_and_begins_none() -> None:
    watchdog = Watchdog(1_000, clock := Clock())
    watchdog.progress()
    assert not any(watchdog.is_hanging(1e12 + more, cpu_ms=0) for more in (0, 500, 1_000, 1_500))
    watchdog.enter()
    clock.now = 700
    watchdog.progress()
    assert watchdog.busy_since == 700
    assert watchdog.busy_ms(900) == 900, "those upstream wait for the whole call, whether it moves on or not"
    watchdog.leave()
    assert watchdog.busy_ms(900) == 0


@pytest.mark.parametrize(
    "usage_of", [lambda now: Usage(0, now), lambda now: Usage(0, 0, is_runnable=True)], ids=["waited", "waits"]
)
def test_a_call_that_is_given_no_core_does_not_hang(usage_of: object) -> None:
    """It computes less than a hundredth of the limit, for others have the machine."""
    assert callable(usage_of)
    watchdog = stuck_since(100)
    for now in range(100, 30_000, 250):
        usage = usage_of(now) if watchdog.is_suspect(now) else None
        assert not watchdog.is_hanging(now, now / 1_000, usage)


def test_a_call_that_sleeps_after_it_had_no_core_hangs() -> None:
    watchdog = stuck_since(100)
    for now in range(100, 5_000, 250):
        assert not watchdog.is_hanging(now, 0, Usage(0, now))
    found = [watchdog.is_hanging(now, 0, Usage(0, 5_000)) for now in range(5_100, 6_500, 250)]
    assert found[-1]
    assert not any(found[:2])


def test_a_call_that_is_stopped_hangs() -> None:
    watchdog = stuck_since(100)
    found = [watchdog.is_hanging(now, 7, Usage(7, 9, is_stopped=True)) for now in range(100, 1_400, 200)]
    assert found == [False] * 6 + [True]

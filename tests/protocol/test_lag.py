"""Lag: what the wall clock may say of a silent input, from the rows that it has shown."""

from __future__ import annotations

from random import Random

import pytest

from ouzel.runtime.protocol.lag import Lag, Sight

SECOND = 1_000_000
BOUND = 30 * SECOND


def at(oldest: int, newest: int, delay: int = 0) -> Sight:
    """A batch with rows between these seconds."""
    return Sight(oldest * SECOND, newest * SECOND, (newest - delay) * SECOND)


def test_of_an_input_that_has_shown_nothing_nothing_is_known() -> None:
    assert not Lag(BOUND).is_following


def test_the_watermark_stays_behind_by_the_largest_lag_and_delay_seen() -> None:
    lag = Lag(BOUND)
    lag.observe(100 * SECOND, at(93, 99, delay=5))
    lag.observe(110 * SECOND, at(109, 110, delay=5))
    assert lag.is_following
    assert lag.watermark_us(200 * SECOND) == (200 - 7 - 5) * SECOND


def test_rows_ahead_of_the_wall_clock_have_no_lag_and_those_far_ahead_are_not_of_now() -> None:
    lag = Lag(BOUND)
    lag.observe(100 * SECOND, at(105, 120))
    assert lag.watermark_us(200 * SECOND) == 200 * SECOND
    lag.observe(100 * SECOND, at(105, 131))
    assert not lag.is_following


def test_after_a_backlog_it_follows_again_when_rows_of_now_still_arrive_later() -> None:
    lag = Lag(BOUND)
    lag.observe(1_000 * SECOND, at(1, 900))
    lag.observe(1_001 * SECOND, at(999, 1_001))
    assert not lag.is_following, "a backlog ends with young rows"
    lag.observe(1_030 * SECOND, at(1_030, 1_030))
    assert lag.is_following
    assert lag.watermark_us(2_000 * SECOND) == 1_998 * SECOND


@pytest.mark.parametrize("seed", range(40))
def test_a_row_made_in_silence_that_lags_no_more_than_those_before_is_never_late(seed: int) -> None:
    """Rows are made all the time and arrive in bursts, in batches cut anywhere; the wall clock must not pass those on their way."""
    random, lag, delay = Random(seed), Lag(BOUND), Random(seed).choice([0, 5])
    period, late = random.choice([5, 20, 29, 31, 45, 400]), []
    for burst in range(1, 30):
        arrival = burst * period
        if lag.is_following and burst > 1:
            reached = lag.watermark_us(arrival * SECOND) // SECOND
            late.append(max(0, reached - (arrival - period)))
        cuts = sorted(random.randint(arrival - period, arrival) for _ in range(random.randint(0, 3)))
        for first, last in zip([arrival - period, *cuts], [*cuts, arrival], strict=True):
            lag.observe(arrival * SECOND, at(first, last, delay))
    assert not any(late)
    assert lag.is_following is (period <= 30)

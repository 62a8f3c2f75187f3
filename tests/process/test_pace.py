"""Reports come often at first, so that a short run is told while it lasts; a slow task is given little at once."""

from __future__ import annotations

import polars as pl
import pytest

from ouzel.runtime.process.pace import Pace, Portions
from ouzel.runtime.protocol.messages import Data, Message, TimeStatus, Watermark


@pytest.mark.parametrize(
    ("age_s", "interval_s"), [(0.0, 0.02), (0.1, 0.02), (0.5, 0.05), (1.0, 0.1), (3.0, 0.2), (900.0, 0.2)]
)
def test_the_pace_slows_with_age(age_s: float, interval_s: float) -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    now[0] += age_s
    assert pace.interval_s == pytest.approx(interval_s)


def frames(*rows: int) -> list[Message]:
    return [Data(0, 1, 2, number, (), pl.DataFrame({"n": range(many)})) for number, many in enumerate(rows)]


def test_a_slow_task_is_given_what_it_can_do_in_time() -> None:
    portions = Portions(500)
    portions.add(frames(*[100] * 31))
    taken = []
    while portions:
        some = portions.take()
        portions.took(some, 100.0 * len(some))  # a millisecond a row
        taken.append(len(some))
    assert taken == [1, 5, 5, 5, 5, 5, 5]


def test_a_quick_task_is_given_all_that_waits_and_a_chance_delay_does_not_last() -> None:
    portions = Portions(500)
    portions.add(frames(*[1_000] * 100))
    portions.took(portions.take(), 400)
    portions.took(portions.take(), 0.1)
    assert len(portions.take()) == 97


def test_what_is_no_rows_waits_for_its_turn_and_costs_nothing() -> None:
    portions = Portions(500)
    told = [Watermark(1, 2, time, TimeStatus.ACTIVE) for time in range(3)]
    portions.add([*told, *frames(10), *told])
    assert portions.take()[:3] == told
    assert portions.take() == told
    assert not portions

"""Reports come often at first, so that a short run is told while it lasts; a slow task is given little at once."""

from __future__ import annotations

import polars as pl
import pytest

from ouzel.runtime.protocol.messages import Data, Message, TimeStatus, Watermark
from ouzel.runtime.protocol.pace import (
    POLL_MS,
    REST_REPORT_MS,
    REST_TICK_MS,
    SILENT_SHARE,
    TICK_MS,
    Pace,
    Polls,
    Portions,
    Rhythm,
)


@pytest.mark.parametrize(
    ("age_s", "interval_s"), [(0.0, 0.02), (0.1, 0.02), (0.5, 0.05), (1.0, 0.1), (3.0, 0.2), (900.0, 0.2)]
)
def test_the_pace_slows_with_age(age_s: float, interval_s: float) -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    now[0] += age_s
    assert pace.interval_s == pytest.approx(interval_s)


def ticks_and_reports(
    rests: bool, until_ms: int, begin_s: float = 0.0, stirs: frozenset[int] = frozenset()
) -> list[int]:
    """How often a task is ticked and reports, in so many milliseconds of steps of one."""
    clock = [begin_s]
    rhythm = Rhythm(Pace(lambda: clock[0]))
    clock[0] = begin_s + 100.0
    counts = [0, 0]
    for now in range(1, until_ms + 1):
        if now in stirs or not rests:
            rhythm.on_activity(now)
        if rhythm.is_tick_due(now):
            counts[0] += 1
            if rhythm.is_report_due(now):
                counts[1] += 1
                rhythm.on_reported(now, whole=True)
            rhythm.on_ticked(now, rests)
    return counts


def test_a_task_with_nothing_to_do_is_ticked_a_quarter_as_often_and_reports_a_fifth() -> None:
    ticks, reports = ticks_and_reports(False, 20_000)
    assert ticks == pytest.approx(20_000 / TICK_MS, rel=0.02)
    assert reports == pytest.approx(100, rel=0.02)
    ticks, reports = ticks_and_reports(True, 20_000)
    assert ticks == pytest.approx(20_000 / REST_TICK_MS, rel=0.02)
    assert reports == pytest.approx(20_000 / REST_REPORT_MS, abs=2)


def test_when_something_happens_the_tick_and_the_report_are_soon() -> None:
    rhythm = Rhythm(Pace(clock := iter([0.0, *[100.0] * 20]).__next__))
    del clock
    for now in (0.0, 300.0):
        rhythm.on_reported(now, whole=True)
        rhythm.on_ticked(now, rests=True)
    assert not rhythm.is_tick_due(301 + TICK_MS)
    rhythm.on_activity(310)
    assert rhythm.until_tick(310) == TICK_MS
    assert not rhythm.is_report_due(499)
    assert rhythm.is_report_due(500)
    rhythm.hurry()
    assert rhythm.is_tick_due(311)
    assert rhythm.is_report_due(311)


def test_a_young_task_is_ticked_often_for_somebody_waits_for_its_first_word() -> None:
    rhythm = Rhythm(Pace(lambda: 5.0))
    rhythm.on_ticked(10, rests=True)
    assert rhythm.until_tick(10) == TICK_MS


def test_what_nobody_took_is_reported_again_with_the_next_tick() -> None:
    clock = [0.0]
    rhythm = Rhythm(Pace(lambda: clock[0]))
    clock[0] = 100.0
    rhythm.on_reported(1, whole=True)
    rhythm.on_reported(2_000, whole=False)
    assert rhythm.is_report_due(2_000 + TICK_MS)


def test_a_spout_is_asked_later_and_later_but_what_comes_waits_for_a_small_part_of_the_silence() -> None:
    polls, now = Polls(), 0.0
    polls.on_polled(now, gave=True)
    assert polls.wait_ms == 0
    waits = []
    while now < 60_000:
        now += polls.wait_ms
        polls.on_polled(now, gave=False)
        waits.append((now, polls.wait_ms))
    assert [wait for _, wait in waits[:6]] == [0.5, 1, 2, 4, 8, 8]
    assert all(wait <= max(POLL_MS[1], SILENT_SHARE * at) for at, wait in waits)
    assert waits[-1][1] == POLL_MS[2]
    polls.on_polled(now, gave=True)
    assert polls.wait_ms == 0


def frames(*rows: int) -> list[Message]:
    return [Data(0, 1, 2, number, (), pl.DataFrame({"n": range(many)})) for number, many in enumerate(rows)]


def test_a_slow_task_is_given_what_it_can_do_in_time() -> None:
    portions = Portions(500)
    portions.add(frames(*[100] * 31))
    taken = []
    while portions:
        some = portions.take()
        portions.record_duration(some, 100.0 * len(some))  # a millisecond a row
        taken.append(len(some))
    assert taken == [1, 5, 5, 5, 5, 5, 5]


def test_a_quick_task_is_given_all_that_waits_and_a_chance_delay_does_not_last() -> None:
    portions = Portions(500)
    portions.add(frames(*[1_000] * 100))
    portions.record_duration(portions.take(), 400)
    portions.record_duration(portions.take(), 0.1)
    assert len(portions.take()) == 97


def test_what_is_no_rows_waits_for_its_turn_and_costs_nothing() -> None:
    portions = Portions(500)
    told = [Watermark(1, 2, time, TimeStatus.ACTIVE) for time in range(3)]
    portions.add([*told, *frames(10), *told])
    assert portions.take()[:3] == told
    assert portions.take() == told
    assert not portions

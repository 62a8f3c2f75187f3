"""Time: the least of the active inputs, idle ones aside, and nothing passes the gate before its batches are acked."""

from __future__ import annotations

from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, TimeStatus
from ouzel.runtime.protocol.watermarks import FINISHED, Gate, InputClock, WatermarkStatus


def test_the_slowest_active_input_holds_time_back() -> None:
    clock = InputClock([1, 2])
    clock.observe(1, WatermarkStatus(100))
    assert clock.now.time_us == BEGINNING_OF_TIME
    clock.observe(2, WatermarkStatus(40))
    assert clock.now == WatermarkStatus(40)


def test_an_idle_input_does_not() -> None:
    clock = InputClock([1, 2])
    clock.observe(1, WatermarkStatus(100))
    clock.observe(2, WatermarkStatus(40, TimeStatus.IDLE))
    assert clock.now == WatermarkStatus(100)


def test_when_all_are_idle_time_is_where_the_last_one_left_it_whichever_is_told_first() -> None:
    for first, second in ((1, 2), (2, 1)):
        clock = InputClock([1, 2])
        times = {1: WatermarkStatus(100, TimeStatus.IDLE), 2: WatermarkStatus(140, TimeStatus.IDLE)}
        clock.observe(first, times[first])
        clock.observe(second, times[second])
        assert clock.now == WatermarkStatus(140, TimeStatus.IDLE)


def test_among_silent_inputs_the_slowest_that_follows_the_wall_clock_counts() -> None:
    clock = InputClock([1, 2, 3])
    clock.observe(1, WatermarkStatus(100, TimeStatus.FOLLOWING))
    clock.observe(2, WatermarkStatus(90, TimeStatus.IDLE))
    assert clock.now.status is TimeStatus.ACTIVE, "the third has said nothing"
    clock.observe(3, WatermarkStatus(140, TimeStatus.FOLLOWING))
    assert clock.now == WatermarkStatus(100, TimeStatus.FOLLOWING)
    clock.observe(2, WatermarkStatus(120))
    assert clock.now == WatermarkStatus(120), "who follows the wall clock holds nobody back"


def test_time_never_goes_back() -> None:
    clock = InputClock([1, 2])
    clock.observe(1, WatermarkStatus(100))
    clock.observe(2, WatermarkStatus(40, TimeStatus.IDLE))
    clock.observe(2, WatermarkStatus(50))
    assert clock.now == WatermarkStatus(100)


def test_a_finished_input_stays_so_and_the_last_ends_time() -> None:
    clock = InputClock([1, 2])
    clock.observe(1, FINISHED)
    clock.observe(1, WatermarkStatus(5))
    clock.observe(2, WatermarkStatus(7))
    assert clock.now == WatermarkStatus(7)
    clock.observe(2, FINISHED)
    assert clock.now == FINISHED


def test_a_paused_input_holds_time_back_as_an_active_one_does() -> None:
    clock = InputClock([1, 2])
    clock.observe(1, WatermarkStatus(100))
    clock.observe(2, WatermarkStatus(40, TimeStatus.PAUSED, 1))
    assert clock.now == WatermarkStatus(40)
    clock.observe(1, WatermarkStatus(500, TimeStatus.IDLE))
    assert clock.now == WatermarkStatus(40), "a pause is no silence: the idle one's time does not count alone"


def test_a_pause_is_reached_when_all_inputs_but_the_finished_ones_have_reached_it() -> None:
    clock = InputClock([1, 2, 3])
    clock.observe(3, FINISHED)
    clock.observe(1, WatermarkStatus(100, TimeStatus.PAUSED, 2))
    assert clock.now.status is TimeStatus.ACTIVE
    clock.observe(2, WatermarkStatus(90, TimeStatus.PAUSED, 1))
    assert clock.now == WatermarkStatus(90, TimeStatus.PAUSED, 1), "one of them has only heard of the pause before"
    clock.observe(2, WatermarkStatus(90, TimeStatus.PAUSED, 2))
    assert clock.now == WatermarkStatus(90, TimeStatus.PAUSED, 2)
    clock.observe(1, WatermarkStatus(100))
    assert clock.now == WatermarkStatus(90)


def test_a_pause_takes_no_time_back() -> None:
    clock = InputClock([1, 2])
    clock.observe(1, WatermarkStatus(100, TimeStatus.IDLE))
    clock.observe(2, WatermarkStatus(900))
    clock.observe(1, WatermarkStatus(100, TimeStatus.PAUSED, 1))
    clock.observe(2, WatermarkStatus(900, TimeStatus.PAUSED, 1))
    assert clock.now == WatermarkStatus(900, TimeStatus.PAUSED, 1)
    clock.observe(1, WatermarkStatus(100, TimeStatus.IDLE))
    clock.observe(2, WatermarkStatus(950))
    assert clock.now == WatermarkStatus(950)


def test_a_moment_passes_when_all_before_it_is_acked() -> None:
    gate = Gate()
    gate.push(1, WatermarkStatus(10))
    gate.push(2, WatermarkStatus(20))
    assert gate.release(settled=1) is None
    assert gate.release(settled=2) == WatermarkStatus(10)
    assert gate.release(settled=9) == WatermarkStatus(20)
    assert gate.release(settled=9) is None

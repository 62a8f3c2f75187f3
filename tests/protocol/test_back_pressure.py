"""Back-pressure reaches those who feed the slow task, and ends by itself when nobody speaks of it any more."""

from __future__ import annotations

from ouzel.runtime.protocol.back_pressure import FORGET_MS, REPEAT_MS, Pause, Pressure, Tell

FEEDERS = {3: (1, 2), 4: (2,), -2: (1,)}


def test_only_the_feeders_of_the_slow_link_are_told() -> None:
    pressure = Pressure(FEEDERS, high=100, low=50)
    assert pressure.on_waiting(3, 99, 0) == []
    assert pressure.on_waiting(3, 100, 0) == [Tell(1, 3, True), Tell(2, 3, True)]
    assert pressure.on_waiting(4, 10, 0) == []
    assert pressure.slow == {3}


def test_between_the_marks_nothing_changes() -> None:
    pressure = Pressure(FEEDERS, high=100, low=50)
    pressure.on_waiting(4, 150, 0)
    assert pressure.on_waiting(4, 300, 1) == []
    assert pressure.on_waiting(4, 51, 2) == []
    assert pressure.on_waiting(4, 50, 3) == [Tell(2, 4, False)]
    assert pressure.on_waiting(4, 99, 4) == []


def test_the_time_that_a_link_was_slow_adds_up() -> None:
    pressure = Pressure(FEEDERS, high=100, low=50)
    assert pressure.spent_ms(5) == {}
    pressure.on_waiting(4, 150, 10)
    assert pressure.spent_ms(25) == {4: 15}
    pressure.tick(10 + REPEAT_MS)
    pressure.on_waiting(4, 50, 30)
    pressure.on_waiting(4, 100, 50)
    pressure.on_waiting(-2, 100, 52)
    assert pressure.spent_ms(55) == {4: 25, -2: 3}


def test_what_lasts_is_repeated() -> None:
    pressure = Pressure(FEEDERS, high=100, low=50)
    pressure.on_waiting(-2, 100, 0)
    assert pressure.tick(REPEAT_MS - 1) == []
    assert pressure.tick(REPEAT_MS) == [Tell(1, -2, True)]
    assert pressure.tick(REPEAT_MS + 1) == []


def test_a_task_pauses_until_all_it_feeds_have_caught_up() -> None:
    pause = Pause()
    pause.on_pressure(3, True, 0)
    pause.on_pressure(4, True, 0)
    pause.on_pressure(3, False, 1)
    assert pause.is_on(2)
    pause.on_pressure(4, False, 3)
    assert not pause.is_on(3)


def test_what_is_not_repeated_is_forgotten() -> None:
    pause = Pause()
    pause.on_pressure(3, True, 0)
    pause.on_pressure(3, True, REPEAT_MS)
    assert pause.is_on(FORGET_MS)
    assert not pause.is_on(REPEAT_MS + FORGET_MS)

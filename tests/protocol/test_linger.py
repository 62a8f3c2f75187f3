"""Rows of a trickle gather before they are read; nothing else is waited for."""

from __future__ import annotations

from ouzel.runtime.protocol.linger import Linger


def read(linger: Linger, *batches: tuple[float, int]) -> list[bool]:
    """Whether its rows are left to gather just after each of these batches: (when, its rows)."""
    held = []
    for now_ms, rows in batches:
        linger.on_read(rows, now_ms)
        held.append(linger.is_gathering(now_ms))
    return held


def test_few_rows_twice_in_a_row_are_left_to_gather_for_as_long_as_is_said() -> None:
    linger = Linger(100, 1_000, 20.0)
    assert read(linger, (1.0, 3), (2.0, 99)) == [False, True]
    assert linger.is_gathering(21.9)
    assert not linger.is_gathering(22.0)


def test_what_has_gathered_is_followed_by_what_gathers_then() -> None:
    assert read(Linger(100, 1_000, 20.0), (1.0, 3), (2.0, 3), (22.0, 600), (42.0, 999)) == [False, True, True, True]


def test_the_last_batch_of_a_file_is_not_waited_for() -> None:
    assert read(Linger(100, 1_000, 20.0), (1.0, 1_000), (2.0, 1_000), (3.0, 5)) == [False, False, False]


def test_full_batches_are_read_one_after_the_other_again() -> None:
    linger = Linger(100, 1_000, 20.0)
    assert read(linger, (1.0, 3), (2.0, 3), (22.0, 1_000), (23.0, 3)) == [False, True, False, False]


def test_batches_of_some_size_are_never_waited_for() -> None:
    assert read(Linger(100, 1_000, 20.0), *((float(now), 500) for now in range(5))) == 5 * [False]


def test_no_time_waits_for_nothing() -> None:
    assert read(Linger(100, 1_000, 0.0), (1.0, 1), (2.0, 1), (3.0, 1)) == [False, False, False]


def test_a_batch_of_one_row_is_full_where_batches_are_that_small() -> None:
    assert read(Linger(0, 1, 20.0), (1.0, 1), (2.0, 1)) == [False, False]

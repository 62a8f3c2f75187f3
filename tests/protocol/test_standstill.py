"""What stands still is given up after the limit, counted in time in which somebody looked."""

from __future__ import annotations

from ouzel.runtime.protocol.standstill import SHARE, Standstill

LIMIT_MS = 1_000.0


def test_what_moves_never_stands_still() -> None:
    still = Standstill(LIMIT_MS, 0)
    assert not any(still.look(now // 900, now) for now in range(0, 60_000, 50))


def test_what_does_not_move_stands_still_after_the_limit() -> None:
    still = Standstill(LIMIT_MS, 0)
    assert next(now for now in range(50, 1_200, 50) if still.look("there", now)) == 1_100


def test_of_time_in_which_nobody_looked_a_part_counts() -> None:
    still = Standstill(LIMIT_MS, 0)
    looks = [still.look("there", now) for now in range(60_000, 60_000 * 13, 60_000)]
    assert looks.index(True) == 1 / SHARE + 1

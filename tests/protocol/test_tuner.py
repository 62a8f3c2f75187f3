"""The tuner of pending rows: each line of the paper's table and of Heron's code, what says nothing of the limit, and that it converges."""

from __future__ import annotations

from statistics import mean

import pytest

from doc_sources.tuning import CAPACITY, KNEE, SLOWER_FROM, simulate
from ouzel.planner.settings import PendingTuning, Settings
from ouzel.runtime.protocol.acker import Acker
from ouzel.runtime.protocol.tuner import MAX_FACTOR, HeronTuner, PaperTuner, PendingLimit, Tuner

TUNINGS = [PendingTuning.PAPER, PendingTuning.HERON]


def limits(tuner: Tuner, *progress: int) -> list[int]:
    """The limit after each interval."""
    found = []
    for rows in progress:
        tuner.tune(rows)
        found.append(tuner.limit)
    return found


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        ((100,), [125]),  # the first call increases
        ((100, 130), [125, 156]),  # an increase that brought more: again
        ((100, 102), [125, 100]),  # one that changed nothing is taken back
        ((100, 90), [125, 94]),  # one that made it worse: a decrease of a quarter
        ((100, 40), [125, 50]),  # or of as much as was lost
        ((100, 40, 60), [125, 50, 62]),  # more after a decrease: an increase
        ((100, 40, 40), [125, 50, 50]),  # else it stays
        ((100, 40, 20, 20), [125, 50, 50, 50]),
        ((100, 100, 50), [125, 100, 50]),  # in a steady state: less is a decrease,
        ((100, 100, 120), [125, 100, 125]),  # more an increase,
        ((100, 100, *[100] * 5), [125, *[100] * 5, 125]),  # and five times the same an attempt
    ],
)
def test_the_table_of_the_paper(progress: tuple[int, ...], expected: list[int]) -> None:
    assert limits(PaperTuner(100, 1, 10_000), *progress) == expected


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        ((100,), [125]),
        ((100, 130), [125, 156]),
        ((100, 115), [125, 100]),  # more, but not by as much as the limit: taken back
        ((100, 90), [125, 100]),  # a little worse: taken back
        ((100, 40), [125, 50]),  # much worse: decreased by as much
        ((100, 40, 60), [125, 50, 38]),  # more after a decrease: decreased on
        ((100, 40, 40), [125, 50, 50]),
        ((100, 100, 1), [125, 100, 100]),  # what follows a restore is not looked at
        ((100, 100, *[100] * 13), [125, *[100] * 6, 125, *[100] * 6, 75]),  # up and down in turn
    ],
)
def test_what_herons_code_does(progress: tuple[int, ...], expected: list[int]) -> None:
    assert limits(HeronTuner(100, 1, 10_000), *progress) == expected


@pytest.mark.parametrize("kind", [PaperTuner, HeronTuner])
def test_the_limit_has_limits(kind: type[PaperTuner] | type[HeronTuner]) -> None:
    assert max(limits(kind(100, 10, 400), *(100 * 2**power for power in range(20)))) == 400
    assert min(limits(kind(100, 10, 400), *(2**20 >> power for power in range(0, 20, 2)))) >= 10


@pytest.mark.parametrize("tuning", TUNINGS)
def test_an_interval_that_says_nothing_of_the_limit_changes_nothing(tuning: PendingTuning) -> None:
    settings = Settings(max_pending_rows=100, batch_rows=10, max_pending_tuning=tuning, max_pending_interval_ms=1_000)
    limit, full = PendingLimit(settings), Acker(0, 0, 1_000)
    full.pending_rows = 100 * MAX_FACTOR
    limit.observe(0, 0)
    limit.observe(500, 1_000)
    assert limit.rows == 100, "the input was slow: nothing ever waited for room"
    assert not limit.has_room(full)
    limit.observe(500, 2_000)
    assert limit.rows == 100, "nothing came through, for a sink stood still"
    assert not limit.has_room(full)
    limit.restart(500, 2_500)
    limit.observe(900, 3_000)
    limit.observe(900, 3_500)
    assert limit.rows == 100, "the topology was paused"
    assert not limit.has_room(full)
    limit.observe(1_000, 4_500)
    assert limit.rows == 125


@pytest.mark.parametrize("tuning", TUNINGS)
@pytest.mark.parametrize("start", [KNEE // 10, KNEE, 8 * KNEE])
def test_it_converges_and_follows_a_change(tuning: PendingTuning, start: int) -> None:
    for seed in range(10):
        speeds = [speed for _, speed in simulate(tuning, start, seed)]
        before, after = speeds[SLOWER_FROM - 10 : SLOWER_FROM], speeds[-20:]
        least = 0.9 if tuning is PendingTuning.PAPER else 0.7  # Heron's goes down in vain now and then
        assert mean(before) >= least * CAPACITY, f"{seed=}"
        assert mean(after) >= least * CAPACITY / 2, f"{seed=}"

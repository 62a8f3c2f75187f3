"""The result of a simulated topology holds each row once, though its tasks rolled back."""

from __future__ import annotations

import polars as pl

from ouzel.runtime.simulator.results import SimulatedResults


def test_rows_that_come_again_are_there_once() -> None:
    kept: dict[int, pl.DataFrame] = {}
    results = SimulatedResults(kept.__setitem__)
    first, second = results.of(1), results.of(2)
    for task in (first, second):
        task.roll_back(0, 0)
    first.write(7, pl.DataFrame({"n": [1]}))
    second.write(7, pl.DataFrame({"n": [1]}))
    for task in (first, second):
        task.mark(1, 0)
    first.write(8, pl.DataFrame({"n": [2, 3]}))
    first.roll_back(1, 1)
    second.write(9, pl.DataFrame({"n": [5]}))
    second.roll_back(1, 1)
    second.write(8, pl.DataFrame({"n": [3, 4, 5]}))
    first.write(9, pl.DataFrame({"n": [2]}))
    assert sorted(pl.concat(kept.values())["n"]) == [1, 2, 3, 4, 5]


def test_a_total_that_comes_again_with_other_last_digits_is_there_once() -> None:
    kept: dict[int, pl.DataFrame] = {}
    task = SimulatedResults(kept.__setitem__).of(1)
    task.roll_back(0, 0)
    task.write(1, pl.DataFrame({"k": [1, 2], "total": [0.1 + 0.2 + 0.3, 0.5]}))
    task.roll_back(0, 1)
    task.write(1, pl.DataFrame({"k": [1, 2, 3], "total": [0.3 + 0.2 + 0.1, 0.6, 0.1]}))
    assert sorted(pl.concat(kept.values())["k"]) == [1, 2, 2, 3]

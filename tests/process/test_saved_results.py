"""A result on its way into a savepoint: as it was at the epoch, and of one that takes rows back what it adds up to."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import StateError
from ouzel.runtime.process.kept_results import KeptResults, ResultKeeper
from ouzel.runtime.process.saved_results import read_results, results_at, write_results


def keep(folder: Path, *steps: int | str, begins: int = 0, part_bytes: int = 1) -> None:
    """What a task is told: rows by their number, marks as e1, e2 and so on; each epoch is kept when the next one is marked."""
    keeper = ResultKeeper(folder, part_bytes=part_bytes)
    keeper.roll_back(begins, begins)
    for number, step in enumerate(steps):
        if isinstance(step, str):
            keeper.mark(int(step[1:]), int(step[1:]) - 1)
        else:
            keeper.write(number, pl.DataFrame({"n": [step]}))


def numbers(frames: list[pl.DataFrame]) -> list[int]:
    """The rows."""
    return [row for frame in frames for row in frame["n"].to_list()]


@pytest.mark.parametrize("part_bytes", [1, 1 << 20])
def test_what_came_after_the_epoch_is_left_out(tmp_path: Path, part_bytes: int) -> None:
    former, now = tmp_path / "000001", tmp_path / "000002"
    keep(former / "task-00003", 1, 2)
    keep(now / "task-00003", 3, "e1", 4, "e2", 5, part_bytes=part_bytes)
    keep(now / "task-00004", "e1", 6, "e2", part_bytes=part_bytes)
    assert numbers(list(results_at(2, tmp_path, now))) == [1, 2, 3, 4, 6]
    assert numbers(list(results_at(1, tmp_path, now))) == [1, 2, 3]
    assert numbers(list(results_at(2, tmp_path, None))) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(StateError, match="has gone on since epoch 9, and is not known as it was then"):
        list(results_at(9, tmp_path, now))


def test_a_task_that_has_begun_at_the_epoch_knows_where_that_was(tmp_path: Path) -> None:
    keep(tmp_path / "000001/task-00003", 1, 2, begins=7)
    assert numbers(list(results_at(7, tmp_path, tmp_path / "000001"))) == []


def test_a_result_is_read_again_by_whoever_reads_results(tmp_path: Path) -> None:
    changes = [pl.DataFrame({"n": [n], WEIGHT: [weight]}) for n, weight in [(1, 1), (2, 1), (1, -1), (3, 1)]]
    write_results(tmp_path / "000000/task-00000", iter(changes))
    (net,) = read_results(tmp_path / "000000/task-00000", ["m"])
    assert net.columns == ["m", WEIGHT]
    assert sorted(net.rows()) == [(2, 1), (3, 1)]
    assert [frame.rows() for frame in KeptResults(tmp_path, ["m"]).read()] == [net.rows()]
    write_results(tmp_path / "other/task-00000", iter([pl.DataFrame({"n": [n]}) for n in (1, 2)]))
    assert numbers(list(read_results(tmp_path / "other/task-00000", ["n"]))) == [1, 2]

"""What is kept of a submitted topology's result: each batch once, whole, bounded, and readable while it grows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import TopologyError
from ouzel.runtime.process.kept_results import KeptResults, ResultKeeper, gather

RUN = "0001"


def numbers(*values: int) -> pl.DataFrame:
    return pl.DataFrame({"n": values})


def count(key: str, seen: int, before: int | None = None) -> pl.DataFrame:
    """A running count that goes up."""
    changes = [(key, seen, 1)] if before is None else [(key, before, -1), (key, seen, 1)]
    return pl.DataFrame(changes, schema={"key": pl.String(), "seen": pl.Int64(), WEIGHT: pl.Int64()}, orient="row")


def read(results: KeptResults) -> list[int]:
    return [n for frame in results.read() for n in frame["n"]]


def test_what_is_written_is_read_on_and_on(tmp_path: Path) -> None:
    keeper, results = ResultKeeper(tmp_path / RUN / "task-1"), KeptResults(tmp_path)
    assert read(results) == []
    keeper.write(1, numbers(1, 2))
    assert read(results) == [1, 2]
    assert read(results) == []
    keeper.write(2, numbers(3))
    ResultKeeper(tmp_path / RUN / "task-2").write(2, numbers(4))
    assert read(results) == [3, 4]
    assert read(KeptResults(tmp_path)) == [1, 2, 3, 4]


def test_small_frames_are_gathered_into_few_with_the_same_rows_in_the_same_order() -> None:
    frames = [numbers(*range(at, at + 1 + at % 4)) for at in range(40)]
    gathered = list(gather(iter(frames), 10))
    assert pl.concat(gathered).equals(pl.concat(frames))
    assert all(frame.height >= 10 for frame in gathered[:-1])
    assert list(gather([])) == []


def test_a_batch_that_comes_again_is_kept_once_whoever_wrote_it(tmp_path: Path) -> None:
    keeper = ResultKeeper(tmp_path / RUN / "task-1")
    keeper.write(1, numbers(1))
    keeper.write(1, numbers(1))
    after = ResultKeeper(tmp_path / RUN / "task-1")
    after.write(1, numbers(1))
    after.write(2, numbers(2))
    assert read(KeptResults(tmp_path)) == [1, 2]


def test_ids_are_remembered_as_far_as_batches_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A topology that runs for ever kept the id of each batch that it had ever written."""
    monkeypatch.setattr("ouzel.runtime.process.kept_results.IDS_KEPT", 4)
    keeper = ResultKeeper(tmp_path / RUN / "task-1", part_bytes=1)
    for batch in range(10):
        keeper.write(batch, numbers(batch))
    for again in (9, 6, 5):
        keeper.write(again, numbers(again))
    assert read(KeptResults(tmp_path)) == [*range(10), 5]


@pytest.mark.parametrize("left", [1, 27, 28, -1])
def test_a_batch_that_was_written_half_is_cut_off(tmp_path: Path, left: int) -> None:
    folder = tmp_path / RUN / "task-1"
    ResultKeeper(folder).write(1, numbers(1))
    (part,) = folder.iterdir()
    size = part.stat().st_size
    ResultKeeper(folder).write(2, numbers(2))
    half = part.read_bytes()[: size + left] if left > 0 else part.read_bytes()[:left]
    part.write_bytes(half)
    results = KeptResults(tmp_path)
    assert read(results) == [1], "a reader waits for the rest"
    ResultKeeper(folder).write(2, numbers(2))
    assert read(results) == [2]


def test_rows_of_a_result_that_only_grows_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    keeper = ResultKeeper(tmp_path / RUN / "task-1", part_bytes=2_000, kept_bytes=20_000)
    slow = KeptResults(tmp_path)
    for number in range(300):
        keeper.write(number, numbers(number))
        if number == 0:
            assert read(slow) == [0]
    kept = read(KeptResults(tmp_path))
    assert kept == list(range(kept[0], 300))
    assert kept[0] > 0
    assert sum(part.stat().st_size for part in (tmp_path / RUN / "task-1").iterdir()) < 25_000
    with pytest.raises(TopologyError, match="removed before they were read"):
        read(slow)


def test_a_result_that_takes_rows_back_is_folded(tmp_path: Path) -> None:
    folder = tmp_path / RUN / "task-1"
    keeper = ResultKeeper(folder, part_bytes=2_000, fold_bytes=8_000)
    reader, changes = KeptResults(tmp_path), list[pl.DataFrame]()
    for number in range(1, 400):
        keeper.write(number, count("a", number, number - 1 or None))
        changes += reader.read() if number % 5 == 0 else ()
    changes += reader.read()
    anew = pl.concat(KeptResults(tmp_path).read())
    assert pl.concat(changes).height == 1 + 2 * 398, "whoever follows sees each change"
    assert anew.height < 200
    for seen in (pl.concat(changes), anew):
        left = seen.group_by("key", "seen").agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) != 0)
        assert left.rows() == [("a", 399, 1)]
    assert sum(part.stat().st_size for part in folder.iterdir()) < 40_000
    after = ResultKeeper(folder)
    after.write(399, count("a", 399, 398))
    assert list(reader.read()) == [], "a replay after a fold is known"


def test_equal_rows_are_folded_to_as_many_changes(tmp_path: Path) -> None:
    keeper = ResultKeeper(tmp_path / RUN / "task-1", part_bytes=100, fold_bytes=100)
    for number in range(3):
        keeper.write(number, count("a", 7))
    anew = pl.concat(KeptResults(tmp_path).read())
    assert anew.rows() == [("a", 7, 1)] * 3


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = ResultKeeper(tmp_path / RUN / "task-1")
    keeper.write(1, numbers(1))

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("ouzel.runtime.process.kept_results.os.fdatasync", full)
        with pytest.raises(TopologyError, match=r"results cannot be kept in .*: No space left on device"):
            keeper.write(2, numbers(2))
    keeper.write(2, numbers(2))
    assert read(KeptResults(tmp_path)) == [1, 2]

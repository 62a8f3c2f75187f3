"""What is kept of a result has each row once after a roll back, for whoever reads it afterwards and for whoever had read on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import TopologyError
from ouzel.runtime.checkpoints.records import StoredRecord, records_in
from ouzel.runtime.process.kept_parts import ROLL_BACK, ROWS, KeptPart, kept_parts_of
from ouzel.runtime.process.kept_results import KeptResults, ResultKeeper
from tests.protocol.cluster.rolling import STEP, Counts, RollingTopology, Rows, counted

RUN = "000001"


class Files:
    """Keepers of all tasks, which are others after each start. A batch has the id of its number since the roll back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keepers: dict[int, ResultKeeper] = {}
        self.ids: dict[int, int] = {}
        self.generations: dict[int, int] = {}

    def keeper(self, task: int) -> ResultKeeper:
        if task not in self.keepers:
            folder = self.folder / RUN / f"task-{task}"
            self.keepers[task] = ResultKeeper(folder, part_bytes=1, fold_bytes=1)
        return self.keepers[task]

    def on_rows(self, task: int, frame: pl.DataFrame) -> None:
        self.ids[task] = self.ids.get(task, 0) + 1
        for _ in range(1 + self.ids[task] % 2):  # and some come again
            self.keeper(task).write(self.ids[task], frame)

    def on_mark(self, task: int, epoch: int, kept: int) -> None:
        self.keeper(task).mark(epoch, kept)

    def on_roll_back(self, task: int, epoch: int, generation: int) -> None:
        self.keepers.pop(task, None)
        if generation > self.generations.get(task, -1):
            self.ids[task], self.generations[task] = 0, generation
        self.keeper(task).roll_back(epoch, generation)


class Follower:
    """Reads on, and anew if it was too slow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.begin()

    def begin(self) -> None:
        self.results, self.taken = KeptResults(self.folder), list[pl.DataFrame]()

    def read(self) -> None:
        try:
            self.taken += self.results.read()
        except TopologyError:
            self.begin()


@pytest.fixture(scope="module", autouse=True)
def no_syncs() -> Any:
    with pytest.MonkeyPatch.context() as patched:
        for name in ("fsync", "fdatasync"):
            patched.setattr(os, name, lambda file: None)
        yield


def rows(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"n": numbers})


def read(results: KeptResults) -> list[int]:
    return [n for frame in results.read() for n in frame["n"]]


def records_of(folder: Path) -> Iterator[StoredRecord]:
    return (record for part in kept_parts_of(folder) for record in records_in(part.path))


STEPS = st.lists(st.one_of(STEP, st.just(("follow",))), max_size=60)


@pytest.mark.parametrize("result", [Rows(), Counts()], ids=["appends", "retracts"])
@settings(max_examples=40)
@given(steps=STEPS)
def test_each_row_is_kept_once(result: Rows | Counts, steps: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory(prefix="ouzel-") as name:
        files, follower, most = Files(Path(name)), Follower(Path(name)), 0
        topology = RollingTopology(result, files)
        for step, *values in steps:
            if step == "follow":
                follower.read()
            else:
                getattr(topology, step)(*values)
            most = max(most, topology.place)
        topology.end(most)
        follower.read()
        wanted = counted([result.changes(0, most)])
        assert counted([*KeptResults(Path(name)).read()]) == wanted
        assert counted(follower.taken) == wanted


class Died(BaseException):
    """The process is gone."""


def dying_at(step: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have the process die at so many-th of the calls that are wrapped, having done nothing of it."""
    calls = iter(range(1_000))

    def wrap(call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*arguments: Any, **options: Any) -> Any:
            if next(calls) == step:
                raise Died
            return call(*arguments, **options)

        return checked

    return wrap


@pytest.mark.parametrize("step", range(9))
@pytest.mark.parametrize("epoch", [0, 1])
def test_a_roll_back_that_was_interrupted_is_done_by_the_next_process(tmp_path: Path, step: int, epoch: int) -> None:
    folder, follower = tmp_path / RUN / "task-1", Follower(tmp_path)
    keeper = ResultKeeper(folder, part_bytes=1)
    keeper.roll_back(0, 1)
    keeper.write(1, rows(1))
    keeper.mark(1, 0)
    for number in range(2, 6):
        keeper.write(number, rows(number))
    follower.read()
    died = False
    with pytest.MonkeyPatch.context() as patched:
        wrap = dying_at(step)
        for owner, name in ((Path, "rename"), (Path, "unlink"), (os, "truncate"), (os, "open")):
            patched.setattr(owner, name, wrap(getattr(owner, name)))
        try:
            keeper.roll_back(epoch, 2)
        except Died:
            died = True
    assert died or step > 5
    follower.read()
    again = ResultKeeper(folder)
    again.roll_back(epoch, 2)
    again.write(1, rows(*range(1 + epoch, 7)))
    follower.read()
    assert [*read(KeptResults(tmp_path))] == [1, 2, 3, 4, 5, 6]
    assert [n for frame in follower.taken for n in frame["n"]] == [1, 2, 3, 4, 5, 6]
    assert sum(record.kind == ROWS for record in records_of(folder)) == 1 + epoch, "the rest takes no room"


def test_changes_that_were_cut_off_are_taken_back_for_whoever_had_read_them(tmp_path: Path) -> None:
    keeper, results = ResultKeeper(tmp_path / RUN / "task-1"), KeptResults(tmp_path)
    keeper.mark(1, 0)
    for number, weight in ((1, 1), (1, -1), (2, 1)):
        keeper.write(10 * number + weight, rows(number).with_columns(pl.lit(weight, pl.Int64).alias(WEIGHT)))
    assert [frame.rows() for frame in results.read()] == [[(1, 1)], [(1, -1)], [(2, 1)]]
    keeper.roll_back(1, 1)
    assert [frame.rows() for frame in results.read()] == [[(2, -1)]]
    assert [*KeptResults(tmp_path).read()] == []


def test_rows_up_to_a_limit_are_kept_of_a_topology_with_epochs_too(tmp_path: Path) -> None:
    keeper = ResultKeeper(tmp_path / RUN / "task-1", part_bytes=2_000, kept_bytes=20_000)
    keeper.roll_back(0, 1)
    slow = KeptResults(tmp_path)
    for number in range(100):
        keeper.write(number, rows(number))
        if number == 1:
            keeper.mark(1, 0)
            assert read(slow) == [0, 1]
    with pytest.raises(TopologyError, match="removed before they were read"):
        read(slow)
    reader = KeptResults(tmp_path)
    kept = read(reader)
    assert kept[-1] == 99
    again = ResultKeeper(tmp_path / RUN / "task-1")
    again.roll_back(1, 2)
    assert read(KeptResults(tmp_path)) == [], "all that was kept lies behind the mark"
    again.write(2, rows(*range(2, 101)))
    assert sorted(kept + read(reader)) == [*range(2, 101)], "what was removed before it was read has come again"
    assert read(KeptResults(tmp_path)) == [*range(2, 101)]


def test_without_epochs_nothing_is_written_beside_the_rows(tmp_path: Path) -> None:
    keeper = ResultKeeper(tmp_path / RUN / "task-1", part_bytes=1)
    keeper.write(1, rows(1))
    keeper.write(2, rows(2))
    assert [record.kind for record in records_of(tmp_path / RUN / "task-1")] == [ROWS, ROWS]


def test_a_roll_back_to_the_beginning_cuts_off_what_was_kept_before_there_were_epochs(tmp_path: Path) -> None:
    keeper, results = ResultKeeper(tmp_path / RUN / "task-1"), KeptResults(tmp_path)
    keeper.write(1, rows(1))
    assert read(results) == [1]
    keeper.roll_back(0, 1)
    keeper.write(2, rows(1, 2))
    assert read(KeptResults(tmp_path)) == [1, 2]


def test_a_reader_that_missed_rows_before_the_mark_is_told(tmp_path: Path) -> None:
    """What was cut off he need not read; what was removed for want of room he would miss."""
    folder = tmp_path / RUN / "task-1"
    keeper, slow = ResultKeeper(folder, part_bytes=1), KeptResults(tmp_path)
    keeper.write(1, rows(1))
    assert read(slow) == [1]
    keeper.write(2, rows(2))
    keeper.write(3, rows(3))
    keeper.mark(1, 0)
    room = sum(part.path.stat().st_size for part in kept_parts_of(folder)) // 3 + 140
    keeper = ResultKeeper(folder, part_bytes=1, kept_bytes=room)
    keeper.roll_back(1, 1)
    keeper.write(4, rows(4))
    assert next(records_of(folder)).kind == ROLL_BACK, "of what was before that, nothing is left"
    with pytest.raises(TopologyError, match="removed before they were read"):
        read(slow)


def test_a_result_that_takes_rows_back_is_folded_up_to_the_epoch_that_is_kept(tmp_path: Path) -> None:
    folder, follower = tmp_path / RUN / "task-1", Follower(tmp_path)
    keeper = ResultKeeper(folder, part_bytes=2_000, fold_bytes=8_000)
    keeper.roll_back(0, 1)
    for place in range(200):
        keeper.write(place, Counts().changes(place, place + 1))
        if place % 10 == 9:
            keeper.mark(place // 10 + 1, place // 10)
            follower.read()
    assert any(part.is_fold for part in kept_parts_of(folder))
    assert sum(part.path.stat().st_size for part in kept_parts_of(folder)) < 50_000
    for generation, place in ((2, 200), (3, 190)):
        keeper.roll_back(place // 10, generation)
        follower.read()
        wanted = counted([Counts().changes(0, place)])
        assert counted([*KeptResults(tmp_path).read()]) == wanted
        assert counted(follower.taken) == wanted


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("result", [Rows(), Counts()], ids=["appends", "retracts"])
def test_a_part_may_go_while_it_is_about_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: Rows | Counts, begins: bool
) -> None:
    keeper, results = ResultKeeper(tmp_path / RUN / "task-1", part_bytes=1, fold_bytes=1), KeptResults(tmp_path)
    taken = [] if begins else [*results.read()]
    places = iter(range(100))

    def write(count: int) -> None:
        for place in places:
            keeper.write(place, result.changes(place, place + 1))
            if (count := count - 1) == 0:
                return

    def list_late(folder: Path) -> list[KeptPart]:
        monkeypatch.undo()
        found = kept_parts_of(folder)
        if isinstance(result, Counts):
            write(12)
        keeper.roll_back(1, 1)
        return found

    keeper.roll_back(0, 0)
    write(1 if begins else 6)
    taken += [] if begins else results.read()
    keeper.mark(1, 0)
    write(3)
    monkeypatch.setattr("ouzel.runtime.process.kept_results.kept_parts_of", list_late)
    taken += results.read()
    assert counted([*taken, *results.read()]) == counted([result.changes(0, 1 if begins else 6)])


def test_what_was_read_from_a_fold_is_taken_back_by_a_roll_back_to_the_beginning(tmp_path: Path) -> None:
    folder = tmp_path / RUN / "task-1"
    keeper = ResultKeeper(folder, part_bytes=1, fold_bytes=1)
    keeper.roll_back(0, 0)
    for place in range(8):
        keeper.write(place, Counts().changes(place, place + 1))
    results = KeptResults(tmp_path)
    taken = [*results.read()]
    assert [part.is_fold for part in kept_parts_of(folder)].count(True) > 1
    keeper.roll_back(0, 1)
    assert counted([*taken, *results.read()]) == {}

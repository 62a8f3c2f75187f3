"""After a roll back each row of a result is delivered once, whatever the batches, tasks and order in which rows come again."""

from __future__ import annotations

from typing import Any
from unittest import mock

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.protocol.cluster.since_mark import KEPT_BYTES, SinceMark
from tests.protocol.cluster.rolling import STEP, Counts, RollingTopology, Rows, counted


@pytest.mark.parametrize("short", [False, True], ids=["whole", "in less room"])
@pytest.mark.parametrize("result", [Rows(), Counts()], ids=["appends", "retracts"])
@settings(max_examples=60)
@given(steps=st.lists(STEP, max_size=50))
def test_each_row_is_delivered_once(result: Rows | Counts, short: bool, steps: list[tuple[Any, ...]]) -> None:
    with mock.patch("ouzel.runtime.protocol.cluster.since_mark.KEPT_BYTES", 0 if short else KEPT_BYTES):
        check_delivery(result, steps)


def check_delivery(result: Rows | Counts, steps: list[tuple[Any, ...]]) -> None:
    machine = SinceMark()
    topology, most = RollingTopology(result, machine), 0
    for name, *values in steps:
        getattr(topology, name)(*values)
        most = max(most, topology.place)
    topology.end(most)
    assert counted(topology.delivered) == counted([result.changes(0, most)])
    assert machine._owed is None


def test_without_marks_nothing_is_kept() -> None:
    machine, rows = SinceMark(), pl.DataFrame({"n": [1]})
    assert machine.on_rows(1, rows) is rows
    assert not machine._tasks


def test_what_lies_before_the_mark_of_an_epoch_that_is_complete_is_forgotten() -> None:
    machine, rows = SinceMark(), pl.DataFrame({"n": [1]})
    machine.on_roll_back(1, 0, 0)
    for epoch in range(1, 100):
        machine.on_rows(1, rows)
        machine.on_mark(1, epoch, epoch - 1)
        assert sum(map(len, machine._tasks[1].since.values())) <= 2


def test_an_epoch_that_is_complete_and_turns_out_to_be_damaged_is_gone_behind() -> None:
    """While another was being written, so that its mark had come."""
    machine, frames = SinceMark(), [pl.DataFrame({"n": [n], WEIGHT: [1]}) for n in range(3)]
    machine.on_roll_back(1, 0, 0)
    for epoch, frame in enumerate(frames, 1):
        machine.on_rows(1, frame)
        machine.on_mark(1, epoch, epoch - 1)
    taken_back = machine.on_roll_back(1, 1, 1)
    assert taken_back is not None
    assert sorted(taken_back.rows()) == [(1, -1), (2, -1)]


@pytest.mark.parametrize("weight", [[], [-1, 1]], ids=["appends", "retracts"])
def test_what_is_kept_between_marks_takes_little_room(weight: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen bytes of a row; of changes, what they add up to: here each takes back the one before."""
    monkeypatch.setattr("ouzel.runtime.protocol.cluster.since_mark.KEPT_BYTES", 1_000)
    machine, rows = SinceMark(), 0
    machine.on_roll_back(1, 0, 0)
    for number in range(200):
        frame = pl.DataFrame({"n": [number - 1, number], "text": ["long " * 200] * 2})
        machine.on_rows(1, frame.with_columns(pl.Series(WEIGHT, weight)) if weight else frame)
        rows += 2
    kept = sum(frame.estimated_size() for frames in machine._tasks[1].since.values() for frame in frames)
    assert kept <= (10_000 if weight else 4_000 + 2 * 16 * rows)


def test_an_epoch_that_is_marked_twice_has_what_came_between() -> None:
    machine, rows = SinceMark(), pl.DataFrame({"n": [1]})
    machine.on_roll_back(1, 0, 0)
    machine.on_mark(1, 1, 0)
    machine.on_rows(1, rows)
    machine.on_mark(1, 1, 0)
    machine.on_roll_back(1, 1, 1)
    assert machine.on_rows(1, rows) is rows, "it is another row"


def test_a_row_that_does_not_come_again_stays_and_another_like_it_is_taken_for_it() -> None:
    machine = SinceMark()
    machine.on_roll_back(1, 0, 0)
    for number in (1, 2, 3):
        machine.on_rows(1, pl.DataFrame({"n": [number]}))
    machine.on_roll_back(1, 0, 1)
    left = machine.on_rows(1, pl.DataFrame({"n": [3, 4, 4, 1, 3]}))
    assert left is not None
    assert left["n"].to_list() == [4, 4, 3]
    assert machine.on_rows(1, pl.DataFrame({"n": [2]})) is None


def test_rows_that_never_come_again_are_forgotten_when_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.runtime.protocol.cluster.since_mark.OWED_MAX", 10)
    machine = SinceMark()
    machine.on_roll_back(1, 0, 0)
    for generation in range(1, 20):
        machine.on_rows(1, pl.DataFrame({"n": [generation] * 4}))
        machine.on_roll_back(1, 0, generation)
        assert len(machine._owed or ()) <= 16


def test_changes_that_are_taken_back_are_one_frame_of_what_is_left_of_them() -> None:
    machine = SinceMark()
    machine.on_roll_back(1, 0, 0)
    for task, changes in ((1, [(1, 1)]), (2, [(1, -1), (2, 1), (2, 1)]), (1, [(3, -1)])):
        machine.on_roll_back(task, 0, 0)
        machine.on_rows(task, pl.DataFrame(changes, ["n", WEIGHT], orient="row"))
    taken_back = machine.on_roll_back(2, 0, 1)
    assert taken_back is not None
    assert taken_back.rows() == [(2, -1), (2, -1), (3, 1)]
    assert machine.on_roll_back(1, 0, 1) is None


def test_without_a_first_roll_back_rows_are_kept_from_the_first_mark_on() -> None:
    machine, rows = SinceMark(), pl.DataFrame({"n": [1]})
    for epoch in (1, 2):
        machine.on_rows(1, rows)
        machine.on_mark(1, epoch, 0)
    machine.on_roll_back(2, 0, 1)
    machine.on_mark(3, 1, 0)
    for task in (1, 3):
        assert machine.on_rows(task, pl.DataFrame({"n": [2]})) is None, "it comes again after the roll back of its own"
    machine.on_roll_back(1, 0, 1)
    assert [machine.on_rows(1, rows) is rows for _ in range(2)] == [False, True]

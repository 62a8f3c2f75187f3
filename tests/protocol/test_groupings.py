"""Groupings: every row goes somewhere, equal keys go to one place, and a replayed frame goes where it went before."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.planner.topology import Grouping, GroupingKind
from ouzel.runtime.protocol.groupings import dealer, key_tasks, split_frame, two_choices

WORDS = pl.DataFrame({"word": [f"w{number % 97}" for number in range(5_000)], "n": range(5_000)})


def deal(kind: GroupingKind, tasks: int, frame: pl.DataFrame = WORDS, frame_id: int = 7, **named: object):
    grouping = Grouping(kind, ("word",), named.get("chooser"))
    return list(dealer(grouping, tasks, named.get("local", ()), "x")(frame, frame_id, named.get("task")))


@pytest.mark.parametrize("tasks", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "kind", [GroupingKind.FIELDS, GroupingKind.PARTIAL_KEY, GroupingKind.SHUFFLE, GroupingKind.GLOBAL]
)
def test_every_row_goes_to_one_task(kind: GroupingKind, tasks: int) -> None:
    dealt = deal(kind, tasks)
    assert sorted(n for _, rows in dealt for n in rows["n"]) == list(range(5_000))
    assert all(0 <= index < tasks for index, _ in dealt)


@pytest.mark.parametrize("tasks", [2, 3, 7])
def test_equal_keys_go_to_one_task_in_their_order(tasks: int) -> None:
    homes: dict[str, int] = {}
    for index, rows in deal(GroupingKind.FIELDS, tasks):
        assert rows["n"].is_sorted()
        for word in rows["word"].unique():
            assert homes.setdefault(word, index) == index
    assert len(set(homes.values())) == tasks


def test_all_copies_and_direct_names() -> None:
    assert [index for index, _ in deal(GroupingKind.ALL, 3)] == [0, 1, 2]
    assert [index for index, _ in deal(GroupingKind.DIRECT, 3, task=2)] == [2]


def test_custom_asks_the_chooser() -> None:
    dealt = deal(GroupingKind.CUSTOM, 3, chooser=lambda frame, tasks: frame["n"].to_numpy() % tasks)
    assert [rows["n"][0] % 3 for _, rows in dealt] == [0, 1, 2]


def test_local_or_shuffle_stays_at_home() -> None:
    for frame_id in range(50):
        assert {index for index, _ in deal(GroupingKind.LOCAL_OR_SHUFFLE, 4, frame_id=frame_id, local=[1, 3])} <= {1, 3}


def test_shuffle_spreads_frames_and_repeats_itself() -> None:
    homes = [deal(GroupingKind.SHUFFLE, 4, frame_id=frame_id)[0][0] for frame_id in range(400)]
    assert min(np.bincount(homes, minlength=4)) > 50
    assert homes == [deal(GroupingKind.SHUFFLE, 4, frame_id=frame_id)[0][0] for frame_id in range(400)]


def test_partial_key_halves_a_hot_key() -> None:
    hot = pl.DataFrame({"word": ["hot"] * 900 + [f"w{number}" for number in range(100)]})
    load = np.bincount(two_choices(hot, ["word"], 4), minlength=4)
    assert load.max() < 600
    assert np.bincount(key_tasks(hot, ["word"], 4), minlength=4).max() >= 900


@given(st.lists(st.integers(0, 4), min_size=0, max_size=60))
def test_split_is_a_partition(chosen: list[int]) -> None:
    frame = pl.DataFrame({"n": range(len(chosen))}, schema={"n": pl.Int64})
    got = {index: rows["n"].to_list() for index, rows in split_frame(frame, np.array(chosen, np.int64), 5)}
    assert got == {index: [n for n, task in enumerate(chosen) if task == index] for index in set(chosen)}


@pytest.mark.parametrize("column", [[1.5, float("nan"), 0.0, None], ["a", "b", "", None], [1, 2, None, 4]])
def test_keys_of_any_type_have_a_home(column: list[object]) -> None:
    frame = pl.DataFrame({"k": column * 3})
    homes = key_tasks(frame, ["k"], 5)
    assert (homes.reshape(3, -1) == homes[: len(column)]).all()

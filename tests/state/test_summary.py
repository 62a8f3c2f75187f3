"""Counts of what is kept, and the largest keys, against dictionaries; and why some state has none."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.runtime.observe.state_summaries import ALIKE, LargeKey, StateSummary, summarize_states
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.summary import LARGEST_SHOWN

KEY, ROW = {"k": pl.Int64()}, {"v": pl.Int64()}
steps = st.lists(
    st.tuples(st.booleans(), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)), max_size=8
)


def joined() -> tuple[StateContext, object]:
    """A state of two bags by key, as a join keeps it, and what puts rows into one or takes them out of it."""
    state = StateContext("join", 7, ["k"])
    table = state.table("keys", KEY)
    bags = [state.bag(name, table, ROW) for name in ("left", "right")]

    def change(side: int, rows: list[tuple[int, int]], weight: int) -> None:
        frame = pl.DataFrame(rows, schema={**KEY, **ROW}, orient="row")
        entered = table.enter(frame, ["k"])
        slots = bags[side].find_or_put(entered.key, entered.slots, frame)
        bags[side].add(slots, np.full(len(rows), weight))
        bags[side].sweep(np.unique(slots))
        table.release(entered.touched)

    return state, change


@given(steps)
def test_counts_are_those_of_a_dictionary(steps: list[tuple[bool, list[tuple[int, int]]]]) -> None:
    state, change = joined()
    model: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    for number, (puts, rows) in enumerate(steps):
        side = number % 2
        wanted = sorted({row for row in rows if (row not in model[side]) is puts})
        if wanted:
            change(side, wanted, 1 if puts else -1)  # type: ignore[operator]
        model[side].symmetric_difference_update(wanted)
    counts = Counter(key for rows in model for key, _ in rows)
    (counted,) = state.count_tables()
    assert (counted.name, counted.keys, counted.rows) == ("keys", len(counts), counts.total())
    assert counted.sizes == tuple(sorted(counts.values(), reverse=True)[:LARGEST_SHOWN])
    assert all(counts[key] == rows for key, rows in zip(counted.largest["k"].to_list(), counted.sizes, strict=True))


def test_looking_between_snapshots_copies_nothing_and_leaves_them_as_they_were() -> None:
    state, change = joined()
    change(0, [(1, 1), (1, 2), (2, 1)], 1)  # type: ignore[operator]
    before = state.snapshot()
    (counted,) = state.count_tables()
    assert (counted.sizes, counted.largest["k"].to_list()) == ((2, 1), [1, 2])
    change(0, [(2, 2), (2, 3)], 1)  # type: ignore[operator]
    (counted,) = state.count_tables()
    assert (counted.sizes, counted.largest["k"].to_list()) == ((3, 2), [2, 1])
    assert before.parts["left"].height == 3


def test_where_all_keys_are_alike_there_is_no_largest_and_the_reason_is_said() -> None:
    state = StateContext("aggregate", 7, ["k"])
    state.table("groups", KEY).enter(pl.DataFrame({"k": [1, 2, 2]}), ["k"])
    assert summarize_states([("1 Aggregation", state)]) == [StateSummary("1 Aggregation", "groups", 2, note=ALIKE)]


def test_a_table_without_keys_has_one_and_it_is_empty_text() -> None:
    state = StateContext("top", 7)
    table = state.table("keys", {})
    bag = state.bag("rows", table, ROW)
    frame = pl.DataFrame({"v": [1, 2, 3]})
    entered = table.enter(frame, [])
    bag.add(bag.find_or_put(entered.key, entered.slots, frame), np.ones(3, np.int64))
    (told,) = summarize_states([("1 TopN", state)])
    assert (told.keys, told.rows, told.largest) == (1, 3, (LargeKey((), 3),))


def test_looking_never_harms_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    state, _ = joined()
    monkeypatch.setattr(state, "count_tables", lambda: 1 // 0)
    (told,) = summarize_states([("1 Join", state)])
    assert told == StateSummary(
        "1 Join", note="cannot be counted: ZeroDivisionError: integer division or modulo by zero"
    )

"""How much a state context keeps, as it is told with every report: against dictionaries, and without a look at rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.index import KeyIndex
from ouzel.runtime.state.keyed_table import KeyedTable
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.rows import RowStore
from ouzel.runtime.state.summary import StateSize

KEY, ROW = {"k": pl.Int64()}, {"text": pl.String()}
Rows = list[tuple[int, str]]


def kept() -> tuple[StateContext, KeyedTable, RowBag]:
    """Texts by key, as a join keeps them."""
    state = StateContext("join", 7, ["k"])
    table = state.table("keys", KEY)
    return state, table, state.bag("rows", table, ROW)


def put(table: KeyedTable, bag: RowBag, rows: Rows, weight: int = 1) -> None:
    """Put rows in, or take them out."""
    frame = pl.DataFrame(rows, schema={**KEY, **ROW}, orient="row")
    entered = table.enter(frame, ["k"])
    slots = bag.find_or_put(entered.key, entered.slots, frame)
    bag.add(slots, np.full(len(rows), weight))
    bag.sweep(np.unique(slots))
    table.release(entered.touched)


@given(st.lists(st.sets(st.tuples(st.integers(0, 9), st.text(max_size=40))), max_size=6))
def test_keys_and_rows_are_those_of_a_dictionary(batches: list[set[tuple[int, str]]]) -> None:
    state, table, bag = kept()
    model: set[tuple[int, str]] = set()
    for number, rows in enumerate(batches):
        goes = number % 2 == 1
        if wanted := sorted(rows & model if goes else rows - model):
            put(table, bag, wanted, -1 if goes else 1)
        model.symmetric_difference_update(wanted)
        size = state.measure()
        assert (size.keys, size.rows) == (len({key for key, _ in model}), len(model))
        assert size.bytes is not None
        assert size.bytes >= sum(len(text.encode()) for _, text in model)


def test_bytes_are_those_of_keys_rows_and_all_arrays() -> None:
    state, table, bag = kept()
    sizes = []
    for number in range(4):
        put(table, bag, [(1_000 * number + row, "x" * 100) for row in range(1_000)])
        sizes.append(state.measure().bytes or 0)
    grown = [after - before for before, after in pairwise(sizes)]
    row = 100 + 16 + 8 * 4 + 16  # the text and its view, weight and links, the hash
    assert all(1_000 * row <= one <= 5_000 * row for one in grown), grown
    put(table, bag, [(row, "x" * 100) for row in range(4_000)], -1)
    empty = state.measure()
    assert (empty.keys, empty.rows) == (0, 0)
    assert 0 < (empty.bytes or 0) < sizes[-1], "rows go with the last of them, and slots wait for other keys"
    put(table, bag, [(1, "")])
    assert (state.measure().bytes or 0) < sizes[-1] - 3_000 * 100


def test_room_that_no_slot_has_used_is_not_counted() -> None:
    state, table, bag = kept()
    put(table, bag, [(row, "") for row in range(2_000)])
    put(table, bag, [(9_999, "")])
    before = state.measure().bytes or 0
    capacity = table._marks.capacity
    put(table, bag, [(row, "") for row in range(2_000, 2_100)])
    assert table._marks.capacity == capacity, "there was room"
    assert (state.measure().bytes or 0) > before


def test_no_row_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    state, table, bag = kept()
    put(table, bag, [(1, "a"), (1, "b"), (2, "c")])
    before, lent = state.snapshot(), bag._columns["row"]._arrays["weight"]
    for owner, name in ((RowStore, "take"), (KeyIndex, "slots"), (KeyIndex, "hashes"), (RowBag, "count_of_owners")):
        monkeypatch.setattr(owner, name, lambda *_: pytest.fail("a row was looked at"))
    assert (state.measure().keys, state.measure().rows) == (2, 3)
    assert bag._columns["row"]._arrays["weight"] is lent, "what a snapshot reads is not copied"
    monkeypatch.undo()
    assert before.parts["rows"].height == 3


def test_an_operator_without_keys_has_none_and_one_with_values_alone_keeps_nothing() -> None:
    state = StateContext("moments", 7)
    state.value("reached", 0)
    assert state.measure() == StateSize(None, None, 0)

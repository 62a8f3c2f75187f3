"""KeyIndex, SlotColumns and RowStore against dictionaries; hashes."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.hashing import extend_hashes, key_hashes, row_hashes
from ouzel.runtime.state.index import KeyIndex
from ouzel.runtime.state.rows import RowStore

steps = st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 300), max_size=120)), max_size=12)


def words(numbers: list[int], crowded: bool) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Keys as hashes; crowded ones fall into few places of the table, and differ in one word only."""
    low = np.array(numbers, np.uint64)
    return low, low % np.uint64(3) if crowded else low * np.uint64(0x9E3779B97F4A7C15)


@settings(deadline=None)
@given(steps, st.booleans())
def test_an_index_is_a_dictionary(steps: list[tuple[bool, list[int]]], crowded: bool) -> None:
    index, model = KeyIndex(), dict[int, int]()
    for insert, numbers in steps:
        if insert:
            for number, slot in zip(numbers, index.find_or_insert(*words(numbers, crowded)).tolist(), strict=True):
                assert model.setdefault(number, slot) == slot
        else:
            held = sorted({number for number in numbers if number in model})
            index.remove(np.array([model.pop(number) for number in held], np.int64))
        assert len(set(model.values())) == len(model) == len(index)
        assert index.slots().tolist() == sorted(model.values())
        every = list(range(301))
        assert index.find(*words(every, crowded)).tolist() == [model.get(number, -1) for number in every]


def test_slots_are_dense_and_serve_again() -> None:
    index = KeyIndex()
    assert index.find_or_insert(*words([5, 6, 5, 7], False)).tolist() == [0, 1, 0, 2]
    index.remove(np.array([1]))
    assert index.find_or_insert(*words([8, 9], False)).tolist() == [1, 3]
    assert index.limit == 4
    low, high = words([8], False)
    assert [word.tolist() for word in index.hashes(np.array([1]))] == [low.tolist(), high.tolist()]


def test_columns_grow_and_begin_at_zero() -> None:
    columns = SlotColumns({"n": np.int64, "x": np.float64})
    columns["n"][3] = 7
    columns.reserve(1_000)
    assert (columns["n"][3], columns["n"][999], columns.capacity) == (7, 0, 1_024)
    columns.clear(np.array([3]))
    assert columns["n"][3] == 0


@settings(deadline=None)
@given(steps)
def test_a_row_store_is_a_dictionary(steps: list[tuple[bool, list[int]]]) -> None:
    store, model, number = RowStore({"v": pl.Int64(), "s": pl.String()}), dict[int, int](), 0
    for put, slots in steps:
        distinct = np.unique(np.array(slots, np.int64))
        if put:
            values = np.arange(number, number + distinct.size)
            number += distinct.size
            store.put(
                distinct, pl.DataFrame({"v": values, "s": values.astype(str)}, schema={"v": pl.Int64, "s": pl.String})
            )
            model.update(zip(distinct.tolist(), values.tolist(), strict=True))
        else:
            store.free(distinct)
            for slot in distinct.tolist():
                model.pop(slot, None)
        assert len(store) == len(model)
        held = sorted(model, reverse=True)
        frame = store.take(np.array(held, np.int64))
        assert frame["v"].to_list() == [model[slot] for slot in held]
        assert frame["s"].to_list() == [str(model[slot]) for slot in held]
        by_age = store.order(np.array(held, np.int64)).tolist()
        assert [model[slot] for slot in by_age] == sorted(model.values())


def test_a_row_store_forgets_dead_rows() -> None:
    store = RowStore({"v": pl.Int64()})
    for _ in range(100):
        store.put(np.arange(100), pl.DataFrame({"v": np.arange(100)}))
    assert sum(frame.height for frame in store._frames) <= 1_300
    assert store.take(np.array([99, 0]))["v"].to_list() == [99, 0]


def test_a_row_store_that_is_emptied_keeps_no_rows() -> None:
    store = RowStore({"v": pl.Int64()})
    store.put(np.arange(100_000), pl.DataFrame({"v": np.arange(100_000)}))
    frozen, written = store.freeze(100_000), list[int]()
    for start in range(0, 99_000, 1_000):
        store.free(np.arange(start, start + 1_000))
        written += [frame.height for frame in store._frames if not written or frame.height != written[-1]]
        assert sum(frame.height for frame in store._frames) <= max(1_024, 2 * len(store))
    assert sum(written[1:]) <= 100_000, "each halving copies what is left"
    assert store.take(np.array([99_999]))["v"].to_list() == [99_999]
    store.free(np.arange(99_000, 100_000))
    assert not store._frames
    assert frozen.take(np.array([5, 99_999]))["v"].to_list() == [5, 99_999], "a snapshot still has its rows"


def keys() -> pl.DataFrame:
    return pl.DataFrame({
        "f": [0.0, -0.0, float("nan"), -float("nan"), None], "s": ["a", "a", None, None, ""], "l": [[1], [1], [], [], None],
        "r": [{"x": 1}] * 2 + [{"x": None}] * 2 + [None], "d": [Decimal("1.5")] * 4 + [None], "y": [date(2020, 1, 1)] * 5,
        "b": [b"x", b"x", None, None, b""], "t": [True, True, False, False, None],
    })  # fmt: skip


def test_equal_keys_have_equal_hashes_and_others_not() -> None:
    frame = keys()
    for columns in ([name] for name in frame.columns):
        low, high = key_hashes(frame, columns, 3)
        for word in (low, high):
            assert (word[0], word[2]) == (word[1], word[3])
    low, high = key_hashes(frame, frame.columns, 3)
    assert len(set(low.tolist())) == len(set(high.tolist())) == 3
    assert row_hashes(frame, frame.columns, 3).tolist() == low.tolist()
    assert row_hashes(frame, frame.columns, 4).tolist() != low.tolist()
    swapped = pl.DataFrame({"a": [1, 2], "b": [2, 1]})
    assert len(set(row_hashes(swapped, ["a", "b"], 3).tolist())) == 2
    assert len(set(row_hashes(swapped, [], 3).tolist())) == 1
    assert extend_hashes((low, high), frame, ["s"], 3)[0].tolist() != low.tolist()

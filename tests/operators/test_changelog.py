"""consolidate and ResultTable: what changes add up to."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.compiler.plan import WEIGHT
from ouzel.compiler.types import BIGINT, VARCHAR, Field, Schema
from ouzel.runtime.operators.consolidate import consolidate
from ouzel.runtime.operators.result_table import ResultTable
from tests.operators.nodes import folded

SCHEMA = Schema((Field("k", VARCHAR), Field("v", BIGINT)))
changes = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), st.sampled_from([1, -1, 2])), max_size=30
)


def frame_of(rows: list[tuple[str | None, int, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"k": pl.String, "v": pl.Int64, WEIGHT: pl.Int64}, orient="row")


@settings(deadline=None)
@given(changes)
def test_weights_of_equal_rows_add_up(rows: list[tuple[str | None, int, int]]) -> None:
    frame = frame_of(rows)
    out = consolidate(frame)
    assert {(key, value): weight for key, value, weight in out.rows()} == folded([frame], ["k", "v"])
    assert out.columns == frame.columns


@settings(deadline=None)
@given(changes)
def test_an_upsert_has_one_row_a_key(rows: list[tuple[str | None, int, int]]) -> None:
    out = consolidate(frame_of(rows), ["k"])
    total = folded([frame_of(rows)], ["k", "v"])
    assert sorted(out["k"], key=str) == sorted({key for key, _ in total}, key=str)  # type: ignore[arg-type]
    for key, value, weight in out.rows():
        put_in = {held for (owner, held), count in total.items() if owner == key and count > 0}
        assert (weight, value in put_in) == ((1, True) if put_in else (-1, False))


def test_an_upsert_keeps_what_came_last() -> None:
    out = consolidate(frame_of([("a", 1, -1), ("a", 2, 1), ("b", 1, 1), ("b", 3, 1), ("c", 1, -1)]), ["k"])
    assert out.rows() == [("a", 2, 1), ("b", 3, 1), ("c", 1, -1)]
    plain = frame_of([("a", 1, 1), ("a", 2, 1)]).drop(WEIGHT)
    assert consolidate(plain, ["k"]).rows() == [("a", 2, 1)]


@settings(deadline=None)
@given(st.lists(changes, max_size=6))
def test_a_result_table_is_the_sum_of_all_changes(batches: list[list[tuple[str | None, int, int]]]) -> None:
    table = ResultTable(SCHEMA)
    frames = [frame_of(batch) for batch in batches]
    for frame in frames:
        table.apply(frame)
    total = folded(frames, ["k", "v"])
    expected = [row for row, weight in total.items() for _ in range(weight)]
    assert sorted(table.frame().rows(), key=str) == sorted(expected, key=str)


def test_a_result_table_of_appends_keeps_their_order() -> None:
    table = ResultTable(SCHEMA)
    for batch in ([("b", 1)], [("a", 2), ("b", 1)]):
        table.apply(pl.DataFrame(batch, schema={"x": pl.String, "y": pl.Int64}, orient="row"))
    assert table.rows() == [{"k": "b", "v": 1}, {"k": "a", "v": 2}, {"k": "b", "v": 1}]

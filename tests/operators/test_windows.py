"""Windows against brute force; rows that come late; what is let out when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as quick
from hypothesis import strategies as st

from ouzel.compiler.plan import WEIGHT, AssignWindow, Emit, EmitRule, WindowKind
from ouzel.compiler.types import BIGINT, DATE, TIMESTAMP, TIMESTAMP_LTZ, VARCHAR, DataType
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.messages import END_OF_TIME
from tests.effort import examples
from tests.operators.nodes import CHANGES, FINAL, call, chain, folded, group, split, table

EPOCH = datetime(1970, 1, 1)
SECOND = 1_000_000
WINDOW = ("window_start", "window_end", "window_time")


def assigned(kind: DataType, size: int, slide: int, offset: int = 0, retracts: bool = False) -> AssignWindow:
    node = table(retracts, at=kind, v=BIGINT)
    return AssignWindow(node, WindowKind.TUMBLE if size == slide else WindowKind.HOP, "at", size, slide, offset)


@quick(max_examples=examples(60), deadline=None)
@given(
    times=st.lists(st.integers(-50, 50), min_size=1, max_size=8),
    size=st.integers(1, 12), slide=st.integers(1, 12), offset=st.integers(-5, 5),
)  # fmt: skip
def test_windows_are_those_that_brute_force_finds(times: list[int], size: int, slide: int, offset: int) -> None:
    node = assigned(TIMESTAMP, size, slide, offset)
    frame = pl.DataFrame({"at": times, "v": range(len(times))}).with_columns(pl.col("at").cast(pl.Datetime("us")))
    out = chain(node).process(frame)
    starts = range(-20 * slide + offset, 60 * slide + offset, slide)
    starts = range(-((100 // slide) + 20) * slide + offset, 200 + offset, slide)
    expected = {
        (number, start) for number, time in enumerate(times) for start in starts if start <= time < start + size
    }
    assert out is not None
    assert dict(out.schema) == node.schema.polars()
    found = list(zip(out["v"], out["window_start"].to_physical(), strict=True))
    assert set(found) == expected
    assert len(found) == len(expected)
    assert ((out["window_end"] - out["window_start"]) == timedelta(microseconds=size)).all()


@quick(max_examples=examples(60), deadline=None)
@given(
    times=st.lists(st.integers(-50, 50), min_size=1, max_size=8),
    step=st.integers(1, 5), steps=st.integers(1, 5), offset=st.integers(-5, 5),
)  # fmt: skip
def test_windows_that_grow_are_those_that_brute_force_finds(
    times: list[int], step: int, steps: int, offset: int
) -> None:
    size = step * steps
    node = AssignWindow(table(False, at=TIMESTAMP, v=BIGINT), WindowKind.CUMULATE, "at", size, step, offset % size)
    frame = pl.DataFrame({"at": times, "v": range(len(times))}).with_columns(pl.col("at").cast(pl.Datetime("us")))
    out = chain(node).process(frame)
    starts = range(-100 * size + offset % size, 200, size)
    ends = [(start, start + step * number) for start in starts for number in range(1, steps + 1)]
    expected = [(number, start, end) for number, time in enumerate(times) for start, end in ends if start <= time < end]
    assert out is not None
    assert dict(out.schema) == node.schema.polars()
    found = zip(out["v"], *(out[name].to_physical() for name in WINDOW[:2]), strict=True)
    assert sorted(found) == expected
    assert ((out["window_end"] - out["window_time"]) == timedelta(milliseconds=1)).all()


@pytest.mark.parametrize(
    ("kind", "value", "start", "time"),
    [
        (DATE, date(1969, 12, 31), datetime(1969, 12, 31), date(1969, 12, 31)),
        (TIMESTAMP, datetime(1969, 12, 31, 23), datetime(1969, 12, 31), datetime(1969, 12, 31, 23, 59, 59, 999000)),
        (
            TIMESTAMP_LTZ,
            datetime(2020, 1, 1, 5, tzinfo=UTC),
            datetime(2020, 1, 1),
            datetime(2020, 1, 1, 23, 59, 59, 999000, tzinfo=UTC),
        ),
    ],
    ids=str,
)
def test_each_kind_of_time(kind: DataType, value: Any, start: datetime, time: Any) -> None:
    node = assigned(kind, 86_400 * SECOND, 86_400 * SECOND)
    out = chain(node).process(pl.DataFrame({"at": [value], "v": [1]}, schema=node.input.schema.polars()))
    assert out is not None
    assert out.rows() == [(value, 1, start, start + timedelta(days=1), time)]


def test_a_null_time_is_refused_and_the_weight_stays_last() -> None:
    made = chain(assigned(TIMESTAMP, SECOND, SECOND, retracts=True))
    frame = pl.DataFrame(
        {"at": [None, EPOCH], "v": [7, 8], WEIGHT: [1, -1]}, schema_overrides={"at": pl.Datetime("us")}
    )
    out = made.process(frame)
    assert out is not None
    assert out.columns == ["at", "v", *WINDOW, WEIGHT]
    assert out["v"].to_list() == [8]
    refused = made.take_refused()
    assert [row.reason for row in refused] == ["its time at is NULL, so it belongs to no window"]
    assert '"v": 7' in refused[0].row


def windowed(emit: Emit, partial: bool = False, retracts: bool = False) -> Chain:
    node = table(retracts, k=VARCHAR, v=BIGINT, window_start=TIMESTAMP, window_end=TIMESTAMP)
    total, names = call("sum", node, "v", "total"), call("count", node, "v", "n")
    result = group(node, ["window_end", "k"], total, names, emit=emit, window=("", "window_end", ""))
    return chain(*split(result)) if partial else chain(result)


def rows(*triples: tuple[str, int, int]) -> pl.DataFrame:
    """(key, value, second in which a one-second window ends)."""
    ends = pl.Series([end * SECOND for _, _, end in triples], dtype=pl.Int64)
    return pl.DataFrame({
        "k": [key for key, _, _ in triples], "v": [value for _, value, _ in triples],
        "window_start": (ends - SECOND).cast(pl.Datetime("us")), "window_end": ends.cast(pl.Datetime("us")),
    })  # fmt: skip


def shown(frames: list[pl.DataFrame]) -> list[tuple[int, str, int, int]]:
    return [
        ((end - EPOCH) // timedelta(seconds=1), key, total, n)
        for frame in frames
        for end, key, total, n in frame.rows()
    ]


@pytest.mark.parametrize("partial", [False, True])
def test_a_window_leaves_once_when_the_watermark_reaches_its_last_microsecond(partial: bool) -> None:
    made = windowed(FINAL, partial)
    assert made.process(rows(("a", 1, 2), ("a", 2, 1), ("b", 5, 1), ("a", 3, 1))) is None
    assert made.advance(SECOND - 2) == []
    assert shown(made.advance(SECOND - 1)) == [(1, "a", 5, 2), (1, "b", 5, 1)]
    made.process(rows(("c", 9, 1), ("a", 1, 2), ("d", 9, 0), ("c", 9, 1)))
    assert made.late == 3
    assert shown(made.advance(END_OF_TIME)) == [(2, "a", 2, 2)]
    assert made.advance(END_OF_TIME) == []
    assert made.finish() == []


@pytest.mark.parametrize("partial", [False, True])
def test_a_closed_window_takes_rows_for_as_long_as_lateness_says(partial: bool) -> None:
    made = windowed(Emit(EmitRule.WATERMARK, lateness_us=2 * SECOND), partial)
    assert made.process(rows(("a", 1, 1), ("b", 5, 1), ("a", 7, 2))) is None
    assert made.advance(SECOND - 2) == []
    frames = [*made.advance(SECOND - 1), made.process(rows(("a", 2, 1), ("c", 9, 1), ("a", 1, 2)))]
    assert folded(frames, ["k", "total", "n"]) == {("a", 3, 2): 1, ("b", 5, 1): 1, ("c", 9, 1): 1}
    frames += made.advance(3 * SECOND - 2)
    frames.append(made.process(rows(("a", 4, 1), ("a", 4, 2))))
    assert made.late == 0
    assert made.advance(3 * SECOND - 1) == []
    assert made.process(rows(("a", 1, 1))) is None
    assert made.late == 1
    assert len(made.operators[-1]._groups.table.index) == 1  # type: ignore[attr-defined]
    assert folded(frames, ["k", "total", "n"]) == {("a", 7, 3): 1, ("a", 12, 3): 1, ("b", 5, 1): 1, ("c", 9, 1): 1}
    assert made.operators[-1].delay_us == 2 * SECOND
    assert made.advance(END_OF_TIME) == []


def test_late_rows_behind_a_combiner_are_told_one_by_one() -> None:
    made = windowed(FINAL, partial=True)
    made.process(rows(("a", 1, 2)))
    made.advance(SECOND - 1)
    made.process(rows(("a", 1, 1), ("a", 4, 1), ("b", 2, 2), ("b", 3, 2), ("a", 4, 1)))
    (told,) = made.take_late()
    assert told.select("k", "$rows", "total", "n").rows() == [("a", 1, 1, 1), ("a", 1, 4, 1), ("a", 1, 4, 1)]
    assert shown(made.advance(END_OF_TIME)) == [(2, "a", 1, 1), (2, "b", 5, 2)]


def test_rows_that_a_combiner_had_added_up_are_told_as_one() -> None:
    made = windowed(FINAL, partial=True)
    (made.operators[-1]).advance(SECOND - 1)
    made.process(rows(("a", 1, 1), ("a", 4, 1)))
    (told,) = made.take_late()
    assert told.select("k", "$rows", "total", "n").rows() == [("a", 2, 5, 2)]
    assert made.late == 2


def test_windows_that_close_together_leave_in_order_and_their_slots_serve_again() -> None:
    made = windowed(FINAL)
    for start in range(0, 400, 4):
        made.process(rows(*((f"k{number}", 1, start + 4 - number) for number in range(4))))
        out = shown(made.advance((start + 4) * SECOND))
        assert [end for end, *_ in out] == list(range(start + 1, start + 5))
    groups = made.operators[0]._groups  # type: ignore[attr-defined]
    assert (len(groups.table.index), groups.table.index.limit) == (0, 4)
    assert len(groups.kept._keys) == 0


@pytest.mark.parametrize("partial", [False, True])
def test_changes_of_a_window_leave_at_once_and_its_state_goes_when_it_closes(partial: bool) -> None:
    made = windowed(CHANGES, partial)
    frames = [made.process(rows(("a", 1, 1))), made.process(rows(("a", 2, 1), ("a", 7, 2)))]
    assert [frame[WEIGHT].to_list() for frame in frames if frame is not None] == [[1], [-1, 1, 1]]
    assert made.advance(SECOND) == []
    assert made.process(rows(("a", 2, 1))) is None
    assert made.late == 1
    assert len(made.operators[-1]._groups.table.index) == 1  # type: ignore[attr-defined]
    total = folded(frames, ["k", "total", "n"])
    assert total == {("a", 3, 2): 1, ("a", 7, 1): 1}


def test_a_delay_lets_out_differences_only() -> None:
    made = windowed(Emit(EmitRule.DELAY, 100))
    assert made.tick(0) == []
    made.process(rows(("a", 1, 1)))
    made.process(rows(("a", 2, 1)))
    assert made.tick(99) == []
    (first,) = made.tick(100)
    assert first.select("total", WEIGHT).rows() == [(3, 1)]
    made.process(rows(("a", 4, 1), ("b", 0, 1)))
    made.process(rows(("a", -4, 1)))
    (second,) = made.tick(200)
    assert second.select("k", "total", "n", WEIGHT).rows() == [("a", 3, 2, -1), ("a", 3, 4, 1), ("b", 0, 1, 1)]
    assert made.tick(300) == []
    made.process(rows(("b", 5, 1)))
    (closing,) = made.advance(SECOND)
    assert closing.select("k", "total", WEIGHT).rows() == [("b", 0, -1), ("b", 5, 1)]
    assert made.finish() == []


@quick(max_examples=examples(60), deadline=None)
@given(
    batches=st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(-5, 5), st.integers(0, 6)), max_size=5), max_size=6
    ),
    lateness=st.integers(0, 3),
)
def test_late_rows_and_windows_make_up_the_whole(batches: list[list[tuple[str, int, int]]], lateness: int) -> None:
    """The watermark is 2 s behind the newest row; what leaves adds up to what was not late, whatever of it came to closed windows."""
    made = windowed(Emit(EmitRule.WATERMARK, lateness_us=lateness * SECOND), partial=True)
    expected, late, newest, out = dict[Any, int](), 0, 0, list[pl.DataFrame | None]()
    for batch in batches:
        for key, value, end in batch:
            if (end + lateness) * SECOND - 1 <= (newest - 2) * SECOND:
                late += 1
            else:
                expected[end, key] = expected.get((end, key), 0) + value
        if batch:
            out.append(made.process(rows(*batch)))
        newest = max([newest, *(end for *_, end in batch)])
        out += made.advance((newest - 2) * SECOND)
    out += made.advance(END_OF_TIME)
    found = folded(out, ["window_end", "k", "total"])
    assert found == {(EPOCH + timedelta(seconds=end), key, total): 1 for (end, key), total in expected.items()}
    assert made.late == late

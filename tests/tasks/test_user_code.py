"""What an engineer's bolt or spout does wrong is told in one sentence: the component, what is wrong, and the line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel.errors import PlanError, TopologyError
from ouzel.planner.topology import Topology

N = ouzel.schema(n=int)


class Numbers(ouzel.Spout):
    def next_batch(self, collector: Any) -> bool:
        collector.emit(pl.DataFrame({"n": [1, 2]}), message_id=1)
        return False


class Doing(ouzel.BasicBolt):
    def __init__(self, process: Callable[[pl.DataFrame], Any]) -> None:
        self._process = process

    def process(self, frame: pl.DataFrame) -> Any:
        return self._process(frame)


class Rows(ouzel.RowBolt):
    fields = ("n",)

    def __init__(self, handle: Callable[[int], Any]) -> None:
        self._handle = handle

    def handle(self, *row: Any) -> Any:
        return self._handle(*row)


class Streams(ouzel.Bolt):
    def execute(self, batch: Any, collector: Any) -> None:
        collector.emit(batch.frame, stream="others")


def topology(bolt: ouzel.Bolt, spout: ouzel.Spout | None = None) -> Topology:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("numbers", spout or Numbers(), N)
    builder.set_bolt("b", bolt, N).shuffle_grouping("numbers")
    return builder.build()


def answer(bolt: ouzel.Bolt) -> pl.DataFrame:
    return ouzel.table(topology(bolt), "memory", of="b")


@pytest.mark.parametrize(
    ("bolt", "problem"),
    [
        (Doing(lambda frame: [frame.rename({"n": "m"})]), "'b' (task 2) emits columns m, and declares n"),
        (
            Doing(lambda frame: [frame.cast(pl.String)]),
            "'b' (task 2) emits column 'n' as String, and declares it BIGINT; "
            "declare it ouzel.schema(n=str), or cast it: pl.col('n').cast(pl.Int64)",
        ),
        (
            Doing(lambda frame: [frame.to_pandas()]),
            "'b' (task 2) emits a pandas DataFrame, and what travels are Polars data frames; write pl.from_pandas(frame)",
        ),
        (Doing(lambda frame: ["text"]), "'b' (task 2) emits a str, and what travels are Polars data frames"),
        (
            Doing(lambda frame: frame),
            "process returned a DataFrame; return a list of frames: [frame], or [] for nothing",
        ),
        (Doing(lambda frame: None), "process returned a NoneType; return a list"),
        (Rows(lambda n: n), "handle returned a int; return a list of rows: [(value,)], or [] for nothing"),
        (Rows(lambda n: [(n, n)]), "handle gave a row of 2 values, and there are 1 fields"),
        (
            Streams(),
            "'b' (task 2) emits the stream 'others', which it does not declare: it declares 'default' (in execute, ",
        ),
    ],
)
def test_what_was_not_declared_is_refused(bolt: ouzel.Bolt, problem: str) -> None:
    with pytest.raises(TopologyError, match=re.escape(problem)):
        answer(bolt)


def test_an_exception_has_its_component_and_line() -> None:
    def fail(frame: pl.DataFrame) -> Any:
        raise KeyError("x")

    line = fail.__code__.co_firstlineno + 1
    with pytest.raises(
        TopologyError, match=rf"'b' \(task 2\) failed: KeyError: 'x' \(in fail, .*test_user_code\.py:{line}\)"
    ):
        answer(Doing(fail))


def test_columns_in_another_order_and_whole_numbers_of_another_width_fit() -> None:
    assert answer(Doing(lambda frame: [frame.cast(pl.UInt8)])).rows() == [(1,), (2,)]


def test_a_class_is_no_spout_and_a_field_must_be_emitted() -> None:
    with pytest.raises(
        PlanError,
        match=r"'numbers' is no Spout but <class .*Numbers'>; pass an object of the class: Numbers\(\)",
    ):
        topology(Streams(), Numbers)  # type: ignore[arg-type]
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("numbers", Numbers(), N)
    builder.set_bolt("b", Streams(), N).fields_grouping("numbers", "m")
    with pytest.raises(
        PlanError,
        match=r"'b' groups 'numbers' by 'm' \(at .*test_user_code.py:\d+\), which it does not emit; it emits n",
    ):
        builder.build()


class Now(ouzel.RowSpout):
    """Rows come, then none for a while, then more, and no end but the last."""

    fields = ("n",)

    def open(self, context: Any) -> None:
        self.script = iter([1, 2, self.NOTHING_NOW, self.NOTHING_NOW, 3, None])

    def next_row(self) -> Any:
        row = next(self.script)
        return (row,) if isinstance(row, int) else row


class Batches:
    """A collector that keeps what is emitted."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []
        self.now_ms = 0.0

    def monotonic_ms(self) -> float:
        self.now_ms += 10
        return self.now_ms

    def emit(self, frame: pl.DataFrame, **_: Any) -> None:
        self.rows.append(frame["n"].to_list())


def test_a_row_spout_that_has_nothing_now_sends_what_it_has_and_is_asked_again() -> None:
    spout, batches = Now(), Batches()
    spout.open(None)
    said = [spout.next_batch(batches) for _ in range(3)]  # type: ignore[arg-type]
    assert said == [None, None, False]
    assert batches.rows == [[1, 2], [3]]


def test_rows_of_a_slow_row_spout_leave_in_time() -> None:
    spout, batches = Now(), Batches()
    spout.script = iter(range(100_000))
    assert spout.next_batch(batches) is True  # type: ignore[arg-type]
    assert len(batches.rows[0]) == 10, "a row takes 10 ms, and 100 ms are over"


def test_a_row_spout_without_rows_for_a_while_ends_when_it_says_so() -> None:
    assert ouzel.table(topology(Rows(lambda n: [(n,)]), Now()), "memory", of="b").rows() == [(1,), (2,), (3,)]

"""What a micro-batch means for a sink, and what Spark's reports add up to: no Spark."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import TopologyError
from ouzel.spark.streaming import changes
from ouzel.spark.streaming.changes import RowsByKey, WholeTable
from ouzel.spark.streaming.gate import MicroBatchGate
from ouzel.spark.streaming.progress import Account, LateCalls
from ouzel.spark.streaming.sinks import batch_id_of

COLUMNS = {"word": pl.String(), "n": pl.Int64()}


def table(*rows: tuple[str | None, int]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=COLUMNS, orient="row")


def weights(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    assert frame.columns == [*COLUMNS, WEIGHT]
    return frame.rows()


def test_rows_that_changed_take_back_what_they_replace() -> None:
    made = RowsByKey(COLUMNS, ["word"])
    assert weights(made.since(table(("a", 1), (None, 1)))) == [("a", 1, 1), (None, 1, 1)]
    assert weights(made.since(table(("b", 1), (None, 2)))) == [(None, 1, -1), ("b", 1, 1), (None, 2, 1)]
    assert weights(made.since(table(("b", 1)))) == []
    assert weights(made.since(table())) == []


def test_one_row_of_all_needs_no_key() -> None:
    made = RowsByKey(COLUMNS, [])
    made.since(table(("all", 1)))
    assert weights(made.since(table(("all", 2)))) == [("all", 1, -1), ("all", 2, 1)]


def test_a_whole_table_says_what_has_gone() -> None:
    made = WholeTable(COLUMNS)
    assert weights(made.since(table(("a", 1), ("a", 1), ("b", 1)))) == [("a", 1, 2), ("b", 1, 1)]
    assert weights(made.since(table(("a", 1), ("c", 1)))) == [("b", 1, -1), ("a", 1, -1), ("c", 1, 1)]


@pytest.mark.parametrize("made", [RowsByKey(COLUMNS, ["word"]), WholeTable(COLUMNS)])
def test_a_table_too_large_to_hold_is_refused(made: changes.Changes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "HELD_ROWS_MAX", 1)
    with pytest.raises(TopologyError, match="more than 1 rows, which the driver holds"):
        made.since(table(("a", 1), ("b", 1)))


def test_ids_of_micro_batches_are_those_of_their_query() -> None:
    one, other = "935aad61-7989-4440-a5a2-655c8af9cb21", "b7402f17-ed7e-4671-b9be-1e3449630f59"
    assert batch_id_of(one, 7) == batch_id_of(one, 7) == batch_id_of(one, 6) + 1
    assert len({batch_id_of(query, number) for query in (one, other) for number in (0, 1)}) == 4


def report(start: dict[str, list[int]] | None, end: dict[str, list[int]], rows: int, *, ended: bool = False) -> Any:
    def offset(parts: dict[str, list[int]] | None, ended: bool) -> str | None:
        return None if parts is None else json.dumps({"table": "t", "parts": parts, "ended": ended})

    source = {"startOffset": offset(start, False), "endOffset": offset(end, ended), "numInputRows": rows}
    return {"batchId": 0, "sources": [source], "stateOperators": [{"numRowsDroppedByWatermark": 2}], "eventTime": {}}


def test_reports_add_up_and_the_mark_of_the_end_is_no_row() -> None:
    account = Account()
    account.add(report(None, {"a": [5, 15]}, 10))
    account.add(report({"a": [5, 15]}, {"a": [5, 20], "b": [0, 3]}, 9, ended=True))
    assert (account.rows["t"], account.late, account.ended) == (18, 4, True)


def test_a_table_that_a_query_reads_twice_counts_once() -> None:
    account, twice = Account(), report(None, {"a": [0, 10]}, 20)
    account.add(twice)
    account.add({**twice, "sources": twice["sources"] * 2})
    assert account.rows["t"] == 20


@pytest.mark.parametrize(
    ("text", "time_us"),
    [
        ("1970-01-01T00:00:00.000Z", None),
        ("2013-01-01T00:00:00.500Z", 1_356_998_400_500_000),
        ("+33658-09-27T01:46:40Z", None),
    ],
)
def test_watermarks(text: str, time_us: int | None) -> None:
    account = Account()
    account.add({**report(None, {}, 0), "eventTime": {"watermark": text}})
    assert account.watermark_us == time_us


def test_a_call_that_is_told_twice_is_counted_once() -> None:
    calls = LateCalls()
    told = {("one", 7, 2): 3, ("one", 7, 1): 2, ("other", 7, 1): 1}
    assert calls.take(told) == 6
    assert not told
    assert calls.take({("one", 7, 2): 3, ("one", 8, 1): 1, ("other", 7, 4): 5}) == 6


def test_a_gate_that_is_shut_waits_for_those_inside() -> None:
    gate = MicroBatchGate()
    with gate.passing():
        assert not gate.shut(0.0)
    assert gate.shut(0.0)
    gate.stop()
    with pytest.raises(TopologyError, match="the run stops"), gate.passing():
        pass

"""Rows a second through the stateful operators, one JSON line a workload: `python bench/operators.py [name ...]`.

Input is made beforehand; a figure is the best of three passes over the same batches, state kept from pass to pass.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from ouzel.compiler.catalog import UNREAD
from ouzel.compiler.plan import (
    Aggregate,
    AggregateCall,
    AsofJoin,
    Emit,
    EmitRule,
    FinalAggregate,
    FrameKind,
    IntervalJoin,
    JoinKind,
    Node,
    Over,
    OverCall,
    PartialAggregate,
    RowTime,
    Scan,
    SortKey,
    TopN,
    WindowFrame,
)
from ouzel.compiler.types import BIGINT, DOUBLE, TIMESTAMP, VARCHAR, DataType, Field, Schema
from ouzel.planner.settings import Settings
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.operators.result_table import ResultTable
from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.hashing import key_hashes
from ouzel.runtime.state.index import KeyIndex

WORDS = 175_000
Step = Callable[[pl.DataFrame], object]
_random = np.random.default_rng(1)


def _scan(**columns: DataType) -> Scan:
    return Scan("t", "memory", (), Schema(tuple(Field(name, kind) for name, kind in columns.items())), traits=UNREAD)


def _words(rows: int, batches: int) -> list[pl.DataFrame]:
    words = np.array([f"word{number:06d}" for number in range(WORDS)])
    return [pl.DataFrame({"word": words[_random.integers(0, WORDS, rows)]}) for _ in range(batches)]


def _count(node: Node) -> Aggregate:
    calls = (AggregateCall("n", "count", None, BIGINT),)
    return Aggregate(node, ("word",), calls, Emit(EmitRule.CHANGES))


def index_and_add(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """Hash, find or insert the word, add one to its count."""
    from ouzel.runtime.operators.keyed import kernels

    index, counts, ones = KeyIndex(), SlotColumns({"n": np.int64}), np.ones(rows, np.int64)

    def step(frame: pl.DataFrame) -> None:
        slots = index.find_or_insert(*key_hashes(frame, ["word"], 7))
        counts.reserve(index.limit)
        kernels.add_amounts(counts["n"], slots, ones)

    return step, _words(rows, 100)


def count_changes(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """SELECT word, COUNT(*) GROUP BY word, EMIT CHANGES."""
    chain = build_chain([_count(_scan(word=VARCHAR))], Settings(seed=7))
    return chain.process, _words(rows, 100)


def count_changes_merged(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """The same from partial aggregates."""
    node = _count(_scan(word=VARCHAR))
    partial = PartialAggregate(node.input, node)
    first, second = (build_chain([step], Settings(seed=7)) for step in (partial, FinalAggregate(partial, node)))
    return second.process, [frame for words in _words(rows, 100) for _, frame in first.process(words)]


def count_partial(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """The combiner of the same."""
    node = _count(_scan(word=VARCHAR))
    return build_chain([PartialAggregate(node.input, node)], Settings(seed=7)).process, _words(rows, 100)


def windowed_sums(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """SUM and COUNT by window and one of eight keys, EMIT AFTER WATERMARK; a window closes with every other batch."""
    scan = _scan(origin=VARCHAR, window_end=TIMESTAMP, delay=BIGINT)
    calls = (AggregateCall("n", "count", None, BIGINT), AggregateCall("total", "sum", "delay", BIGINT))
    window = ("", "window_end", "")
    node = Aggregate(scan, ("window_end", "origin"), calls, Emit(EmitRule.WATERMARK), window)
    chain = build_chain([node], Settings(seed=7))
    ends = np.sort(_random.integers(0, 50, (100, rows)), axis=None).reshape(100, rows) + 1
    origins = np.array([f"K{number}" for number in range(8)])
    frames = [
        pl.DataFrame({"origin": origins[_random.integers(0, 8, rows)], "window_end": end * 60_000_000,
                      "delay": _random.integers(-90, 900, rows)})
        .with_columns(pl.col("window_end").cast(pl.Datetime("us")))
        for end in ends
    ]  # fmt: skip

    watermarks = iter(((ends[:, 0] - 1) * 60_000_000).tolist())

    def step(frame: pl.DataFrame) -> None:
        chain.process(frame)
        chain.advance(next(watermarks))

    return step, frames


def interval_join(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """Two streams of a row a millisecond, joined by one of 20,000 keys within 20 s; half of the rows are of each."""
    times, bounds = (RowTime("ts"), RowTime("at")), (0, 20_000_000)
    return _joining(IntervalJoin(*_sides(), JoinKind.INNER, (("k", "j"),), times=times, bounds=bounds), rows, 20_000)


def asof_join(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """Each row of one stream with the latest of its key in another, of 20,000 keys."""
    return _joining(AsofJoin(*_sides(), JoinKind.LEFT, (("k", "j"),), times=("ts", "at")), rows, 20_000)


def _sides() -> tuple[Scan, Scan]:
    return _scan(k=BIGINT, ts=TIMESTAMP, name=VARCHAR), _scan(j=BIGINT, at=TIMESTAMP, price=BIGINT)


def _joining(node: Node, rows: int, keys: int) -> tuple[Step, list[pl.DataFrame]]:
    """Each batch is one input's, in turns; after two of them the watermark passes both."""
    chain, half = build_chain([node], Settings(seed=7)), rows // 2
    frames, turn = [], 0
    for number in range(100):
        times = pl.Series((np.arange(half) + number // 2 * half) * 1_000).cast(pl.Datetime("us"))
        keyed = _random.integers(0, keys, half)
        texts = pl.Series(_random.integers(0, 1_000, half)).cast(pl.String)
        right = {"j": keyed, "at": times, "price": _random.integers(0, 1_000, half)}
        frames.append(pl.DataFrame(right if number % 2 else {"k": keyed, "ts": times, "name": texts}))

    def step(frame: pl.DataFrame) -> None:
        nonlocal turn
        chain.process(frame, turn % 2)
        turn += 1
        if turn % 2 == 0:
            for port in (0, 1):
                chain.advance_port(port, turn // 2 * half * 1_000)

    return step, frames


def _rides(rows: int, keys: int) -> list[pl.DataFrame]:
    """Batches of key, time and price, in time order but for a little."""
    times = np.arange(100 * rows) * 1_000 + _random.integers(0, 5_000, 100 * rows)
    return [
        pl.DataFrame({"key": _random.integers(0, keys, rows), "ts": time, "price": _random.integers(0, 1_000_000, rows)})
        .with_columns(pl.col("ts").cast(pl.Datetime("us")))
        for time in times.reshape(100, rows)
    ]  # fmt: skip


def _over(rows: int, *calls: OverCall) -> tuple[Step, list[pl.DataFrame]]:
    scan = _scan(key=BIGINT, ts=TIMESTAMP, price=BIGINT)
    chain = build_chain([Over(scan, ("key",), (SortKey("ts"),), ("price",), calls, "ts")], Settings(seed=7))
    frames = _rides(rows, 1_000)
    watermarks = iter([int(frame["ts"].max().timestamp() * 1e6) - 10_000 for frame in frames])  # type: ignore[union-attr]

    def step(frame: pl.DataFrame) -> None:
        chain.process(frame)
        chain.advance(next(watermarks))

    return step, frames


def over_numbers(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """ROW_NUMBER and LAG in time order, of a thousand keys."""
    frame = WindowFrame(FrameKind.ROWS, None, None)
    number = OverCall("number", "row_number", None, BIGINT, frame)
    return _over(rows, number, OverCall("before", "lag", "price", BIGINT, frame, 1))


def over_totals(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """A running SUM, and the SUM of ten rows, in time order, of a thousand keys."""
    whole, ten = WindowFrame(FrameKind.RANGE, None, 0), WindowFrame(FrameKind.ROWS, -9, 0)
    return _over(rows, OverCall("running", "sum", "price", BIGINT, whole), OverCall("ten", "sum", "price", BIGINT, ten))


def over_changes(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """AVG of ten rows and LAG in the order of prices, of a hundred keys of two thousand rows each, to which a fiftieth of a batch comes."""
    call = OverCall("ten", "avg", "price", DOUBLE, WindowFrame(FrameKind.ROWS, -9, 0))
    before = OverCall("before", "lag", "price", BIGINT, WindowFrame(FrameKind.ROWS, None, None), 1)
    scan = _scan(key=BIGINT, ts=TIMESTAMP, price=BIGINT)
    chain = build_chain([Over(scan, ("key",), (SortKey("price"),), ("ts",), (call, before))], Settings(seed=7))
    for frame in _rides(2_000, 100):
        chain.process(frame)
    return chain.process, _rides(rows // 50, 100)


def top_three(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """The three highest prices of each of ten thousand keys."""
    scan = _scan(key=BIGINT, ts=TIMESTAMP, price=BIGINT)
    node = TopN(scan, ("key",), (SortKey("price", True, True),), ("ts",), "row_number", 3)
    return build_chain([node], Settings(seed=7)).process, _rides(rows, 10_000)


def result_table(rows: int) -> tuple[Step, list[pl.DataFrame]]:
    """The client folding the changelog of the count."""
    step, frames = count_changes(rows)
    table = ResultTable(Schema((Field("word", VARCHAR), Field("n", BIGINT))))
    return table.apply, [made for frame in frames * 3 for _, made in step(frame)]


WORKLOADS = (
    index_and_add,
    count_changes,
    count_changes_merged,
    count_partial,
    windowed_sums,
    interval_join,
    asof_join,
    over_numbers,
    over_totals,
    over_changes,
    top_three,
    result_table,
)
ONCE = (result_table, windowed_sums, interval_join, asof_join, over_numbers, over_totals, over_changes)


def measure(workload: Callable[[int], tuple[Step, list[pl.DataFrame]]], rows: int) -> dict[str, object]:
    """The best of three passes; of one where time moves on."""
    step, frames = workload(rows)
    passes = 1 if workload in ONCE else 3
    seconds, cpu = map(min, zip(*(_seconds(step, frames) for _ in range(passes)), strict=True))
    total = sum(frame.height for frame in frames)
    return {
        "workload": workload.__name__, "batch_rows": rows, "rows": total, "seconds": round(seconds, 4), "cpu_seconds": round(cpu, 4),
        "rows_per_s": round(total / seconds), "rows_per_cpu_s": round(total / cpu),
    }  # fmt: skip


def _seconds(step: Step, frames: list[pl.DataFrame]) -> tuple[float, float]:
    start, cpu = time.perf_counter(), time.process_time()
    for frame in frames:
        step(frame)
    return time.perf_counter() - start, time.process_time() - cpu


def chosen(names: list[str]) -> Iterator[Callable[[int], tuple[Step, list[pl.DataFrame]]]]:
    """The named workloads, or all."""
    return (workload for workload in WORKLOADS if not names or workload.__name__ in names)


if __name__ == "__main__":
    for workload in chosen(sys.argv[1:]):
        for rows in (10_000, 20_000):
            print(json.dumps(measure(workload, rows)), flush=True)

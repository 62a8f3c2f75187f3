"""Rows a CPU second of exact and approximate aggregates and of Python's monoids, through the operator alone, in batches of 20,000.

.venv/bin/python bench/aggregates.py
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from ouzel import monoid
from ouzel.compiler.functions.aggregate_function import ValueOrder
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import BIGINT, DOUBLE
from tests.operators import nodes

ROWS, BATCH, GROUPS = 400_000, 20_000, 100
SOURCE = nodes.table(k=BIGINT, n=BIGINT, x=DOUBLE)
ORDER = (ValueOrder(),)


def calls() -> dict[str, AggregateCall]:
    """What is measured, by its name in the table."""
    n, x = (partial(_call, column) for column in "nx")
    made = {
        "COUNT(DISTINCT n)": n("count", distinct=True),
        "APPROX_COUNT_DISTINCT(n)": n("approx_count_distinct", parameters=(0.05,)),
        "APPROX_COUNT_DISTINCT(n, 0.01)": n("approx_count_distinct", parameters=(0.01,)),
        "PERCENTILE_CONT(x, 0.9)": x("percentile_cont", parameters=(ORDER, 0.9)),
        "APPROX_PERCENTILE(x, 0.9)": x("approx_percentile", parameters=(ORDER, 0.9, 0.01)),
    }
    in_python = (
        monoid.TopK(10), monoid.Product(), monoid.Moments(), monoid.Reservoir(100), monoid.Theta(1024), monoid.BloomFilter(10_000),
        monoid.CountMinSketch(1000),
    )  # fmt: skip
    return made | {str(each): each.call("total", "x", DOUBLE) for each in in_python}


def _call(column: str, name: str, **options: object) -> AggregateCall:
    return nodes.call(name, SOURCE, column, **options)


def rate(call: AggregateCall, frame: pl.DataFrame) -> float:
    """Millions of rows a CPU second."""
    made = nodes.chain(nodes.group(SOURCE, ("k",), call, emit=nodes.FINAL))
    began = time.process_time()
    for start in range(0, frame.height, BATCH):
        made.process(frame[start : start + BATCH])
    made.finish()
    return frame.height / (time.process_time() - began) / 1e6


def main() -> None:
    """Measure each three times."""
    dice = np.random.default_rng(0)
    columns = {
        "k": dice.integers(0, GROUPS, ROWS),
        "n": dice.integers(0, 100_000, ROWS),
        "x": dice.lognormal(3, 2, ROWS),
    }
    frame = pl.DataFrame(columns)
    for name, call in calls().items():
        rows = frame.head(BATCH if call.row is not None else ROWS)
        rate(call, rows.head(BATCH))
        print(f"{name:35} {max(rate(call, rows) for _ in range(3)):8.2f}", flush=True)


if __name__ == "__main__":
    main()

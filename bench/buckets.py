"""What a micro-batch costs our operators in Spark's state, step by step and without Spark: CPU seconds of one core. One JSON line each.

python -m bench.buckets [over first] --rows 900000 --batch-rows 300000
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from bench.batch import events_of
from bench.structured import QUERIES
from ouzel.compiler.plan import Node
from ouzel.session import load_text
from ouzel.spark.io import buckets
from ouzel.spark.io.bucket_numbers import Buckets, choose_buckets
from ouzel.spark.lowering.streaming import streaming_queries

Result = TypeVar("Result")


class Steps:
    """CPU seconds by step."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def timed(self, step: str, call: Callable[[], Result]) -> Result:
        """What the call gives; its time goes to the step."""
        started = time.process_time()
        result = call()
        self.seconds[step] += time.process_time() - started  # type: ignore[assignment]
        return result


def operator_of(query: str) -> str:
    """The operator of the query's job, as its text has it."""
    job = load_text(QUERIES[query].text, Path(), query)
    names: dict[str, Any] = {}
    exec(streaming_queries(job.program, job.directory, query)[0].functions, names)
    (operator,) = names["OPERATORS"].values()
    return str(operator)


def run(query: str, rows: pl.DataFrame, batch_rows: int, numbers: Buckets) -> dict[str, Any]:
    """All micro-batches through the operator, bucket by bucket."""
    operator, steps, kept = operator_of(query), Steps(), dict[int, bytes]()
    node = buckets.read_operator(operator).operator
    given = rows.select(list(node.inputs[0].schema.names))
    for number, part in enumerate(given.iter_slices(batch_rows)):
        watermark_ms = rows["dateTime"].dt.epoch("ms")[max(0, number * batch_rows - 1)]  # of the micro-batch before
        dealt = steps.timed("pack", partial(pack_input, part, node, numbers))
        for bucket, packed in dealt:
            kept[bucket] = call_bucket(operator, packed, kept.get(bucket), watermark_ms, steps)
    shares = {f"{step}_s": round(seconds, 2) for step, seconds in steps.seconds.items()}
    rate = round(rows.height / sum(steps.seconds.values()))
    return {
        "query": query,
        "rows": rows.height,
        **shares,
        "rows_per_cpu_s": rate,
        "state_mb": sum(map(len, kept.values())) >> 20,
    }


def pack_input(rows: pl.DataFrame, node: Node, numbers: Buckets) -> list[tuple[int, bytes]]:
    """A micro-batch's rows, dealt and packed."""
    return [(bucket, buckets.pack_rows(part)) for bucket, part in buckets.deal_rows(rows, node, 0, numbers)]


def call_bucket(operator: str, packed: bytes, before: bytes | None, watermark_ms: int, steps: Steps) -> bytes:
    """One call: what the bucket keeps then."""
    held = buckets.read_operator(operator)
    bucket = steps.timed("read_state", lambda: buckets.Bucket(held, before))
    made = steps.timed("handle", lambda: bucket.handle([(0, packed)], watermark_ms))
    if made is not None:
        steps.timed("pack", lambda: buckets.pack_rows(made))
    return steps.timed("write_state", bucket.keep)


def main() -> None:
    """Run the queries named, after a short run of each to warm up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", default=["over", "first"])
    parser.add_argument("--rows", type=int, default=900_000)
    parser.add_argument("--batch-rows", type=int, default=300_000)
    parser.add_argument(
        "--partitions", type=int, default=2, help="of Spark's shuffles; by them goes how many buckets there are"
    )
    options = parser.parse_args()
    numbers = choose_buckets(options.partitions)
    rows = pl.concat(events_of("bid", options.rows * 10 // 9)).head(options.rows)
    for query in options.queries:
        run(query, rows.head(10_000), 5_000, numbers)
        print(json.dumps(run(query, rows, options.batch_rows, numbers)), flush=True)


if __name__ == "__main__":
    main()

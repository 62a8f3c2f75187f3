"""The reconciliation of ten million result rows against the batch job alone. One JSON line for each workload, and a Markdown table.

    python -m bench.reconcile                           every workload
    python -m bench.reconcile windows --rows 1000000    one, smaller

Input is Parquet. The batch job writes its answer once, and the record of a run is made of that, as its stream would have left it, with a
few rows taken out, changed or written twice (`floats`: besides, every sum has another last digit). Then, in turn, `repeat` times: the
batch job alone, its answer going nowhere (`noop_s`) and to Parquet (`batch_s`, the one to compare with: a batch job delivers its answer),
and the whole reconciliation (`whole_s`), which has the batch job in it. `comparison_s` is `whole_s - batch_s`. Each is its least run.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from bench.markdown import markdown
from ouzel.reconcile import reconcile
from ouzel.reconcile.comparing.answers import batch_answer, choose_sink
from ouzel.reconcile.recording.record import RESULTS, RunRecord
from ouzel.session import Job, load_text
from ouzel.spark.session import start_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_ROWS = 1_000_000
FIRST, SPAN = datetime(2026, 1, 1), timedelta(hours=24)
TABLE = """CREATE TABLE payments (
  account BIGINT, ts TIMESTAMP(3), shop VARCHAR, cents BIGINT, rate DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '4' SECOND
) WITH ('connector' = 'file', 'path' = 'payments/*.parquet', 'format' = 'parquet');
"""
WINDOWS = """SELECT window_start, window_end, account, COUNT(*) AS payments, SUM(cents) AS cents, MAX({column}) AS most
FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, account EMIT AFTER WATERMARK;
"""
FLOATS = WINDOWS.replace("MAX({column}) AS most", "SUM(rate) AS rates")
ROWS = "SELECT account, ts, UPPER(shop) AS shop, cents, cents * rate AS worth FROM payments WHERE cents > 0;"


@dataclass(frozen=True)
class Workload:
    """A query, and how many rows of input it takes for each row of its result."""

    query: str
    fan_in: float
    shaken: str = ""


WORKLOADS = {
    "windows": Workload(WINDOWS.format(column="rate"), 2.4),
    "floats": Workload(FLOATS, 2.4, "rates"),
    "rows": Workload(ROWS, 1.0),
}
"""By name; `shaken` is a column of floats whose last digit differs in every row."""


def write_payments(folder: Path, rows: int) -> None:
    """So many payments over a day, in order of time; two of a window and account, on the average."""
    folder.mkdir(parents=True)
    step = SPAN / rows
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        many = min(FILE_ROWS, rows - start)
        ids = pl.int_range(start, start + many, eager=True).to_frame("id")
        seconds = (pl.lit(FIRST) + pl.col("id") * step).cast(pl.Datetime("us"))
        ids.select(
            (pl.col("id").hash(1) % (rows // 48)).cast(pl.Int64).alias("account"),
            seconds.alias("ts"),
            pl.concat_str(pl.lit("shop "), (pl.col("id").hash(2) % 5_000)).alias("shop"),
            (pl.col("id").hash(3) % 10_000 + 1).cast(pl.Int64).alias("cents"),
            (pl.col("id").hash(4) % 1_000_000 / 7.0).alias("rate"),
        ).write_parquet(folder / f"{number:05}.parquet")


def write_record(job: Job, answer: Path, home: Path, shaken: str) -> None:
    """The record of a run whose answer is the batch's, but for one row in a million taken out, one changed, and one written twice."""
    home.mkdir(parents=True)
    RunRecord(job.topology.name, job.text, str(job.directory), "memory", "at-least-once", {}).save(home)
    rows = pl.scan_parquet(answer / "*.parquet").select(pl.exclude("^_key_.*$")).with_row_index("place")
    late = pl.col("place") % 1_000_000
    changed = pl.when(late == 7).then(pl.col("cents") + 1).otherwise("cents").alias("cents")
    shake = [(pl.col(shaken) * (1 + 2.0**-51)).alias(shaken)] if shaken else []
    held = pl.concat([rows.filter(late != 3).with_columns(changed, *shake), rows.filter(late == 11)])
    held.drop("place").sink_parquet(home / RESULTS)


def seconds(run: Callable[[], Any]) -> float:
    """How long it takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def measure(spark: SparkSession, name: str, rows: int, folder: Path, repeat: int) -> dict[str, Any]:
    """One workload at so many result rows."""
    workload = WORKLOADS[name]
    write_payments(folder / "payments", int(rows * workload.fan_in))
    job = load_text(TABLE + workload.query, folder, name)
    sink, answer, home = choose_sink(job.program), folder / "answer", folder / "record"

    def nowhere() -> None:
        batch_answer(job, sink, {}, spark).write.format("noop").mode("overwrite").save()

    def parquet() -> None:
        batch_answer(job, sink, {}, spark).write.mode("overwrite").parquet(str(answer))

    parquet()
    write_record(job, answer, home, workload.shaken)
    found = reconcile(job, home, spark)
    ways = (nowhere, parquet, lambda: reconcile(job, home, spark))
    runs = [[seconds(way) for way in ways] for _ in range(repeat)]
    noop, batch, whole = (min(way) for way in zip(*runs, strict=True))
    return {
        "rows": found.batch_rows, "differing": found.differing, "noop_s": round(noop, 2), "batch_s": round(batch, 2),
        "whole_s": round(whole, 2), "comparison_s": round(whole - batch, 2), "ratio": round((whole - batch) / batch, 2),
    }  # fmt: skip


HEADINGS = {
    "workload": "query", "rows": "result rows", "differing": "of them differ", "noop_s": "batch job, answer nowhere, s",
    "batch_s": "batch job, answer as Parquet, s", "whole_s": "reconciliation whole, s", "comparison_s": "its comparison, s",
    "ratio": "comparison / batch job",
}  # fmt: skip


def main() -> None:
    """Measure the workloads named, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", help=f"default all: {', '.join(WORKLOADS)}")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="4g", help="the driver's, which in local mode is all there is")
    options = parser.parse_args()
    spark = start_spark(
        "bench", options.master, [("spark.ui.enabled", "false"), ("spark.driver.memory", options.memory)]
    )
    lines = []
    for name in options.workloads or WORKLOADS:
        with tempfile.TemporaryDirectory(prefix="reconcile-") as place:
            figures = measure(spark, name, options.rows, Path(place), options.repeat)
        lines.append({"engine": "spark", "workload": f"reconcile-{name}"} | figures)
        print(json.dumps(lines[-1]), flush=True)
    spark.stop()
    print("\n" + markdown(lines, HEADINGS))


if __name__ == "__main__":
    main()

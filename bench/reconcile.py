"""The reconciliation of ten million result rows against the batch job alone. One JSON line for each workload, and a Markdown table.

    python -m bench.reconcile                                       every workload
    python -m bench.reconcile windows --rows 1000000                one, smaller
    python -m bench.reconcile windows --rows 100000000 --repeat 1 --memory 512m \\
        --master 'local-cluster[1,2,3072]' --conf spark.executor.memory=3g   the driver beside its executor, in a JVM of its own

Input is Parquet. The batch job writes its answer once, and the record of a run is made of that, as its stream would have left it: offsets,
hashes of all files, and a table in which `--planted` rows are changed, missing or written twice, a third of each, spread over all of it; in
some workloads every row differs besides. What the reconciliation finds has to be exactly those rows, each in its class, or nothing is
printed. `batch_s` is the batch job alone, its answer written to Parquet, for a batch job delivers its answer; `whole_s` the reconciliation,
which has the batch job in it; each the least of `--repeat` runs in turn. `comparison_s` is `whole_s - batch_s`. `python_mb` and `driver_mb`
are the most memory resident at once of this process and of Spark's driver during the reconciliations; with `local[n]` the driver has the
executors in it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from bench.markdown import markdown
from ouzel.compiler.plan import scans_in, walk
from ouzel.connectors import open_source
from ouzel.reconcile import reconcile
from ouzel.reconcile.comparing.answers import batch_answer, choose_sink
from ouzel.reconcile.explaining.classes import Class
from ouzel.reconcile.explaining.shed import NOTHING_SHED
from ouzel.reconcile.reconciliation import Reconciliation
from ouzel.reconcile.recording.marks import Marked, mark_of
from ouzel.reconcile.recording.record import RESULTS, RunRecord
from ouzel.session import Job, load_text
from ouzel.spark.batch.offsets import batch_request
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
SKEWED = "SELECT CASE WHEN account % 2 = 0 THEN 'one' ELSE shop END AS shop, rate FROM payments;"
COPIES = "SELECT shop, cents % 10 AS tens FROM payments;"


@dataclass(frozen=True)
class Workload:
    """A query, how many rows of input it takes for each row of its result, what is done to the stream's answer, whether rows are paired.

    `changed` is the column that a planted change is made in; nothing is planted without one. `shaken` is one of floats whose last digit
    differs in every row, `wrong` one that is wrong in every row.
    """

    query: str
    fan_in: float
    changed: str = ""
    shaken: str = ""
    wrong: str = ""
    paired: bool = True

    @property
    def all_differ(self) -> bool:
        """Whether every row differs, but for what is 0 and cannot be shaken."""
        return bool(self.shaken or self.wrong)


WORKLOADS = {
    "windows": Workload(WINDOWS.format(column="rate"), 2.4, "cents"),
    "rows": Workload(ROWS, 1.0, "worth"),
    "floats": Workload(FLOATS, 2.4, "cents", shaken="rates"),
    "all": Workload(ROWS, 1.0, "worth", wrong="worth"),
    "skewed": Workload(SKEWED, 1.0, shaken="rate"),
    "copies": Workload(COPIES, 1.0, "tens", paired=False),
}
"""By name. `skewed` has half of its rows under one value of what pairs them; `copies` has 50,000 different rows, each many times."""

USUAL = ("windows", "rows", "floats")


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


CHANGED, MISSING, TWICE = range(3)
FAULT = "fault"

Expected = Counter[tuple[str, tuple[Any, ...]]]
"""How often a difference is there, by its class and the row that names it; the row is () where every row differs."""


def write_record(name: str, folder: Path, planted: int) -> Expected:
    """The record of a run that read all payments, whose answer is the batch's but for what is planted; and the differences it has."""
    workload, home = WORKLOADS[name], folder / "record"
    home.mkdir(parents=True)
    answer = pl.scan_parquet(folder / "answer" / "*.parquet").select(pl.exclude("^_key_.*$"))
    rows = with_faults(answer, planted if workload.changed else 0)
    held = rows.filter(pl.col(FAULT).ne_missing(MISSING)).with_columns(*spoil(workload))
    pl.concat([held, held.filter(pl.col(FAULT) == TWICE)]).drop(FAULT).sink_parquet(home / RESULTS)
    describe_run(load_text(TABLE + workload.query, folder, name), home)
    return expect_all(workload, rows) if workload.all_differ else expect_planted(workload, rows)


def with_faults(rows: pl.LazyFrame, planted: int) -> pl.LazyFrame:
    """The rows with the FAULT that each has, if any: so many, spread over all."""
    if not planted:
        return rows.with_columns(pl.lit(None, pl.Int64).alias(FAULT))
    step = rows.select(pl.len()).collect().item() // planted
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    chosen = (number % step == step // 2) & (number // step < planted)
    return rows.with_columns(pl.when(chosen).then(number // step % 3).alias(FAULT))


def spoil(workload: Workload) -> Iterator[pl.Expr]:
    """The columns in which the stream's rows differ from the batch's."""
    if workload.shaken:
        yield pl.col(workload.shaken) * (1 + 2.0**-51)
    if workload.wrong:
        yield pl.col(workload.wrong) * 2 + 1
    elif workload.changed:
        yield pl.when(pl.col(FAULT) == CHANGED).then(pl.col(workload.changed) * 2 + 1).otherwise(workload.changed)


def expect_all(workload: Workload, rows: pl.LazyFrame) -> Expected:
    """How many differences of each class there are where every row differs."""
    paired = pl.col(FAULT).is_null() | (pl.col(FAULT) == TWICE)
    near = paired & (pl.col(workload.shaken) != 0) if workload.shaken else pl.lit(False)
    other = pl.col(FAULT).ne_missing(MISSING) if workload.wrong else pl.col(FAULT) == CHANGED
    kinds = {
        Class.FLOAT: near,
        Class.VALUE_DIFFERS: other,
        Class.ONLY_STREAM: pl.col(FAULT) == TWICE,
        Class.ONLY_BATCH: pl.col(FAULT) == MISSING,
    }
    counts = (
        rows.select(**{kind.value: condition.sum() for kind, condition in kinds.items()}).collect().row(0, named=True)
    )
    return Counter({(kind, ()): count for kind, count in counts.items() if count})


def expect_planted(workload: Workload, rows: pl.LazyFrame) -> Expected:
    """What was planted; where nothing pairs rows, a change is a row that only the batch has and one that only the stream has."""
    chosen = rows.filter(pl.col(FAULT).is_not_null()).collect()
    by_fault = {fault: chosen.filter(pl.col(FAULT) == fault) for fault in (CHANGED, MISSING, TWICE)}
    ours, theirs = (Counter(by_fault[fault].drop(FAULT).rows()) for fault in (TWICE, MISSING))
    changed = by_fault[CHANGED]
    expected = Expected()
    if workload.paired:
        expected.update((Class.VALUE_DIFFERS.value, row) for row in changed.drop(FAULT).rows())
    else:
        theirs.update(changed.drop(FAULT).rows())
        ours.update(changed.with_columns(*spoil(workload)).drop(FAULT).rows())
    expected.update((Class.ONLY_STREAM.value, row) for row in (ours - theirs).elements())
    expected.update((Class.ONLY_BATCH.value, row) for row in (theirs - ours).elements())
    return expected


def found_differences(found: Reconciliation, workload: Workload) -> Expected:
    """What the reconciliation has found, told like what was planted."""
    if workload.all_differ:
        return Counter({(kind.value, ()): count for kind, count in found.counts.items()})
    rows = found.differences.select("class", "stream", "batch").collect()
    return Counter((kind, tuple(batch if batch is not None else stream)) for kind, stream, batch in rows)


def describe_run(job: Job, home: Path) -> None:
    """Write what a run that has read its whole input says of itself: offsets, and the hashes of all files."""
    (sink,) = job.program.sinks
    (scan,) = scans_in(walk(sink))
    source = open_source(scan.connector, batch_request(scan, job.directory))
    parts = {part.id: source.reach(part, None, 1 << 62) for part in source.partitions()}
    ranges = {scan.table: {name: (reach.start, reach.end) for name, reach in parts.items()}}
    marked, files = Marked(), sorted({name.rpartition("#")[0] for name in parts})
    record = RunRecord(
        job.topology.name, job.text, str(job.directory), "memory", "at-least-once", ranges, sources=marked.of(files),
        answer={RESULTS: mark_of(home / RESULTS)}, late=0, shed=0, evidence={},
    )  # fmt: skip
    record.save(home)


def seconds(run: Callable[[], Any]) -> float:
    """How long it takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


class PeakMemory:
    """The most memory resident at once of a process, from now on (Linux)."""

    def __init__(self, pid: int) -> None:
        self._process = Path(f"/proc/{pid}")
        (self._process / "clear_refs").write_text("5")

    @property
    def mb(self) -> int:
        """So far."""
        lines = (self._process / "status").read_text().splitlines()
        return round(int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024)


def in_process(run: Callable[..., Any], *arguments: object) -> Any:
    """What it gives, computed by a process of its own, whose memory is gone afterwards."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(run, *arguments).result()


def measure(spark: SparkSession, name: str, rows: int, planted: int, folder: Path, repeat: int) -> dict[str, Any]:
    """One workload at so many result rows.

    Raises:
        SystemExit: what was found is not what was planted.
    """
    workload, answer, home = WORKLOADS[name], folder / "answer", folder / "record"
    in_process(write_payments, folder / "payments", int(rows * workload.fan_in))
    job = load_text(TABLE + workload.query, folder, name)
    sink = choose_sink(job.program)

    def deliver() -> None:
        shutil.rmtree(answer, ignore_errors=True)
        batch_answer(job, sink, {}, spark, NOTHING_SHED).write.parquet(str(answer))

    batch = [seconds(deliver)]
    expected = in_process(write_record, name, folder, planted)
    shutil.rmtree(answer)  # so that the disk holds the input, the record and what Spark puts aside
    python, driver = (PeakMemory(pid) for pid in (os.getpid(), spark._jvm.java.lang.ProcessHandle.current().pid()))
    whole = list[float]()
    for number in range(repeat):
        batch += [seconds(deliver)] if number else []
        started = time.perf_counter()
        found = reconcile(job, home, spark)
        whole.append(time.perf_counter() - started)
        if (told := found_differences(found, workload)) != expected:
            raise SystemExit(
                f"{name}: planted and not found {expected - told}; found and not planted {told - expected}"
            )
    return {
        "rows": found.batch_rows, "differing": found.differing, "batch_s": round(min(batch), 1), "whole_s": round(min(whole), 1),
        "comparison_s": round(min(whole) - min(batch), 1), "python_mb": python.mb, "driver_mb": driver.mb,
    }  # fmt: skip


HEADINGS = {
    "workload": "query", "rows": "result rows", "differing": "of them differ", "batch_s": "batch job, answer as Parquet, s",
    "whole_s": "reconciliation whole, s", "comparison_s": "its comparison, s", "python_mb": "peak of Python, MB",
    "driver_mb": "peak of the driver's JVM, MB",
}  # fmt: skip


def main() -> None:
    """Measure the workloads named, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", help=f"of {', '.join(WORKLOADS)}; default {', '.join(USUAL)}")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--planted", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="4g", help="the driver's, which in local mode is all there is")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="anything of Spark's")
    parser.add_argument("--folder", type=Path, help="where files are put meanwhile")
    options = parser.parse_args()
    settings = [("spark.ui.enabled", "false"), ("spark.driver.memory", options.memory)]
    settings += [tuple(setting.split("=", 1)) for setting in options.conf]
    spark = start_spark("bench", options.master, settings)
    lines = []
    for name in options.workloads or USUAL:
        with tempfile.TemporaryDirectory(prefix="reconcile-", dir=options.folder) as place:
            figures = measure(spark, name, options.rows, options.planted, Path(place), options.repeat)
        lines.append({"engine": "spark", "workload": f"reconcile-{name}"} | figures)
        print(json.dumps(lines[-1]), flush=True)
    spark.stop()
    print("\n" + markdown(lines, HEADINGS))


if __name__ == "__main__":
    main()

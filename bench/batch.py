"""Generated PySpark jobs against Spark SQL that a person wrote for the same query, in one session. One JSON line for each query,
and a Markdown table of all.

    python -m bench.batch                       the word count, the Nexmark queries, and flights
    python -m bench.batch q12 q17               some
    python -m bench.batch --events 1000000 --repeat 9
    python -m bench.batch flight_delays turnarounds --gigabytes 20
    python -m bench.batch turnarounds --gigabytes 10 --folder /disk/flights     input that is kept for the next run

Input is Parquet (the word count: text) of `events` Nexmark events, or `gigabytes` of flights (bench.flights), in a temporary folder that is
removed, or in `--folder`, which is read as it is if it has some; output goes nowhere (noop). The two are run in turn; seconds are the least
of `repeat` runs, after one of each to warm up; `made` are those until the frame is made, in which types of files are read and the query is
analysed; `cores` those that its tasks took of the cores, without what the JVM compiles and collects: other work on the machine hardly
changes them. `same` says whether both gave the same rows. Of each way `nodes` counts what the plan has of Exchange, Sort, Window,
BroadcastHashJoin and Python, before Spark adapts it; `pushed` are the filters that its scans hand to Parquet, `adaptive` says whether Spark
adapts it; `shuffled` and `spilled` are MB of one run, as its tasks count them. With `--repeat 0` only answers and plans are compared.

q12 is by processing time in Nexmark, which a batch has not: it is by event time on both sides.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from bench.flights import QUESTIONS, question_of, write_flights
from bench.markdown import markdown
from bench.nexmark import QUERIES, query_names, statements
from ouzel.compiler.plan import scans_in, walk
from ouzel.connectors import open_source
from ouzel.connectors.reading import ReadBatch, SourceRequest
from ouzel.session import Job, load_text
from ouzel.spark.lowering.job import run_job, spark_job
from ouzel.spark.session import start_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WRITTEN = Path(__file__).parent / "batch_queries"
BATCH_ROWS = 100_000
TABLES = ("bid", "auction", "person")
HEADINGS = {
    "query": "query", "rows": "rows", "generated_s": "generated, s", "written_s": "by hand, s", "ratio": "ratio",
    "cores_ratio": "ratio of cores",
    "generated_nodes": "nodes, generated", "written_nodes": "nodes, by hand", "generated_mb": "shuffled, spilled MB, generated",
    "written_mb": "by hand", "same": "same rows",
}  # fmt: skip
WORD_COUNT = """CREATE TABLE lines (line VARCHAR) WITH ('connector' = 'file', 'path' = 'lines.txt', 'format' = 'raw');
CREATE TABLE answer (word VARCHAR, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO answer SELECT word, COUNT(*) AS n FROM lines CROSS JOIN UNNEST(SPLIT(line, ' ')) AS w (word) GROUP BY word EMIT CHANGES;
"""


def declared(query: str) -> str:
    """The tables of a Nexmark query, in Parquet, but for the small one that comes as it is."""
    *tables, question = statements(query)
    files = [re.sub(r"WITH \('connector' = 'nexmark', 'table' = '(\w+)'[^)]*\)", PARQUET, table) for table in tables]
    return ";\n".join([*files, question.partition("INSERT INTO archive")[2] or question])


PARQUET = r"WITH ('connector' = 'file', 'path' = '\1/*.parquet', 'format' = 'parquet')"


def find_input(folder: Path, asked: Sequence[str], events: int, gigabytes: float) -> dict[str, int]:
    """How many events or flights the queries asked for read, by query; they are written unless the folder has some."""
    if any(name not in QUESTIONS for name in asked) and not (folder / "bid").exists():
        write_input(folder, events)
    if any(name in QUESTIONS for name in asked) and not (folder / "flights").exists():
        write_flights(folder, gigabytes)
    return {name: count_rows(folder, ["flights"] if name in QUESTIONS else TABLES) for name in asked}


def count_rows(folder: Path, tables: Iterable[str]) -> int:
    """How many rows the tables' files have."""
    return sum(pl.scan_parquet(folder / table / "*.parquet").select(pl.len()).collect().item() for table in tables)


def events_of(table: str, events: int) -> Iterator[pl.DataFrame]:
    """One table's rows among so many Nexmark events."""
    program = load_text(f"{';'.join(statements('q23')[:-1])}; SELECT * FROM {table}", Path(), table).program
    (scan,) = scans_in(walk(*program.sinks))
    options = {"table": table, "events": str(events)}
    source = open_source("nexmark", SourceRequest(table, options, scan.columns.polars(), Path()))
    reader = source.reader(source.partitions()[0], None)
    while isinstance(batch := reader.read(BATCH_ROWS), ReadBatch):
        yield batch.frame


def write_input(folder: Path, events: int) -> None:
    """The tables as Parquet, and a text of the bids' channels."""
    shutil.copy(QUERIES / "side_input.csv", folder)
    for table in TABLES:
        (folder / table).mkdir()
        for number, frame in enumerate(events_of(table, events)):
            frame.write_parquet(folder / table / f"{number:05}.parquet")
            if table == "bid":
                append_lines(folder / "lines.txt", frame)


def append_lines(file: Path, bids: pl.DataFrame) -> None:
    """A line of words for each bid."""
    words = bids.select(pl.concat_str(pl.lit("bid on"), "auction", pl.lit("by"), "channel", separator=" "))
    with file.open("a", encoding="utf-8") as lines:
        lines.write("\n".join(words.to_series().to_list()) + "\n")


def generated(job: Job, spark: SparkSession) -> Callable[[], DataFrame]:
    """What makes the frame of the generated job's sink, as the job's own text does."""
    (sink,) = job.program.sinks
    return partial(run_job, spark_job(job.program, job.directory, job.topology.name), spark, sink.table)


def written(spark: SparkSession, folder: Path, query: str) -> DataFrame:
    """The frame of the SQL that a person wrote, from its files on."""
    text = (WRITTEN / f"{query}.sql").read_text(encoding="utf-8")
    for table in {*re.findall(r"(?:FROM|JOIN) (\w+)", text)} & VIEWED:
        view(spark, folder, table)
    return spark.sql(text)


VIEWED = {*TABLES, "side_input", "lines", "flights", "airlines"}


def view(spark: SparkSession, folder: Path, table: str) -> None:
    """A view of the same files by the same glob, for the SQL by hand: Spark takes its time to list what a glob names."""
    match table:
        case "lines":
            frame = spark.read.text(str(folder / "lines.txt")).withColumnRenamed("value", "line")
        case "side_input":
            frame = spark.read.schema("key bigint, value string").csv(str(folder / "side_input.csv"), header=True)
        case "airlines":
            frame = spark.read.parquet(str(folder / "airlines.parquet"))
        case _:
            frame = spark.read.parquet(str(folder / table / "*.parquet"))
    frame.createOrReplaceTempView(table)


@dataclass(frozen=True)
class Run:
    """One run: seconds to make the frame and compute all its rows, those until it was made, those of the cores that its tasks took, bytes
    shuffled and spilled.
    """

    seconds: float
    made: float
    cores: float
    moved: tuple[int, ...]


def run(spark: SparkSession, make: Callable[[], DataFrame]) -> Run:
    """Run one way once."""
    before = task_totals(spark)
    started = time.perf_counter()
    frame = make()
    made = time.perf_counter() - started
    frame.write.format("noop").mode("overwrite").save()
    took = time.perf_counter() - started
    worked, *moved = (after - first for first, after in zip(before, task_totals(spark), strict=True))
    return Run(took, made, worked / 1e9, tuple(moved))


def fingerprint(frame: DataFrame) -> tuple[Any, ...]:
    """The same for frames with the same rows."""
    from pyspark.sql import functions as F

    plain = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    digest = F.sum(F.xxhash64(*(F.col(name).cast("string") for name in plain.columns)).cast("decimal(38,0)"))
    return tuple(plain.agg(F.count("*"), digest).first() or ())


def compare(spark: SparkSession, folder: Path, query: str, repeat: int, *, checked: bool) -> dict[str, Any]:
    """One query, both ways; if `checked`, their answers too."""
    ways: dict[str, Callable[[], DataFrame]] = {
        "generated": generated(load_text(text_of(query), folder, query), spark),
        "written": partial(written, spark, folder, query),
    }
    same = {"same": len({fingerprint(make()) for make in ways.values()}) == 1} if checked else {}
    plans = {f"{name}_{key}": value for name, make in ways.items() for key, value in describe_plan(make()).items()}
    runs: dict[str, list[Run]] = {name: [] for name in ways}
    for number in range(repeat):
        for name in list(ways)[:: 1 - number % 2 * 2]:
            runs[name].append(run(spark, ways[name]))
    return {**same, **plans, **(figures_of(runs) if repeat else {})}


def text_of(query: str) -> str:
    """The query for Ouzel."""
    if query == "word_count":
        return WORD_COUNT
    return question_of(query) if query in QUESTIONS else declared(query)


def figures_of(runs: Mapping[str, Sequence[Run]]) -> dict[str, Any]:
    """Least times and their ratios; what was moved in the first run."""
    ways = tuple(runs)

    def least(value: Callable[[Run], float]) -> list[float]:
        return [round(min(map(value, each)), 3) for each in runs.values()]

    times, cores, made = least(lambda one: one.seconds), least(lambda one: one.cores), least(lambda one: one.made)
    moved = [", ".join(f"{size / 1e6:.1f}" for size in each[0].moved) for each in runs.values()]
    named = {"s": times, "made_s": made, "cores_s": cores, "mb": moved}
    figures = {
        f"{way}_{unit}": value for unit, values in named.items() for way, value in zip(ways, values, strict=True)
    }
    return {**figures, "ratio": _ratio(times), "cores_ratio": _ratio(cores)}


def _ratio(pair: Sequence[float]) -> float:
    return round(pair[0] / pair[1], 3)


def describe_plan(frame: DataFrame) -> dict[str, Any]:
    """How many nodes of a plan shuffle, sort, are windows, broadcast joins and run Python; which filters it pushes; whether it adapts."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    counts = {letter: len(re.findall(pattern, plan)) for letter, pattern in NODES.items()}
    nodes = " ".join(f"{count}{letter}" for letter, count in counts.items() if count) or "-"
    pushed = sorted(filter(None, re.findall(r"PushedFilters: \[(.*?)\], ReadSchema", plan)))
    return {"nodes": nodes, "pushed": pushed, "adaptive": "AdaptiveSparkPlan" in plan}


NODES = {
    "E": r"\bExchange ", "S": r"\bSort \[", "W": r"\bWindow \[", "B": r"\bBroadcastHashJoin ",
    "P": r"\b\w*(?:EvalPython|InPandas|InArrow)",
}  # fmt: skip
"""Patterns of a plan's text, by the letter that stands for such nodes."""


def task_totals(spark: SparkSession) -> tuple[int, int, int]:
    """Nanoseconds of the cores that all tasks so far took; bytes that they have written for shuffles, and have spilled to disk."""
    context, gateway = spark.sparkContext._jsc.sc(), spark.sparkContext._gateway
    context.listenerBus().waitUntilEmpty()
    nothing, quantiles = gateway.jvm.java.util.ArrayList(), gateway.new_array(gateway.jvm.double, 0)
    stages = context.statusStore().stageList(nothing, False, False, quantiles, nothing)
    each = [stages.apply(place) for place in range(stages.size())]
    read = (lambda one: one.executorCpuTime(), lambda one: one.shuffleWriteBytes(), lambda one: one.diskBytesSpilled())
    cores, shuffled, spilled = (sum(map(value, each)) for value in read)
    return cores, shuffled, spilled


CONFIGURED = [
    ("spark.ui.enabled", "false"), ("spark.sql.session.timeZone", "UTC"), ("spark.ui.retainedStages", "100000"),
    ("spark.sql.maxMetadataStringLength", "10000"), ("spark.driver.memory", "3g"),
]  # fmt: skip


def main() -> None:
    """Run the queries named, one after the other."""
    names = ["word_count", *query_names(), *QUESTIONS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", help=f"default all: {', '.join(names)}")
    parser.add_argument("--events", type=int, default=5_000_000, help="of Nexmark")
    parser.add_argument("--gigabytes", type=float, default=0.2, help="of flights")
    parser.add_argument("--folder", type=Path, help="where input is put and stays; as much as it has is read again")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--unchecked", action="store_true", help="leave out the run of each that compares answers")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="Spark's")
    options = parser.parse_args()
    asked = options.queries or names
    conf = [(key, value) for key, _, value in (one.partition("=") for one in options.conf)]
    with tempfile.TemporaryDirectory(prefix="batch-") as place:
        folder = options.folder or Path(place)
        rows = find_input(folder, asked, options.events, options.gigabytes)
        spark = start_spark("bench", options.master, [*CONFIGURED, *conf])
        lines = []
        for query in asked:
            figures = compare(spark, folder, query, options.repeat, checked=not options.unchecked)
            lines.append(
                {"engine": "spark", "workload": f"batch-{query}", "query": query, "rows": rows[query]} | figures
            )
            print(json.dumps(lines[-1]), flush=True)
        spark.stop()
    print("\n" + markdown(lines, HEADINGS))


if __name__ == "__main__":
    main()

"""Generated PySpark jobs against Spark SQL that a person wrote for the same query, in one session. One JSON line for each query,
and a Markdown table of all.

    python -m bench.batch                       the word count and the Nexmark queries of bids
    python -m bench.batch q12 q17               some
    python -m bench.batch --events 1000000 --repeat 9

Input is Parquet (the word count: text) of `events` Nexmark events; output goes nowhere (noop). The two are run in turn; seconds are the
least of `repeat` runs, after one of each to warm up. `same` says whether both gave the same rows.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from bench.markdown import markdown
from bench.nexmark import query_names, statements
from ouzel.connectors import open_source
from ouzel.connectors.reading import ReadBatch, SourceRequest
from ouzel.session import Job, load_text
from ouzel.spark.lowering.job import run_job, spark_job
from ouzel.spark.session import start_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WRITTEN = Path(__file__).parent / "batch_queries"
BATCH_ROWS = 100_000
BID = {
    "auction": pl.Int64(), "bidder": pl.Int64(), "price": pl.Int64(), "channel": pl.String(), "url": pl.String(),
    "dateTime": pl.Datetime("us"), "extra": pl.String(),
}  # fmt: skip
TABLE = """CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'file', 'path' = 'bid/*.parquet', 'format' = 'parquet');
"""
HEADINGS = {
    "query": "query", "rows": "bids", "generated_s": "generated, s", "written_s": "by hand, s", "ratio": "ratio", "same": "same rows",
}  # fmt: skip
WORD_COUNT = """CREATE TABLE lines (line VARCHAR) WITH ('connector' = 'file', 'path' = 'lines.txt', 'format' = 'raw');
CREATE TABLE answer (word VARCHAR, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO answer SELECT word, COUNT(*) AS n FROM lines CROSS JOIN UNNEST(SPLIT(line, ' ')) AS w (word) GROUP BY word EMIT CHANGES;
"""


def bids(events: int) -> Iterator[pl.DataFrame]:
    """The bids among so many Nexmark events."""
    options = {"table": "bid", "events": str(events)}
    source = open_source("nexmark", SourceRequest("bid", options, BID, Path()))
    reader = source.reader(source.partitions()[0], None)
    while isinstance(batch := reader.read(BATCH_ROWS), ReadBatch):
        yield batch.frame


def write_input(folder: Path, events: int) -> int:
    """Bids as Parquet, and a text of their channels' and urls' words; the number of bids."""
    (folder / "bid").mkdir()
    rows = 0
    with (folder / "lines.txt").open("w", encoding="utf-8") as lines:
        for number, frame in enumerate(bids(events)):
            frame.write_parquet(folder / "bid" / f"{number}.parquet")
            words = frame.select(pl.concat_str(pl.lit("bid on"), "auction", pl.lit("by"), "channel", separator=" "))
            lines.write("\n".join(words.to_series().to_list()) + "\n")
            rows += frame.height
    return rows


def generated(job: Job, spark: SparkSession) -> Callable[[], DataFrame]:
    """What makes the frame of the generated job's sink, as the job's own text does."""
    (sink,) = job.program.sinks
    return partial(run_job, spark_job(job.program, job.directory, job.topology.name), spark, sink.table)


def written(spark: SparkSession, folder: Path, query: str) -> DataFrame:
    """The frame of the SQL that a person wrote, over the same files by the same glob: Spark takes its time to list what a glob names."""
    spark.read.parquet(str(folder / "bid" / "*.parquet")).createOrReplaceTempView("bid")
    spark.read.text(str(folder / "lines.txt")).withColumnRenamed("value", "line").createOrReplaceTempView("lines")
    return spark.sql((WRITTEN / f"{query}.sql").read_text(encoding="utf-8"))


def seconds(make: Callable[[], DataFrame]) -> float:
    """How long it takes to make the frame and to compute all its rows."""
    started = time.perf_counter()
    make().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def fingerprint(frame: DataFrame) -> tuple[Any, ...]:
    """The same for frames with the same rows."""
    from pyspark.sql import functions as F

    plain = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    digest = F.sum(F.xxhash64(*(F.col(name).cast("string") for name in plain.columns)).cast("decimal(38,0)"))
    return tuple(plain.agg(F.count("*"), digest).first() or ())


def compare(spark: SparkSession, folder: Path, query: str, repeat: int) -> dict[str, Any]:
    """One query, both ways."""
    text = WORD_COUNT if query == "word_count" else TABLE + statements(query)[-1]
    job = load_text(text, folder, query)
    ways = (generated(job, spark), partial(written, spark, folder, query))
    same = len({fingerprint(make()) for make in ways}) == 1
    for make in ways:
        seconds(make)
    runs = [[seconds(make) for make in ways] for _ in range(repeat)]
    ours, theirs = (min(way) for way in zip(*runs, strict=True))
    return {
        "generated_s": round(ours, 3),
        "written_s": round(theirs, 3),
        "ratio": round(ours / theirs, 3),
        "same": same,
    }


def main() -> None:
    """Run the queries named, one after the other."""
    names = ["word_count", *(name for name in query_names() if (WRITTEN / f"{name}.sql").exists())]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", help=f"default all: {', '.join(names)}")
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--master", default="local[2]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="batch-") as place:
        folder = Path(place)
        rows = write_input(folder, options.events)
        spark = start_spark(
            "bench", options.master, [("spark.ui.enabled", "false"), ("spark.sql.session.timeZone", "UTC")]
        )
        lines = []
        for query in options.queries or names:
            figures = compare(spark, folder, query, options.repeat)
            lines.append({"engine": "spark", "workload": f"batch-{query}", "query": query, "rows": rows} | figures)
            print(json.dumps(lines[-1]), flush=True)
        spark.stop()
    print("\n" + markdown(lines, HEADINGS))


if __name__ == "__main__":
    main()

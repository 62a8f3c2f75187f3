"""Queries as Structured Streaming jobs of Ouzel's against the same ones written by hand with Spark's own sources, in one session. One
JSON line for each query, and a Markdown table of all.

    python -m bench.structured                       what Spark has, and then our operators in Spark's state
    python -m bench.structured count over            some
    python -m bench.structured --events 1000000 --batch-rows 10000000

Input is Nexmark bids, as Parquet files of 100,000 bids (words: as one text), the last of them an hour after all others, so that both
ways close the same windows but one; output is forgotten. The two ways are run in turn, after one of each to warm up, in micro-batches of
the same files; seconds are from the start of a query to its last commit, the least of `repeat` runs.
Spark has nothing that means what our operators mean: these have rates, of one core, and no ratio.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from bench.batch import BATCH_ROWS, declared, write_input
from bench.markdown import markdown
from ouzel.runtime.run import RunState
from ouzel.session import load_text
from ouzel.spark.session import start_spark
from ouzel.spark.streaming import start_structured
from ouzel.spark.streaming.run import WARM_WORKERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE = declared("q0").partition(";")[0] + ";\n"
PERSON = """CREATE TABLE person (id BIGINT, name VARCHAR) WITH ('connector' = 'file', 'path' = 'person.parquet', 'format' = 'parquet');
"""
LINES = """CREATE TABLE lines (line VARCHAR) WITH ('connector' = 'file', 'path' = 'lines.txt', 'format' = 'raw');
"""
INTO = "CREATE TABLE answer ({}) WITH ('connector' = 'blackhole');\nINSERT INTO answer "


@dataclass(frozen=True)
class Written:
    """A query written by hand: the frame that makes its rows of the bids or lines, and Spark's output mode."""

    make: Callable[[DataFrame], DataFrame]
    mode: str


@dataclass(frozen=True)
class Query:
    """A query for Ouzel, and the one by hand; None if Spark has no nodes for it."""

    text: str
    written: Written | None = None
    source: str = "bid"


def count_by_hand(bids: DataFrame) -> DataFrame:
    """Count and mean by key."""
    from pyspark.sql import functions as F

    return bids.groupBy((F.col("auction") % 1000).alias("k")).agg(F.count("*").alias("n"), F.avg("price").alias("mean"))


def filter_by_hand(bids: DataFrame) -> DataFrame:
    """A filter and a projection."""
    return bids.where("price > 1000").selectExpr("auction", "price * 2 AS price")


def window_by_hand(bids: DataFrame) -> DataFrame:
    """Bids of each bidder in ten seconds, once these are over."""
    from pyspark.sql import functions as F

    timed = bids.withColumn("at", F.col("dateTime").cast("timestamp")).withWatermark("at", "4 seconds")
    return timed.groupBy(F.window("at", "10 seconds"), "bidder").count().select("window.start", "bidder", "count")


def words_by_hand(lines: DataFrame) -> DataFrame:
    """The word count."""
    from pyspark.sql import functions as F

    return lines.select(F.explode(F.split("value", " ")).alias("word")).groupBy("word").count()


WINDOW = "FROM TABLE({}(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))"
QUERIES: Mapping[str, Query] = {
    "count": Query(
        TABLE
        + INTO.format("k BIGINT, n BIGINT, mean DOUBLE, PRIMARY KEY (k) NOT ENFORCED")
        + "SELECT auction % 1000 AS k, COUNT(*) AS n, AVG(price) AS mean FROM bid GROUP BY auction % 1000 EMIT CHANGES",
        Written(count_by_hand, "update"),
    ),
    "filter": Query(
        TABLE
        + INTO.format("auction BIGINT, price BIGINT")
        + "SELECT auction, price * 2 AS price FROM bid WHERE price > 1000",
        Written(filter_by_hand, "append"),
    ),
    "window": Query(
        TABLE
        + INTO.format("start_at TIMESTAMP(3), bidder BIGINT, n BIGINT")
        + f"SELECT window_start, bidder, COUNT(*) {WINDOW.format('TUMBLE')} GROUP BY window_start, window_end, bidder",
        Written(window_by_hand, "append"),
    ),
    "words": Query(
        LINES
        + INTO.format("word VARCHAR, n BIGINT, PRIMARY KEY (word) NOT ENFORCED")
        + "SELECT word, COUNT(*) AS n FROM lines CROSS JOIN UNNEST(SPLIT(line, ' ')) AS w (word) GROUP BY word EMIT CHANGES",
        Written(words_by_hand, "update"),
        "lines",
    ),
    "join": Query(
        TABLE
        + PERSON
        + INTO.format("auction BIGINT, price BIGINT, name VARCHAR")
        + "SELECT auction, price, name FROM bid LEFT JOIN person ON bid.bidder = person.id"
    ),
    "over": Query(
        TABLE
        + INTO.format("bidder BIGINT, price BIGINT, total BIGINT")
        + "SELECT bidder, price, SUM(price) OVER (PARTITION BY bidder ORDER BY `dateTime`) FROM bid"
    ),
    "session": Query(
        TABLE
        + INTO.format("bidder BIGINT, start_at TIMESTAMP(3), n BIGINT")
        + "SELECT bidder, window_start, COUNT(*) FROM TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(`dateTime`), "
        "INTERVAL '10' SECOND)) GROUP BY bidder, window_start, window_end"
    ),
    "first": Query(
        TABLE
        + INTO.format("auction BIGINT, price BIGINT, PRIMARY KEY (auction) NOT ENFORCED")
        + "SELECT auction, price FROM (SELECT auction, price, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place "
        "FROM bid) WHERE place = 1"
    ),
}
HEADINGS = {
    "query": "query", "rows": "rows", "generated_s": "Ouzel, s", "written_s": "by hand, s", "ratio": "rate to that by hand",
    "rows_per_s_core": "rows a second a core",
}  # fmt: skip


@dataclass(frozen=True)
class Input:
    """Where the bids lie, and most rows of a micro-batch."""

    folder: Path
    batch_rows: int


def generated(spark: SparkSession, given: Input, name: str) -> float:
    """How long Ouzel's job takes."""
    job = load_text(QUERIES[name].text, given.folder, name, [("trigger.rows", str(given.batch_rows))])
    started = time.perf_counter()
    handle = start_structured(job, spark=spark)
    handle.wait()
    took = time.perf_counter() - started
    if (status := handle.status()).state is not RunState.FINISHED:
        raise SystemExit(f"{name}: {status.reason}")
    return took


def written(spark: SparkSession, given: Input, query: Query, how: Written) -> float:
    """How long the job by hand takes."""
    reader = spark.readStream.option("maxFilesPerTrigger", max(1, given.batch_rows // BATCH_ROWS))
    if query.source == "bid":
        place = str(given.folder / "bid")
        frame = reader.schema(spark.read.parquet(f"{place}/00000.parquet").schema).parquet(place)
    else:
        frame = reader.text(str(given.folder / "lines"))
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = how.make(frame).writeStream.outputMode(how.mode).format("noop")
        running = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        running.awaitTermination()
        return time.perf_counter() - started


def compare(spark: SparkSession, given: Input, name: str, rows: int, repeat: int) -> dict[str, Any]:
    """One query, both ways if there are two; the first round only warms up."""
    query = QUERIES[name]
    ways = [partial(generated, spark, given, name)]
    if query.written:
        ways.append(partial(written, spark, given, query, query.written))
    runs = [[way() for way in ways] for _ in range(repeat + 1)][1:]
    least = [min(way) for way in zip(*runs, strict=True)]
    figures = {"rows": rows, "generated_s": round(least[0], 2)}
    if len(least) == 1:
        return figures | {"rows_per_s_core": round(rows / least[0] / CORES)}
    return figures | {"written_s": round(least[1], 2), "ratio": round(least[1] / least[0], 2)}


CORES = 2


def write_inputs(folder: Path, events: int) -> int:
    """Bids, their text, and who has bid; how many bids."""
    rows = write_input(folder, events)
    close_windows(max((folder / "bid").glob("*.parquet")))
    (folder / "lines").mkdir()
    (folder / "lines.txt").rename(folder / "lines" / "lines.txt")
    (folder / "lines.txt").symlink_to(folder / "lines" / "lines.txt")
    people = pl.scan_parquet(folder / "bid" / "*.parquet").select(id="bidder").unique().sort("id")
    people.with_columns(name=pl.format("person {}", "id")).collect().write_parquet(folder / "person.parquet")
    return rows


def close_windows(last: Path) -> None:
    """Moves the last bid an hour on: by it the job by hand, too, closes all windows but that bid's."""
    bids = pl.read_parquet(last)
    end = bids.tail(1).with_columns(pl.col("dateTime").dt.offset_by("1h"))
    bids.head(-1).vstack(end).write_parquet(last)


def main() -> None:
    """Run the queries named, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", help=f"default all: {', '.join(QUERIES)}")
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--batch-rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    settings = [("spark.ui.enabled", "false"), ("spark.sql.session.timeZone", "UTC"), ("spark.driver.memory", "3g")]
    with tempfile.TemporaryDirectory(prefix="structured-") as place:
        given = Input(Path(place), options.batch_rows)
        rows = write_inputs(given.folder, options.events)
        spark = start_spark("bench", f"local[{CORES}]", [*settings, *WARM_WORKERS])
        spark.conf.set("spark.sql.ansi.enabled", "true")
        lines = []
        for name in options.queries or QUERIES:
            figures = compare(spark, given, name, rows, options.repeat)
            lines.append({"engine": "spark", "workload": f"structured-{name}", "query": name} | figures)
            print(json.dumps(lines[-1]), flush=True)
        spark.stop()
    print("\n" + markdown(lines, HEADINGS))


if __name__ == "__main__":
    main()

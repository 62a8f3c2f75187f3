"""flight_delays as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- How late do flights leave New York? One row per airport and day of 2013, each as soon as its day is over.
    --
    --     ouzel run sql_examples/flight_delays.sql
    --     ouzel explain sql_examples/flight_delays.sql

    -- A table is a stream of rows. This one is read from a file beside this query; it has more columns than we name here, and only
    -- those that the query needs are read.
    CREATE TABLE flights (
      ts        TIMESTAMP(3),  -- when the flight was to leave, local time
      origin    VARCHAR,       -- EWR, JFK or LGA
      dep_delay INT,           -- minutes late; negative is early; NULL: it never left

      -- ts is event time: the time that the data speaks of, not the time at which we read it. Rows may come up to an hour out of order.
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH (
      'connector' = 'file',
      'path'      = 'data/flights.parquet',
      'format'    = 'parquet'
    );

    SELECT
      CAST(window_start AS DATE)                                          AS departure_day,
      origin,
      COUNT(*)                                                            AS flights,
      COUNT(*) - COUNT(dep_delay)                                         AS cancelled,    -- COUNT(x) leaves NULLs out
      ROUND(AVG(dep_delay), 1)                                            AS avg_delay,
      MAX(dep_delay)                                                      AS max_delay,
      ROUND(1e2 * COUNT(*) FILTER (WHERE dep_delay > 15) / COUNT(*), 1)   AS late_percent  -- 1e2 is a DOUBLE, so this division keeps its fraction
    FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY))  -- cuts time into days
    GROUP BY window_start, window_end, origin
    EMIT AFTER WATERMARK;  -- a window's row leaves once, when the watermark says that nothing of that day is still to come
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    # A table is a stream of rows. This one is read from a file beside this query; it has more columns
    # than we name here, and only those that the query needs are read.
    # Event time is ts. The stream waits for late rows; here none is late.
    flights = spark.read.parquet(at(args.folder, args.flights)).select(
        F.col("ts").cast("timestamp_ntz"),
        F.col("origin").cast("string"),
        F.col("dep_delay").cast("int"),
    )

    return (
        flights
        # cuts time into days
        # TUMBLE: windows of 1 day; a row without ts is in none
        .select(
            "*",
            F.window("ts", "1 day").start.alias("window_start"),
            F.window("ts", "1 day").end.alias("window_end"),
        )
        .groupBy("window_start", "window_end", "origin")
        .agg(
            F.count("*").alias("flights"),
            F.count("dep_delay").alias("count_dep_delay"),
            F.avg("dep_delay").alias("avg_dep_delay"),
            F.max("dep_delay").alias("max_delay"),
            F.count_if(F.col("dep_delay") > 15).alias("count_where_dep_delay_over_15"),
        )
        # COUNT(x) leaves NULLs out
        # 1e2 is a DOUBLE, so this division keeps its fraction
        .select(
            F.col("window_start").cast("date").alias("departure_day"),
            "origin",
            "flights",
            (F.col("flights") - F.col("count_dep_delay")).alias("cancelled"),
            F.round(F.col("avg_dep_delay"), 1).alias("avg_delay"),
            "max_delay",
            F.round(F.lit(100.0) * F.col("count_where_dep_delay_over_15") / F.col("flights"), 1).alias("late_percent"),
        )
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="flight_delays in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("flight_delays")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()

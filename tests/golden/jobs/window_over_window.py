"""window_over_window as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE flights (
      ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    CREATE VIEW hourly AS
    SELECT window_time AS ts, carrier, COUNT(*) AS flights
    FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, window_time, carrier;

    SELECT window_start AS day_start, carrier, MAX(flights) AS busiest_hour
    FROM TABLE(TUMBLE(TABLE hourly, DESCRIPTOR(ts), INTERVAL '1' DAY))
    GROUP BY window_start, window_end, carrier;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    # Event time is ts. The stream waits for late rows; here none is late.
    flights = spark.read.parquet(at(args.folder, args.flights)).select(
        F.col("ts").cast("timestamp_ntz"),
        F.col("carrier").cast("string"),
    )

    hourly = (
        flights
        # TUMBLE: windows of 1 hour; a row without ts is in none
        .select(
            "*",
            F.window("ts", "1 hour").start.alias("window_start"),
            F.window("ts", "1 hour").end.alias("window_end"),
            (F.window("ts", "1 hour").end - F.expr("INTERVAL '0.001' SECOND")).alias("window_time"),
        )
        .groupBy("window_start", "window_end", "window_time", "carrier")
        .agg(F.count("*").alias("flights"))
        .select(F.col("window_time").alias("ts"), "carrier", "flights")
    )

    return (
        hourly
        # TUMBLE: windows of 1 day; a row without ts is in none
        .select(
            "*",
            F.window("ts", "1 day").start.alias("window_start"),
            F.window("ts", "1 day").end.alias("window_end"),
        )
        .groupBy("window_start", "window_end", "carrier")
        .agg(F.max("flights").alias("busiest_hour"))
        .select(F.col("window_start").alias("day_start"), "carrier", "busiest_hour")
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="window_over_window in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("window_over_window")
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

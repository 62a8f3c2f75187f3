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
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    # A table is a stream of rows. This one is read from a file beside this query; it has more columns
    # than we name here, and only those that the query needs are read.
    # Event time is ts. The stream waits for late rows; here none is late.
    flights = read_parquet(spark, at(args.folder, args.flights), "ts timestamp_ntz, origin string, dep_delay int")

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


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


WIDER = {"int": "tinyint smallint", "timestamp_ntz": "date timestamp"}
"""What a column may be in a file besides what it is in the table. Spark alone would cut an INT for a SMALLINT."""


def read_parquet(spark: SparkSession, path: str, *columns: str) -> DataFrame:
    """The files' columns by name, in types that lose nothing."""
    table = T.StructType.fromDDL(", ".join(columns))
    try:
        frames = [spark.read.parquet(path, mergeSchema=True)]
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):  # one column has several types
            raise
        frames = [spark.read.parquet(file) for file in spark.read.schema(table).parquet(path).inputFiles()]
    held = [(field.name, field.dataType) for frame in frames for field in frame.schema]
    for column in table:
        declared = column.dataType.simpleString()
        kinds = [kind for name, kind in held if name.lower() == column.name.lower()]
        if not kinds:
            raise ValueError(f"{path} has no column '{column.name}'; it has {', '.join(dict(held))}")
        for kind in kinds:
            if kind.simpleString() not in [declared, *WIDER.get(declared, "").split()]:
                raise ValueError(
                    f"{path} holds column '{column.name}' as {kind.simpleString()}, and the table declares it {declared}, "
                    "which cannot take every value of it; declare it as the file has it, and CAST it in the query"
                )
    is_exact = len(frames) == 1 and all((column.name, column.dataType) in held for column in table)
    return frames[0].to(table) if is_exact else spark.read.schema(table).parquet(path)


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="flight_delays in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    return parser.parse_args(arguments)


SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


def check_session(spark: SparkSession) -> None:
    """See that a session which was there before the job means what the topology means."""
    for name, value in SETTINGS.items():
        if (found := spark.conf.get(name)) != value:
            raise ValueError(f'the session has {name} = {found}; write: spark.conf.set("{name}", "{value}")')


def main() -> None:
    """Run the job in the session that is there, or else in one of its own, which it stops."""
    args = parse_args()
    there = SparkSession.getActiveSession()
    spark = SparkSession.builder.appName("flight_delays").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

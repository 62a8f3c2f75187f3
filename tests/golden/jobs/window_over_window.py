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
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    # Event time is ts. The stream waits for late rows; here none is late.
    flights = read_parquet(spark, at(args.folder, args.flights), "ts timestamp_ntz, carrier string")

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


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


WIDER = {"timestamp_ntz": "date timestamp"}
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
    parser = argparse.ArgumentParser(description="window_over_window in batch")
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
    spark = SparkSession.builder.appName("window_over_window").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

"""late_carriers as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- Write an answer to files instead of the terminal: each carrier's week, as Parquet that any tool can read.
    --
    --     ouzel run sql_examples/late_carriers.sql
    --     python -c "import polars; print(polars.read_parquet('sql_examples/data/late_carriers/*.parquet'))"

    SET 'parallelism' = '2';

    CREATE TABLE flights (
      ts        TIMESTAMP(3),
      carrier   VARCHAR,
      arr_delay INT,
      distance  INT,
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    CREATE TABLE late_carriers (
      week_start TIMESTAMP(3),
      carrier    VARCHAR,
      arrivals   BIGINT,
      late_over_an_hour BIGINT,
      miles      BIGINT
    ) WITH ('connector' = 'file', 'path' = 'data/late_carriers', 'format' = 'parquet');

    INSERT INTO late_carriers
    SELECT window_start, carrier, COUNT(arr_delay), COUNT(*) FILTER (WHERE arr_delay > 60), SUM(distance)
    FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '7' DAY))
    GROUP BY window_start, window_end, carrier
    EMIT AFTER WATERMARK;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    # Event time is ts. The stream waits for late rows; here none is late.
    flights = read_parquet(
        spark, at(args.folder, args.flights), "ts timestamp_ntz, carrier string, arr_delay int, distance int"
    )

    return (
        flights
        # TUMBLE: windows of 7 days; a row without ts is in none
        .select(
            "*",
            F.window("ts", "7 days").start.alias("window_start"),
            F.window("ts", "7 days").end.alias("window_end"),
        )
        .groupBy("window_start", "window_end", "carrier")
        .agg(
            F.count("arr_delay").alias("arrivals"),
            F.count_if(F.col("arr_delay") > 60).alias("late_over_an_hour"),
            F.sum("distance").alias("miles"),
        )
        .select(
            F.col("window_start").alias("week_start"),
            "carrier",
            "arrivals",
            "late_over_an_hour",
            "miles",
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
    parser = argparse.ArgumentParser(description="late_carriers in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    parser.add_argument(
        "--late_carriers", metavar="PATH", default="data/late_carriers", help="where table late_carriers is written to"
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
    spark = SparkSession.builder.appName("late_carriers").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.write.parquet(at(args.folder, args.late_carriers))
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

"""group_by_expression as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE flights (
      ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    -- How long are the flights, by hundreds of miles?
    SELECT distance / 100 AS hundreds, COUNT(*) AS flights, AVG(arr_delay) AS arrival_delay
    FROM flights
    GROUP BY distance / 100
    HAVING COUNT(*) > 10;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    flights = spark.read.parquet(at(args.folder, args.flights)).select(
        F.col("arr_delay").cast("int"),
        F.col("distance").cast("int"),
    )

    # How long are the flights, by hundreds of miles?
    return (
        flights.groupBy(F.call_function("div", F.col("distance"), F.lit(100)).alias("hundreds"))
        .agg(
            F.count("*").alias("flights"),
            F.avg("arr_delay").alias("arrival_delay"),
        )
        .where(F.col("flights") > 10)
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="group_by_expression in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("group_by_expression")
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

"""cte as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE flights (
      ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    WITH late AS (
      -- a flight that is cancelled is not late
      SELECT origin, dest, dep_delay FROM flights WHERE dep_delay > 15
    ), worst AS (
      SELECT origin, dest, MAX(dep_delay) AS delay FROM late GROUP BY origin, dest
    )
    SELECT origin, AVG(delay) AS delay FROM worst GROUP BY origin;
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
        F.col("origin").cast("string"),
        F.col("dest").cast("string"),
        F.col("dep_delay").cast("int"),
    )

    # a flight that is cancelled is not late
    late = flights.where(F.col("dep_delay") > 15)

    worst = late.groupBy("origin", "dest").agg(F.max("dep_delay").alias("delay"))

    return worst.groupBy("origin").agg(F.avg("delay").alias("delay"))


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="cte in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("cte")
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

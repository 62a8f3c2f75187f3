"""airport_traffic as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- Which airports see most of New York's flights, and how many are cancelled? Two streams in one, and two rows out of each flight.
    --
    --     ouzel run sql_examples/airport_traffic.sql --parallelism 2

    CREATE TABLE flights (
      ts        TIMESTAMP(3),
      carrier   VARCHAR,
      origin    VARCHAR,
      dest      VARCHAR,
      dep_delay INT
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    -- A flight that leaves touches two airports; one that is cancelled, only the first.
    CREATE VIEW visits AS
    SELECT airport, 'flown' AS fate FROM flights CROSS JOIN UNNEST(ARRAY[origin, dest]) AS ends (airport) WHERE dep_delay IS NOT NULL
    UNION ALL
    SELECT origin, 'cancelled' FROM flights WHERE dep_delay IS NULL;

    SELECT
      airport,
      COUNT(*) FILTER (WHERE fate = 'flown')     AS flown,
      COUNT(*) FILTER (WHERE fate = 'cancelled') AS cancelled
    FROM visits
    GROUP BY airport
    HAVING COUNT(*) > 10000
    EMIT CHANGES;
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

    flights_unnested = (
        flights.select("*", F.explode(F.array(F.col("origin"), F.col("dest"))).alias("airport"))
        .where(F.col("dep_delay").isNotNull())
        .select("airport", F.lit("flown").alias("fate"))
    )

    flights_filtered = flights.where(F.col("dep_delay").isNull()).select(
        F.col("origin").alias("airport"),
        F.lit("cancelled").alias("fate"),
    )

    # A flight that leaves touches two airports; one that is cancelled, only the first.
    visits = flights_unnested.union(flights_filtered)

    return (
        visits.groupBy("airport")
        .agg(
            F.count_if(F.col("fate") == "flown").alias("flown"),
            F.count_if(F.col("fate") == "cancelled").alias("cancelled"),
            F.count("*").alias("count_rows"),
        )
        .where(F.col("count_rows") > 10000)
        .select("airport", "flown", "cancelled")
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="airport_traffic in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("airport_traffic")
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

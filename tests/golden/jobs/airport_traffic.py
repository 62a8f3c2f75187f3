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
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    flights = read_parquet(spark, at(args.folder, args.flights), "origin string, dest string, dep_delay int")

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


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


WIDER = {"int": "tinyint smallint"}
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
    parser = argparse.ArgumentParser(description="airport_traffic in batch")
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
    spark = SparkSession.builder.appName("airport_traffic").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

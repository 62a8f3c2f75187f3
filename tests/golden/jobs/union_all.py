"""union_all as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE flights (
      ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    SELECT 'from' AS way, origin AS airport, COUNT(*) AS flights FROM flights GROUP BY origin
    UNION ALL
    SELECT 'to', dest, COUNT(*) FROM flights GROUP BY dest;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    flights = read_parquet(spark, at(args.folder, args.flights), "origin string, dest string")

    flights_by_origin = (
        flights.groupBy("origin")
        .agg(F.count("*").alias("flights"))
        .select(
            F.lit("from").alias("way"),
            F.col("origin").alias("airport"),
            "flights",
        )
    )

    flights_by_dest = (
        flights.groupBy("dest")
        .agg(F.count("*").alias("flights"))
        .select(
            F.lit("to").alias("way"),
            F.col("dest").alias("airport"),
            "flights",
        )
    )

    return flights_by_origin.union(flights_by_dest)


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


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
            if kind.simpleString() != declared:
                raise ValueError(
                    f"{path} holds column '{column.name}' as {kind.simpleString()}, and the table declares it {declared}, "
                    "which cannot take every value of it; declare it as the file has it, and CAST it in the query"
                )
    is_exact = len(frames) == 1 and all((column.name, column.dataType) in held for column in table)
    return frames[0].to(table) if is_exact else spark.read.schema(table).parquet(path)


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="union_all in batch")
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
    spark = SparkSession.builder.appName("union_all").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

"""select_where as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE flights (
      ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    SELECT carrier, dest, dep_delay
    FROM flights
    WHERE dep_delay > 60  -- more than an hour
      AND origin IN ('JFK', 'LGA') AND dest LIKE 'S%';
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    flights = read_parquet(
        spark, at(args.folder, args.flights), "carrier string, origin string, dest string, dep_delay int"
    )

    # more than an hour
    return flights.where(
        (F.col("dep_delay") > 60) & F.col("origin").isin("JFK", "LGA") & F.col("dest").like("S%")
    ).select("carrier", "dest", "dep_delay")


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
    parser = argparse.ArgumentParser(description="select_where in batch")
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
    spark = SparkSession.builder.appName("select_where").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

"""wind_and_delays as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- Do flights leave later when the wind blows? Each flight is joined with the weather as it was last observed at its airport.
    --
    --     ouzel run sql_examples/wind_and_delays.sql

    CREATE TABLE flights (
      ts        TIMESTAMP(3),
      origin    VARCHAR,
      dep_delay INT,
      WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
    ) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

    -- Observations are versions of the weather: one holds until the next of its airport.
    CREATE TABLE weather (
      ts         TIMESTAMP(3),
      origin     VARCHAR,
      wind_speed DOUBLE,  -- miles per hour
      WATERMARK FOR ts AS ts
    ) WITH ('connector' = 'file', 'path' = 'data/weather.parquet', 'format' = 'parquet');

    SELECT
      f.origin,
      CAST(FLOOR(w.wind_speed / 5e0) AS INT) * 5  AS mph_or_more,
      COUNT(*)                                    AS flights,
      ROUND(AVG(f.dep_delay), 1)                  AS avg_delay
    FROM flights AS f
    LEFT JOIN weather FOR SYSTEM_TIME AS OF f.ts AS w ON f.origin = w.origin  -- LEFT: flights before the first observation are kept
    GROUP BY f.origin, mph_or_more
    ORDER BY origin, mph_or_more;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    # Event time is ts. The stream waits for late rows; here none is late.
    flights = read_parquet(spark, at(args.folder, args.flights), "ts timestamp_ntz, origin string, dep_delay int")

    # Observations are versions of the weather: one holds until the next of its airport.
    # Event time is ts. The stream waits for late rows; here none is late.
    weather = read_parquet(spark, at(args.folder, args.weather), "ts timestamp_ntz, origin string, wind_speed double")

    weather_projected = weather.withColumnsRenamed({"ts": "ts0", "origin": "origin0"})

    return (
        flights
        # Each row with the last version of its key by then.
        .withColumn("is_row", F.lit(1))
        .unionByName(
            weather_projected.where(F.col("origin0").isNotNull() & F.col("ts0").isNotNull()).select(
                F.col("origin0").alias("origin"),
                F.col("ts0").alias("ts"),
                F.struct("*").alias("version"),
                F.lit(0).alias("is_row"),
            ),
            allowMissingColumns=True,
        )
        .withColumn(
            "version",
            F.last("version", ignorenulls=True).over(
                Window.partitionBy("origin").orderBy("ts", "is_row", "version.wind_speed")
            ),
        )
        .where(F.col("is_row") == 1)
        .select("ts", "origin", "dep_delay", "version.*")
        .groupBy("origin", (F.floor(F.col("wind_speed") / 5.0).cast("int") * 5).alias("mph_or_more"))
        .agg(
            F.count("*").alias("flights"),
            F.avg("dep_delay").alias("avg_dep_delay"),
        )
        .select(
            "origin",
            "mph_or_more",
            "flights",
            F.round(F.col("avg_dep_delay"), 1).alias("avg_delay"),
        )
    )


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


WIDER = {"int": "tinyint smallint", "double": "tinyint smallint int float", "timestamp_ntz": "date timestamp"}
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
    parser = argparse.ArgumentParser(description="wind_and_delays in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--flights", metavar="PATH", default="data/flights.parquet", help="where table flights is read from"
    )
    parser.add_argument(
        "--weather", metavar="PATH", default="data/weather.parquet", help="where table weather is read from"
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
    spark = SparkSession.builder.appName("wind_and_delays").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

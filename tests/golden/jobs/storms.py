"""storms as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- The stormiest six hours: windows that overlap. Each hour of weather lies in six windows, and each window says what it has seen.
    --
    --     ouzel run sql_examples/storms.sql

    CREATE TABLE weather (
      ts         TIMESTAMP(3),
      origin     VARCHAR,
      wind_speed DOUBLE,  -- miles per hour
      wind_gust  DOUBLE,
      precip     DOUBLE,  -- inches of rain
      visib      DOUBLE,  -- miles
      WATERMARK FOR ts AS ts
    ) WITH ('connector' = 'file', 'path' = 'data/weather.parquet', 'format' = 'parquet');

    -- A view is a name for a query; it runs nothing by itself.
    CREATE VIEW wind AS
    SELECT ts, origin, COALESCE(wind_gust, wind_speed) AS mph, precip, visib FROM weather WHERE wind_speed IS NOT NULL;

    SELECT
      window_start,
      window_end,
      origin,
      MAX(mph)                AS strongest_mph,
      ROUND(SUM(precip), 2)   AS rain_inches,
      MIN(visib)              AS sight_miles,
      CASE WHEN MIN(visib) < 1e0 THEN 'blind' WHEN SUM(precip) > 1e0 THEN 'wet' ELSE 'windy' END AS kind
    FROM TABLE(HOP(TABLE wind, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '6' HOUR))  -- every hour, the last six
    GROUP BY window_start, window_end, origin
    HAVING MAX(mph) > 50e0
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
    weather = read_parquet(
        spark,
        at(args.folder, args.weather),
        "ts timestamp_ntz, origin string, wind_speed double, wind_gust double, precip double",
        "visib double",
    )

    # A view is a name for a query; it runs nothing by itself.
    wind = weather.where(F.col("wind_speed").isNotNull()).select(
        "ts",
        "origin",
        F.coalesce(F.col("wind_gust"), F.col("wind_speed")).alias("mph"),
        "precip",
        "visib",
    )

    return (
        wind
        # every hour, the last six
        # HOP: windows of 6 hours, one every 1 hour; a row without ts is in none
        .select(
            "*",
            F.window("ts", "6 hours", "1 hour").start.alias("window_start"),
            F.window("ts", "6 hours", "1 hour").end.alias("window_end"),
        )
        .groupBy("window_start", "window_end", "origin")
        .agg(
            F.max("mph").alias("strongest_mph"),
            F.sum("precip").alias("sum_precip"),
            F.min("visib").alias("sight_miles"),
        )
        .where(F.col("strongest_mph") > 50.0)
        .select(
            "window_start",
            "window_end",
            "origin",
            "strongest_mph",
            F.round(F.col("sum_precip"), 2).alias("rain_inches"),
            "sight_miles",
            F.when(F.col("sight_miles") < 1.0, "blind")
            .when(F.col("sum_precip") > 1.0, "wet")
            .otherwise("windy")
            .alias("kind"),
        )
    )


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


WIDER = {"double": "tinyint smallint int float", "timestamp_ntz": "date timestamp"}
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
    parser = argparse.ArgumentParser(description="storms in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
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
    spark = SparkSession.builder.appName("storms").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

"""kafka_by_spark as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE clicks (
      page VARCHAR, visitor BIGINT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR at AS at
    ) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'clicks', 'format' = 'json', 'spark.source' = 'jvm');

    SELECT page, COUNT(*) AS clicks FROM clicks GROUP BY page;
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F


def query(spark: SparkSession) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    clicks = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", "broker:9092")
        .option("subscribe", "clicks")
        .option("startingOffsets", "earliest")
        .option("endingOffsets", "latest")
        .load()
        # A record without a value is nothing at all.
        .where(F.col("value").isNotNull())
        .select(
            F.from_json(
                spell(F.col("value").cast("string"), ["page"]),
                "page string",
                {"mode": "FAILFAST", "allowSingleQuotes": False},
            ).alias("_record")
        )
        .select("_record.*")
    )

    return clicks.groupBy("page").agg(F.count("*").alias("clicks"))


def spell(text: Column, names: list[str], exact: Sequence[str] = ()) -> Column:
    """JSON records with their fields written as these columns are: Spark goes by their case, SQL does not."""
    keys, large, small = F.json_object_keys(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

    def put(record: Column, name: Column) -> Column:
        alike = F.translate(name, large, small)
        others = F.filter(keys, lambda key: (F.translate(key, large, small) == alike) & ~key.isin(*names, *exact))
        field = F.concat(F.lit(r'"\Q'), F.get(others, 0), F.lit(r'\E"\s*:'))
        spelt = F.replace(record, F.regexp_substr(text, field), F.concat(F.lit('"'), name, F.lit('":')))
        why = F.concat(F.lit("more than one field may be column "), name, F.lit(" of "), text)
        return (
            F.when(F.array_contains(keys, name) | (F.size(others) == 0), record)
            .when((F.size(others) == 1) & (F.regexp_count(text, field) == 1), spelt)
            .otherwise(F.raise_error(why))
        )

    folded = [name.lower() for name in names]
    odd = F.exists(keys, lambda key: F.lower(key).isin(*folded) & ~key.isin(*names, *exact))
    return F.when(odd, F.aggregate(F.array(*map(F.lit, names)), text, put)).otherwise(text)


SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


def check_session(spark: SparkSession) -> None:
    """See that a session which was there before the job means what the topology means."""
    for name, value in SETTINGS.items():
        if (found := spark.conf.get(name)) != value:
            raise ValueError(f'the session has {name} = {found}; write: spark.conf.set("{name}", "{value}")')


def main() -> None:
    """Run the job in the session that is there, or else in one of its own, which it stops."""
    there = SparkSession.getActiveSession()
    spark = SparkSession.builder.appName("kafka_by_spark").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

"""kafka_by_spark as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE clicks (
      page VARCHAR, visitor BIGINT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR at AS at
    ) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'clicks', 'format' = 'json', 'spark.source' = 'jvm');

    SELECT page, COUNT(*) AS clicks FROM clicks GROUP BY page;
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def query(spark: SparkSession) -> DataFrame:
    """What the query answers."""
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
                F.col("value").cast("string"), "page string", {"mode": "FAILFAST", "allowSingleQuotes": False}
            ).alias("_record")
        )
        .select("_record.*")
    )

    return clicks.groupBy("page").agg(F.count("*").alias("clicks"))


def main() -> None:
    """Run the job in a session of its own."""
    spark = (
        SparkSession.builder.appName("kafka_by_spark")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    try:
        answer = query(spark)
        answer.show(20, truncate=False)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()

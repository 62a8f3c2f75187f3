"""kafka_window as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE clicks (
      page VARCHAR, visitor BIGINT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR at AS at
    ) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'clicks', 'format' = 'json');

    CREATE TABLE pages (page VARCHAR, window_start TIMESTAMP(3), visitors BIGINT)
    WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'pages', 'format' = 'json');

    INSERT INTO pages
    SELECT page, window_start, COUNT(DISTINCT visitor)
    FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(at), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
    GROUP BY page, window_start, window_end;
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ouzel.spark import read_table, write_table  # needs the wheel of Ouzel


def query(spark: SparkSession) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    # Event time is at. The stream waits for late rows; here none is late.
    clicks = read_table(
        spark,
        "clicks",
        "page string, visitor bigint, at timestamp",
        {"connector": "kafka", "bootstrap.servers": "broker:9092", "topic": "clicks", "format": "json"},
        metadata={"at": "timestamp"},
    )

    return (
        clicks
        # HOP: windows of 1 hour, one every 5 minutes; a row without at is in none
        .select(
            "*",
            F.window("at", "1 hour", "5 minutes").start.cast("timestamp_ntz").alias("window_start"),
            F.window("at", "1 hour", "5 minutes").end.cast("timestamp_ntz").alias("window_end"),
        )
        .groupBy("page", "window_start", "window_end")
        .agg(F.count_distinct("visitor").alias("visitors"))
        .select("page", "window_start", "visitors")
    )


SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


def check_session(spark: SparkSession) -> None:
    """See that a session which was there before the job means what the topology means."""
    for name, value in SETTINGS.items():
        if (found := spark.conf.get(name)) != value:
            raise ValueError(f'the session has {name} = {found}; write: spark.conf.set("{name}", "{value}")')


def main() -> None:
    """Run the job in the session that is there, or else in one of its own, which it stops."""
    there = SparkSession.getActiveSession()
    spark = SparkSession.builder.appName("kafka_window").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark)
        write_table(
            answer,
            "pages",
            {"connector": "kafka", "bootstrap.servers": "broker:9092", "topic": "pages", "format": "json"},
        )
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

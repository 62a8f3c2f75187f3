"""datagen as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE ticks (symbol VARCHAR, price DOUBLE) WITH ('connector' = 'datagen', 'rows' = '1000');

    SELECT symbol, MIN(price) AS low, MAX(price) AS high FROM ticks GROUP BY symbol;
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ouzel.spark import read_table  # needs the wheel of Ouzel


def query(spark: SparkSession) -> DataFrame:
    """What the query answers."""
    ticks = read_table(spark, "ticks", "symbol string, price double", {"connector": "datagen", "rows": "1000"})

    return ticks.groupBy("symbol").agg(
        F.min("price").alias("low"),
        F.max("price").alias("high"),
    )


def main() -> None:
    """Run the job in a session of its own."""
    spark = (
        SparkSession.builder.appName("datagen")
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

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
    check_session(spark)
    ticks = read_table(spark, "ticks", "symbol string, price double", {"connector": "datagen", "rows": "1000"})

    return ticks.groupBy("symbol").agg(
        F.min("price").alias("low"),
        F.max("price").alias("high"),
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
    spark = SparkSession.builder.appName("datagen").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

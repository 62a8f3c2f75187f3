"""times as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE orders (
      id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
      items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
    ) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

    SELECT id, CAST(placed AS DATE) AS placed_on, EXTRACT(HOUR FROM placed) AS placed_at, placed + INTERVAL '3' DAY AS due
    FROM orders
    WHERE placed >= TIMESTAMP '2024-01-01 00:00:00';
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    orders = (
        spark.read.schema("id bigint, placed string")
        .json(at(args.folder, args.orders), mode="FAILFAST", allowSingleQuotes=False)
        .withColumn("placed", F.col("placed").cast("timestamp"))
        .withColumn("id", F.coalesce("id", F.raise_error(F.lit("table 'orders': column 'id' may not be NULL"))))
    )

    return orders.where(F.col("placed") >= F.lit("2024-01-01 00:00:00").cast("timestamp_ntz").cast("timestamp")).select(
        "id",
        F.col("placed").cast("date").alias("placed_on"),
        F.hour(F.col("placed")).alias("placed_at"),
        (F.col("placed") + F.expr("INTERVAL '3 00:00:00' DAY TO SECOND")).alias("due"),
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="times in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--orders", metavar="PATH", default="orders/*.json", help="where table orders is read from")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("times")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()

"""nested_fields as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE orders (
      id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
      items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
    ) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

    SELECT id, customer.name AS customer, customer.address.city AS city
    FROM orders
    WHERE customer.address.zip = '10001';
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ouzel.spark import read_table  # needs the wheel of Ouzel


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    orders = read_table(
        spark,
        "orders",
        "id bigint NOT NULL, customer struct<name:string,address:struct<city:string,zip:string>>",
        {"connector": "file", "path": args.orders, "format": "json"},
        folder=args.folder,
    )

    return orders.where(F.col("customer.address.zip") == "10001").select(
        "id",
        F.col("customer.name").alias("customer"),
        F.col("customer.address.city"),
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="nested_fields in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--orders", metavar="PATH", default="orders/*.json", help="where table orders is read from")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("nested_fields")
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

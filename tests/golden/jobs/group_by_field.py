"""group_by_field as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE orders (
      id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
      items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
    ) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

    SELECT customer.address.city, COUNT(*) AS orders, COUNT(ROW(id, note)) AS rows_of_two
    FROM orders
    GROUP BY customer.address.city;
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
        "id bigint NOT NULL, customer struct<name:string,address:struct<city:string,zip:string>>, note string",
        {"connector": "file", "path": args.orders, "format": "json"},
        folder=args.folder,
    )

    return orders.groupBy(F.col("customer.address.city").alias("city")).agg(
        F.count("*").alias("orders"),
        F.count(F.struct(F.col("id").alias("f0"), F.col("note").alias("f1"))).alias("rows_of_two"),
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="group_by_field in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--orders", metavar="PATH", default="orders/*.json", help="where table orders is read from")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("group_by_field")
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

"""unnest_rows as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE orders (
      id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
      items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
    ) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

    SELECT id, sku, quantity * price AS amount, n
    FROM orders CROSS JOIN UNNEST(items) WITH ORDINALITY AS item (sku, quantity, price, n)
    WHERE quantity > 0;
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
        "id bigint NOT NULL, items array<struct<sku:string,quantity:int,price:decimal(10,2)>>",
        {"connector": "file", "path": args.orders, "format": "json"},
        folder=args.folder,
    )

    return (
        orders.select("*", F.posexplode(F.col("items")).alias("$position", "$element"))
        .select(
            "id",
            "items",
            F.col("$element").getField("sku").alias("sku"),
            F.col("$element").getField("quantity").alias("quantity"),
            F.col("$element").getField("price").alias("price"),
            (F.col("$position") + 1).cast("bigint").alias("n"),
        )
        .where(F.col("quantity") > 0)
        .select(
            "id",
            "sku",
            (F.col("quantity").cast("decimal(10,0)") * F.col("price")).alias("amount"),
            "n",
        )
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="unnest_rows in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--orders", metavar="PATH", default="orders/*.json", help="where table orders is read from")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("unnest_rows")
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

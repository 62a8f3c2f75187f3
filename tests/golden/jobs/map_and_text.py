"""map_and_text as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE orders (
      id BIGINT NOT NULL, customer ROW<name VARCHAR, address ROW<city VARCHAR, zip VARCHAR>>,
      items ARRAY<ROW<sku VARCHAR, quantity INT, price DECIMAL(10, 2)>>, labels MAP<VARCHAR, VARCHAR>, note VARCHAR, placed TIMESTAMP_LTZ(3)
    ) WITH ('connector' = 'file', 'path' = 'orders/*.json', 'format' = 'json');

    SELECT UPPER(TRIM(note)) AS note, labels['origin'] AS origin, CARDINALITY(items) AS items, COALESCE(note, 'none') || '!' AS shouted
    FROM orders
    WHERE note IS NOT NULL OR CARDINALITY(items) BETWEEN 1 AND 3;
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
        "items array<struct<sku:string,quantity:int,price:decimal(10,2)>>, labels map<string,string>, note string",
        {"connector": "file", "path": args.orders, "format": "json"},
        folder=args.folder,
    )

    return orders.where(F.col("note").isNotNull() | F.size(F.col("items")).between(1, 3)).select(
        F.upper(F.btrim(F.col("note"))).alias("note"),
        F.call_function("element_at", F.col("labels"), F.lit("origin")).alias("origin"),
        F.size(F.col("items")).alias("items"),
        F.concat(F.coalesce(F.col("note"), F.lit("none")), F.lit("!")).alias("shouted"),
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="map_and_text in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--orders", metavar="PATH", default="orders/*.json", help="where table orders is read from")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("map_and_text")
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

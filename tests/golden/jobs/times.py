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
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    orders = (
        read_json(spark, at(args.folder, args.orders), "id bigint, placed string", ["id", "placed"])
        .withColumn("placed", F.col("placed").cast("timestamp"))
        .withColumn("id", F.coalesce("id", F.raise_error(F.lit("table 'orders': column 'id' may not be NULL"))))
    )

    return orders.where(F.col("placed") >= F.lit("2024-01-01 00:00:00").cast("timestamp_ntz").cast("timestamp")).select(
        "id",
        F.col("placed").cast("date").alias("placed_on"),
        F.hour(F.col("placed")).alias("placed_at"),
        (F.col("placed") + F.expr("INTERVAL '3 00:00:00' DAY TO SECOND")).alias("due"),
    )


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


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


def read_json(spark: SparkSession, path: str, schema: str, names: list[str], exact: Sequence[str] = ()) -> DataFrame:
    """The columns of JSON records, by Spark's own reader unless there are fields whose names differ from a column's in case."""
    reader, strictly = spark.read.schema(schema), {"mode": "FAILFAST", "allowSingleQuotes": False}
    lines, spelt = spark.read.text(path), spell(F.col("value"), names, exact)
    if lines.where(spelt != F.col("value")).isEmpty():
        return reader.json(path, **strictly)
    records = lines.select(F.from_json(spelt, schema, strictly).alias("_record"))
    return records.where("_record IS NOT NULL").select("_record.*")


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

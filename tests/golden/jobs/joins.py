"""joins as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- Each order with its customer, if there is one.
    CREATE TABLE customers (id BIGINT, name VARCHAR, city VARCHAR, closed BOOLEAN)
    WITH ('connector' = 'file', 'path' = 'customers.parquet', 'format' = 'parquet');
    CREATE TABLE orders (id BIGINT, customer BIGINT, placed TIMESTAMP(3), total DECIMAL(10, 2))
    WITH ('connector' = 'file', 'path' = 'orders.parquet', 'format' = 'parquet');
    CREATE TABLE items (order_id BIGINT, sku VARCHAR, quantity INT) WITH ('connector' = 'file', 'path' = 'items.parquet', 'format' = 'parquet');

    SELECT o.id, c.name, c.city, i.sku, i.quantity * 2 AS twice
    FROM orders AS o
    LEFT JOIN customers AS c ON o.customer = c.id
    JOIN items AS i ON i.order_id = o.id AND i.quantity > 1  -- what is bought more than once
    WHERE o.total > 100
      AND o.customer NOT IN (7, 8)
      AND c.city IN (SELECT city FROM customers WHERE NOT closed)
    EMIT CHANGES;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    orders = read_parquet(spark, at(args.folder, args.orders), "id bigint, customer bigint, total decimal(10,2)")

    # Each order with its customer, if there is one.
    customers = read_parquet(
        spark, at(args.folder, args.customers), "id bigint, name string, city string, closed boolean"
    )

    customers_projected = customers.select(F.col("id").alias("id0"), "name", "city")

    orders_and_customers_joined = orders.join(customers_projected, F.col("customer") == F.col("id0"), "left").select(
        "id", "customer", "total", "name", "city"
    )

    items = read_parquet(spark, at(args.folder, args.items), "order_id bigint, sku string, quantity int")

    orders_and_customers_and_items_joined = (
        orders_and_customers_joined.join(items, (F.col("id") == F.col("order_id")) & (F.col("quantity") > 1))
        .where((F.col("total") > 100) & ~F.col("customer").isin(7, 8))
        .select("id", "name", "city", "sku", "quantity")
    )

    customers_filtered = customers.where(~F.col("closed")).select(F.col("city").alias("city0"))

    return orders_and_customers_and_items_joined.join(
        customers_filtered, F.col("city") == F.col("city0"), "left_semi"
    ).select(
        "id",
        "name",
        "city",
        "sku",
        (F.col("quantity") * 2).alias("twice"),
    )


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


WIDER = {"int": "tinyint smallint", "bigint": "tinyint smallint int"}
"""What a column may be in a file besides what it is in the table. Spark alone would cut an INT for a SMALLINT."""


def fits(held: T.DataType, declared: T.DataType) -> bool:
    """Whether a column of the declared type has a place for every value of the type that a file holds."""
    match held, declared:
        case T.DecimalType(), T.DecimalType():
            return 0 <= declared.scale - held.scale <= declared.precision - held.precision
        case T.IntegralType(), T.DecimalType():
            return declared.precision - declared.scale >= (20 if held == T.LongType() else 10)
    return held == declared or held.simpleString() in WIDER.get(declared.simpleString(), "").split()


def read_parquet(spark: SparkSession, path: str, *columns: str) -> DataFrame:
    """The files' columns by name, in types that lose nothing."""
    table = T.StructType.fromDDL(", ".join(columns))
    try:
        frames = [spark.read.parquet(path, mergeSchema=True)]
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):  # one column has several types
            raise
        frames = [spark.read.parquet(file) for file in spark.read.schema(table).parquet(path).inputFiles()]
    held = [(field.name, field.dataType) for frame in frames for field in frame.schema]
    for column in table:
        declared = column.dataType.simpleString()
        kinds = [kind for name, kind in held if name.lower() == column.name.lower()]
        if not kinds:
            raise ValueError(f"{path} has no column '{column.name}'; it has {', '.join(dict(held))}")
        for kind in kinds:
            if not fits(kind, column.dataType):
                raise ValueError(
                    f"{path} holds column '{column.name}' as {kind.simpleString()}, and the table declares it {declared}, "
                    "which cannot take every value of it; declare it as the file has it, and CAST it in the query"
                )
    is_exact = len(frames) == 1 and all((column.name, column.dataType) in held for column in table)
    return frames[0].to(table) if is_exact else spark.read.schema(table).parquet(path)


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="joins in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--orders", metavar="PATH", default="orders.parquet", help="where table orders is read from")
    parser.add_argument(
        "--customers", metavar="PATH", default="customers.parquet", help="where table customers is read from"
    )
    parser.add_argument("--items", metavar="PATH", default="items.parquet", help="where table items is read from")
    return parser.parse_args(arguments)


SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


def check_session(spark: SparkSession) -> None:
    """See that a session which was there before the job means what the topology means."""
    for name, value in SETTINGS.items():
        if (found := spark.conf.get(name)) != value:
            raise ValueError(f'the session has {name} = {found}; write: spark.conf.set("{name}", "{value}")')


def main() -> None:
    """Run the job in the session that is there, or else in one of its own, which it stops."""
    args = parse_args()
    there = SparkSession.getActiveSession()
    spark = SparkSession.builder.appName("joins").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

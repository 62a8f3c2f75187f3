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
import json
import re
from collections.abc import Collection
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    orders = read_json(
        spark,
        at(args.folder, args.orders),
        "id bigint, items array<struct<sku:string,quantity:int,price:decimal(10,2)>>",
    ).withColumn("id", F.coalesce("id", F.raise_error(F.lit("table 'orders': column 'id' may not be NULL"))))

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


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def read_json(spark: SparkSession, path: str, schema: str, *exact: str) -> DataFrame:
    """The columns of JSON records, by Spark's own reader unless there are fields whose names differ from a column's in case."""
    columns, strictly = spark.createDataFrame([], schema).schema, {"mode": "FAILFAST", "allowSingleQuotes": False}
    names, lines, text = names_in(columns), spark.read.text(path), F.col("value")
    certain = [name for name in names if [fold(other) for other in names].count(fold(name)) == 1]
    alike, same = ("|".join(map(re.escape, some)) for some in (names, certain))
    odd = text.rlike(rf'"(?!(?:{same})")(?i:{alike})"\s*:|\\.[^"\\]*"\s*:')  # a name with an escape may be any
    if lines.where(odd).isEmpty():
        return spark.read.schema(schema).json(path, **strictly)
    spelt = F.when(odd, F.udf(lambda record: spell_record(record, columns, exact))(text)).otherwise(text)
    records = lines.select(F.from_json(spelt, schema, strictly).alias("_record"))
    return records.where("_record IS NOT NULL").select("_record.*")


def names_in(kind: T.DataType) -> set[str]:
    """The names of all fields inside a type."""
    fields = kind.fields if isinstance(kind, T.StructType) else []
    parts = [getattr(kind, part) for part in ("elementType", "valueType") if hasattr(kind, part)]
    return {field.name for field in fields}.union(*map(names_in, [*parts, *(field.dataType for field in fields)]))


def fold(name: str) -> bytes:
    """The name with A to Z small, and its other letters as they are."""
    return name.encode(errors="replace").lower()


def spell_record(text: str, columns: T.StructType, exact: Collection[str]) -> str:
    """A JSON record with its fields written as the columns are: Spark goes by their case, SQL does not."""
    number = "\0number {}".format  # which stay as they are
    try:
        record = json.loads(text, parse_float=number, parse_int=number, parse_constant=number)
    except ValueError:  # Spark says what is wrong with it
        return text
    return re.sub(r'"\\u0000number (.+?)"', r"\1", json.dumps(spell_fields(record, columns, exact)))


def spell_fields(value: Any, kind: T.DataType, exact: Collection[str], column: str = "") -> Any:
    """What a record holds of this type, likewise; `exact` are the columns, and `column.field` inside them, whose case counts."""
    if isinstance(kind, T.ArrayType) and isinstance(value, list):
        return [spell_fields(each, kind.elementType, exact, column) for each in value]
    if isinstance(kind, T.MapType) and isinstance(value, dict):
        return {key: spell_fields(each, kind.valueType, exact, column) for key, each in value.items()}
    if not isinstance(kind, T.StructType) or not isinstance(value, dict):
        return value
    found = {}
    for field in kind:
        loose = (f"{column}.{field.name}" if column else field.name) not in exact
        alike = [key for key in value if loose and key not in kind.names and fold(key) == fold(field.name)]
        keys = [field.name] if field.name in value else alike
        if len(keys) > 1:
            raise ValueError(f"fields {keys[0]!r} and {keys[1]!r} differ in case, and either may be {field.name!r}")
        if keys:
            found[field.name] = spell_fields(value[keys[0]], field.dataType, exact, column or field.name)
    return found


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="unnest_rows in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--orders", metavar="PATH", default="orders/*.json", help="where table orders is read from")
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
    spark = SparkSession.builder.appName("unnest_rows").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

"""csv_dialect as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE claims (claim INT NOT NULL, filed TIMESTAMP(3), amount DECIMAL(10, 2), kind VARCHAR)
    WITH (
      'connector' = 'file', 'path' = 's3a://lake/claims/*.csv', 'format' = 'csv',
      'csv.delimiter' = ';', 'csv.quote' = '''', 'csv.null' = 'NA'
    );
    CREATE TABLE totals (kind VARCHAR, amount DECIMAL(38, 2)) WITH ('connector' = 'file', 'path' = 'totals.csv', 'format' = 'csv', 'changelog' = 'true');

    INSERT INTO totals SELECT kind, SUM(amount) FROM claims GROUP BY kind;
"""

import argparse
from functools import reduce
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def read_csv(spark: SparkSession, path: str, *columns: str, **options: object) -> DataFrame:
    """Columns by the names that each file's own header gives them: files may have them in another order."""
    files: dict[tuple[str, ...], list[str]] = {}
    for file in map(unquote, spark.read.text(path).inputFiles()):
        header = tuple(spark.read.csv(file, header=True, **options).columns)
        files.setdefault(header, []).append(file)
    frames = [
        spark.read.csv(alike, header=True, **options).select(*columns) for header, alike in files.items() if header
    ]
    empty = spark.createDataFrame([], ", ".join(f"{name} string" for name in columns))
    return reduce(DataFrame.union, frames[1:], frames[0]) if frames else empty


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    claims = (
        read_csv(
            spark,
            args.claims,
            "amount",
            "kind",
            multiLine=True,
            sep=";",
            quote="'",
            escape="'",
            nullValue="\uffff",
            mode="FAILFAST",
            unescapedQuoteHandling="RAISE_ERROR",
        )
        # An empty field is NULL where it is no text.
        .replace("", None, ["amount"])
        .fillna("", ["kind"])
        .replace("NA", None, ["kind", "amount"])
        .select(F.col("amount").cast("decimal(10,2)").alias("amount"), "kind")
    )

    return (
        claims.groupBy("kind")
        .agg(F.sum("amount").alias("sum_amount"))
        .select("kind", F.col("sum_amount").cast("decimal(38,2)").alias("amount"))
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="csv_dialect in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--claims", metavar="PATH", default="s3a://lake/claims/*.csv", help="where table claims is read from"
    )
    parser.add_argument("--totals", metavar="PATH", default="totals.csv", help="where table totals is written to")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the job in a session of its own."""
    args = parse_args()
    spark = (
        SparkSession.builder.appName("csv_dialect")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    try:
        answer = query(spark, args)
        (
            answer.withColumn("op", F.lit(1).cast("bigint"))
            .write.options(header=True, escape='"', ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False)
            .csv(at(args.folder, args.totals))
        )
    finally:
        spark.stop()


if __name__ == "__main__":
    main()

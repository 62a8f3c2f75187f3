"""csv_dialect as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE claims (claim INT NOT NULL, filed TIMESTAMP(3), amount DECIMAL(10, 2), kind VARCHAR)
    WITH (
      'connector' = 'file', 'path' = 's3a://lake/claims/*.csv', 'format' = 'csv',
      'csv.delimiter' = ';', 'csv.quote' = '''', 'csv.null' = 'NA'
    );
    CREATE TABLE totals (kind VARCHAR, amount DECIMAL(38, 2)) WITH ('connector' = 'file', 'path' = 'totals.csv', 'format' = 'csv');

    INSERT INTO totals SELECT kind, SUM(amount) FROM claims GROUP BY kind;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    claims = spark.read.csv(
        args.claims,
        header=True,
        multiLine=True,
        sep=";",
        quote="'",
        escape="'",
        nullValue="NA",
        mode="FAILFAST",
        unescapedQuoteHandling="RAISE_ERROR",
    ).select(F.col("amount").cast("decimal(10,2)").alias("amount"), "kind")

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
        answer.write.options(
            header=True, escape='"', ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False
        ).csv(at(args.folder, args.totals))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()

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
import re
from functools import reduce
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    claims = (
        read_csv(
            spark,
            closed(spark, args.claims, sep=";", quote="'"),
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


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def closed(spark: SparkSession, path: str, quote: str = '"', sep: str = ",") -> str:
    """The path, once it is known that its files close every quote: at the end of a file Spark's reader closes it unasked."""
    one, then = re.escape(quote), re.escape(sep)
    inside = f"[^{one}]*+(?:{one}{one}[^{one}]*+)*+"
    field = f"(?:{one}{inside}{one}|(?!{one})[^{then}]*+)"
    line = F.col("value")
    opens = line.rlike(f"^(?:{field}{then})*+{one}{inside}\\z")
    closes = line.rlike(f"^{inside}{one}(?:{then}(?:{field}{then})*+{field})?\\r?\\z")
    lines = spark.read.text(path, lineSep="\n").where(line.contains(quote)).where(opens | closes)
    if lines.isEmpty():  # as of most files; what follows shuffles
        return path
    marked = lines.select(
        F.col("_metadata.file_path").alias("file"),
        F.struct("_metadata.file_block_start", F.monotonically_increasing_id()).alias("at"),
        opens.alias("opens"),
        closes.alias("closes"),
        F.substring(line, 1, 60).alias("text"),
    )
    sure = F.max(F.when(F.expr("opens != closes"), F.struct("at", "opens")))  # whatever was before this line
    turns = F.collect_list(F.when(F.expr("opens and closes"), F.col("at")))  # open behind this line if not before it
    opened = F.max(F.when(F.col("opens"), F.struct("at", "text")))
    files = marked.groupBy("file").agg(sure.alias("sure"), turns.alias("turns"), opened.alias("opened"))
    odd = "size(filter(turns, at -> sure is null or at > sure.at)) % 2 = 1"
    unclosed = files.where(f"coalesce(sure.opens, false) != ({odd})").select("file", "opened.text")
    for file, text in unclosed.limit(1).collect():
        raise ValueError(f"{unquote(file)} ends inside a quote that nothing closes, which opens in the line {text!r}")
    return path


def read_csv(spark: SparkSession, path: str, *columns: str, **options: object) -> DataFrame:
    """Columns by the names that each file's own header gives them: files may have them in another order."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for file in map(unquote, spark.read.text(path).inputFiles()):
        header = tuple(spark.read.csv(file, header=True, **options).columns)
        alike.setdefault(header, []).append(file)
    frames = []
    for header, files in alike.items():
        if header:
            fields = T.StructType([T.StructField(name, T.StringType()) for name in header])
            frames.append(spark.read.schema(fields).csv(files, header=True, **options).select(*columns))
    if not frames:
        return spark.createDataFrame([], ", ".join(f"{name} string" for name in columns))
    return reduce(DataFrame.union, frames)


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="csv_dialect in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--claims", metavar="PATH", default="s3a://lake/claims/*.csv", help="where table claims is read from"
    )
    parser.add_argument("--totals", metavar="PATH", default="totals.csv", help="where table totals is written to")
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
    spark = SparkSession.builder.appName("csv_dialect").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        (
            answer.withColumn("op", F.lit(1).cast("bigint"))
            .write.options(header=True, escape='"', ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False)
            .csv(at(args.folder, args.totals))
        )
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

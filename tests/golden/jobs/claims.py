"""claims as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- Real input has bad records. Here they do not stop the query and are not lost in silence: they go to a file, with where they were and why.
    --
    --     ouzel run sql_examples/claims.sql
    --     cat sql_examples/data/bad_claims.jsonl

    CREATE TABLE claims (
      claim     INT NOT NULL,
      filed     TIMESTAMP(3),
      origin    VARCHAR,
      amount    DECIMAL(10, 2),  -- dollars, exact
      WATERMARK FOR filed AS filed
    ) WITH (
      'connector'        = 'file',
      'path'             = 'claims.csv',
      'format'           = 'csv',
      'bad.record'       = 'dead-letter',  -- or 'skip', which only counts them, or 'fail', the default
      'dead-letter.path' = 'data/bad_claims.jsonl'
    );

    SELECT window_start, origin, COUNT(claim) AS claims, SUM(amount) AS dollars
    FROM TABLE(TUMBLE(TABLE claims, DESCRIPTOR(filed), INTERVAL '1' DAY))
    GROUP BY window_start, window_end, origin
    EMIT AFTER WATERMARK;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ouzel.spark import BadRecords, read_table  # needs the wheel of Ouzel


def query(spark: SparkSession, args: argparse.Namespace, bad_records: BadRecords) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    # Event time is filed. The stream waits for late rows; here none is late.
    claims = read_table(
        spark,
        "claims",
        "claim int NOT NULL, filed timestamp_ntz, origin string, amount decimal(10,2)",
        {
            "connector": "file",
            "path": args.claims,
            "format": "csv",
            "bad.record": "dead-letter",
            "dead-letter.path": "data/bad_claims.jsonl",
        },
        folder=args.folder,
        bad_records=bad_records,
    )

    return (
        claims
        # TUMBLE: windows of 1 day; a row without filed is in none
        .select(
            "*",
            F.window("filed", "1 day").start.alias("window_start"),
            F.window("filed", "1 day").end.alias("window_end"),
        )
        .groupBy("window_start", "window_end", "origin")
        .agg(
            F.count("claim").alias("claims"),
            F.sum("amount").alias("dollars"),
        )
        .select("window_start", "origin", "claims", "dollars")
    )


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="claims in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument("--claims", metavar="PATH", default="claims.csv", help="where table claims is read from")
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
    spark = SparkSession.builder.appName("claims").config(map=SETTINGS).getOrCreate()
    try:
        # Records that cannot be read are left out, and noted here.
        bad_records = BadRecords(spark)
        answer = query(spark, args, bad_records)
        answer.show(20, truncate=False)
        bad_records.settle()
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

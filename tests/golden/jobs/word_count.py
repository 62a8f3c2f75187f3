"""word_count as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    -- The word count: how often was each word said over New York's loudspeakers in 2013?
    --
    --     ouzel run sql_examples/word_count.sql

    CREATE TABLE announcements (
      line VARCHAR  -- United Air Lines Inc flight UA1545 from EWR to George Bush Intercontinental is on time
    ) WITH (
      'connector' = 'file',
      'path'      = 'data/announcements.txt',
      'format'    = 'raw'  -- every line is a record of one column
    );

    -- UNNEST makes one row of each word. There is no window, so there is no moment at which a count is final: EMIT CHANGES lets every change
    -- out at once, as a row taken back and a row put in its place.
    SELECT word, COUNT(*) AS occurrences
    FROM announcements CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word)
    GROUP BY word
    EMIT CHANGES;
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    announcements = spark.read.text(at(args.folder, args.announcements)).select(F.col("value").alias("line"))

    # UNNEST makes one row of each word. There is no window, so there is no moment at which a count is
    # final: EMIT CHANGES lets every change out at once, as a row taken back and a row put in its place.
    return (
        announcements.select("*", F.explode(F.split(F.col("line"), " ")).alias("word"))
        .groupBy("word")
        .agg(F.count("*").alias("occurrences"))
    )


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="word_count in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--announcements",
        metavar="PATH",
        default="data/announcements.txt",
        help="where table announcements is read from",
    )
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
    spark = SparkSession.builder.appName("word_count").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

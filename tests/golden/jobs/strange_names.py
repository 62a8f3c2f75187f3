"""strange_names as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.

    CREATE TABLE "my table" ("a b" INT, "class" VARCHAR, "it's ""x\"\"\" VARCHAR, "{n}" INT)
    WITH ('connector' = 'file', 'path' = 'it''s {here} "now".json', 'format' = 'json');

    -- \"\"\" nothing ends here
    SELECT "class", "it's ""x\"\"\" AS "c.d", SUM("a b" * "{n}") AS "sum" FROM "my table" GROUP BY "class", "it's ""x\"\"\";
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def query(spark: SparkSession, args: argparse.Namespace) -> DataFrame:
    """What the query answers."""
    check_session(spark)
    table_my_table_609b8296 = spark.read.schema('`a b` int, class string, `it\'s "x"` string, `{n}` int').json(
        at(args.folder, args.table_my_table_609b8296), mode="FAILFAST", allowSingleQuotes=False
    )

    # """ nothing ends here
    return (
        table_my_table_609b8296.groupBy("class", '`it\'s "x"`')
        .agg(F.sum(F.col("`a b`") * F.col("`{n}`")).alias("sum"))
        .withColumnsRenamed({'it\'s "x"': "c.d"})
    )


def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Where the tables are."""
    parser = argparse.ArgumentParser(description="strange_names in batch")
    parser.add_argument("--folder", metavar="PATH", default="/data", help="where relative paths start")
    parser.add_argument(
        "--table_my_table_609b8296",
        metavar="PATH",
        default='it\'s \\{here\\} "now".json',
        help="where table my table is read from",
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
    spark = SparkSession.builder.appName("strange_names").config(map=SETTINGS).getOrCreate()
    try:
        answer = query(spark, args)
        answer.show(20, truncate=False)
    finally:
        if there is None:
            spark.stop()


if __name__ == "__main__":
    main()

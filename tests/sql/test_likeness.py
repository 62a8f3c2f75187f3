"""CREATE TABLE ... LIKE, and CREATE TABLE ... AS."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel import entry
from ouzel.errors import QueryError
from ouzel.session import load_text

BASE = """CREATE TABLE b (
  id INT NOT NULL, ts TIMESTAMP(3), file STRING METADATA, day AS CAST(ts AS DATE),
  PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'file', 'path' = 'b', 'format' = 'json');
"""
VIEW = "CREATE VIEW v AS SELECT day, COUNT(*) AS n FROM b GROUP BY day;"
OPTIONS = "WITH ('connector' = 'file', 'path' = 'a', 'format' = 'json')"


OF_B = OPTIONS.replace("'a'", "'b'")


def described(statement: str) -> str:
    """The table t that the statement makes, on one line."""
    listing = load_text(f"{BASE}{VIEW}{statement}; DESCRIBE t", Path(), "q").program.listings[-1]
    return " ".join(listing.text.split())


PHYSICAL = "id INT NOT NULL, ts TIMESTAMP(3)"
FILE, DAY, KEY = "file STRING METADATA FROM 'file'", "day AS CAST(ts AS DATE)", "PRIMARY KEY (id) NOT ENFORCED"
TIME = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("CREATE TABLE t (LIKE b)", f"{PHYSICAL}, {FILE}, {DAY}, {TIME}, {KEY} ) {OF_B}"),
        ("CREATE TABLE t LIKE b", f"{PHYSICAL}, {FILE}, {DAY}, {TIME}, {KEY} ) {OF_B}"),
        ("CREATE TABLE t WITH (path = 'a') LIKE b", f"{PHYSICAL}, {FILE}, {DAY}, {TIME}, {KEY} ) {OPTIONS}"),
        (f"CREATE TABLE t (more INT) {OPTIONS} LIKE b (EXCLUDING ALL)", f"{PHYSICAL}, more INT ) {OPTIONS}"),
        (f"CREATE TABLE t (LIKE b EXCLUDING ALL INCLUDING GENERATED, n AS id + 1) {OPTIONS}",
         f"{PHYSICAL}, {DAY}, n AS id + 1 ) {OPTIONS}"),
        (f"CREATE TABLE t (day AS ts, WATERMARK FOR ts AS ts) {OPTIONS} LIKE b "
         "(OVERWRITING GENERATED OVERWRITING WATERMARKS OVERWRITING OPTIONS EXCLUDING METADATA)",
         f"{PHYSICAL}, day AS ts, WATERMARK FOR ts AS ts, {KEY} ) {OPTIONS}"),
        ("CREATE TABLE t (LIKE b EXCLUDING METADATA) WITH ('connector' = 'print')",
         f"{PHYSICAL}, {DAY}, {TIME}, {KEY} ) WITH ('connector' = 'print')"),
        (f"CREATE TABLE t (LIKE v, PRIMARY KEY (day) NOT ENFORCED) {OPTIONS}",
         f"day DATE, n BIGINT, PRIMARY KEY (day) NOT ENFORCED ) {OPTIONS}"),
        (f"CREATE TABLE t {OPTIONS} AS SELECT day, ts AS \"Ts\" FROM b", f"day DATE, Ts TIMESTAMP(6) ) {OPTIONS}"),
        ("CREATE TABLE t (PRIMARY KEY (day) NOT ENFORCED) WITH ('connector' = 'print') AS SELECT * FROM v",
         "day DATE, n BIGINT, PRIMARY KEY (day) NOT ENFORCED ) WITH ('connector' = 'print')"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_table_takes(statement: str, table: str) -> None:
    assert described(statement).removesuffix(";") == f"CREATE TABLE t ( {table}"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLE t (LIKE x)", "there is no table x"),
        ("CREATE TABLE t (LIKE b INCLUDING INDEXES)", "LIKE does not know INCLUDING INDEXES; write INCLUDING, EXCLUDING or OVERWRITING, "
         "and ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS or WATERMARKS"),
        ("CREATE TABLE t (LIKE b OVERWRITING CONSTRAINTS)", "LIKE does not know OVERWRITING CONSTRAINTS"),
        ("CREATE TABLE t (LIKE b, id INT)", "b has a column id too; rename it"),
        ("CREATE TABLE t (LIKE b, day AS ts)", "b has a column day too; rename it, or write OVERWRITING GENERATED"),
        ("CREATE TABLE t (LIKE b, PRIMARY KEY (ts) NOT ENFORCED)", "b has a PRIMARY KEY too; remove it, or write EXCLUDING CONSTRAINTS"),
        ("CREATE TABLE t (LIKE b, WATERMARK FOR ts AS ts)", "b has a WATERMARK too; remove it, or write EXCLUDING WATERMARKS"),
        ("CREATE TABLE t (LIKE b INCLUDING OPTIONS) WITH (path = 'x')", "b has an option 'path' too; write OVERWRITING OPTIONS"),
        ("CREATE TABLE t (LIKE b EXCLUDING OPTIONS)", "the table t does not say where its rows are"),
        ("CREATE TABLE t (LIKE b) WITH ('connector' = 'print')", "the connector print has no metadata 'file'"),
        ("CREATE TABLE t (LIKE b, LIKE v)", "the table is like two others; keep one LIKE"),
        (f"CREATE TABLE t (x INT) {OPTIONS} AS SELECT 1 AS x", "the columns of CREATE TABLE ... AS are those of the query; declare none"),
        (f"CREATE TABLE t {OPTIONS} AS SELECT NULL AS x", "the column x is NULL, which a table cannot hold; CAST x in the query"),
        (f"CREATE TABLE t {OPTIONS} AS SELECT * FROM v", "t (file) only takes new rows"),
        ("CREATE TABLE t AS SELECT 1 AS x", "the table t does not say where its rows are"),
        (f"SELECT 1 AS x; CREATE TABLE t {OPTIONS} AS SELECT 1 AS x", "a SELECT that prints its result is the last statement"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_taken_is_refused(statement: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        described(statement)
    assert said in str(caught.value)
    assert caught.value.at >= 0


def test_a_table_made_of_a_query_is_written(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("ouzel\nheron\n")
    text = "CREATE TABLE kept WITH ('connector' = 'file', 'path' = 'kept', 'format' = 'parquet') "
    entry.run(
        load_text(f"{text} AS SELECT line, CHAR_LENGTH(line) AS letters FROM 'words.txt'", tmp_path, "q"), "memory"
    )
    assert sorted(pl.read_parquet(tmp_path / "kept" / "*").rows()) == [("heron", 5), ("ouzel", 5)]

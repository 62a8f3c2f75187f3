"""DESCRIBE and SHOW: what they print is SQL that makes the same table again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.compiler.plan import Listing
from ouzel.session import load_text

WITH = "WITH ('connector' = 'file', 'path' = 'it''s.json', 'format' = 'json', 'json.exact' = 'Place.Name')"
TABLES = [
    f"CREATE TABLE t (a INT, b DECIMAL(9, 2) NOT NULL, c ARRAY<MAP<STRING, BIGINT>>) {WITH}",
    f'CREATE TABLE t ("select" INT, `A b` ROW<"Name" VARCHAR, x TIMESTAMP(3)>, "Place" ROW<name INT>) {WITH}',
    f"CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, file STRING METADATA VIRTUAL, r BIGINT METADATA FROM 'row', "
    f"b AS a /* in\nhours */ / 60) {WITH}",
    f"CREATE TABLE t (ts TIMESTAMP(3), k INT, PRIMARY KEY (k, ts) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) {WITH}",
    f"CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts IDLE AFTER NEVER) {WITH}",
    f"CREATE TABLE t (ts TIMESTAMP(3), day AS CAST(ts AS DATE), WATERMARK FOR ts AS ts IDLE AFTER INTERVAL '1' HOUR) {WITH}",
]  # fmt: skip


def told(text: str, folder: Path) -> tuple[Listing, ...]:
    """What a program's listings say."""
    return load_text(text, folder, "q").program.listings


@pytest.mark.parametrize("table", TABLES)
def test_what_describe_prints_makes_the_same_table(table: str, tmp_path: Path) -> None:
    described, created = told(f"{table}; DESCRIBE t; SHOW CREATE TABLE t", tmp_path)
    assert described == created
    query = "; SELECT * FROM t"
    made, again = (load_text(text + query, tmp_path, "q") for text in (table, described.text.removesuffix(";")))
    assert again.program.sinks == made.program.sinks
    assert told(f"{described.text} DESCRIBE t", tmp_path) == (described,)


def test_what_describe_prints_of_a_query_or_view_is_a_table_for_its_rows(tmp_path: Path) -> None:
    view = f'{TABLES[0]}; CREATE VIEW v (x, "Order") AS SELECT a, c FROM t'
    described, query = told(f"{view}; DESCRIBE v; DESC SELECT b AS total, * FROM t AS u", tmp_path)
    assert described.text == (
        "CREATE TABLE v (\n  x INT,\n  \"Order\" ARRAY<MAP<VARCHAR, BIGINT>>\n) WITH ('connector' = 'print');"
    )
    assert [row[:2] for row in query.rows] == [
        ("total", "DECIMAL(9, 2)"), ("a", "INT"), ("b", "DECIMAL(9, 2)"), ("c", "ARRAY<MAP<VARCHAR, BIGINT>>"),
    ]  # fmt: skip
    insert = described.text.replace("TABLE v", "TABLE kept")
    assert load_text(f"{view}; {insert} INSERT INTO kept SELECT * FROM v", tmp_path, "q").program.sinks


def test_what_was_found_is_described(tmp_path: Path) -> None:
    (tmp_path / "half.csv").write_text("id;day\n1;2013-01-01\n")
    (described,) = told("DESCRIBE 'half.csv'", tmp_path)
    assert described.text == (
        "CREATE TABLE half (\n  id BIGINT,\n  day DATE\n) "
        "WITH ('connector' = 'file', 'path' = 'half.csv', 'format' = 'csv', 'csv.delimiter' = ';');"
    )
    (tmp_path / "half.csv").unlink()
    assert load_text(f"{described.text} SELECT id FROM half", tmp_path, "q").program.sinks


def test_rows_say_what_makes_a_column_what_it_is(tmp_path: Path) -> None:
    (described,) = told(f"{TABLES[2]}; DESCRIBE t", tmp_path)
    assert described.columns == ("column", "type", "nullable", "of")
    assert described.rows == (
        ("a", "INT", False, "PRIMARY KEY"), ("file", "VARCHAR", True, "METADATA file"), ("r", "BIGINT", True, "METADATA row"),
        ("b", "BIGINT", True, "AS a /* in hours */ / 60"),
    )  # fmt: skip


def test_show(tmp_path: Path) -> None:
    text = f"SET 'batch.rows' = '7'; {TABLES[0]}; CREATE VIEW Busy AS SELECT a FROM t; SHOW TABLES; SHOW TABLES LIKE 'b%'; "
    text += "SHOW SETTINGS LIKE 'batch.rows'; SHOW CONNECTORS LIKE 'file'; SHOW FUNCTIONS LIKE 'count(%'; SHOW FUNCTIONS LIKE '_trim(%'"
    tables, busy, settings, connectors, counts, trims = told(text, tmp_path)
    assert tables.rows == (("t", "table", "file", 3), ("Busy", "view", None, 1))
    assert busy.rows == tables.rows[1:]
    assert settings.rows == (("batch.rows", "7", "10000", "most rows a source reads into one batch."),)
    assert [row[:3] for row in connectors.rows] == [("file", True, "append, retract")]
    assert counts.rows[0][1] == "rows, or those whose value is not NULL"
    assert [row[0].partition("(")[0] for row in trims.rows] == ["LTRIM", "RTRIM"]


def test_a_listing_may_stand_before_a_query(tmp_path: Path) -> None:
    program = load_text(f"{TABLES[0]}; SHOW TABLES; SELECT a FROM t", tmp_path, "q").program
    assert len(program.listings) == len(program.sinks) == 1

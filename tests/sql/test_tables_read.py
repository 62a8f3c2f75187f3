"""What is told of a table that is read in another way than its definition may make one think."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.plan import Scan, walk
from ouzel.errors import QueryError
from ouzel.session import load_text

TABLE = """CREATE TABLE last_seen (name VARCHAR, at BIGINT, PRIMARY KEY (name) NOT ENFORCED)
WITH ('connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't', 'format' = '{format}');
SELECT * FROM last_seen;"""


def test_a_log_of_keys_is_read_record_by_record_and_a_note_says_so(tmp_path: Path) -> None:
    said = "each record of last_seen is a row of its own, .*add 'changelog.mode' = 'upsert' to its WITH"
    with pytest.warns(QueryWarning, match=said):
        load_text(TABLE.format(format="json"), tmp_path, "q")


def test_a_table_as_flink_writes_it_is_the_last_record_of_each_key(tmp_path: Path) -> None:
    text = """CREATE TABLE last_seen (name VARCHAR, at BIGINT, PRIMARY KEY (name) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'key.format' = 'json',
          'value.format' = 'json');
    SELECT name, at FROM last_seen WHERE name <> 'x';"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job = load_text(text, tmp_path, "q")
    (scan,) = (node for node in walk(job.program.sinks[0]) if isinstance(node, Scan))
    assert {"key.fields": "name", "start": "earliest"}.items() <= dict(scan.options).items()
    said = str(job.program.sinks[0])
    assert "TopN row_number <= 1 (PARTITION BY name ORDER BY $partition DESC, $offset DESC)" in said
    assert "Filter not(coalesce($deleted, False))" in said


def test_a_log_of_changes_is_the_table(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_text(TABLE.format(format="debezium-json"), tmp_path, "q")


LATEST = "WITH ('connector' = 'file', 'path' = 't.jsonl', 'format' = 'json', 'changelog.mode' = 'upsert'{more})"
KAFKA = """WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = 'b:1', 'topic' = 't', 'key.format' = 'json',
    'value.format' = 'json')"""
KEY = "PRIMARY KEY (id) NOT ENFORCED"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (f"(id INT) {LATEST}", "by key, and it has no PRIMARY KEY; add PRIMARY KEY (column) NOT ENFORCED"),
        (
            f"(n INT, id AS n + 1, {KEY}) {LATEST}",
            "the column id of its PRIMARY KEY is computed; name columns that its records have",
        ),
        (
            f"(id INT, ts TIMESTAMP(3), {KEY}, WATERMARK FOR ts AS ts) {LATEST}",
            "has no event time; leave WATERMARK out",
        ),
        (
            f"(id INT, n INT NOT NULL, {KEY}) {KAFKA}",
            "a record without a value has no n, which is NOT NULL; leave NOT NULL out of n",
        ),
        (
            f"(id INT, n INT, {KEY}) {LATEST}".replace("{more}", ", 'changelog.deleted' = 'n'"),
            "it has no BOOLEAN column n; name one in",
        ),
    ],
    ids=["no key", "a computed key", "event time", "not null", "deleted by a number"],
)
def test_what_is_no_table_of_keys_is_refused(table: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError) as refused:
        load_text(f"CREATE TABLE t {table.replace('{more}', '')}; SELECT * FROM t;", tmp_path, "q")
    assert message in str(refused.value)

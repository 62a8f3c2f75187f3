"""What is told of a table that is read in another way than its definition may make one think."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ouzel.compiler.catalog import QueryWarning
from ouzel.session import load_text

TABLE = """CREATE TABLE last_seen (name VARCHAR, at BIGINT, PRIMARY KEY (name) NOT ENFORCED)
WITH ('connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't', 'format' = '{format}');
SELECT * FROM last_seen;"""


def test_a_log_of_keys_is_read_record_by_record_and_a_note_says_so(tmp_path: Path) -> None:
    said = r"each record of last_seen is a row of its own, .*ROW_NUMBER\(\) OVER \(PARTITION BY name ORDER BY ... DESC\) = 1"
    with pytest.warns(QueryWarning, match=said):
        load_text(TABLE.format(format="json"), tmp_path, "q")


def test_a_log_of_changes_is_the_table(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_text(TABLE.format(format="debezium-json"), tmp_path, "q")

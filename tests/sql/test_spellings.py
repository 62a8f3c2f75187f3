"""What other systems write otherwise, and means the same here."""

from __future__ import annotations

import pytest

from ouzel.compiler.sql import compile_sql
from tests.sql.connectors import CONNECTORS, TABLES

USERS = (
    "CREATE TABLE users (id BIGINT, address {type}) WITH ('connector' = 'kafka');\nSELECT address.street FROM users;"
)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (
            USERS.format(type="STRUCT<street: STRING, zip: ARRAY<INT>>"),
            USERS.format(type="ROW<street STRING, zip ARRAY<INT>>"),
        ),
        (
            TABLES + "SELECT window_end FROM TABLE(TUMBLE(TABLE (SELECT ts FROM flights), DESCRIPTOR(ts), INTERVAL '1' DAY));",
            TABLES + "SELECT window_end FROM TUMBLE((SELECT ts FROM flights), ts, INTERVAL '1' DAY);",
        ),
        (TABLES + "SELECT CAST(ROW(1) AS STRUCT<a: INT>) AS s;", TABLES + "SELECT CAST(ROW(1) AS ROW<a INT>) AS s;"),
        (TABLES + "INSERT INTO TABLE lines SELECT word, n FROM words;", TABLES + "INSERT INTO lines SELECT word, n FROM words;"),
        (TABLES + "INSERT INTO TABLE lines (word) SELECT word FROM words;", TABLES + "INSERT INTO lines (word) SELECT word FROM words;"),
    ],
)  # fmt: skip
def test_they_are_the_same(theirs: str, ours: str) -> None:
    (one,), (other,) = (compile_sql(text, CONNECTORS).sinks for text in (theirs, ours))
    assert (one.table, one.columns, one.mode) == (other.table, other.columns, other.mode)
    assert one.input.stable_id == other.input.stable_id

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
        (TABLES + "INSERT INTO TABLE lines SELECT word, n FROM words;", TABLES + "INSERT INTO lines SELECT word, n FROM words;"),
        (TABLES + "INSERT INTO TABLE lines (word) SELECT word FROM words;", TABLES + "INSERT INTO lines (word) SELECT word FROM words;"),
    ],
)  # fmt: skip
def test_they_are_the_same(theirs: str, ours: str) -> None:
    (one,), (other,) = (compile_sql(text, CONNECTORS).sinks for text in (theirs, ours))
    assert (one.table, one.columns, one.mode) == (other.table, other.columns, other.mode)
    assert one.input.stable_id == other.input.stable_id

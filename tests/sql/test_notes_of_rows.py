"""Clauses that give other rows than they seem to: windows without their key or their columns, joins of times, columns by position."""

from __future__ import annotations

import pytest

from tests.sql.test_notes import notes_of

TABLE = (
    "CREATE TABLE {} (k BIGINT, ts TIMESTAMP(3), city VARCHAR, {} WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');\n"
)
OTHER = (
    "CREATE TABLE people (city VARCHAR, name VARCHAR) WITH ('connector' = 'file', 'path' = 'p', 'format' = 'json');\n"
)
TABLES = TABLE.format("orders", "x DOUBLE,") + TABLE.format("clicks", "page VARCHAR,") + OTHER
SESSION = "TABLE(SESSION(TABLE clicks{}, DESCRIPTOR(ts), INTERVAL '2' HOUR))"
HOP = "TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))"
DAY = "TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY))"


@pytest.mark.parametrize(
    ("query", "note"),
    [
        (
            f"SELECT k, window_start, COUNT(*) AS n FROM {SESSION.format('')} GROUP BY k, window_start, window_end;",
            "these sessions are of all rows together, and not of each k; write SESSION(TABLE clicks PARTITION BY k, ...)",
        ),
        (
            f"SELECT k, COUNT(*) AS n FROM {HOP} WHERE x > 1 GROUP BY k;",
            "HOP puts each row into 6 windows, and without them in GROUP BY it is counted as often; "
            "write GROUP BY window_start, window_end too, or leave the windows out",
        ),
        (
            f"SELECT SUM(x) AS s FROM {DAY};",
            "CUMULATE puts each row into up to 24 windows, and without them in GROUP BY it is counted as often; "
            "write GROUP BY window_start, window_end too, or leave the windows out",
        ),
        (
            "SELECT o.k, c.page FROM orders AS o ASOF JOIN clicks AS c ON o.ts >= c.ts;",
            "only times are compared, so that each row meets the latest version, whatever its k, city; "
            "add o.k = c.k AND o.city = c.city to the condition",
        ),
        (
            "SELECT x, page FROM orders NATURAL JOIN clicks;",
            "NATURAL JOIN compares k, ts, city, for both tables have them; "
            "write JOIN clicks USING (k, city), or USING (k, ts, city) if equal times are meant",
        ),
        (
            "INSERT INTO people SELECT page AS name, city FROM clicks;",
            "columns go by position, so that name becomes people.city; write INSERT INTO people (name, city)",
        ),
        (
            "SELECT DISTINCT (k), city, UPPER(city) AS u FROM orders;",
            "DISTINCT is of all columns here, and not of k alone; "
            "write DISTINCT ON (k) k, city, UPPER(city) AS u for one row of each, or leave out the parentheses",
        ),
    ],
)
def test_other_rows_than_are_meant_are_told_of(query: str, note: str) -> None:
    (told,) = notes_of(TABLES + query)
    assert told.split("\n")[0].partition(": ")[2] == note


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT k, window_start, COUNT(*) AS n FROM {SESSION.format(' PARTITION BY k')} GROUP BY k, window_start, window_end;",
        f"SELECT window_start, COUNT(*) AS n FROM {SESSION.format('')} GROUP BY window_start, window_end;",
        "SELECT k, SESSION_START(ts, INTERVAL '2' HOUR) AS s, COUNT(*) AS n FROM clicks GROUP BY k, SESSION(ts, INTERVAL '2' HOUR);",
        f"SELECT k, COUNT(*) AS n FROM {HOP} GROUP BY k, window_start, window_end;",
        f"SELECT k, COUNT(*) AS n FROM {HOP} GROUP BY k, window_time;",
        f"SELECT k, COUNT(*) AS n FROM {HOP} WHERE window_start = TIMESTAMP '2026-03-27 10:00:00' GROUP BY k;",
        f"SELECT k, MAX(x) AS m, COUNT(DISTINCT city) AS n FROM {HOP} GROUP BY k;",
        "SELECT k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY k;",
        "SELECT o.k, c.page FROM orders AS o ASOF JOIN clicks AS c ON o.k = c.k AND o.ts >= c.ts;",
        "SELECT o.k, c.page FROM orders AS o ASOF JOIN clicks AS c ON o.ts >= c.ts WHERE c.k = 1;",
        "SELECT o.k, c.page FROM orders AS o ASOF JOIN (SELECT * FROM clicks WHERE k = 1) AS c ON o.ts >= c.ts;",
        "SELECT x, y FROM orders NATURAL JOIN (SELECT k, ts, x * 2 AS y FROM orders) AS o;",
        "SELECT o.x, c.page FROM (SELECT x, ts FROM orders) AS o ASOF JOIN clicks AS c ON o.ts >= c.ts;",
        "SELECT o.x, c.page FROM orders AS o JOIN clicks FOR SYSTEM_TIME AS OF o.ts AS c ON o.k = c.k;",
        "SELECT x, page FROM (SELECT k, x FROM orders) AS o NATURAL JOIN clicks;",
        "SELECT x, page FROM orders JOIN clicks USING (k, ts, city);",
        "SELECT m, n FROM (SELECT k, window_start, COUNT(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)"
        " GROUP BY k, window_start, window_end)"
        " AS a NATURAL JOIN (SELECT k, window_start, COUNT(*) AS m FROM TUMBLE(clicks, ts, INTERVAL '1' HOUR)"
        " GROUP BY k, window_start, window_end) AS b;",
        "SELECT x, page FROM (SELECT ts, x FROM orders) AS o NATURAL JOIN (SELECT ts, page FROM clicks) AS c;",
        "INSERT INTO people SELECT city, page AS name FROM clicks;",
        "INSERT INTO people (name, city) SELECT page AS name, city FROM clicks;",
        "INSERT INTO people SELECT page, city FROM clicks;",
        "SELECT DISTINCT (k) FROM orders;",
        "SELECT DISTINCT (k + 1) AS l, city FROM orders;",
        "SELECT DISTINCT k, (city) FROM orders;",
        "SELECT DISTINCT ON (k) k, city FROM orders ORDER BY k, ts;",
    ],
)
def test_rows_that_are_meant_are_not_told_of(query: str) -> None:
    assert not notes_of(TABLES + query)

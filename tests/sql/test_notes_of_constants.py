"""Constants that are hardly meant: values that are never given, texts for columns, lists and patterns, quotients that are cut."""

from __future__ import annotations

import pytest

from tests.sql.test_notes import notes_of

TABLE = (
    "CREATE TABLE t (x DOUBLE, s VARCHAR, k BIGINT, ts TIMESTAMP(3), d DATE, order_date TIMESTAMP(3), WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');\n"
)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        (
            "SELECT s FROM t WHERE ts BETWEEN '2026-03-27' AND '2026-03-28';",
            "BETWEEN ends at the midnight with which '2026-03-28' begins, and leaves out the rest of that day; "
            "write ts >= '2026-03-27' AND ts < '2026-03-29'",
        ),
        (
            "SELECT v.s FROM (SELECT * FROM t WHERE k > 1) AS v WHERE v.ts BETWEEN DATE '2026-02-28' AND DATE '2026-02-28';",
            "BETWEEN ends at the midnight with which DATE '2026-02-28' begins, and leaves out the rest of that day; "
            "write v.ts >= '2026-02-28' AND v.ts < '2026-03-01'",
        ),
        (
            "SELECT s FROM t WHERE EXTRACT(DOW FROM ts) IN (0, 6);",
            "EXTRACT(DOW FROM ts) is 1 (Sunday) to 7 (Saturday) and never 0; write IN (1, 7) if 0 is meant to be Sunday",
        ),
        (
            "SELECT s FROM t WHERE 0 = DAYOFWEEK(d);",
            "DAYOFWEEK(d) is 1 (Sunday) to 7 (Saturday) and never 0; write 1 if 0 is meant to be Sunday",
        ),
        (
            "SELECT s FROM t WHERE WEEKDAY(d) = 7;",
            "WEEKDAY(d) is 0 (Monday) to 6 (Sunday) and never 7; write a number from 0 to 6",
        ),
        (
            "SELECT s FROM t WHERE MONTH(d) IN (12, 13);",
            "MONTH(d) is 1 to 12 and never 13; write a number from 1 to 12",
        ),
        ("SELECT s FROM t WHERE HOUR(ts) = 24;", "HOUR(ts) is 0 to 23 and never 24; write 0 for midnight"),
        (
            "SELECT CASE MONTH(d) WHEN 0 THEN 'January' END AS m FROM t;",
            "MONTH(d) is 1 to 12 and never 0; write a number from 1 to 12",
        ),
        (
            "SELECT x * (15 / 100) AS fee FROM t;",
            "15 / 100 is of whole numbers, and so 0; write 15.0 / 100, or 0.15",
        ),
        ("SELECT x * (4 / 3) AS fee FROM t;", "4 / 3 is of whole numbers, and so 1; write 4.0 / 3"),
        (
            "SELECT CASE s WHEN NULL THEN 'none' ELSE s END AS c FROM t;",
            "CASE s WHEN NULL is true of no row, for it compares s = NULL; write CASE WHEN s IS NULL THEN",
        ),
        (
            "SELECT s, SUM(x) AS total FROM t GROUP BY s ORDER BY 'total' DESC LIMIT 3;",
            "ORDER BY 'total' is of a text that is the same for all rows; write ORDER BY total",
        ),
        (
            "SELECT s FROM t ORDER BY 'what' LIMIT 3;",
            "ORDER BY 'what' is of a text that is the same for all rows; write the name of a column, without quotes",
        ),
        (
            r"SELECT REGEXP_REPLACE(s, '^(\w)(\w+)$', '\2-\1') AS r FROM t;",
            r"a group is $2 in a replacement, and no \2; write '$2-$1'",
        ),
        (
            r"SELECT SPLIT(s, '\s+') AS r FROM t;",
            r"SPLIT takes '\s+' for a text, and no pattern; write SPLIT(REGEXP_REPLACE(s, '\s+', ' '), ' ')",
        ),
        (
            r"SELECT SPLIT(s, '\s*,\s*') AS r FROM t;",
            r"SPLIT takes '\s*,\s*' for a text, and no pattern; write SPLIT(REGEXP_REPLACE(s, '\s*,\s*', ','), ',')",
        ),
        (
            "SELECT SPLIT(s, '[,;]+') AS r FROM t;",
            "SPLIT takes '[,;]+' for a text, and no pattern; write SPLIT(REGEXP_REPLACE(s, '[,;]+', ','), ',')",
        ),
        (
            "SELECT s FROM t WHERE DAYNAME(ts) = 'Sunday';",
            "DAYNAME(ts) is 'Mon' to 'Sun' and never 'Sunday'; write 'Sun'",
        ),
        ("SELECT s FROM t WHERE DAYNAME(ts) <> 'sun';", "DAYNAME(ts) is 'Mon' to 'Sun' and never 'sun'; write 'Sun'"),
        (
            "SELECT s FROM t WHERE MONTHNAME(d) IN ('Jan', 'February');",
            "MONTHNAME(d) is 'Jan' to 'Dec' and never 'February'; write 'Feb'",
        ),
        (
            "SELECT s FROM t WHERE DAYNAME(d) = 'Sonnabend';",
            "DAYNAME(d) is 'Mon' to 'Sun' and never 'Sonnabend'; write one of 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'",
        ),
        (
            "SELECT k FROM t WHERE s IN ('Berlin, New York');",
            "'Berlin, New York' is one text with commas in it, and no list; "
            "write 'Berlin', 'New York', or = 'Berlin, New York' if one is meant",
        ),
        (
            "SELECT k FROM t WHERE s NOT IN ('paid,open');",
            "'paid,open' is one text with commas in it, and no list; write 'paid', 'open', or <> 'paid,open' if one is meant",
        ),
        (
            "SELECT k FROM t WHERE 's' = 'Berlin';",
            "'s' = 'Berlin' compares two texts, and is the same for all rows; write s = 'Berlin'",
        ),
    ],
)
def test_a_constant_that_is_hardly_meant_is_told_of(query: str, note: str) -> None:
    (told,) = notes_of(TABLE + query)
    assert told.split("\n")[0].partition(": ")[2] == note


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s FROM t WHERE d BETWEEN '2026-03-27' AND '2026-03-28' OR order_date BETWEEN '2026-03-27' AND '2026-03-28';",
        "SELECT s FROM t WHERE ts BETWEEN '2026-03-27' AND '2026-03-28 23:59:59' "
        "OR ts BETWEEN '2026-03-27 10:00:00' AND '2026-03-28 10:00:00';",
        "SELECT s FROM t WHERE CAST(ts AS DATE) BETWEEN '2026-03-27' AND '2026-03-28';",
        "SELECT s FROM t WHERE DATE_TRUNC('day', ts) BETWEEN '2026-03-27' AND '2026-03-28';",
        "SELECT s FROM (SELECT s, FLOOR(ts TO DAY) AS ts FROM t) AS v WHERE ts BETWEEN '2026-03-27' AND '2026-03-28';",
        "SELECT COUNT(*) AS n FROM TUMBLE(t, ts, INTERVAL '1' DAY) WHERE window_start BETWEEN '2026-03-27' AND '2026-03-28'"
        " GROUP BY window_start, window_end;",
        "SELECT s FROM t WHERE EXTRACT(DOW FROM ts) IN (1, 7) OR DAYOFWEEK(d) - 1 = 0 OR WEEKDAY(d) = 0 OR MONTH(d) = 12"
        " OR HOUR(ts) = 0 OR HOUR(ts) < 24 OR HOUR(ts) BETWEEN 0 AND 24 OR YEAR(d) = 0 OR WEEK(d) = 53 OR SECOND(ts) = k;",
        "SELECT 100 / 20 AS a, 15.0 / 100 AS b, k / 100 AS c, 15 DIV 100 AS e, FLOOR(15 / 100) AS f, CAST(15 / 100 AS INT) AS g FROM t;",
        "SELECT CASE WHEN s IS NULL THEN 'a' END AS a, CASE s WHEN 'a' THEN NULL END AS b,"
        " CASE MONTH(d) WHEN 1 THEN 'Jan' END AS c FROM t;",
        "SELECT s, SUM(x) AS total FROM t GROUP BY s ORDER BY total DESC, s LIMIT 3;",
        r"SELECT REGEXP_REPLACE(s, '(\w)', '$1') AS a, REGEXP_REPLACE(s, 'a', '\1') AS b, REGEXP_REPLACE(s, '(a)', '\n') AS c FROM t;",
        r"SELECT SPLIT(s, ', ') AS a, SPLIT(s, '|') AS b, SPLIT(s, '\') AS c, SPLIT(s, '[') AS e, SPLIT(s, '[1]') AS f, SPLIT(s, '.') AS g,"
        r" SPLIT(s, '\n') AS h, SPLIT(s, '\share') AS j, SPLIT(s, ']+') AS i FROM t;",
        "SELECT s FROM t WHERE DAYNAME(ts) IN ('Sat', 'Sun') OR UPPER(DAYNAME(ts)) = 'SUN' OR MONTHNAME(d) = 'May' OR DAYNAME(d) = s"
        " OR DAYNAME(d) IN ('Sun', 'Sunday');",
        "SELECT k FROM t WHERE s IN ('Berlin', 'New York') OR s IN ('Berlin') OR s = 'Berlin, New York' OR s IN ('a,b', 'c,d')"
        " OR s IN ('Dear all, this is a whole sentence') OR s IN (',');",
        "SELECT k FROM t WHERE 'a' = 'Berlin' OR 's' = 's' OR 's' = 'k' OR s = 's' OR 'Berlin' = s;",
    ],
)
def test_a_constant_that_is_meant_is_not_told_of(query: str) -> None:
    assert not notes_of(TABLE + query)

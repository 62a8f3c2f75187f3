"""Conditions that are true of no row, of each row, or that one before them hides."""

from __future__ import annotations

import pytest

from tests.sql.test_notes import notes_of

TABLE = "CREATE TABLE t (x DOUBLE, s VARCHAR, k BIGINT) WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');\n"


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("SELECT s FROM t WHERE s = 'a' AND s = 'b';", "s = 'a' AND s = 'b' is true of no row; write OR, or IN (...)"),
        (
            "SELECT s FROM t WHERE x > 20 AND s = 'a' AND x < 10;",
            "x > 20 AND x < 10 is true of no row; write OR, or turn one sign around",
        ),
        (
            "SELECT s FROM t WHERE k < 3 AND k >= 3;",
            "k < 3 AND k >= 3 is true of no row; write OR, or turn one sign around",
        ),
        (
            "SELECT s FROM t WHERE s <> 'a' OR s <> 'b';",
            "s <> 'a' OR s <> 'b' is true of each row in which s is not NULL; write s NOT IN ('a', 'b')",
        ),
        (
            "SELECT s FROM t WHERE k <> 1 OR x > 3 OR k <> 2;",
            "k <> 1 OR k <> 2 is true of each row in which k is not NULL; write k NOT IN (1, 2)",
        ),
        (
            "SELECT COUNT(CASE WHEN k > 1 THEN 1 ELSE 0 END) AS n FROM t;",
            "COUNT counts each row here, for the CASE is never NULL; write COUNT_IF(k > 1)",
        ),
        (
            "SELECT COUNT(CASE k WHEN 1 THEN 'a' ELSE 'b' END) AS n FROM t;",
            "COUNT counts each row here, for the CASE is never NULL; leave out ELSE, or SUM the CASE",
        ),
    ],
)
def test_a_condition_that_says_nothing_is_told_of(query: str, note: str) -> None:
    (told,) = notes_of(TABLE + query)
    assert told.split("\n")[0].partition(": ")[2] == note


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s FROM t WHERE s = 'a' OR s = 'b';",
        "SELECT s FROM t WHERE s = 'a' AND s = 'a' AND k > 1 AND k > 2 AND x >= 3 AND x <= 3;",
        "SELECT s FROM t WHERE s <> 'a' AND s <> 'b' AND (s <> 'a' OR k <> 1);",
        "SELECT a.s FROM t AS a JOIN t AS b ON a.k = b.k WHERE a.s = 'a' AND b.s = 'b';",
        "CREATE VIEW v AS SELECT * FROM t WHERE s = 'a'; SELECT k FROM v WHERE s = 'b';",
        "SELECT COUNT(CASE WHEN k > 1 THEN 1 END) AS a, SUM(CASE WHEN k > 1 THEN 1 ELSE 0 END) AS b,"
        " COUNT(CASE WHEN k > 1 THEN s ELSE 'a' END) AS c, COUNT(DISTINCT CASE WHEN k > 1 THEN 1 ELSE 0 END) AS d FROM t;",
    ],
)
def test_a_condition_that_says_something_is_not_told_of(query: str) -> None:
    assert not notes_of(TABLE + query)


TIMED = TABLE.replace("k BIGINT", "k BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts")


def test_a_last_value_that_is_the_rows_own_is_told_of() -> None:
    (note,) = notes_of(f"{TIMED}SELECT LAST_VALUE(k) OVER (PARTITION BY k ORDER BY ts) AS l FROM t;")
    told = "LAST_VALUE(k) is the value of the row itself, or of one of its time, for without ROWS BETWEEN the frame ends there; "
    assert f"{told}write FIRST_VALUE(k) with ORDER BY ts DESC for the last of all rows" in note


@pytest.mark.parametrize(
    "over",
    [
        "ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        "ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        "PARTITION BY k",
        "ORDER BY k",
    ],
)
def test_other_last_values_are_not_told_of(over: str) -> None:
    assert not notes_of(f"{TIMED}SELECT LAST_VALUE(k) OVER ({over}) AS l FROM t;")


def test_a_part_of_a_total_of_whole_numbers_is_told_of() -> None:
    (note,) = notes_of(f"{TABLE}SELECT k / SUM(k) OVER (PARTITION BY s) AS share FROM t;")
    assert "k / SUM(k) OVER (PARTITION BY s) is of whole numbers, and so has nothing behind the point; " in note
    assert "write CAST(k AS DOUBLE) / SUM(k) OVER (PARTITION BY s) for a share" in note
    (note,) = notes_of(f"{TABLE}SELECT k / SUM(k) OVER () AS share FROM t;")
    assert "write CAST(k AS DOUBLE) / SUM(k) OVER () for a share" in note
    assert not notes_of(
        f"{TABLE}SELECT k * 100 / SUM(k) OVER () AS a, x / SUM(x) OVER () AS b, k / LAG(k) OVER (ORDER BY k) AS c FROM t;"
    )


def test_a_value_that_case_names_twice_is_told_of() -> None:
    (note,) = notes_of(f"{TABLE}SELECT CASE k WHEN 1 THEN 'a' WHEN 2 THEN 'b' WHEN 1 THEN 'c' END AS c FROM t;")
    assert "WHEN 1 stands there twice; leave out the second, which is never reached" in note

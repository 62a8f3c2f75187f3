"""What the compiler says of a query that is right and may not mean what it seems to."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ouzel
from ouzel.cli.main import app
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import QueryError
from ouzel.session import load_text

TABLE = "CREATE TABLE t (x DOUBLE{}) WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');\n"


def notes_of(text: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_text(text, Path(), "q")
    assert all(warning.category is QueryWarning for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("text", "place", "underlined"),
    [
        (TABLE.format(", d NUMERIC") + "SELECT d FROM t;", "line 1, column 29", "NUMERIC"),
        (TABLE.format(", d ROW<e DECIMAL>") + "SELECT d FROM t;", "line 1, column 35", "DECIMAL"),
        (TABLE.format("") + "SELECT CAST(x AS DECIMAL) AS y FROM t;", "line 2, column 18", "DECIMAL"),
        (TABLE.format("") + "SELECT TRY_CAST(x AS DEC) AS y FROM t;", "line 2, column 22", "DEC"),
        (TABLE.format("") + "SELECT x::NUMERIC AS y FROM t;", "line 2, column 11", "NUMERIC"),
    ],
)
def test_a_decimal_without_precision_is_told_of_with_its_place(text: str, place: str, underlined: str) -> None:
    (note,) = notes_of(text)
    sentence, line, caret = note.split("\n")
    assert sentence == (
        f"{place}: DECIMAL without precision is DECIMAL(10, 0), which has no digits after its point; "
        "write DECIMAL(18, 2) for two, or DECIMAL(10, 0) if none is meant"
    )
    assert line[caret.index("^") : caret.rindex("^") + 1] == underlined


def test_many_places_are_one_note() -> None:
    (note,) = notes_of(TABLE.format(", d NUMERIC, e DECIMAL") + "SELECT x::DECIMAL AS y FROM t;")
    assert "line 1, column 29: " in note
    assert "(here and in 2 more)" in note


def test_a_precision_needs_no_note() -> None:
    assert not notes_of(
        TABLE.format(", d DECIMAL(10)") + "SELECT x::NUMERIC(5, 0) AS y, CAST(d AS DECIMAL(4, 2)) AS z FROM t;"
    )


def test_the_command_line_says_it_once_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(TABLE.format("") + "SELECT x::NUMERIC AS y FROM t;")
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.sql")])
    assert done.exit_code == 0
    assert done.stderr.count("DECIMAL without precision") == 1
    assert "\n            ^^^^^^^\n" in done.stderr
    assert "without precision" not in done.stdout


def test_an_exclusive_or_says_that_it_is_no_power() -> None:
    (note,) = notes_of("SELECT 2 ^ 3 AS x;")
    assert "^ is exclusive or, of bits; write POWER(a, b) for a power, or BITXOR(a, b)" in note


def test_a_comparison_with_null_says_that_it_is_true_of_no_row() -> None:
    (note,) = notes_of(TABLE.format("") + "SELECT x FROM t WHERE x = NULL;")
    assert "x = NULL is true of no row; write x IS NULL" in note
    assert not notes_of(TABLE.format("") + "SELECT x IS NULL AS a, NULL = NULL AS b, NULLIF(x, NULL) AS c FROM t;")


def test_bounds_the_wrong_way_round_are_told() -> None:
    (note,) = notes_of(TABLE.format("") + "SELECT x FROM t WHERE x BETWEEN x AND x - 1;")
    assert "BETWEEN x AND x - 1 is true of no row; write BETWEEN x - 1 AND x" in note
    (note,) = notes_of(TABLE.format("") + "SELECT x FROM t WHERE x BETWEEN 100 AND 10;")
    assert "BETWEEN 100 AND 10 is true of no row; write BETWEEN 10 AND 100" in note
    (note,) = notes_of(
        "SELECT t FROM (VALUES (DATE '2026-03-27')) AS d (t) WHERE t BETWEEN '2026-03-28' AND '2026-03-27';"
    )
    assert "is true of no row; write BETWEEN '2026-03-27' AND '2026-03-28'" in note
    assert not notes_of(TABLE.format("") + "SELECT x BETWEEN 9 AND 10 AS a, 'b' BETWEEN 'c' AND 'a' AS b FROM t;")
    assert not notes_of(TABLE.format("") + "SELECT x BETWEEN x - 1 AND x AS a, x BETWEEN x AND x + 1 AS b FROM t;")


def test_a_comma_that_may_be_missing_is_told() -> None:
    (note,) = notes_of(TABLE.format(", y DOUBLE") + "SELECT x y FROM t;")
    assert "x is called y here, and there is a column y too; write a comma before it to select both, or AS y" in note
    assert not notes_of(TABLE.format(", y DOUBLE") + "SELECT x AS y, y z, x X FROM t;")


def test_minutes_where_months_are_meant_are_told() -> None:
    (note,) = notes_of("SELECT TO_DATE('2013-01-31', 'yyyy-mm-dd') AS d;")
    assert "mm is minutes in the date pattern 'yyyy-mm-dd'; write 'yyyy-MM-dd' for months" in note
    assert not notes_of("SELECT DATE_FORMAT(DATE '2013-01-31', 'yyyy-MM-dd HH:mm') AS a;")


def test_a_count_of_conditions_is_told() -> None:
    (note,) = notes_of(TABLE.format("") + "SELECT COUNT(x > 15) AS n FROM t;")
    assert "COUNT counts conditions that are FALSE too; write COUNT_IF(x > 15) for those that are TRUE" in note
    assert not notes_of(TABLE.format(", b BOOLEAN") + "SELECT COUNT(b) AS n, COUNT(x) AS m FROM t;")


def test_explain_says_that_an_order_of_what_never_ends_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(
        "CREATE TABLE g (n INT) WITH ('connector' = 'datagen');\nSELECT n FROM g ORDER BY n;"
    )
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "q.sql")])
    assert done.exit_code == 0
    assert "ORDER BY of rows that never end is not supported" in done.stderr
    assert "\n                  ^^^^^^^^\n" in done.stderr


ORDERS = (
    "CREATE TABLE {} (k BIGINT, ts TIMESTAMP(3), city STRING, WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');\n"
)
TWO = ORDERS.format("orders") + ORDERS.format("places")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("SELECT orders.k FROM orders, places", "places"),
        ("SELECT o.k FROM orders AS o, places AS p WHERE o.k > 5", "p"),
        ("SELECT o.k FROM orders o, places p, orders q WHERE p.k = q.k", "p"),
        ("SELECT k FROM orders WHERE k IN (SELECT p.k FROM places p, orders q)", "q"),
    ],
)
def test_tables_that_no_condition_joins_are_told(query: str, name: str) -> None:
    (note,) = notes_of(f"{TWO}{query};")
    assert (
        f"each row meets every row of {name}, for no condition joins them; write a condition such as WHERE a.key = {name}.key"
        in note
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT o.k FROM orders o, places p WHERE o.k = p.k",
        "SELECT o.k FROM orders o, places p WHERE o.k > p.k",
        "SELECT o.k FROM orders o CROSS JOIN places p",
        "SELECT o.k FROM orders o, (SELECT MAX(k) AS m FROM places) p",
        "SELECT o.k FROM orders o, places p, orders q WHERE o.k = q.k AND p.k = q.k",
        "SELECT o.k, e FROM orders o, UNNEST(SPLIT(o.city, ',')) AS u (e)",
    ],
)
def test_tables_that_are_joined_or_meant_to_be_crossed_need_no_note(query: str) -> None:
    assert not notes_of(f"{TWO}{query};")


HOUR = "INTERVAL '1' HOUR"


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("o.ts > p.ts AND o.ts < p.ts", "o.ts > p.ts AND o.ts < p.ts is true of no two rows; "),
        (f"o.ts >= p.ts + {HOUR} AND o.ts <= p.ts - {HOUR}", " is true of no two rows; "),
        (f"o.ts = p.ts AND o.ts > p.ts + {HOUR}", "is true of no two rows"),
        (f"o.ts BETWEEN p.ts + {HOUR} AND p.ts - {HOUR}", "is true of no row; write BETWEEN p.ts - "),
        (f"o.ts BETWEEN p.ts AND p.ts - {HOUR}", "is true of no row; write BETWEEN p.ts - "),
    ],
)
@pytest.mark.parametrize("form", ["JOIN places p ON {}", ", places p WHERE {}"])
def test_times_that_no_two_rows_can_have_are_told(condition: str, told: str, form: str) -> None:
    (note,) = notes_of(f"{TWO}SELECT o.k FROM orders o {form.format('o.k = p.k AND ' + condition)};")
    assert told in note


def test_times_within_a_span_need_no_note() -> None:
    bounds = f"o.ts BETWEEN p.ts - {HOUR} AND p.ts + {HOUR} AND o.ts >= p.ts AND o.ts <= p.ts"
    assert not notes_of(f"{TWO}SELECT o.k FROM orders o JOIN places p ON o.k = p.k AND {bounds};")


def test_a_warning_is_of_the_users_line() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        query = ouzel.query(f"{TWO}SELECT orders.k FROM orders, places;")
    assert [warning.filename for warning in caught] == [__file__]
    assert repr(query).startswith("<query query: ")


def test_null_in_a_list_is_told() -> None:
    (note,) = notes_of(f"{TWO}SELECT k FROM orders WHERE city NOT IN ('a', NULL);")
    assert "NOT IN a list with NULL is true of no row; leave it out, and add AND city IS NOT NULL" in note
    (note,) = notes_of(f"{TWO}SELECT k FROM orders WHERE city IN ('a', NULL);")
    assert "NULL in a list of IN is equal to no value; write OR city IS NULL behind the list" in note


def test_a_share_of_whole_numbers_is_told() -> None:
    (note,) = notes_of(f"{TWO}SELECT city, COUNT_IF(k > 5) / COUNT(*) AS share FROM orders GROUP BY city;")
    assert "write CAST(COUNT_IF(k > 5) AS DOUBLE) / COUNT(*) for a share" in note
    (note,) = notes_of(
        f"{TWO}SELECT city, COUNT(*) FILTER (WHERE k > 5) / COUNT(*) AS share FROM orders GROUP BY city;"
    )
    assert "write CAST(COUNT(*) FILTER (WHERE k > 5) AS DOUBLE) / COUNT(*) for a share" in note
    assert not notes_of(
        f"{TWO}SELECT 100 * COUNT_IF(k > 5) / COUNT(*) AS a, CAST(SUM(k) AS DOUBLE) / COUNT(*) AS b FROM orders;"
    )


def test_a_rate_of_whole_numbers_is_told() -> None:
    (note,) = notes_of(f"{TWO}SELECT COUNT(*) / 20 AS rate FROM orders;")
    assert "COUNT(*) / 20 is of whole numbers, and so has nothing behind the point; " in note
    assert "write CAST(COUNT(*) AS DOUBLE) / 20, or COUNT(*) DIV 20 if that is meant" in note
    assert notes_of(f"{TWO}SELECT CEIL(COUNT(*) FILTER (WHERE k > 1) / 60) AS rate FROM orders;")


def test_a_quotient_that_may_be_meant_as_a_whole_number_is_not_told() -> None:
    kept = "COUNT(*) DIV 20 AS a, FLOOR(COUNT(*) / 20) AS b, COUNT(*) / 20.0 AS c, COUNT(*) / 1 AS d"
    assert not notes_of(f"{TWO}SELECT {kept} FROM orders;")
    assert not notes_of(f"{TWO}SELECT SUM(k) / 60 AS a, 100 * COUNT(*) / 20 AS b FROM orders;")
    assert not notes_of(f"{TWO}SELECT k / 60 AS minutes FROM orders;")


def test_an_order_by_what_an_alias_computes_beside_a_star() -> None:
    assert not notes_of(f"{TWO}SELECT *, UPPER(city) AS shown FROM orders ORDER BY UPPER(city);")


WINDOWED = (
    "CREATE TABLE t (x DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'file', 'path' = 't.json', 'format' = 'json');\n"
    "SELECT {} AS day, SUM(x) AS total FROM TUMBLE(t, ts, INTERVAL '1' DAY{}) GROUP BY window_start, window_end;"
)


@pytest.mark.parametrize(
    "day",
    [
        "CAST(window_start AS DATE)",
        "window_start::DATE",
        "DATE(window_start)",
        "DATE_TRUNC('day', window_start)",
        "FLOOR(window_start TO DAY)",
    ],
)
def test_the_day_in_utc_of_a_window_of_local_days_is_told_of(day: str) -> None:
    (note,) = notes_of(WINDOWED.format(day, ", 'Europe/Berlin'"))
    sentence, line, caret = note.split("\n")
    assert sentence.endswith("write FROM_UTC_TIMESTAMP(window_start, 'Europe/Berlin') for window_start")
    assert line[caret.index("^") : caret.rindex("^") + 1] == day


@pytest.mark.parametrize(
    ("day", "zone"),
    [
        ("CAST(window_start AS DATE)", ""),
        ("DATE(FROM_UTC_TIMESTAMP(window_start, 'Europe/Berlin'))", ", 'Europe/Berlin'"),
        ("CAST(window_start AS VARCHAR)", ", 'Europe/Berlin'"),
    ],
)
def test_what_says_the_right_day_is_not_told_of(day: str, zone: str) -> None:
    assert notes_of(WINDOWED.format(day, zone)) == []


OF_TEXTS = TABLE.format(", s VARCHAR, y DOUBLE, k BIGINT NOT NULL")


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("SELECT INSTR('p', s) AS i FROM t;", "INSTR takes 'p' for the text that is looked into; write INSTR(s, 'p')"),
        (
            "SELECT LOCATE(s, 'p') AS i FROM t;",
            "LOCATE takes 'p' for the text that is looked into; write LOCATE('p', s)",
        ),
        (
            "SELECT CONCAT_WS(s, '-', s) AS c FROM t;",
            "CONCAT_WS takes '-' for a value, and the separator comes first; write CONCAT_WS('-', s, s)",
        ),
        ("SELECT s FROM t WHERE s LIKE 'a*';", "* is a plain character in LIKE; write 'a%'"),
        (
            "SELECT s FROM t WHERE s LIKE '[ab].%';",
            r"brackets are plain characters in LIKE; write REGEXP_LIKE(s, '^[ab]\..*$')",
        ),
        (
            "SELECT s FROM t WHERE x = x;",
            "x = x compares a column with itself, and is true of each row where it is not NULL; "
            "write the alias of another table before one of them, as in o.x, which FROM t AS o gives",
        ),
        ("SELECT s FROM t WHERE s = '{{ name }}';", "a template in a text is not filled in; write what stands for it"),
        (
            "SELECT s FROM t WHERE x > CAST('much' AS INT);",
            "'much' is no INT, so that each row fails which this is computed for; write a number; TRY_CAST would make it NULL",
        ),
        (
            "SELECT s FROM t WHERE s NOT IN (SELECT u.s FROM t AS u);",
            "NOT IN is true of no row when its query gives a NULL in u.s; add WHERE ... IS NOT NULL to that query, or write NOT EXISTS",
        ),
    ],
)
def test_what_gives_another_answer_than_is_meant_is_told(query: str, note: str) -> None:
    (told,) = notes_of(OF_TEXTS + query)
    assert told.split("\n")[0].partition(": ")[2] == note


@pytest.mark.parametrize(
    "query",
    [
        "SELECT INSTR(s, 'p') AS i, LOCATE('p', s) AS j, CONCAT_WS('-', s, s) AS c, REPLACE('abc', 'b', 'd') AS r FROM t;",
        "SELECT s FROM t WHERE s LIKE 'a*%' OR s LIKE '50[_%' OR s SIMILAR TO '[ab]*';",
        "SELECT a.s FROM t AS a JOIN t AS b ON a.s = b.s WHERE a.x = b.y;",
        "SELECT a.s FROM t AS a WHERE x > (SELECT AVG(b.x) FROM t AS b WHERE b.s = a.s AND b.k < a.k OR b.x = a.x);",
        "SELECT a.s, EXISTS (SELECT 1 FROM t AS b WHERE b.x <> a.x) AS e FROM t AS a;",
        "SELECT s FROM t WHERE x > CAST('10' AS INT) OR x > TRY_CAST('much' AS INT) OR s = '{\"a\": {}}';",
        "SELECT s FROM t WHERE s NOT IN (SELECT u.s FROM t AS u WHERE u.s IS NOT NULL) AND k NOT IN (SELECT u.k FROM t AS u);",
    ],
)
def test_what_is_meant_is_not_told(query: str) -> None:
    assert not notes_of(OF_TEXTS + query)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (
            "yyyy-mm-dd HH:MM",
            "mm is minutes in the date pattern 'yyyy-mm-dd HH:MM'; write 'yyyy-MM-dd HH:mm' for months",
        ),
        ("HH:MM:ss", "MM is months in the date pattern 'HH:MM:ss'; write 'HH:mm:ss' for minutes"),
        (
            "yyyy-MM-dd hh:mm",
            "hh goes from 1 to 12 in the date pattern 'yyyy-MM-dd hh:mm', which says neither AM nor PM; "
            "write 'yyyy-MM-dd HH:mm' for 0 to 23, or 'yyyy-MM-dd hh:mm a'",
        ),
        ("yyyy-MM-dd HH:mm:ss", ""),
        ("dd.MM. HH:mm", ""),
        ("yyyyMMddHHmmss", ""),
        ("MM/dd/yy h:mm a", ""),
        ("hh", ""),
        ("mm", ""),
        ("dd MMM yyyy", ""),
        ("mm:ss", ""),
        ("yyyy/MM", ""),
    ],
)
def test_a_pattern_of_other_letters_than_are_meant_is_told_of(pattern: str, told: str) -> None:
    notes = notes_of(f"SELECT DATE_FORMAT(TIMESTAMP '2024-01-31 13:00:00', '{pattern}') AS d;")
    assert [note.split("\n")[0].partition(": ")[2] for note in notes] == [told] * bool(told)


def test_an_hour_that_is_read_with_hh_is_an_error_and_no_note() -> None:
    query = "SELECT TO_TIMESTAMP('2024-01-31 01:00', 'yyyy-MM-dd hh:mm') AS d;"
    with pytest.raises(QueryError, match="write 'yyyy-MM-dd HH:mm', for hh is the hour beside AM or PM"):
        notes_of(query)


@pytest.mark.parametrize(
    ("query", "by"),
    [
        ("SELECT city FROM orders ORDER BY k DESC LIMIT 2;", "k"),
        ("SELECT city, SUM(k) AS s FROM orders GROUP BY city ORDER BY COUNT(*) DESC LIMIT 5;", "COUNT(*)"),
        ("SELECT city FROM orders ORDER BY city, k OFFSET 1;", "k"),
    ],
)
def test_first_rows_that_are_not_shown_in_their_order_are_told_of(query: str, by: str) -> None:
    (note,) = notes_of(TWO + query)
    told = f"the first rows are chosen by {by}, which is not selected, so they are not shown in its order; add {by} to the select list"
    assert told in note


@pytest.mark.parametrize(
    "query",
    [
        "SELECT city, k FROM orders ORDER BY k DESC LIMIT 2;",
        "SELECT city, k * 2 AS twice FROM orders ORDER BY k * 2 LIMIT 2;",
        "SELECT city FROM orders ORDER BY k DESC LIMIT 1;",
        "SELECT DISTINCT ON (city) city FROM orders ORDER BY city, k DESC;",
        "SELECT COUNT(*) AS n FROM (SELECT city FROM orders ORDER BY k LIMIT 10) AS o;",
        "SELECT * FROM (SELECT city FROM orders ORDER BY k LIMIT 10) AS o;",
        "CREATE TABLE o (city VARCHAR) WITH ('connector' = 'file', 'path' = 'o.json', 'format' = 'json', 'changelog' = 'true');"
        " INSERT INTO o SELECT city FROM orders ORDER BY k LIMIT 10;",
    ],
)
def test_first_rows_whose_order_is_shown_or_does_not_matter_are_not_told_of(query: str) -> None:
    assert not notes_of(TWO + query)


OUTER = f"{TWO}SELECT o.k, p.city FROM orders AS o LEFT JOIN places AS p ON o.k = p.k WHERE "


def test_a_where_that_undoes_an_outer_join_is_told_of() -> None:
    (note,) = notes_of(f"{OUTER}p.city = 'a' AND o.k > 1;")
    assert (
        "WHERE p.city = 'a' leaves out each row that the outer join keeps without a partner, for it is unknown of NULL; "
        in note
    )
    assert "write ON ... AND p.city = 'a', or JOIN if no such row is meant" in note
    (note,) = notes_of(f"{TWO}SELECT o.k FROM places AS p RIGHT JOIN orders AS o ON o.k = p.k WHERE p.k < 3;")
    assert "WHERE p.k < 3 leaves out" in note


@pytest.mark.parametrize(
    "query",
    [
        f"{OUTER}p.city IS NULL;",
        f"{OUTER}p.city = 'a' OR p.city IS NULL;",
        f"{OUTER}COALESCE(p.city, 'a') = 'a';",
        f"{OUTER}o.city = 'a';",
        f"{TWO}CREATE VIEW v AS SELECT o.k, p.city FROM orders AS o LEFT JOIN places AS p ON o.k = p.k; SELECT k FROM v WHERE city = 'a';",
        f"{TWO}CREATE VIEW v AS SELECT * FROM orders AS o LEFT JOIN (SELECT k AS l, city AS d FROM places) AS p ON o.k = p.l;"
        " SELECT k FROM v WHERE d = 'a';",
        f"{TWO}SELECT k FROM (SELECT o.k, p.city FROM orders AS o LEFT JOIN places AS p ON o.k = p.k) AS j WHERE city = 'a';",
        f"{TWO}SELECT o.k FROM orders AS o FULL JOIN places AS p ON o.k = p.k WHERE p.k = 3;",
    ],
)
def test_a_where_that_leaves_an_outer_join_what_it_is_is_not_told_of(query: str) -> None:
    assert not notes_of(query)


@pytest.mark.parametrize(
    ("branches", "late", "early"),
    [
        ("WHEN k > 20 THEN 1 WHEN k > 50 THEN 2", "k > 50", "k > 20"),
        ("WHEN k <= 20 THEN 1 WHEN city = 'a' THEN 3 WHEN k < 20 THEN 2", "k < 20", "k <= 20"),
        ("WHEN k > 20 THEN 1 WHEN k > 20.5 THEN 2", "k > 20.5", "k > 20"),
    ],
)
def test_a_branch_that_is_never_reached_is_told_of(branches: str, late: str, early: str) -> None:
    (note,) = notes_of(f"{TWO}SELECT CASE {branches} END AS c FROM orders;")
    assert (
        f"WHEN {late} is never reached, for WHEN {early} before it is true wherever it is; write WHEN {late} first"
        in note
    )


@pytest.mark.parametrize(
    "branches",
    [
        "WHEN k > 50 THEN 1 WHEN k > 20 THEN 2 WHEN k >= 20 THEN 3",
        "WHEN k > 20 THEN 1 WHEN k < 50 THEN 2",
        "WHEN k > 20 AND city = 'a' THEN 1 WHEN k > 50 THEN 2",
        "WHEN k < 20 THEN 1 WHEN k < 50 THEN 2",
        "WHEN k > 20 THEN 1 WHEN k >= 20 THEN 2",
    ],
)
def test_branches_that_are_reached_are_not_told_of(branches: str) -> None:
    assert not notes_of(f"{TWO}SELECT CASE {branches} END AS c FROM orders;")

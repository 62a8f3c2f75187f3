"""A row that cannot be computed: the message points at the SQL, says where the record was, and what to write instead."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ouzel import entry
from ouzel.connectors.dead_letters import append_lines
from ouzel.runtime.protocol.messages import ADVICE
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.law.engines import folded, run_to_end

TABLE = """CREATE TABLE t (a INT, b INT, s STRING) WITH ('connector' = 'file', 'path' = 't.jsonl', 'format' = 'json');
"""


def write_rows(rows: list[dict[str, object]], directory: Path) -> None:
    """The table's file."""
    (directory / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def failure(query: str, rows: list[dict[str, object]], directory: Path, *settings: tuple[str, str]) -> str:
    """How the run of this query ends."""
    write_rows(rows, directory)
    handle = start(load_text(TABLE + query, directory, "t", settings), "memory")
    while not handle.wait(1):
        pass
    status = handle.stop()
    assert (status.state is RunState.FAILED) is bool(status.reason)
    return status.reason


def test_the_part_that_fails_is_shown_with_what_to_write_instead(tmp_path: Path) -> None:
    reason = failure("SELECT a,\n  100 + a / b AS x FROM t;", [{"a": 1, "b": 1}, {"a": 7, "b": 0}], tmp_path)
    assert reason.splitlines() == [
        f'bad record at {tmp_path}/t.jsonl:2: division by zero in a / b (line 3, column 9): {{"a": 7, "b": 0}}',
        "    100 + a / b AS x FROM t;",
        "          ^^^^^",
        "divide by NULLIF(b, 0) to have NULL instead",
        "SET 'error.policy' = 'skip' or 'dead-letter' goes on without such rows",
    ]


def test_a_select_without_from_has_no_row_to_show(tmp_path: Path) -> None:
    reason = failure("SELECT CAST('abc' AS BIGINT) AS x;", [], tmp_path)
    first, *_ = reason.splitlines()
    assert first == "bad record: a VARCHAR that does not fit BIGINT in CAST('abc' AS BIGINT) (line 2, column 8)"


def test_a_cast_that_fails_says_try_cast(tmp_path: Path) -> None:
    reason = failure("SELECT a + CAST(s AS INT) AS x FROM t;", [{"a": 1, "s": "no"}], tmp_path)
    assert "in CAST(s AS INT) (line 2, column 12)" in reason
    assert "write TRY_CAST(s AS INT) to have NULL instead" in reason


FOREIGN = [
    ("12,50", "DOUBLE", "{}(REPLACE(s, ',', '.') AS DOUBLE), for 12,50 has a decimal comma"),
    (
        "1.234,50",
        "DOUBLE",
        "{}(REPLACE(REPLACE(s, '.', ''), ',', '.') AS DOUBLE), for 1.234,50 has a decimal comma and parted thousands",
    ),
    ("1'234'567", "INT", "{}(REPLACE(s, '''', '') AS INT), for 1'234'567 has parted thousands"),
    ("12,5", "INT", "{}(REPLACE(s, ',', '.') AS DECIMAL(18, 2)), for 12,5 has a decimal comma"),
    (
        "$1,234.50",
        "DECIMAL(9, 2)",
        "{}(REGEXP_REPLACE(s, '[^0-9.-]', '') AS DECIMAL(9, 2)), for $1,234.50 has parted thousands and other signs",
    ),
    (
        "12,50 €",
        "DOUBLE",
        "{}(REPLACE(REGEXP_REPLACE(s, '[^0-9,-]', ''), ',', '.') AS DOUBLE), for 12,50 € has a decimal comma and other signs",
    ),
    (
        "1,234",
        "INT",
        "{0}(REPLACE(s, ',', '') AS INT) if the comma of 1,234 parts thousands, "
        "or {0}(REPLACE(s, ',', '.') AS DECIMAL(18, 2)) if it is a decimal comma",
    ),
]
"""Texts, the type they are cast to, and what is said to write."""


@pytest.mark.parametrize(("text", "kind", "advice"), FOREIGN)
def test_a_number_with_other_signs_is_read_by_what_the_message_says(
    text: str, kind: str, advice: str, tmp_path: Path
) -> None:
    told = failure(f"SELECT CAST(s AS {kind}) AS x FROM t;", [{"s": text}], tmp_path)
    assert f"write {advice.format('CAST')}" in told
    assert "; TRY_CAST would make it NULL, which a sum leaves out" in told or "thousands, or" in told
    write_rows([{"s": text}], tmp_path)
    written = advice.format("CAST").partition("), for ")[0].partition(") if ")[0] + ")"
    ((read,),) = entry.table(load_text(f"{TABLE}SELECT {written} AS x FROM t;", tmp_path, "t"), "memory").rows()
    assert read in (12.5, 1234.5, 1234, 1234567)


@pytest.mark.parametrize(("text", "kind", "advice"), FOREIGN)
def test_a_number_that_try_cast_makes_null_is_told_of(text: str, kind: str, advice: str, tmp_path: Path) -> None:
    (note,) = notes(f"SELECT SUM(TRY_CAST(s AS {kind})) AS x FROM t;", ["1", "", text, text], tmp_path)
    assert note.endswith(f"TRY_CAST(s AS {kind}) (line 2, column 12); write {advice.format('TRY_CAST')}")


def test_what_is_no_number_may_be_null_in_silence(tmp_path: Path) -> None:
    query = "SELECT COUNT(TRY_CAST(s AS DOUBLE)) AS x, COUNT(TRY_CAST(s AS DATE)) AS y FROM t;"
    assert not notes(query, ["1", "", "none", "12.50", "1e3", "a,b", "12,", "1,2,3", "2024-01-31"], tmp_path)


def test_texts_that_write_numbers_in_two_ways_have_no_advice(tmp_path: Path) -> None:
    assert not notes("SELECT SUM(TRY_CAST(s AS DOUBLE)) AS x FROM t;", ["1.234,50", "1,234.50"], tmp_path)


def notes(query: str, texts: list[str], directory: Path) -> list[str]:
    """What a run of this query says of numbers, of rows with these texts."""
    write_rows([{"s": text} for text in texts], directory)
    handle = start(load_text(TABLE + query, directory, "t"), "memory")
    while not handle.wait(1):
        pass
    return [event.text for event in handle.stop().events if event.kind == ADVICE]


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("SELECT CASE WHEN a > 5 THEN 1 / b ELSE 2 / a END AS x FROM t;", "1 / b"),
        ("SELECT COALESCE(s, CAST(1 / b AS STRING)) AS x FROM t;", "1 / b"),
        ("SELECT a FROM t WHERE b <> 0 OR a / b > 1;", "a / b"),
        ("SELECT 1 + (a - 1) / (b - (0)) AS x FROM t;", "(a - 1) / (b - (0))"),
    ],
)
def test_of_several_parts_the_one_that_was_computed_is_named(query: str, part: str, tmp_path: Path) -> None:
    assert f"in {part} (line" in failure(query, [{"a": 7, "b": 0}], tmp_path)


@pytest.mark.parametrize(
    ("query", "told", "advice"),
    [
        (
            "CREATE VIEW v AS SELECT a, b - 3 AS gap FROM t;\nSELECT a / gap AS x FROM v;",
            "division by zero in a / gap (line 3, column 8)",
            "divide by NULLIF(gap, 0) to have NULL instead",
        ),
        (
            "CREATE VIEW v AS SELECT a, s || 'x' AS word FROM t;\nSELECT word::INT AS x FROM v;",
            "in word::INT (line 3, column 8)",
            "write TRY_CAST(word AS INT) to have NULL instead",
        ),
        (
            "CREATE VIEW v AS SELECT a, s || 'x' AS word FROM t;\nSELECT CAST(word AS DECIMAL(3, 1)) AS x FROM v;",
            "in CAST(word AS DECIMAL(3, 1)) (line 3, column 8)",
            "write TRY_CAST(word AS DECIMAL(3, 1)) to have NULL instead",
        ),
        (
            "SELECT a, 1 / 0 AS x FROM t;",
            "division by zero in 1 / 0",
            "write a divisor that is not 0, or NULL for no quotient",
        ),
        (
            "SELECT a % (b - 3) AS x FROM t;",
            "bad record at {place}: division by zero in a % (b - 3)",
            "NULLIF(b - 3, 0)",
        ),
        (
            "SELECT CAST(a AS BIGINT) / (b - 3) AS x FROM t;",
            "bad record at {place}: division by zero in CAST(a AS BIGINT) / (b - 3)",
            "NULLIF(b - 3, 0)",
        ),
        (
            "SELECT -9223372036854775807 - a AS x FROM t;",
            "integer overflow in -9223372036854775807 - a (line 2, column 8)",
            "",
        ),
        (
            "SELECT a, TO_DATE(s) AS x FROM t;",
            "text that does not fit the date pattern in TO_DATE(s)",
            "write TRY_CAST(s AS DATE) to have NULL instead, or give the pattern of the text: TO_DATE(s, 'dd.MM.yyyy')",
        ),
        (
            "SELECT a, TO_TIMESTAMP(TRIM(s), 'dd.MM.yyyy') AS x FROM t;",
            "text that does not fit the date pattern in TO_TIMESTAMP(TRIM(s), 'dd.MM.yyyy')",
            r"write TRY_CAST(REGEXP_REPLACE(TRIM(s), '^(\d{2})\.(\d{2})\.(\d{4})$', '$3-$2-$1') AS TIMESTAMP) to have NULL",
        ),
        (
            "SELECT a, TO_TIMESTAMP(s, 'HH:mm') AS x FROM t;",
            "text that does not fit the date pattern in TO_TIMESTAMP(s, 'HH:mm')",
            "write CASE WHEN s RLIKE '...' THEN TO_TIMESTAMP(s, 'HH:mm') END to have NULL",
        ),
        (
            "SELECT a, TO_DATE(s, 'yyyy-MM-dd') AS x FROM t;",
            "text that does not fit the date pattern in TO_DATE(s, 'yyyy-MM-dd')",
            "write TRY_CAST(s AS DATE) to have NULL",
        ),
        (
            "SELECT b, COUNT(*) AS n FROM t GROUP BY b HAVING 1 / (b - 3) > 0;",
            ': {{"b": 3, "n": 1}}',
            "divide by NULLIF(b - 3, 0) to have NULL instead",
        ),
    ],
)
def test_a_message_speaks_of_what_the_user_wrote(query: str, told: str, advice: str, tmp_path: Path) -> None:
    reason = failure(query, [{"a": 7, "b": 3, "s": "no"}], tmp_path)
    assert told.format(place=f"{tmp_path}/t.jsonl:1") in reason
    assert advice in reason


SAME = [{"a": 1, "b": 5, "s": "one"}, {"a": 2, "b": 5, "s": "two"}, {"a": 3, "b": 6, "s": None}]
SEVERAL = "a subquery as a value gave several rows"


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("SELECT a, (SELECT s FROM t WHERE b = 5) AS x FROM t;", "(SELECT s FROM t WHERE b = 5) (line 2, column 11)"),
        (
            "SELECT a FROM t WHERE s = (SELECT s FROM t WHERE b > 4);",
            "(SELECT s FROM t WHERE b > 4) (line 2, column 27)",
        ),
        (
            "SELECT b, COUNT(*) AS n FROM t GROUP BY b HAVING COUNT(*) > (SELECT a FROM t);",
            "(SELECT a FROM t) (line 2, column 61)",
        ),
        (
            "SELECT a, (SELECT o.s FROM t AS o WHERE o.b = t.b) AS x FROM t;",
            "(SELECT o.s FROM t AS o WHERE o.b = t.b) (line 2, column 11)",
        ),
        (
            "SELECT a, (SELECT DISTINCT o.s FROM t AS o WHERE o.b = t.b) AS x FROM t;",
            "(SELECT DISTINCT o.s FROM t AS o WHERE o.b = t.b) (line 2, column 11)",
        ),
        (
            "SELECT a, (SELECT DISTINCT CASE WHEN o.a = 1 THEN o.s END FROM t AS o WHERE o.b = t.b) AS x FROM t;",
            "FROM t AS o WHERE o.b = t.b) (line 2, column 11)",
        ),
    ],
    ids=["alone", "in a condition", "beside groups", "by a key", "different values", "one of them NULL"],
)
def test_a_row_that_meets_several_values_of_a_subquery_fails(query: str, part: str, tmp_path: Path) -> None:
    reason = failure(query, SAME, tmp_path)
    assert f"{SEVERAL} in " in reason
    assert part in reason
    assert "$" not in reason
    assert "select an aggregate, as MAX(column), or the first row: ORDER BY column LIMIT 1" in reason


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT a, (SELECT s FROM t WHERE a = 2) AS x FROM t;", [(1, "two"), (2, "two"), (3, "two")]),
        ("SELECT a, (SELECT s FROM t WHERE b = 6) AS x FROM t WHERE a < 2;", [(1, None)]),
        ("SELECT a, (SELECT s FROM t) AS x FROM t WHERE a > 9;", []),
        ("SELECT a, (SELECT o.s FROM t AS o WHERE o.a = t.b - 3) AS x FROM t;", [(1, "two"), (2, "two"), (3, None)]),
        ("SELECT a, (SELECT o.s FROM t AS o WHERE o.b = t.a + 3) AS x FROM t WHERE a <> 2;", [(1, None), (3, None)]),
    ],
    ids=["one row", "a row of NULL", "nobody asks", "by a key", "the key of several is asked by none"],
)
def test_who_meets_one_value_of_a_subquery_or_none_has_it_or_null(
    query: str, rows: list[tuple[int, str | None]], tmp_path: Path
) -> None:
    write_rows(SAME, tmp_path)
    job = load_text(TABLE + query, tmp_path, "t")
    frames, _ = run_to_end(job, "memory")
    assert sorted(folded(job, frames).rows()) == rows


def test_a_row_that_is_made_up_has_a_place_by_its_number(tmp_path: Path) -> None:
    table = "CREATE TABLE g (n INT) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.n.kind' = 'sequence');\n"
    handle = start(load_text(f"{table}SELECT 10 / (n - 1) AS x FROM g;", tmp_path, "g"), "memory")
    while not handle.wait(1):
        pass
    assert "bad record at row 2: division by zero" in handle.stop().reason


def test_each_dead_letter_names_its_own_part_and_place(tmp_path: Path) -> None:
    rows = [{"a": number, "b": number % 3, "s": "x" if number % 5 == 0 else "1"} for number in range(1, 20)]
    query = "SELECT a / b + CAST(s AS INT) AS x FROM t;"
    assert failure(query, rows, tmp_path, ("error.policy", "dead-letter")) == ""
    letters = [json.loads(line) for line in (tmp_path / "dead-letters.jsonl").read_text().splitlines()]
    told = {letter["where"]: letter["reason"].partition(" in ")[2].partition(" (")[0] for letter in letters}
    assert all(letter.keys() == {"where", "reason", "raw"} for letter in letters)
    assert told == {
        f"{tmp_path}/t.jsonl:{row['a']}": "a / b" if row["b"] == 0 else "CAST(s AS INT)"
        for row in rows
        if row["b"] == 0 or row["s"] == "x"
    }


def test_what_a_filter_leaves_out_is_no_bad_record_and_a_bad_one_is_in_no_aggregate(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"a": 8, "b": number} for number in (0, 1, 2, 0, 3)]
    guarded = "SELECT COUNT(*) AS n, SUM(a) AS total, SUM(a / b) FILTER (WHERE b <> 0) AS parts FROM t;"
    bare = guarded.replace(" FILTER (WHERE b <> 0)", " FILTER (WHERE b < 3)")
    assert answered(guarded, rows, tmp_path, ("error.policy", "skip")) == [(5, 40, 14)]
    assert answered(bare, rows, tmp_path, ("error.policy", "skip")) == [(3, 24, 12)]
    assert "in a / b (line 2, column " in failure(bare, rows, tmp_path)


def answered(
    query: str, rows: list[dict[str, object]], directory: Path, *settings: tuple[str, str]
) -> list[tuple[object, ...]]:
    """What the run of this query gives."""
    write_rows(rows, directory)
    job = load_text(TABLE + query, directory, "t", settings)
    return folded(job, run_to_end(job, "memory")[0]).rows()


def test_a_total_that_overflows_shows_its_call(tmp_path: Path) -> None:
    reason = failure(
        "SELECT b,\n  SUM(CAST(s AS BIGINT)) AS total FROM t GROUP BY b;", [{"b": 1, "s": f"{2**62}"}] * 3, tmp_path
    )
    assert reason.splitlines()[-4:] == [
        "    SUM(CAST(s AS BIGINT)) AS total FROM t GROUP BY b;",
        "    ^^^^^^^^^^^^^^^^^^^^^^",
        "CAST its value AS DECIMAL(38, 0) for a wider total",
        "SET 'error.policy' = 'skip' or 'dead-letter' goes on without such rows",
    ]
    said = 'SUM AS total leaves BIGINT in SUM(CAST(s AS BIGINT)) (line 3, column 3): {"b": 1}'
    assert reason.splitlines()[0] == f"sum_by_b: bad record: {said}", "the component is named once"


def test_a_row_without_a_time_shows_the_window(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_text('{"ts": "2020-01-01 00:00:00"}\n{"ts": null}\n')
    table = (
        TABLE.replace("a INT", "ts TIMESTAMP(3), WATERMARK FOR ts AS ts")
        .replace("t.jsonl", "w.jsonl")
        .replace("TABLE t", "TABLE w")
    )
    window = "TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' HOUR)"
    query = f"SELECT window_end, COUNT(*) AS n FROM TABLE({window}) GROUP BY window_start, window_end;"
    reason = failure(table + query, [], tmp_path)
    first, line, carets, advice, _ = reason.splitlines()
    assert f"w.jsonl:2: its time ts is NULL, so it belongs to no window of {window} (line 3, column " in first
    assert line[carets.index("^") : carets.rindex("^") + 1] == window
    assert advice == "leave such rows out in a view: SELECT * FROM t WHERE ts IS NOT NULL"


def test_dead_letters_are_whole_on_a_disk_that_takes_them_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:7]))
    append_lines(tmp_path / "letters", "one line\nanother\n")
    assert (tmp_path / "letters").read_text() == "one line\nanother\n"

"""Nothing that a query says is code in its job: whatever names, paths and texts hold, they come out as they went in."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ouzel.compiler.functions.lowering import column_name, quote
from ouzel.errors import NotSupported
from ouzel.session import load_text
from ouzel.spark.lowering import spark_job
from ouzel.spark.lowering.json import READ_JSON, SPELL, json_reader
from ouzel.spark.lowering.layout import WIDTH, assignment
from ouzel.spark.lowering.text import comment, docstring, identifier, is_identifier
from tests.effort import examples

NASTY = [
    "'",
    '"',
    "{",
    "}",
    "\\",
    "\n",
    "\r",
    "\t",
    "\x0b",
    "\x85",
    "\u2028",
    "\x00",
    "é",
    "ﬁ",
    "#",
    "`",
    '"""',
    "{folder}",
    "${x}",
]
TEXTS = st.lists(st.sampled_from(NASTY) | st.characters(), max_size=12).map("".join)
SQL_TEXTS = TEXTS.filter(lambda text: "\x00" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text))
BREAKOUT = '{__import__("os").abort()}'


def job_of(sql: str) -> str:
    job = load_text(sql, Path("/data"), "query")
    return spark_job(job.program, job.directory, job.topology.name, job.text)


def strings(text: str) -> set[str]:
    return {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def calls(text: str) -> set[str]:
    return {
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


@given(TEXTS)
def test_a_text_comes_back_from_its_literal(text: str) -> None:
    assert ast.literal_eval(quote(text)) == text


@given(TEXTS)
def test_a_comment_is_one_line(text: str) -> None:
    assert ast.parse(f"{comment(text)}\n1").body[0].lineno == 2


@given(TEXTS)
def test_a_docstring_ends_where_it_ends(text: str) -> None:
    assert len(ast.parse(docstring(text + "\n")).body) == 1


@given(TEXTS, TEXTS)
def test_names_are_names_and_different_ones(one: str, other: str) -> None:
    assert identifier(one).isidentifier()
    assert is_identifier(identifier(one)) or identifier(one).startswith("table_")
    assert one == other or identifier(one) != identifier(other)


@given(TEXTS.filter(bool))
def test_a_column_is_one_name(name: str) -> None:
    shown = column_name(name)
    assert shown == name or shown[1:-1].replace("``", "`") == name


def without_escapes(text: str) -> str:
    """A path as it is without the backslashes that Spark wants in it."""
    return text.replace("\\", "")


@settings(max_examples=examples(60), deadline=None)
@given(
    path=SQL_TEXTS.filter(str.strip),
    value=SQL_TEXTS,
    column=SQL_TEXTS.filter(str.strip),
    table=SQL_TEXTS.filter(str.strip),
)
@example(path=BREAKOUT, value=BREAKOUT, column=BREAKOUT, table=BREAKOUT)
@example(path='it\'s "q" {x}', value='""" + abort() + """', column="x\nabort()", table="spark\nabort()")
def test_what_a_query_says_is_no_code(path: str, value: str, column: str, table: str) -> None:
    name, read = (f'"{text.replace(chr(34), chr(34) * 2)}"' for text in (column, table))
    path, value = (text.replace("'", "''") for text in (path, value))
    text = job_of(
        f"""CREATE TABLE {read} ({name} VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'file', 'path' = '{path}', 'format' = 'json');
        SELECT window_start, {name}, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {read}, DESCRIPTOR(ts), INTERVAL '1' DAY))
        WHERE {name} <> '{value}' GROUP BY window_start, window_end, {name};"""
    )
    helpers = calls(json_reader([SPELL, READ_JSON]))
    assert calls(text) - helpers <= {"at", "read_json", "read_table", "query", "parse_args", "main", "check_session"}
    said = strings(text)
    assert value.replace("''", "'") in said
    assert without_escapes(path.replace("''", "'")) in map(without_escapes, said), "but that braces are no pattern"


@pytest.mark.parametrize(
    "query", ["COUNT(ROW(a, b))", "COUNT(DISTINCT ROW(a, b.c))", "MAX(a) FILTER (WHERE b.c = 'x')"]
)
def test_every_job_is_python(query: str) -> None:
    columns = "a INT, b ROW<c VARCHAR>"
    table = f"CREATE TABLE t ({columns}) WITH ('connector' = 'file', 'path' = 't', 'format' = 'json');"
    compile(job_of(f"{table} SELECT {query} AS n FROM t;"), "job.py", "exec")


def test_what_a_comment_says_is_needed_by_nobody() -> None:
    """A job takes and imports what its code names."""
    said = "args bad_records OFFSETS[ at(args.folder read_table( BadRecords( F.col"
    text = job_of(
        f"""CREATE TABLE t (a VARCHAR) WITH ('connector' = 'file', 'path' = '/t', 'format' = 'raw');
        -- {said}
        SELECT a FROM t WHERE a <> '{said}';"""
    )
    (query,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "query")
    assert [argument.arg for argument in query.args.args] == ["spark", "args"]
    assert "ouzel.spark" not in text
    assert "def at(" not in text


def test_long_expressions_are_laid_out() -> None:
    """As ruff's formatter does it; the golden jobs are checked with that itself."""
    name = "a_name_that_is_as_long_as_names_may_be"
    cases = ".".join(f'when(F.col("{name}") == {number}, "{number}")' for number in range(4))
    lines = assignment(
        "frame",
        ["flights", "# why", f'.select("a", F.{cases}.otherwise("x").alias("kind"))', ".distinct()", ".count()"],
        4,
    )
    assert lines[:5] == ["    frame = (", "        flights", "        # why", "        .select(", '            "a",']
    assert lines[5].startswith("            F.when(")
    assert lines[6].startswith("            .when(")
    assert lines[-3:] == ["        .distinct()", "        .count()", "    )"]
    assert max(map(len, lines)) <= WIDTH


def test_the_one_range_that_pyspark_takes_for_unbounded_is_refused() -> None:
    text = "CREATE TABLE t (a BIGINT) WITH ('connector' = 'file', 'path' = 't', 'format' = 'parquet');"
    over = "SELECT COUNT(*) OVER (ORDER BY a RANGE BETWEEN {} PRECEDING AND CURRENT ROW) AS n FROM t;"
    job = load_text(text + over.format(2**63 - 2), Path(), "near")
    assert "-9223372036854775806" in spark_job(job.program, Path())
    job = load_text(text + over.format(2**63 - 1), Path(), "beyond")
    with pytest.raises(
        NotSupported, match="Spark takes that number for UNBOUNDED; write UNBOUNDED, or a smaller number"
    ):
        spark_job(job.program, Path())

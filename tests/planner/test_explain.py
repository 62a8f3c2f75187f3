"""EXPLAIN: words for expressions and nodes, and the whole page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, GetField, Literal
from ouzel.compiler.plan import Hints, Program
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    NULL,
    TIMESTAMP,
    VARCHAR,
    ArrayType,
    DecimalType,
    RowType,
)  # fmt: skip
from ouzel.errors import QueryError
from ouzel.explain import explain, explain_json
from ouzel.explain.wording import expression_text, span_in_words
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.planner.settings import Settings
from tests.planner.plans import delays_by_day, program, sink, word_count, words

A, B, S = Column(INT, "a"), Column(INT, "b"), Column(VARCHAR, "s")
ROW = RowType((("x", INT),))


def call(function: str, *arguments: Expression) -> Call:
    return Call(BOOLEAN, function, arguments)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (call("and", call("gt", A, Literal(INT, 1)), call("eq", S, Literal(VARCHAR, "it's"))), "a > 1 AND s = 'it''s'"),
        (call("multiply", call("add", A, B), A), "(a + b) * a"),
        (call("add", A, call("multiply", B, A)), "a + b * a"),
        (call("subtract", A, call("subtract", B, A)), "a - (b - a)"),
        (
            call("not", call("or", call("is_null", A), call("in", A, Literal(INT, 1), B))),
            "NOT (a IS NULL OR a IN (1, b))",
        ),
        (call("not", call("is_null", A)), "a IS NOT NULL"),
        (call("between", call("negate", A), A, B), "-a BETWEEN a AND b"),
        (call("element_at", Column(ArrayType(INT), "c"), A), "c[a]"),
        (GetField(INT, Column(ROW, "r"), "x"), "r.x"),
        (Cast(BIGINT, call("add", A, B)), "CAST(a + b AS BIGINT)"),
        (Cast(DOUBLE, S, safe=True), "TRY_CAST(s AS DOUBLE)"),
        (
            Case(INT, ((call("is_not_null", A), B),), Literal(NULL, None)),
            "CASE WHEN a IS NOT NULL THEN b ELSE NULL END",
        ),
        (call("coalesce", A, B), "COALESCE(a, b)"),
        (Literal(DATE, date(2013, 1, 2)), "DATE '2013-01-02'"),
        (Literal(TIMESTAMP, datetime(2013, 1, 2, 3)), "TIMESTAMP '2013-01-02 03:00:00'"),
        (call("subtract", A, Literal(INTERVAL, timedelta(minutes=90))), "a - 90 minutes"),
        (Literal(BOOLEAN, True), "TRUE"),
        (Literal(BYTES, b"\x01"), "X'01'"),
        (Literal(DecimalType(3, 2), Decimal("1.50")), "1.50"),
    ],
    ids=str,
)
def test_expressions_read_as_sql(expression: Expression, text: str) -> None:
    assert expression_text(expression) == text


SPANS = {
    86_400_000_000: "1 day",
    7_200_000_000: "2 hours",
    5_400_000_000: "90 minutes",
    1_500_000: "1500 milliseconds",
    7: "7 microseconds",
    0: "0 microseconds",
}


@pytest.mark.parametrize("microseconds", SPANS)
def test_spans_are_said_in_their_largest_whole_unit(microseconds: int) -> None:
    assert span_in_words(microseconds) == SPANS[microseconds]


def explained(made: Program, *details: str, colour: bool = False, width: int = 100, **settings: object) -> str:
    topology = plan_topology(made, Settings(**settings), "test")  # type: ignore[arg-type]
    return explain(made, topology, pack(topology), details, width, colour)


def test_the_whole_page() -> None:
    assert explained(program(word_count()), parallelism=2, containers=2) == """\
Logical plan  as written, before any rule ──────────────────────────────────────────────────────────
Sink result (result), retract
└── Aggregate COUNT(*) as n by word; emit changes
    retracts · state UNBOUNDED: one row per key · word VARCHAR, n BIGINT NOT NULL
    └── Project word
        appends · word VARCHAR
        └── Unnest SPLIT(line, ' ') as word
            appends · line VARCHAR, word VARCHAR
            └── Scan lines (file)
                appends · line VARCHAR

Topology  test: 3 components, 5 tasks, at-least-once ───────────────────────────────────────────────
  lines  spout x 2
    Scan     lines (file)
    Unnest   SPLIT(line, ' ') as word
    Project  word
    writes   rows of word VARCHAR

  count_by_word  bolt x 2
    reads      lines by fields(word) grouping
    Aggregate  COUNT(*) as n by word; emit changes
    state      UNBOUNDED: one row per key
    writes     changes of word VARCHAR, n BIGINT NOT NULL

  result  sink x 1
    reads  count_by_word by global grouping
    Sink   result (result), retract

  The state of count_by_word grows with every new key; a window would bound it.

Packing  round robin; 1 CPU and 1 GB or 10 % of each are for its own processes ─────────────────────
  container   CPU    RAM   tasks
  1             4   4 GB   lines 1 of 2, count_by_word 1 of 2, result
  2             4   4 GB   lines 2 of 2, count_by_word 2 of 2
"""  # fmt: skip


def test_only_what_is_asked_for() -> None:
    page = explained(program(word_count()), "packing")
    assert "Packing" in page
    assert "Topology" not in page
    assert explained(program(word_count()), "WATERMARK") == explained(program(word_count()), "topology")
    with pytest.raises(
        QueryError,
        match="EXPLAIN COST is not known; write EXPLAIN LOGICAL, TOPOLOGY, PACKING, STATE, BATCH, STREAMING or just EXPLAIN",
    ):
        explained(program(word_count()), "cost")


def test_the_batch_job_is_shown_as_it_is_run() -> None:
    page = explained(program(word_count()), "spark", width=40)
    assert '.groupBy("word")' in page
    assert '.agg(F.count("*").alias("n"))' in page
    compile(page.split("\n", 1)[1], "job.py", "exec")


def test_colour_changes_nothing_but_colour() -> None:
    coloured = explained(program(word_count()), colour=True)
    assert "\x1b[" in coloured
    plain = "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", coloured).splitlines()) + "\n"
    assert plain == explained(program(word_count()))


def test_a_narrow_terminal_loses_nothing() -> None:
    page = explained(program(delays_by_day()), width=40)
    assert max(map(len, page.splitlines())) <= 40
    assert "window_start" in re.sub(r"\W", "", page)


def test_a_shared_view_is_shown_once() -> None:
    view = words()
    page = explained(program(sink(view, "one"), sink(view, "two")), "logical")
    assert page.count("Scan lines") == 1
    assert "Project word  the same as above, computed once" in page


def test_a_bounded_state_is_no_warning() -> None:
    assert "grows" not in explained(program(delays_by_day()))


def test_json_can_be_written_and_says_the_same() -> None:
    made = replace(program(word_count()), hints=Hints((("result", 1),)))
    topology = plan_topology(made, Settings(), "test")
    data = json.loads(json.dumps(explain_json(made, topology, pack(topology))))
    assert [node["kind"] for node in data["logical"]] == ["Scan", "Unnest", "Project", "Aggregate", "Sink"]
    assert [node["inputs"] for node in data["logical"]] == [[], [0], [1], [2], [3]]
    counts = data["topology"]["components"][1]
    assert (counts["name"], counts["kind"], counts["parallelism"]) == ("count_by_word", "bolt", 1)
    assert counts["inputs"] == [{"component": "lines", "stream": "default", "grouping": "fields", "fields": ["word"]}]
    assert counts["operators"][0]["state"] == "UNBOUNDED: one row per key"
    assert counts["outputs"][0]["schema"][1] == {"name": "n", "type": "BIGINT", "nullable": False}
    assert data["packing"][0]["tasks"][2] == {"id": 3, "component": "result", "index": 0}
    assert set(explain_json(made, topology, pack(topology), ("packing",))) == {"packing"}

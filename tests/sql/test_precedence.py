"""Precedence: what is read without parentheses is read as DuckDB and Spark read it, and refused where the two differ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

import duckdb
import pytest

from ouzel.compiler.sql.syntax.queries import parse_expression
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import QueryError
from tests.effort import examples
from tests.fuzz.operators import Operators, in_parentheses

Parsed = Callable[[str], str | None]
"""Another database's tree of an expression, as text; None where it takes none."""


def ours(text: str) -> str | None:
    """How Ouzel reads an expression, in parentheses; None where it asks for parentheses."""
    source = QueryText(text)
    try:
        return in_parentheses(parse_expression(source, source.tokens()))
    except (QueryError, ValueError):
        return None


def duckdb_parser() -> Parsed:
    connection = duckdb.connect()

    def tree(text: str) -> str | None:
        (found,) = connection.execute("SELECT json_serialize_sql(?)", [f"SELECT {text} FROM t"]).fetchone() or ("",)
        read = json.loads(found)
        return None if read["error"] else json.dumps(plain(read["statements"]), sort_keys=True)

    return tree


def plain(node: Any) -> Any:
    """DuckDB's tree without places; what is negated is under a NOT of its own."""
    if isinstance(node, list):
        return [plain(part) for part in node]
    if not isinstance(node, dict):
        return node
    parts = {key: plain(part) for key, part in node.items() if not key.startswith("query_location")}
    positive = POSITIVE.get(parts.get("type", ""))
    return (
        {"type": "OPERATOR_NOT", "class": "OPERATOR", "alias": "", "children": [parts | {"type": positive}]}
        if positive
        else parts
    )


POSITIVE = {
    "OPERATOR_IS_NOT_NULL": "OPERATOR_IS_NULL",
    "COMPARE_NOT_IN": "COMPARE_IN",
    "COMPARE_DISTINCT_FROM": "COMPARE_NOT_DISTINCT_FROM",
}


def spark_parser(spark: Any) -> Parsed:
    from pyspark.errors import ParseException

    parser = spark._jsparkSession.sessionState().sqlParser()

    def tree(text: str) -> str | None:
        try:
            found = str(parser.parseExpression(text.replace("UNKNOWN", "NULL")).toString())  # it shows no IS UNKNOWN
        except ParseException:
            return None
        if "'NOT" in found:  # it took the word for a name
            return None
        return found.replace("isnotnull(", "NOT isnull(")

    return tree


def drawn(usual: int) -> list[str]:
    """Random expressions of up to seven operators."""
    dice = Random(0)
    make = Operators(dice)
    return [make.expression(dice.randint(1, 7)) for _ in range(examples(usual))]


def differences(parsed: Parsed, texts: list[str]) -> list[str]:
    """Where the other database has another tree than for our reading of a text; most must be read by both."""
    read = [(text, own) for text in texts if (own := ours(text))]
    theirs = [(text, own, tree) for text, own in read if (tree := parsed(text))]
    assert len(theirs) > len(texts) / 2, "most are refused: the test tests nothing"
    return [f"{text} is read as {own}" for text, own, tree in theirs if parsed(own) != tree]


def test_it_is_duckdbs() -> None:
    """But for what Spark decides: -2::INT; and DuckDB alone has (a * ~b) & c as a * ~(b & c)."""
    texts = [text for text in drawn(1000) if not re.search(r"- [\d.]+::|[-+*/%] ~", text)]
    assert not differences(duckdb_parser(), texts)


@pytest.mark.spark
def test_it_is_sparks(spark: Any) -> None:
    assert not differences(spark_parser(spark), drawn(600))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a = b IS NULL", "((a = b) IS NULL)"),
        ("a <> b IS NOT TRUE", "(NOT ((a <> b) IS TRUE))"),
        ("a < b IS UNKNOWN", "((a < b) IS UNKNOWN)"),
        ("a >= b IS DISTINCT FROM c = d", "((a >= b) IS DISTINCT FROM (c = d))"),
        ("a = b IS NOT DISTINCT FROM c", "((a = b) IS NOT DISTINCT FROM c)"),
        ("a IS NULL = b IS NOT NULL", "(NOT (((a IS NULL) = b) IS NULL))"),
        ("a = b < c <> d", "(((a = b) < c) <> d)"),
        ("NOT a = b IS NULL AND c", "((NOT ((a = b) IS NULL)) AND c)"),
        ("a = NOT b = c", "(a = (NOT (b = c)))"),
        ("a IN (b) = c", "((a IN (b)) = c)"),
        ("a NOT BETWEEN b AND c || d AND e", "((NOT (a BETWEEN b AND (c || d))) AND e)"),
        ("-2::BIGINT::INT", "(((- 2))::BIGINT)::INT"),
        ("1 - 2::INT", "(1 - (2)::INT)"),
        ("-a::INT", "(- (a)::INT)"),
        ("-(2)::INT", "(- (2)::INT)"),
        ("a - ~b", "(a - (~ b))"),
        ("+a - -b", "(a - (- b))"),
    ],
)
def test_read(text: str, meaning: str) -> None:
    assert ours(text) == meaning


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = b IN (c)", "which of IN and = comes first is not said; write (b IN (c)) in parentheses"),
        (
            "a < b NOT BETWEEN c AND d",
            "which of BETWEEN and < comes first is not said; write (b NOT BETWEEN c AND d) in parentheses",
        ),
        ("a LIKE b = c", "which of LIKE and = comes first is not said; write (a LIKE b) in parentheses"),
        (
            "a BETWEEN b AND c LIKE d",
            "which of BETWEEN and LIKE comes first is not said; write (a BETWEEN b AND c) in parentheses",
        ),
        ("a || b + c", "which of + and || comes first is not said; write (b + c) in parentheses"),
        ("a & b || c", "which of & and || comes first is not said; write (a & b) in parentheses"),
        ("a | b ^ c", "which of | and ^ comes first is not said; write (a | b) in parentheses"),
        ("~a + b", "which of ~ and + comes first is not said; write (~a) in parentheses"),
        ("a * - ~b + c", "which of ~ and + comes first is not said; write (~b) in parentheses"),
        ("a * NOT b", "which of NOT and * comes first is not said; write (NOT b) in parentheses"),
        ("1 + NOT TRUE", "which of NOT and + comes first is not said; write (NOT TRUE) in parentheses"),
        ("~NULL + 1", "which of ~ and + comes first is not said; write (~NULL) in parentheses"),
        ("a = FALSE IN (TRUE)", "which of IN and = comes first is not said; write (FALSE IN (TRUE)) in parentheses"),
    ],
)
def test_parentheses_are_asked_for(text: str, problem: str) -> None:
    source = QueryText(text)
    with pytest.raises(QueryError) as caught:
        parse_expression(source, source.tokens())
    assert f"{caught.value.problem}; {caught.value.instead}" == problem

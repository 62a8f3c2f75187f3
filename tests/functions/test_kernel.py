"""The kernel's lowering: errors only where a branch is taken, constants with the frame's height, and few expressions for plain work."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest

from ouzel.compiler.expressions import Case, Cast, Column, Expression, GetField, Literal
from ouzel.compiler.functions.kernel import evaluate, lower
from ouzel.compiler.functions.patterns import java_regex
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.functions.spark import to_spark
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    INTERVAL_MONTHS,
    NULL,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    VARCHAR,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    RowType,
    to_polars,
)  # fmt: skip

A, B, S, T = Column(INT, "a"), Column(INT, "b"), Column(VARCHAR, "s"), Column(TIMESTAMP, "t")
FRAME = pl.DataFrame(
    {"a": [6, 1, None, 2**31 - 1], "b": [2, 0, 0, 1], "s": ["12", "x", None, " 7 "]},
    schema={"a": pl.Int32, "b": pl.Int32, "s": pl.String},
)


def number(value: int) -> Literal:
    return Literal(INT, value)


def call(name: str, *arguments: Expression) -> Expression:
    return resolve_call(name, arguments)


def results(expression: Expression) -> list[object]:
    """The value of each row, "error" where the row fails."""
    out, failed = evaluate(FRAME, [("x", lower(expression))])
    assert out["x"].dtype == to_polars(expression.type)
    flags = [False] * FRAME.height if failed is None else failed.to_list()
    return ["error" if flag else value for value, flag in zip(out["x"].to_list(), flags, strict=True)]


QUOTIENT = call("divide", A, B)
IS_ZERO = call("eq", B, number(0))


def test_a_row_that_fails_is_marked() -> None:
    assert results(QUOTIENT) == [3, "error", None, 2**31 - 1]
    assert results(call("add", A, number(1))) == [7, 2, None, "error"]
    assert results(Cast(INT, S)) == [12, "error", None, 7]


def test_try_cast_gives_null() -> None:
    assert results(Cast(INT, S, safe=True)) == [12, None, None, 7]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (call("and", call("ne", B, number(0)), call("gt", QUOTIENT, number(2))), [True, False, False, True]),
        (call("or", IS_ZERO, call("gt", QUOTIENT, number(2))), [True, True, True, True]),
        (call("and", call("gt", QUOTIENT, number(2)), call("ne", B, number(0))), [True, "error", False, True]),
        (call("if", IS_ZERO, Literal(BIGINT, -1), QUOTIENT), [3, -1, -1, 2**31 - 1]),
        (Case(BIGINT, ((IS_ZERO, Literal(BIGINT, 0)),), QUOTIENT), [3, 0, 0, 2**31 - 1]),
        (call("coalesce", A, call("divide", number(1), number(0))), [6, 1, "error", 2**31 - 1]),
        (call("add", A, call("divide", number(1), B)), [6, "error", None, 2**31]),
        (call("in", A, number(6), Cast(INT, S)), [True, "error", None, False]),
    ],
)
def test_only_what_is_looked_at_can_fail(expression: Expression, expected: list[object]) -> None:
    assert results(expression) == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, DATE), (True, BOOLEAN), (5, TINYINT), (1.5, DOUBLE), ("é", VARCHAR), (b"\x00", BYTES), (date(2020, 2, 29), DATE),
        (Decimal("12345678901234567890123456789012345.678"), DecimalType(38, 3)),
        (datetime(2020, 1, 1, 1, 2, 3, 4), TIMESTAMP), (timedelta(days=-1, microseconds=5), INTERVAL),
    ],
)  # fmt: skip
def test_constants_have_their_type_and_the_frame_s_height(value: object, kind: DataType) -> None:
    assert results(Literal(kind, value)) == [value] * 4


def test_constants_of_functions_in_python_have_the_frame_s_height() -> None:
    constant = call("reverse", Literal(VARCHAR, "abc"))
    assert results(constant) == ["cba"] * 4
    empty, failed = evaluate(FRAME.head(0), [("x", lower(constant))])
    assert (empty.height, failed) == (0, None)


def test_doubles_and_comparisons_carry_no_mask() -> None:
    x = Column(DOUBLE, "x")
    for expression in (
        call("multiply", x, x),
        call("lt", A, B),
        call("add", x, A),
        call("divide", A, number(7)),
        call("like", S, Literal(VARCHAR, "a%")),
    ):
        assert lower(expression).error is None


def test_fields_of_rows() -> None:
    row = Column(RowType((("x", INT),)), "r")
    frame = pl.DataFrame({"r": [{"x": 1}, None]}, schema={"r": pl.Struct({"x": pl.Int32})})
    out, _ = evaluate(frame, [("x", lower(GetField(INT, row, "x")))])
    assert out["x"].to_list() == [1, None]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (call("upper", Column(VARCHAR, "word")), 'F.upper(F.col("word"))'),
        (call("add", A, B), 'F.col("a") + F.col("b")'),
        (call("multiply", call("add", A, B), number(2)), '(F.col("a") + F.col("b")) * 2'),
        (call("and", call("gt", A, number(1)), call("is_null", B)), '(F.col("a") > 1) & F.col("b").isNull()'),
        (call("like", S, Literal(VARCHAR, "a%")), 'F.col("s").like("a%")'.replace('"a%"', "'a%'")),
        (call("subtract", T, Literal(INTERVAL, timedelta(seconds=5))), "F.col(\"t\") - F.expr(\"INTERVAL '0 00:00:05' DAY TO SECOND\")"),
        (call("add", T, Literal(INTERVAL_MONTHS, -14)), "F.col(\"t\") + F.expr(\"INTERVAL '-1-2' YEAR TO MONTH\")"),
        (Cast(TIMESTAMP, S, safe=True), 'F.col("s").try_cast("timestamp_ntz")'),
        (Case(INT, ((IS_ZERO, number(0)),), A), 'F.when(F.col("b") == 0, 0).otherwise(F.col("a"))'),
        (Column(INT, "a.b"), 'F.col("`a.b`")'),
        (GetField(INT, Column(RowType((("x", INT),)), "r"), "x"), 'F.col("r.x")'),
    ],
)  # fmt: skip
def test_spark_s_text_is_readable(expression: Expression, text: str) -> None:
    assert to_spark(expression) == text


def test_spark_s_types() -> None:
    kind = RowType((("a b", ArrayType(TIMESTAMP)), ("m", MapType(VARCHAR, TIMESTAMP_LTZ))))
    assert to_spark_type(kind) == "struct<`a b`:array<timestamp_ntz>,m:map<string,timestamp>>"
    assert to_spark_type(NULL) == "void"
    assert to_spark_type(DecimalType(10, 2)) == "decimal(10,2)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("İstanbul", "İstanbul"), ("aİ İ", "Ai̇ İ"), ("i̇x", "İx"), ("ǆa ßb", "ǅa Ssb")],
)
def test_initcap_capitalises_as_spark_does(text: str, expected: str) -> None:
    """What Spark 4.1 answered; a dotted capital I is small in two code points, and one again as a capital."""
    assert results(call("initcap", Literal(VARCHAR, text))) == [expected] * FRAME.height


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (call("divide", Column(DOUBLE, "d"), Literal(DOUBLE, 3.0)), 6.25 / 3.0),
        (call("divide", Column(DOUBLE, "d"), Column(DOUBLE, "e")), 6.25 / 3.0),
        (call("round", Column(DOUBLE, "f"), Literal(INT, 1)), 0.3),
        (Cast(DOUBLE, Column(TIMESTAMP_LTZ, "t")), 1_700_000_000_123_457 / 1e6),
    ],
    ids=["by a constant", "by a column", "rounded", "seconds of a timestamp"],
)
def test_a_quotient_is_exact_in_a_batch_of_any_size(expression: Expression, expected: float, rows: int) -> None:
    one = {"d": 6.25, "e": 3.0, "f": 0.26, "t": 1_700_000_000_123_457}
    frame = pl.DataFrame([one] * rows).with_columns(pl.col("t").cast(pl.Datetime("us", "UTC")))
    out, _ = evaluate(frame, [("x", lower(expression))])
    assert out["x"].to_list() == [expected] * rows


@pytest.mark.parametrize(
    ("pattern", "certain"),
    [
        ("(&|^)channel_id=([^&]*)", {0, 1, 2}),
        ("(a)|(b)", {0}),
        ("(a)?((b)c)+", {0, 2, 3}),
        ("(?:(a)|b)(c){0,2}(d){1,2}", {0, 3}),
        ("(a(b)?)", {0, 1}),
    ],
)
def test_it_is_known_which_groups_take_part_in_every_match(pattern: str, certain: set[int]) -> None:
    regex = java_regex(pattern)
    assert regex.certain == certain
    texts = ["a", "b", "aa", "bc", "abcbc", "ab", "ac", "adb", "acd", "bdd", "x&channel_id=", "channel_id=7&", "bcd"]
    matches = [found for text in texts if (found := re.search(regex.python, text))]
    assert matches
    assert {group for group in range(regex.groups + 1) if all(found[group] is not None for found in matches)} == certain


def test_what_is_rounded_to_zero_has_no_sign() -> None:
    frame = pl.DataFrame({"x": [-0.04, -0.0, 0.04, -0.04999999999999999]})
    out, _ = evaluate(frame, [("x", lower(call("round", Column(DOUBLE, "x"), number(1))))])
    assert [str(value) for value in out["x"]] == ["0.0"] * 4


def test_nothing_added_to_minus_zero_is_zero() -> None:
    x, zero = Column(DOUBLE, "x"), Literal(DOUBLE, 0.0)
    sums = [
        resolve_call(name, pair) for name, pair in (("add", (x, zero)), ("add", (zero, x)), ("subtract", (zero, x)))
    ]
    frame, failed = evaluate(
        pl.DataFrame({"x": [-0.0, 0.0, None]}), [(str(n), lower(one)) for n, one in enumerate(sums)]
    )
    assert failed is None
    assert [list(map(str, column)) for column in frame] == [["0.0", "0.0", "None"]] * 3

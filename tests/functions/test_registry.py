"""The registry's front: every entry is complete, calls resolve with casts, and refusals say what to write."""

from __future__ import annotations

import pytest

from ouzel.compiler.expressions import Call, Cast, Column, Expression, Literal
from ouzel.compiler.functions import all_functions, lookup
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    TIMESTAMP,
    VARCHAR,
    ArrayType,
    DecimalType,
    MapType,
)  # fmt: skip
from ouzel.errors import NotSupported, QueryError

A, B = Column(INT, "a"), Column(BIGINT, "b")
S, D, T = Column(VARCHAR, "s"), Column(DATE, "d"), Column(TIMESTAMP, "t")


def text(value: str) -> Literal:
    return Literal(VARCHAR, value)


def test_there_are_many_and_each_is_documented() -> None:
    functions = all_functions()
    assert len(functions) >= 110
    for function in functions:
        assert function.doc.endswith("."), function.name
        assert function.usage, function.name
        assert function.name == function.name.lower()


def test_no_name_means_two_functions() -> None:
    names = [name for function in all_functions() for name in (function.name, *function.aliases)]
    assert sorted(names) == sorted(set(names))


def test_an_alias_resolves_to_the_canonical_name_in_any_case() -> None:
    call = resolve_call("Character_Length", [S])
    assert call == Call(INT, "char_length", (S,))
    assert lookup("no such") is None


def test_arguments_are_cast_to_what_the_function_takes() -> None:
    assert resolve_call("add", [A, B]) == Call(BIGINT, "add", (Cast(BIGINT, A), B))
    assert resolve_call("sqrt", [Literal(INT, 2)]) == Call(DOUBLE, "sqrt", (Literal(DOUBLE, 2.0),))
    assert resolve_call("eq", [D, T]) == Call(BOOLEAN, "eq", (Cast(TIMESTAMP, D), T))


@pytest.mark.parametrize(
    ("name", "left", "right", "result"),
    [
        ("add", DecimalType(10, 2), DecimalType(5, 4), DecimalType(13, 4)),
        ("multiply", DecimalType(20, 6), DecimalType(20, 6), DecimalType(38, 9)),
        ("divide", DecimalType(10, 2), INT, DecimalType(21, 13)),
        ("divide", INT, INT, BIGINT),
        ("modulo", DecimalType(10, 2), DecimalType(5, 4), DecimalType(5, 4)),
        ("add", DecimalType(10, 2), DOUBLE, DOUBLE),
    ],
)
def test_results_of_arithmetic_have_spark_s_type(name: str, left: object, right: object, result: object) -> None:
    arguments = [Column(left, "x"), Column(right, "y")]  # type: ignore[arg-type]
    assert resolve_call(name, arguments).type == result


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("upper", [A], "UPPER takes VARCHAR, not INT; write UPPER(CAST(a AS VARCHAR))"),
        ("uper", [S], "there is no function UPER; did you mean UPPER?"),
        ("qqq", [S], "there is no function QQQ; SHOW FUNCTIONS lists those that there are"),
        ("add", [S, A], "+ does not take (VARCHAR, INT); write CAST(s AS BIGINT) + a"),
        ("concat", [S, A], "|| does not take (VARCHAR, INT); write s || CAST(a AS VARCHAR)"),
        ("year", [S], "YEAR takes DATE, not VARCHAR; write YEAR(CAST(s AS DATE))"),
        ("substring", [S], "SUBSTRING does not take VARCHAR; write SUBSTRING(text, start [, length])"),
        ("date_format", [T, S], "argument 2 of DATE_FORMAT must be a literal, not s"),
        ("date_trunc", [text("fortnight"), T], "DATE_TRUNC knows no unit 'fortnight'; use one of MICROSECOND"),
        ("like", [S, text("a\\b")], "in the LIKE pattern 'a\\b' an escape stands before what needs none"),
        (
            "regexp_extract",
            [S, text("(a)"), Literal(INT, 2)],
            "the regular expression '(a)' has 1 groups, not a group 2",
        ),
        ("regexp", [S, text("(")], "the regular expression '(' is malformed"),
        ("regexp_replace", [S, text("a"), text("$1")], "the replacement '$1' names a group that the pattern has not"),
        ("split", [S, text("")], "the delimiter of SPLIT is empty"),
    ],
)
def test_a_refusal_says_what_to_write(name: str, arguments: list[Expression], message: str) -> None:
    with pytest.raises(QueryError) as error:
        resolve_call(name, arguments)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("date_format", [T, text("yyyy-ww")], "the date pattern 'yyyy-ww' uses ww"),
        ("to_timestamp", [S, text("d/M/yy")], "the date pattern 'd/M/yy' uses d"),
        ("regexp", [S, text("(?=a)")], "the regular expression '(?=a)' uses (?="),
        ("regexp", [S, text(r"(a)\1")], r"the regular expression '(a)\1' uses \1"),
        ("json_value", [S, text("$.a[*]")], "the JSON path '$.a[*]' is not made of names and indexes"),
        ("add", [D, Column(INTERVAL, "i")], "a DATE moves by a literal of whole days or months, not by i"),
    ],
)
def test_what_is_missing_is_refused_when_the_query_is_compiled(
    name: str, arguments: list[Expression], message: str
) -> None:
    with pytest.raises(NotSupported) as error:
        resolve_call(name, arguments)
    assert str(error.value).startswith(message)


def test_arrays_have_an_order_but_not_those_of_maps() -> None:
    array, maps = Column(ArrayType(INT), "x"), Column(ArrayType(MapType(INT, INT)), "m")
    for name in ("eq", "lt"):
        assert resolve_call(name, [array, array]).type == BOOLEAN
    with pytest.raises(QueryError, match="< does not take"):
        resolve_call("lt", [maps, maps])

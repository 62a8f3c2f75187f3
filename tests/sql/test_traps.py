"""What sqlglot and its dialects do to SQL that must not happen here: one test for each trap that was met."""

from __future__ import annotations

import pytest
from sqlglot.parser import Parser

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, Literal
from ouzel.compiler.plan import AssignWindow, Project, WindowKind, walk
from ouzel.compiler.sql.syntax.dialect import QueryParser
from ouzel.compiler.sql.syntax.words import SOMETIMES
from ouzel.compiler.types import BIGINT, DOUBLE, INT, TIMESTAMP, VARCHAR, DecimalType
from ouzel.errors import QueryError
from tests.sql.connectors import compiled


def bound(expression: str) -> Expression:
    """A select item over the table flights, bound."""
    project = compiled(f"SELECT {expression} AS x FROM flights;").sinks[0].input
    assert isinstance(project, Project)
    return project.items[0][1]


def call(expression: str) -> Call:
    """A select item that is a call."""
    value = bound(expression)
    assert isinstance(value, Call)
    return value


def test_select_hints_are_not_lost_as_comments() -> None:
    program = compiled("SELECT /*+ PARALLELISM('f'='2'), GROUPING('f'='shuffle') */ id FROM flights AS f;")
    assert program.hints.parallelism == (("flights", 2),)
    assert program.hints.grouping == (("flights", "shuffle"),)


def test_a_hint_inside_a_string_or_a_comment_is_none() -> None:
    program = compiled("-- /*+ PARALLELISM('a'='2') */\nSELECT '/*+ PARALLELISM(''a''=''2'') */' AS x FROM flights;")
    assert program.hints.parallelism == ()


def test_regexp_extract_keeps_its_group() -> None:
    assert [str(part) for part in call("REGEXP_EXTRACT(origin, '(.)(.)', 2)").arguments][2] == "2"


def test_integers_divide_to_integers() -> None:
    quotient = call("delay / 2")
    assert (quotient.function, quotient.type) == ("divide", BIGINT)


def test_date_format_keeps_its_java_pattern() -> None:
    assert call("DATE_FORMAT(ts, 'yyyy-MM-dd')").arguments[1] == Literal(VARCHAR, "yyyy-MM-dd")


@pytest.mark.parametrize(
    ("text", "function", "arguments"),
    [
        ("SPLIT_INDEX(origin, ',', 0)", "split_index", 3),
        ("HOUR(ts)", "hour", 1),
        ("LOG(2, distance)", "log", 2),
        ("POSITION('a' IN origin)", "position", 2),
        ("TIMESTAMPDIFF(SECOND, ts, ts)", "timestampdiff", 3),
        ("LEFT(origin, 2)", "left", 2),
        ("REPLACE(origin, 'a', 'b')", "replace", 3),
        ("IF(late, 1, 2)", "if", 3),
        ("MOD(delay, 2)", "modulo", 2),
    ],
)
def test_functions_keep_name_and_arguments(text: str, function: str, arguments: int) -> None:
    found = call(text)
    assert (found.function, len(found.arguments)) == (function, arguments)


def test_not_like_is_not_like() -> None:
    """sqlglot 30 keeps the NOT in an argument of Like, where a binder easily overlooks it."""
    assert str(bound("origin NOT LIKE 'a%'")) == "not(like(origin, 'a%'))"
    assert str(bound("origin NOT LIKE 'a%' ESCAPE '!'")) == "not(like(origin, 'a%', '!'))"


def test_words_that_are_types_or_functions_elsewhere_can_be_columns() -> None:
    names = (
        "date",
        "time",
        "timestamp",
        "value",
        "count",
        "first",
        "year",
        "row",
        "offset",
        "interval",
        "level",
        "start",
        "if",
        "any_value",
    )
    items = ", ".join(f"id AS {name}" for name in names)
    inner = f"SELECT {items} FROM flights"
    program = compiled(
        f"SELECT {', '.join(names)} FROM ({inner}) AS t WHERE t.date > 1 AND value < 2 AND interval = 3;"
    )
    assert program.sinks[0].schema.names == names


def test_a_column_may_be_called_like_its_table_function() -> None:
    program = compiled("SELECT tumble FROM (SELECT delay AS tumble FROM flights) AS hop WHERE tumble > 1;")
    assert program.sinks[0].schema.names == ("tumble",)


@pytest.mark.parametrize(
    "window",
    [
        "TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
        "TABLE(TUMBLE(DATA => TABLE flights, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE))",
        "TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '60' SECONDS)",
        "TUMBLE(flights, ts, INTERVAL '1 minute')",
        "TUMBLE(flights, ts, INTERVAL 1 MINUTE)",
        "tumble(`flights`, \"ts\", INTERVAL '0:1' HOUR TO MINUTE) AS w",
        "TUMBLE((SELECT * FROM flights), ts, INTERVAL '1' MINUTE)",
    ],
)
def test_every_spelling_of_a_window(window: str) -> None:
    program = compiled(f"SELECT window_start, COUNT(*) FROM {window} GROUP BY window_start, window_end;")
    assigned = next(node for node in walk(program.sinks[0]) if isinstance(node, AssignWindow))
    assert (assigned.kind, assigned.column, assigned.size_us) == (WindowKind.TUMBLE, "ts", 60_000_000)


def test_hop_takes_slide_before_size_as_flink_does() -> None:
    program = compiled(
        "SELECT window_end FROM HOP(flights, ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE, INTERVAL '7' MINUTE);"
    )
    assigned = next(node for node in walk(program.sinks[0]) if isinstance(node, AssignWindow))
    assert (assigned.slide_us, assigned.size_us, assigned.offset_us) == (60_000_000, 300_000_000, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2147483647", Literal(INT, 2147483647)),
        ("-2147483648", Literal(INT, -2147483648)),
        ("2147483648", Literal(BIGINT, 2147483648)),
        ("1.5e0", Literal(DOUBLE, 1.5)),
    ],
)
def test_numbers_have_sparks_types(text: str, expected: Literal) -> None:
    assert bound(text) == expected


@pytest.mark.parametrize(
    ("text", "precision", "scale"),
    [("1.5", 2, 1), (".05", 2, 2), ("1.50", 3, 2), ("123.", 3, 0), ("9223372036854775808", 19, 0)],
)
def test_decimals_have_sparks_precision(text: str, precision: int, scale: int) -> None:
    assert bound(text).type == DecimalType(precision, scale)


def test_an_index_is_not_shifted() -> None:
    """Trino's parser takes one from a literal index, the default one does not."""
    assert call("tags[1]").arguments[1] == Literal(INT, 1)


def test_strings_keep_their_quotes_and_semicolons() -> None:
    assert bound("'it''s; -- not /* a comment'") == Literal(VARCHAR, "it's; -- not /* a comment")


def test_comments_go_where_they_want() -> None:
    assert compiled("SELECT id /* one */, -- two\n delay FROM /* three */ flights;").sinks[0].schema.names == (
        "id",
        "delay",
    )


def test_casts_of_both_kinds() -> None:
    assert bound("TRY_CAST(origin AS INT)") == Cast(INT, Column(VARCHAR, "origin"), safe=True)
    assert bound("origin::TIMESTAMP(6)") == Cast(TIMESTAMP, Column(VARCHAR, "origin"))
    assert str(bound("origin::TIMESTAMP(3)")) == "date_trunc('MILLISECOND', CAST(origin AS TIMESTAMP(6)))"


def test_case_without_else_is_null() -> None:
    value = bound("CASE delay WHEN 1 THEN 'a' END")
    assert isinstance(value, Case)
    assert value.otherwise == Literal(VARCHAR, None)


def test_is_unknown_is_no_column() -> None:
    assert str(bound("(delay > 1) IS UNKNOWN")) == str(bound("(delay > 1) IS NULL"))
    with pytest.raises(QueryError, match="IS UNKNOWN takes BOOLEAN, not INT; write IS NULL"):
        bound("delay IS UNKNOWN")


def test_bits_bind_as_operators() -> None:
    assert str(bound("(delay & 3) | (~delay ^ 1)")) == str(bound("BITOR(BITAND(delay, 3), BITXOR(BITNOT(delay), 1))"))
    assert str(bound("delay & 3 + 1 & 7 = 1")) == str(bound("BITAND(BITAND(delay, 3 + 1), 7) = 1"))
    with pytest.raises(
        QueryError, match=r"which of & and \| comes first is not said; write \(delay & 3\) in parentheses"
    ):
        bound("delay & 3 | delay")


def test_an_index_in_brackets_is_not_element_at() -> None:
    assert call("SPLIT(origin, ',')[1]").function == "item"
    assert call("MAP['a', 1]['a']").function == "element_at"


@pytest.mark.parametrize(
    ("digits", "precision", "scale"), [("", 29, 0), (", 1", 30, 1), (", 12", 38, 10), (", -30", 31, 0)]
)
def test_a_rounded_decimal_has_room_before_its_point(digits: str, precision: int, scale: int) -> None:
    assert bound(f"ROUND(CAST(delay AS DECIMAL(38, 10)){digits})").type == DecimalType(precision, scale)


def test_json_value_returning_a_type_is_a_cast_that_does_not_fail() -> None:
    assert bound("JSON_VALUE(origin, '$.a' RETURNING INT)") == bound("TRY_CAST(JSON_VALUE(origin, '$.a') AS INT)")
    assert (
        bound("JSON_VALUE(origin, '$.a' RETURNING DECIMAL(4, 1)) + 1").type
        == bound("CAST(1 AS DECIMAL(4, 1)) + 1").type
    )
    assert bound("JSON_VALUE(origin, '$.a' RETURNING STRING)").type == VARCHAR


@pytest.mark.parametrize("word", sorted(SOMETIMES.keys() - {"FETCH"}))
def test_a_word_that_is_structure_beside_others_is_a_name_elsewhere(word: str) -> None:
    query = f"SELECT {word}.{word} AS {word}, COUNT(*) {word} FROM (SELECT id {word} FROM flights) {word} GROUP BY {word}.{word}"
    assert [name.upper() for name in compiled(query).sinks[0].input.schema.names] == [word, f"{word}0"]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("tags::ARRAY<STRING>[1]", "item(tags, 1)"),
        ("CAST(tags AS STRING[])[1]", "item(tags, 1)"),
        ("delay::INT[]", "INT cannot be cast to ARRAY<INT>"),
        ("ts::TIMESTAMP WITHOUT TIME ZONE", "ts"),
        ("CEILING(ts TO DAY)", "CASE"),
    ],
)
def test_a_type_and_a_unit_end_where_they_end(text: str, meaning: str) -> None:
    try:
        found = str(bound(text))
    except QueryError as error:
        found = error.problem
    assert found.startswith(meaning)


def test_a_column_may_be_called_table() -> None:
    """A word that stands before a table is none before an alias: `SELECT table n` would read the column n."""
    query = "SELECT table n, MAX(table) AS table FROM (SELECT id AS table, delay AS n FROM flights) GROUP BY table"
    assert compiled(query).sinks[0].input.schema.names == ("n", "table")


def test_what_our_parser_reads_otherwise_sqlglot_has_under_that_name() -> None:
    """A method that sqlglot renames would silently be called no more."""
    overridden = {name for name in vars(QueryParser) if name.startswith("_parse_") or name.isupper()}
    assert len(overridden) > 20
    assert {name for name in overridden if not hasattr(Parser, name)} == set()


def test_brackets_behind_a_type_are_an_array() -> None:
    table = "CREATE TABLE w (a INT[], b ROW<c STRING[][]> NOT NULL) WITH ('connector' = 'datagen');"
    schema = compiled(f"{table} SELECT * FROM w;").sinks[0].input.schema
    assert [str(field.type) for field in schema] == ["ARRAY<INT>", "ROW<c ARRAY<ARRAY<VARCHAR>>>"]

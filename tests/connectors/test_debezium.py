"""Debezium JSON: what becomes of each record, and of those that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import SinkMode
from ouzel.connectors.formats import open_decoder, open_encoder
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.errors import QueryError
from ouzel.session import load_text

COLUMNS: dict[str, pl.DataType] = {"id": pl.Int64(), "name": pl.String(), "at": pl.Datetime("us")}
ANN = {"id": 1, "name": "ann", "at": "2024-02-29 12:00:00"}
BOB = {"id": 1, "name": "bob", "at": None}


def decode(*changes: object, columns: Mapping[str, pl.DataType] = COLUMNS, **options: str) -> Decoded:
    given = {name.replace("_", "-"): value for name, value in options.items()}
    decoder = open_decoder("debezium-json", given, columns, frozenset({"id"} & columns.keys()))
    return decoder.decode(Records.of([json.dumps(change).encode() for change in changes]))


def told(decoded: Decoded) -> list[tuple[int, object, object, int]]:
    """Record, id, name and weight of each row."""
    assert decoded.kept is not None
    assert decoded.weights is not None
    rows = decoded.frame.select("id", "name").rows()
    return [(int(at), *row, int(n)) for at, row, n in zip(decoded.kept, rows, decoded.weights, strict=True)]


def test_a_record_is_a_row_that_goes_and_a_row_that_comes() -> None:
    found = decode(
        {"before": None, "after": ANN, "op": "r"},
        {"before": ANN, "after": BOB, "op": "u", "source": {"table": "people"}},
        {"before": BOB, "op": "d"},
        {"after": ANN, "op": "c"},
    )
    assert told(found) == [(0, 1, "ann", 1), (1, 1, "ann", -1), (1, 1, "bob", 1), (2, 1, "bob", -1), (3, 1, "ann", 1)]
    assert not found.bad
    assert found.frame["at"].to_list()[2:] == [None, None, found.frame["at"][0]]


def test_each_record_that_cannot_be_read_says_why_and_takes_no_other_with_it() -> None:
    found = decode(
        {"op": "t"},
        {"before": None, "after": ANN, "op": "u"},
        {"before": ANN, "after": {**ANN, "id": None}, "op": "u"},
        {"op": "x", "after": ANN},
        {"after": ANN},
        [1],
        {"op": "c"},
        {"op": "c", "after": ANN},
    )
    assert told(found) == [(7, 1, "ann", 1)]
    reasons = [reason for _, reason in found.bad]
    assert [at for at, _ in found.bad] == list(range(7))
    assert reasons[0] == "the table was truncated, and a topology cannot take back rows that it does not know"
    assert reasons[1].startswith("its 'op' is 'u' and it has no 'before': the database logs no whole rows")
    assert reasons[2] == "column 'id' may not be NULL"
    assert reasons[3] == "its 'op' is 'x', and a change has c, r, u or d"
    assert reasons[4] == (
        "its 'op' is missing, and a change has c, r, u or d; if it is in a 'payload', write 'debezium-json.schema-include' = 'true'"
    )
    assert reasons[5] == "it is not a JSON object but an array"
    assert reasons[6] == "its 'op' is 'c' and it has no 'after': a row that comes has to be there"


def test_the_change_may_stand_beside_its_schema() -> None:
    found = decode(
        {"schema": {"type": "struct"}, "payload": {"after": ANN, "op": "c"}}, **{"debezium_json.schema_include": "true"}
    )
    assert told(found) == [(0, 1, "ann", 1)]
    plain = decode({"after": ANN, "op": "c"}, **{"debezium_json.schema_include": "true"})
    assert plain.bad[0][1].endswith("; leave 'debezium-json.schema-include' out if it is not in a 'payload'")


@pytest.mark.parametrize(
    ("value", "said"), [([1], "an array"), ("c", "text"), (7, "a number"), (1.5, "a number"), (True, "true or false"), (None, "null")]
)  # fmt: skip
def test_what_is_no_object_is_named(value: object, said: str) -> None:
    assert decode(value).bad[0][1] == f"it is not a JSON object but {said}"


def test_names_match_in_any_case_but_those_in_quotes() -> None:
    change = {"after": {"ID": 1, "NAME": "ann"}, "op": "c"}
    assert told(decode(change)) == [(0, 1, "ann", 1)]
    assert told(decode(change, **{"json.exact": "name"})) == [(0, 1, None, 1)]


def test_rows_without_columns_are_counted() -> None:
    found = decode({"after": ANN, "op": "c"}, {"before": ANN, "after": BOB, "op": "u"}, columns={})
    assert found.frame.height == 3
    assert found.weights is not None
    assert found.weights.tolist() == [1, -1, 1]


def test_a_column_that_no_record_has_is_named() -> None:
    found = decode(*[{"before": None, "after": {"id": n, "nmae": "x"}, "op": "c"} for n in range(1000)])
    assert "none of the first 1,000 records has a field 'name', so that column is NULL; they have 'nmae'" in found.notes


INTO = """CREATE TABLE a (id INT, name VARCHAR{key}) WITH
  ('connector' = 'kafka', 'topic' = 't', 'bootstrap.servers' = 'b:1', 'format' = 'debezium-json');
CREATE TABLE b (id INT, name VARCHAR) WITH ('connector' = 'file', 'path' = 'b.jsonl', 'format' = 'debezium-json');
INSERT INTO a SELECT id, name FROM b;"""


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_a_topic_of_changes_is_given_each_change(tmp_path: Path, key: str) -> None:
    (sink,) = load_text(INTO.format(key=key), tmp_path, "q").program.sinks
    assert sink.mode is SinkMode.RETRACT


def test_what_is_written_is_read_as_it_was() -> None:
    rows = pl.DataFrame({"id": [1, 2, 1], "name": ["ann", None, 'a "b"'], "at": [None] * 3}, COLUMNS)
    encoder = open_encoder("debezium-json", {}, COLUMNS)
    lines = encoder.encode(rows.with_columns(pl.Series("$weight", [1, -1, 1])))
    assert lines[1] == b'{"before":{"id":2,"name":null,"at":null},"after":null,"op":"d"}'
    found = open_decoder("debezium-json", {}, COLUMNS, frozenset()).decode(Records.of(lines))
    assert found.frame.equals(rows)
    assert found.weights is not None
    assert found.weights.tolist() == [1, -1, 1]
    assert encoder.encode(rows[:1]) == lines[:1]


def test_such_a_file_cannot_be_written(tmp_path: Path) -> None:
    query = """CREATE TABLE a (id INT) WITH ('connector' = 'file', 'path' = 'a.jsonl', 'format' = 'debezium-json');
    INSERT INTO a SELECT id FROM a;"""
    with pytest.raises(
        QueryError,
        match="a cannot be written: the connector 'file' can only read the format 'debezium-json'; insert into another table",
    ):
        load_text(query, tmp_path, "q")


@pytest.mark.parametrize("form", ["ogg-json", "debezium-avro-confluent"])
def test_other_logs_of_changes_are_refused_with_the_way_out(form: str) -> None:
    with pytest.raises(QueryError) as caught:
        load_text(
            f"CREATE TABLE t (n INT) WITH ('connector' = 'file', 'path' = 't', 'format' = '{form}'); SELECT n FROM t;",
            Path(),
            "q",
        )
    assert caught.value.problem == f"'format' cannot be '{form}'"
    advice = (
        "have the log written as Debezium, Maxwell or Canal write it: 'debezium-json', 'maxwell-json' or 'canal-json'"
    )
    assert (caught.value.instead or "").startswith(advice)

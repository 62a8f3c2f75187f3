"""Maxwell's and Canal's logs of changes: what becomes of each record, and of those that cannot be read. Messages are those of Flink's
pages on the two formats, less what MySQL calls its types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ouzel.connectors.formats import FORMATS, open_decoder
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.errors import ConnectorError, QueryError
from ouzel.session import load_text

COLUMNS: dict[str, pl.DataType] = {
    "id": pl.Int64(),
    "name": pl.String(),
    "description": pl.String(),
    "weight": pl.Decimal(10, 2),
}
SCOOTER = {"id": 111, "name": "scooter", "description": "Big 2-wheel scooter", "weight": 5.15}
HAMMER = {"id": 112, "name": "hammer", "description": None, "weight": 1}


def maxwell(kind: str, data: object, old: object = None, **more: object) -> dict[str, object]:
    """A message as Maxwell has it; without `old` where nothing was changed."""
    message = {
        "database": "inventory",
        "table": "products",
        "type": kind,
        "ts": 1596684904,
        "xid": 7201,
        "commit": True,
    }
    return {**message, "data": data, **({} if old is None else {"old": old}), "primary_key_columns": ["id"], **more}


def canal(kind: str, data: object, old: object = None, **more: object) -> dict[str, object]:
    """A message as Canal has it."""
    message = {"database": "inventory", "es": 1589373560000, "id": 9, "isDdl": False, "pkNames": ["id"], "sql": ""}
    return {"data": data, **message, "old": old, "table": "products", "ts": 1589373560798, "type": kind, **more}


def texts(row: Mapping[str, Any]) -> dict[str, str | None]:
    """The row as Canal has it: all values are text."""
    return {name: None if value is None else str(value) for name, value in row.items()}


def decode(
    form: str,
    *messages: object,
    columns: Mapping[str, pl.DataType] = COLUMNS,
    required: str = "",
    options: Mapping[str, str] | None = None,
) -> Decoded:
    decoder = open_decoder(form, options or {}, columns, frozenset(filter(None, required.split())))
    return decoder.decode(Records.of([json.dumps(message).encode() for message in messages]))


def told(decoded: Decoded) -> list[tuple[Any, ...]]:
    """Record, values and weight of each row."""
    assert decoded.kept is not None
    assert decoded.weights is not None
    rows = decoded.frame.rows()
    return [(int(at), *row, int(n)) for at, row, n in zip(decoded.kept, rows, decoded.weights, strict=True)]


def row(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a row is read as."""
    weight = values["weight"]
    return (values["id"], values["name"], values["description"], None if weight is None else Decimal(str(weight)))


LIGHTER = {**SCOOTER, "weight": 5.18}


def test_a_change_of_maxwell_is_a_row_that_goes_and_a_row_that_comes() -> None:
    found = decode(
        "maxwell-json",
        maxwell("insert", SCOOTER),
        maxwell("update", LIGHTER, {"weight": 5.15}),
        maxwell("delete", LIGHTER),
        maxwell("bootstrap-insert", HAMMER),
    )
    assert not found.bad
    assert told(found) == [
        (0, *row(SCOOTER), 1),
        (1, *row(SCOOTER), -1),
        (1, *row(LIGHTER), 1),
        (2, *row(LIGHTER), -1),
        (3, *row(HAMMER), 1),
    ]


def test_a_change_of_canal_is_as_many_rows_as_its_statement_touched() -> None:
    both, heavier = [SCOOTER, HAMMER], [{**SCOOTER, "weight": 6}, {**HAMMER, "name": "mallet"}]
    found = decode(
        "canal-json",
        canal("INSERT", [*map(texts, both)]),
        canal("UPDATE", [*map(texts, heavier)], [{"weight": "5.15"}, {"name": "hammer"}]),
        canal("DELETE", [*map(texts, heavier)]),
        canal("INSERT", []),
    )
    assert not found.bad
    assert told(found) == [
        (0, *row(SCOOTER), 1),
        (0, *row(HAMMER), 1),
        (1, *row(SCOOTER), -1),
        (1, *row(heavier[0]), 1),
        (1, *row(HAMMER), -1),
        (1, *row(heavier[1]), 1),
        (2, *row(heavier[0]), -1),
        (2, *row(heavier[1]), -1),
    ]


@pytest.mark.parametrize("form", ["maxwell-json", "canal-json"])
def test_a_field_that_was_null_is_told_from_one_that_has_not_changed(form: str) -> None:
    named = {**HAMMER, "description": "for nails"}
    messages = {
        "maxwell-json": maxwell("update", named, {"description": None}),
        "canal-json": canal("UPDATE", [texts(named)], [{"description": None}]),
    }
    same = {
        "maxwell-json": maxwell("update", HAMMER, {}),
        "canal-json": canal("UPDATE", [texts(HAMMER)], [{}]),
    }
    found = decode(form, messages[form], same[form])
    assert told(found) == [
        (0, *row(HAMMER), -1),
        (0, *row(named), 1),
        (1, *row(HAMMER), -1),
        (1, *row(HAMMER), 1),
    ]


@pytest.mark.parametrize("form", ["maxwell-json", "canal-json"])
def test_names_match_in_any_case_but_those_in_quotes(form: str) -> None:
    make = maxwell if form == "maxwell-json" else lambda kind, data, old: canal(kind.upper(), [data], [old])
    change = make("update", {"ID": 1, "NAME": "ann"}, {"Name": "bob"})
    columns: dict[str, pl.DataType] = {"id": pl.Int64(), "name": pl.String()}
    assert told(decode(form, change, columns=columns)) == [(0, 1, "bob", -1), (0, 1, "ann", 1)]
    exact = {"json.exact": "name"}
    assert told(decode(form, change, columns=columns, options=exact)) == [(0, 1, None, -1), (0, 1, None, 1)]


def test_what_canal_writes_as_text_is_of_the_columns_type() -> None:
    columns: dict[str, pl.DataType] = {
        "a": pl.Int8(), "b": pl.Boolean(), "c": pl.Float64(), "d": pl.Date(), "t": pl.Datetime("us"), "v": pl.String(),
    }  # fmt: skip
    values = {"a": "-7", "b": "1", "c": "1e3", "d": "2024-02-29", "t": "2024-02-29 12:00:00.5", "v": "007"}
    found = decode("canal-json", canal("INSERT", [values]), columns=columns)
    assert not found.bad
    (given,) = found.frame.rows()
    assert given[:3] == (-7, True, 1000.0)
    assert (str(given[3]), str(given[4]), given[5]) == ("2024-02-29", "2024-02-29 12:00:00.500000", "007")


DDL = {"isDdl": True, "sql": "CREATE TABLE products (id INT)"}


def test_what_is_told_of_tables_is_passed_over_but_for_rows_that_are_lost() -> None:
    found = decode(
        "canal-json",
        canal("CREATE", None, **DDL),
        canal("CINDEX", None, **DDL),
        canal("ALTER", None, **DDL),
        canal("INSERT", [texts(HAMMER)]),
        canal("TRUNCATE", None, **DDL),
        canal("ERASE", None, **DDL),
    )
    assert told(found) == [(3, *row(HAMMER), 1)]
    lost = "and a topology cannot take back rows that it does not know"
    assert found.bad == [(4, f"its 'type' is 'TRUNCATE', {lost}"), (5, f"its 'type' is 'ERASE', {lost}")]
    assert found.notes == ["the table inventory.products was altered: rows that were read before stay as they were"]
    found = decode(
        "maxwell-json",
        {"type": "database-create", "database": "inventory", "sql": "create database inventory"},
        {"type": "table-create", "database": "inventory", "table": "products", "def": {"columns": []}},
        maxwell("bootstrap-start", {}),
        maxwell("bootstrap-insert", HAMMER),
        maxwell("bootstrap-complete", {}),
        {"type": "table-drop", "database": "inventory", "table": "products"},
    )
    assert told(found) == [(3, *row(HAMMER), 1)]
    assert found.bad == [(5, f"its 'type' is 'table-drop', {lost}")]


def test_each_record_that_cannot_be_read_says_why_and_takes_no_other_with_it() -> None:
    found = decode(
        "canal-json",
        canal("UPDATE", [texts(LIGHTER)]),
        canal("UPDATE", [texts(LIGHTER), texts(HAMMER)], [{"weight": "5.15"}]),
        canal("INSERT", None),
        canal("INSERT", [texts(HAMMER), {**texts(SCOOTER), "id": "x"}]),
        canal("UPDATE", [texts(LIGHTER)], [{"id": "y"}]),
        canal("UPDATE", [texts(LIGHTER)], [{"id": None}]),
        canal("INSERT", ["no object"]),
        [1],
        canal("upsert", [texts(HAMMER)]),
        canal("UPDATE", [texts(LIGHTER)], ["no object"]),
        {"data": []},
        canal("INSERT", [texts(HAMMER)]),
        required="id",
    )
    assert told(found) == [(11, *row(HAMMER), 1)]
    assert [at for at, _ in found.bad] == list(range(11))
    reasons = [reason for _, reason in found.bad]
    assert reasons[0] == "its 'type' is 'UPDATE' and it has no 'old': a changed row has to say what it was"
    assert reasons[1] == "its 'type' is 'UPDATE' and 'old' has not as many rows as 'data'"
    assert reasons[2] == "its 'type' is 'INSERT' and it has no 'data': its rows have to be there"
    assert reasons[3] == "'x' does not fit column 'id' of type BIGINT"
    assert reasons[4] == "'y' does not fit column 'id' of type BIGINT"
    assert reasons[5] == "column 'id' may not be NULL"
    assert "is not JSON" in reasons[6]
    assert reasons[7] == "it is not a JSON object but an array"
    assert reasons[8] == "its 'type' is 'upsert', and a change has INSERT, UPDATE, DELETE"
    assert "not JSON" in reasons[9]
    assert reasons[10] == "its 'type' is missing, and a change has INSERT, UPDATE, DELETE"


def test_only_some_tables_are_read_and_several_are_told_of() -> None:
    messages = [
        canal("INSERT", [texts(SCOOTER)], table="products_2023"),
        canal("INSERT", [texts(HAMMER)], table="products_2024"),
        canal("TRUNCATE", None, table="orders"),
        canal("INSERT", [texts(HAMMER)], database="other"),
    ]
    found = decode(
        "canal-json",
        *messages,
        options={"canal-json.table.include": "products_.*", "canal-json.database.include": "inv|inventory"},
    )
    assert [line[0] for line in told(found)] == [0, 1]
    assert found.notes == [
        "the records are of several tables, which are read as one: inventory.products_2023, inventory.products_2024; "
        "'canal-json.table.include' = '...' reads only some"
    ]
    one = decode("canal-json", *messages, options={"canal-json.table.include": "products_2024"})
    assert [line[0] for line in told(one)] == [1]
    assert not one.notes


def test_a_name_that_is_no_regular_expression_is_refused() -> None:
    with pytest.raises(ConnectorError, match=r"'canal-json.table.include' = '\(' is no regular expression"):
        decode("canal-json", options={"canal-json.table.include": "("})


@pytest.mark.parametrize("form", ["maxwell-json", "canal-json"])
def test_rows_without_columns_are_counted(form: str) -> None:
    make = (
        maxwell if form == "maxwell-json" else lambda kind, data, old=None: canal(kind.upper(), [data], old and [old])
    )
    found = decode(form, make("insert", HAMMER), make("update", LIGHTER, {"weight": 1}), columns={})
    assert found.frame.height == 3
    assert found.weights is not None
    assert found.weights.tolist() == [1, -1, 1]


@pytest.mark.parametrize("form", ["maxwell-json", "canal-json"])
def test_no_records_are_no_rows(form: str) -> None:
    found = decode(form)
    assert found.frame.schema == COLUMNS
    assert not found.bad


def test_bytes_of_canal_are_refused() -> None:
    with pytest.raises(ConnectorError, match="column 'b' cannot be BYTES: Canal writes bytes as"):
        decode("canal-json", columns={"b": pl.Binary()})


@pytest.mark.parametrize("form", ["maxwell-json", "canal-json"])
def test_such_a_log_cannot_be_written(form: str, tmp_path: Path) -> None:
    query = f"""CREATE TABLE a (id INT) WITH ('connector' = 'file', 'path' = 'a.jsonl', 'format' = '{form}');
    INSERT INTO a SELECT id FROM a;"""
    with pytest.raises(QueryError, match=f"a cannot be written: the format '{form}' can only be read"):
        load_text(query, tmp_path, "q")
    assert FORMATS[form].readable_only

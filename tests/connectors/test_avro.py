"""Avro records become columns; each bad one is named, whatever it holds, and no other is misread because of it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import polars as pl
import pytest

from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.avro.schema import write_varint
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.errors import ConnectorError, NotSupported, QueryError
from ouzel.session import load_text
from ouzel.spark.batch.run import batch_run
from tests.effort import seeds

FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "long"},
    {"name": "name", "type": ["null", "string"]},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
    {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    {"name": "color", "type": ["null", {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}]},
    {"name": "tags", "type": {"type": "map", "values": ["null", "int"]}},
    {"name": "where", "type": {"type": "record", "name": "Place", "namespace": "geo", "fields": [{"name": "x", "type": "double"}]}},
    {"name": "way", "type": {"type": "array", "items": "geo.Place"}},
]  # fmt: skip
SCHEMA = {"type": "record", "name": "Event", "fields": FIELDS}
COLUMNS: dict[str, pl.DataType] = {
    "id": pl.Int64(),
    "name": pl.String(),
    "day": pl.Date(),
    "at": pl.Datetime("us", "UTC"),
    "price": pl.Decimal(9, 2),
    "color": pl.String(),
    "tags": pl.List(pl.Struct({"key": pl.String(), "value": pl.Int32()})),
    "where": pl.Struct({"x": pl.Float64()}),
    "way": pl.List(pl.Struct({"x": pl.Float64()})),
}


def encode(kind: Any, value: Any) -> bytes:
    """A value in Avro, as its specification says: the reference."""
    match kind:
        case [_, other]:
            return b"\0" if value is None else b"\2" + encode(other, value)
        case {"type": "record", "fields": fields}:
            return b"".join(encode(field["type"], value[field["name"]]) for field in fields)
        case {"type": "enum", "symbols": symbols}:
            return write_varint(symbols.index(value))
        case {"type": "map", "values": values}:
            entries = [encode("string", key) + encode(values, inner) for key, inner in value.items()]
            return (write_varint(len(entries)) + b"".join(entries) if entries else b"") + b"\0"
        case {"type": "array", "items": items}:
            items = FIELDS[7]["type"] if items == "geo.Place" else items
            parts = [encode(items, inner) for inner in value]
            return (write_varint(len(parts)) + b"".join(parts) if parts else b"") + b"\0"
        case {"type": inner}:
            return encode(inner, value)
        case "double":
            return struct.pack("<d", value)
        case "int" | "long":
            return write_varint(value)
    data = value.encode() if isinstance(value, str) else value
    return write_varint(len(data)) + data


def event(number: int) -> dict[str, Any]:
    """The values of a record as Avro has them."""
    return {
        "id": number - 5,
        "name": None if number % 3 == 0 else "é" * (number % 7),
        "day": 19_000 + number,
        "at": None if number % 4 == 0 else 1_700_000_000_123 + number,
        "price": (number - 50).to_bytes(2, "big", signed=True),
        "color": (None, "RED", "BLUE")[number % 3],
        "tags": {f"k{place}": None if place == 1 else place for place in range(number % 3)},
        "where": {"x": number / 4},
        "way": [{"x": float(place)} for place in range(number % 4)],
    }


def row(number: int) -> dict[str, Any]:
    """The values of its row."""
    made = event(number)
    at = made["at"] and datetime.fromtimestamp(made["at"] // 1_000, UTC).replace(microsecond=made["at"] % 1_000 * 1_000)
    tags = [{"key": key, "value": value} for key, value in made["tags"].items()]
    price = Decimal(number - 50).scaleb(-2)
    return made | {"day": date.fromordinal(719_163 + made["day"]), "at": at, "price": price, "tags": tags}


def decode(bodies: list[bytes]) -> Decoded:
    """What the format makes of them."""
    return open_decoder("avro", {"avro.schema": json.dumps(SCHEMA)}, COLUMNS).decode(Records.of(bodies))


def test_every_type_becomes_its_column(tmp_path: Path) -> None:
    bodies = [encode(SCHEMA, event(number)) for number in range(100)]
    assert decode(bodies).frame.to_dicts() == [row(number) for number in range(100)]
    (tmp_path / "event.avsc").write_text(json.dumps(SCHEMA))
    decoder = open_decoder("avro", {"avro.schema-file": "event.avsc"}, COLUMNS, directory=tmp_path)
    again = decoder.decode(Records.of(bodies))
    assert again.frame.to_dicts() == [row(number) for number in range(100)]
    assert decode([]).frame.height == 0


def check_damaged(seed: int) -> None:
    """Of sixty records one is cut short, one has another behind it, one has no such choice: they are named, and no other is misread."""
    random = Random(seed)
    bodies = [encode(SCHEMA, event(number)) for number in range(60)]
    odd = sorted(random.sample(range(60), 3))
    for place, damage in zip(odd, ("short", "long", "choice"), strict=True):
        body = bodies[place]
        longer = body + bodies[random.randrange(60)]
        bodies[place] = {"short": body[: random.randrange(len(body))], "long": longer, "choice": b"\0\7" + body[2:]}[
            damage
        ]
    decoded = decode(bodies)
    assert [index for index, _ in decoded.bad] == odd
    assert "schema" in decoded.bad[1][1]
    assert decoded.kept is not None
    assert decoded.kept.tolist() == [place for place in range(60) if place not in odd]
    assert decoded.frame.to_dicts() == [row(place) for place in range(60) if place not in odd]


@pytest.mark.parametrize("seed", seeds())
def test_a_bad_record_is_named_and_no_other_is_misread(seed: int) -> None:
    check_damaged(seed)


def test_a_mark_that_a_bad_record_runs_into_may_say_that_bytes_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_once = bytes.fromhex("036df8e179d7938231dad5cbeb3a0a94")
    monkeypatch.setattr("secrets.token_bytes", lambda size: drawn_once)
    check_damaged(6)


def of_field(kind: Any) -> dict[str, Any]:
    """The schema of a record with a field `x` of this type."""
    return {"type": "record", "name": "r", "fields": [{"name": "x", "type": kind}]}


ENUM = {"type": "enum", "name": "e", "symbols": ["A", "B"]}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}


@pytest.mark.parametrize(
    ("kind", "column", "good", "odd", "reason"),
    [
        (["null", ENUM], pl.String(), b"\2\2", b"\2\4", "choice 2 of 2"),
        (ENUM, pl.String(), b"\2", b"\1", "choice -1 of 2"),
        (DECIMAL, pl.Decimal(4, 1), b"\4\x27\x0f", b"\4\x27\x10", "more than 4 digits"),
        (DECIMAL, pl.Decimal(4, 1), b"\2\xff", b"\4\xd8\xf0", "more than 4 digits"),
        (["null", DECIMAL], pl.Decimal(4, 1), b"\0", b"\2" + write_varint(17) + bytes(17), "more than 4 digits"),
        (MILLIS, pl.Datetime("us", "UTC"), b"\2", write_varint(2**62), "a time that no TIMESTAMP can hold"),
        (of_field(MILLIS), pl.Struct({"x": pl.Datetime("us", "UTC")}), b"\2", write_varint(-(2**63)), "no TIMESTAMP"),
        ("string", pl.String(), b"\2a", b"\2\xff", "its field 'x' is not text in UTF-8"),
        ("bytes", pl.Binary(), b"\2a", write_varint(2**50) + b"a", "it ends inside its field 'x'"),
        ({"type": "array", "items": "bytes"}, pl.List(pl.Binary()), b"\2\2a\0", write_varint(2**40) + b"\0", "has 1099511627776 elements"),
    ],
    ids=str,
)  # fmt: skip
def test_a_value_that_is_none_of_its_type_is_a_bad_record(
    kind: Any, column: pl.DataType, good: bytes, odd: bytes, reason: str
) -> None:
    decoder = open_decoder("avro", {"avro.schema": json.dumps(of_field(kind))}, {"x": column})
    alone = decoder.decode(Records.of([good]))
    decoded = decoder.decode(Records.of([good, odd, good]))
    assert [index for index, _ in decoded.bad] == [1]
    assert reason in decoded.bad[0][1]
    assert decoded.frame.equals(pl.concat([alone.frame, alone.frame]))


UNREADABLE = [
    ({"type": "array", "items": ENUM}, "an enum inside another type in its field 'x'"),
    ({"type": "map", "values": ["null", ENUM]}, "an enum that may be null inside another type"),
    (of_field(ENUM), "an enum inside another type"),
    ([ENUM, "null"], "an enum that may be null inside another type, or with null behind it"),
    ("null", "nothing but null"),
    ({"type": "array", "items": "null"}, "nothing but null"),
    ({"type": "array", "items": {"type": "fixed", "name": "f", "size": 0}}, "a fixed of no bytes"),
    ({"type": "record", "name": "empty", "fields": []}, "a record of no fields"),
    ({"type": "fixed", "name": "f", "size": 20, "logicalType": "decimal", "precision": 38}, "a decimal of 20 bytes"),
]


@pytest.mark.parametrize(("kind", "problem"), UNREADABLE, ids=str)
def test_a_type_that_no_record_could_be_read_of_is_refused(kind: Any, problem: str) -> None:
    schema = of_field(kind) | {"fields": [*of_field(kind)["fields"], {"name": "id", "type": "long"}]}
    with pytest.raises(ConnectorError, match=problem):
        open_decoder("avro", {"avro.schema": json.dumps(schema)}, {"id": pl.Int64()})


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("{", "is not JSON"),
        ('"string"', "is not the schema of a record"),
        ({"type": "record", "name": "r", "fields": [{"name": "id", "type": ["null", "int", "string"]}]}, "a union of other than"),
        ({"type": "record", "name": "r", "fields": [{"name": "id", "type": ["null", "r"]}]}, "the type 'r' inside itself"),
        ({"type": "record", "name": "r", "fields": [{"name": "id", "type": "x.y"}]}, "which it does not define"),
        ({"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}, "declare it as the file has it"),
        ({"type": "record", "name": "r", "fields": [{"name": "other", "type": "string"}]}, "has no column 'id'"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_mapped_is_refused(schema: Any, problem: str) -> None:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    with pytest.raises(ConnectorError, match=problem):
        open_decoder("avro", {"avro.schema": text}, {"id": pl.Int64()})


@pytest.fixture
def registry() -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """A schema registry: its address, its schemas by path, and what it was asked."""
    schemas: dict[str, Any] = {}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if self.path in schemas else 404)
            self.end_headers()
            self.wfile.write(json.dumps(schemas.get(self.path, {})).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", schemas, asked
        server.shutdown()


def test_each_record_has_the_schema_of_its_number(registry: tuple[str, dict[str, Any], list[str]]) -> None:
    address, schemas, asked = registry
    older = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"}]}
    newer = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "Name", "type": ["null", "string"]}, {"name": "id", "type": "long"}],
    }
    schemas["/schemas/ids/7"] = {"schema": json.dumps(older)}
    schemas["/schemas/ids/65536"] = {"schema": json.dumps(newer)}
    schemas["/schemas/ids/9"] = {"schema": "message M {}", "schemaType": "PROTOBUF"}
    columns = {"id": pl.Int64(), "name": pl.String()}
    decoder = open_decoder("avro-confluent", {"schema-registry.url": address + "/"}, columns, frozenset(["name"]))
    body = encode(newer, {"Name": "ann", "id": 2})
    records = [
        b"\0\0\1\0\0" + body, b"\0\0\0\0\7" + encode(older, {"id": 1}), body, b"\0\0\0\0\3", b"\0\0\0\0\x09", b"\0\0\1\0\0" + body[:-1],
        b"\0\0\1\0\0" + encode(newer, {"Name": "bob", "id": 3}),
    ]  # fmt: skip
    for _ in range(2):
        decoded = decoder.decode(Records.of(records))
        assert decoded.frame.rows() == [(2, "ann"), (3, "bob")]
        assert decoded.kept is not None
        assert decoded.kept.tolist() == [0, 6]
        assert [(index, reason.split(";")[0]) for index, reason in decoded.bad] == [
            (1, "column 'name' may not be NULL"),
            (2, "it does not begin with a zero byte and the number of a schema"),
            (3, f"the schema registry {address} knows no schema 3"),
            (4, "its schema 9 is of type PROTOBUF, and the format 'avro-confluent' reads AVRO"),
            (5, "it ends inside its field 'id'"),
        ]
    assert len(asked) == 4


def test_records_without_any_of_the_columns_are_rows_of_nulls(registry: tuple[str, dict[str, Any], list[str]]) -> None:
    address, schemas, _ = registry
    other = {"type": "record", "name": "r", "fields": [{"name": "other", "type": "int"}]}
    schemas["/schemas/ids/1"] = {"schema": json.dumps(other)}
    records = Records.of([b"\0\0\0\0\1" + encode(other, {"other": number}) for number in range(5)])
    decoder = open_decoder("avro-confluent", {"schema-registry.url": address}, {"id": pl.Int64()})
    assert decoder.decode(records).frame.rows() == [(None,)] * 5


def test_a_registry_that_is_not_there_is_said() -> None:
    decoder = open_decoder("avro-confluent", {"schema-registry.url": "http://127.0.0.1:1"}, {"id": pl.Int64()})
    with pytest.raises(ConnectorError, match=r"does not answer to http://127\.0\.0\.1:1/schemas/ids/1"):
        decoder.decode(Records.of([b"\0\0\0\0\1\2"]))


def test_kafka_records_of_a_schema_are_planned_and_not_written(tmp_path: Path) -> None:
    def table(*more: str) -> str:
        options = "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't'"
        return f"CREATE TABLE t (id BIGINT) WITH ({', '.join((options, *more))});"

    registry = ("'format' = 'avro-confluent'", "'schema-registry.url' = 'http://r:8081'")
    assert "read_table(" in batch_run(load_text(f"{table(*registry)} SELECT id FROM t", tmp_path, "q")).text()
    with pytest.raises(QueryError, match="the format 'avro-confluent' can only be read"):
        load_text(f"{table(*registry)} INSERT INTO t SELECT 1", tmp_path, "q")
    with pytest.raises(QueryError, match=r"schema-registry\.url"):
        load_text(f"{table(registry[0])} SELECT id FROM t", tmp_path, "q")
    for more in ((), ("'avro.schema' = '{}'", "'avro.schema-file' = 'a'")):
        with pytest.raises(
            QueryError, match=r"needs its records' schema; write either 'avro\.schema-file' or 'avro\.schema'"
        ):
            load_text(table("'format' = 'avro'", *more) + " SELECT id FROM t", tmp_path, "q")
    flinks = table(registry[0], "'avro-confluent.url' = 'http://r:8081'", "'spark.source' = 'jvm'")
    with pytest.raises(NotSupported, match="Spark's own Kafka source cannot do 'format' = 'avro-confluent'"):
        batch_run(load_text(f"{flinks} SELECT id FROM t", tmp_path, "q")).text()

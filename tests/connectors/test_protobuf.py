"""Protobuf records become columns, by Protobuf's rules of presence; each bad one is named, wherever in it the fault lies."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from re import sub
from typing import Any

import polars as pl
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.json_format import ParseDict
from grpc_tools import protoc

from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.connectors.formats.protobuf.format import message_class
from ouzel.errors import ConnectorError, NotSupported, QueryError
from ouzel.session import load_text
from ouzel.spark.batch.run import batch_run
from tests.effort import seeds

PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Color { RED = 0; BLUE = 1; }
message Place { double x = 1; optional string city = 2; }
message Event {
  int64 id = 1;
  optional int32 age = 2;
  uint64 big = 3;
  uint32 half = 4;
  string name = 5;
  bytes raw = 6;
  bool open = 7;
  float share = 8;
  Color color = 9;
  google.protobuf.Timestamp at = 10;
  google.protobuf.StringValue note = 11;
  Place place = 12;
  repeated Place way = 13;
  repeated sint32 numbers = 14;
  map<string, int64> tags = 15;
  map<int32, Place> places = 16;
  oneof choice { string text = 17; int64 number = 18; }
  repeated google.protobuf.Timestamp times = 19;
  Event parent = 20;
  repeated uint64 bigs = 21;
  optional bool given = 22;
  google.protobuf.UInt64Value wrapped = 23;
  map<string, uint64> counts = 24;
  bytes HasField = 25;
}
"""

PLACE = pl.Struct({"x": pl.Float64(), "city": pl.String()})
UTC_TIME = pl.Datetime("us", "UTC")
COLUMNS: dict[str, pl.DataType] = {
    "id": pl.Int64(), "age": pl.Int32(), "big": pl.Int64(), "half": pl.Int64(), "name": pl.String(), "raw": pl.Binary(),
    "open": pl.Boolean(), "share": pl.Float32(), "color": pl.String(), "at": UTC_TIME, "note": pl.String(), "place": PLACE,
    "way": pl.List(PLACE), "numbers": pl.List(pl.Int32()), "tags": pl.List(pl.Struct({"key": pl.String(), "value": pl.Int64()})),
    "places": pl.List(pl.Struct({"key": pl.Int32(), "value": PLACE})), "text": pl.String(), "number": pl.Int64(),
    "given": pl.Boolean(), "times": pl.List(UTC_TIME), "parent": pl.Struct({"id": pl.Int64(), "parent": pl.Struct({"age": pl.Int32()})}),
}  # fmt: skip
EMPTY: dict[str, Any] = {
    "id": 0, "age": None, "big": 0, "half": 0, "name": "", "raw": b"", "open": False, "share": 0.0, "color": "RED", "at": None,
    "note": None, "place": None, "way": [], "numbers": [], "tags": [], "places": [], "text": None, "number": None, "times": [],
    "parent": None, "given": None,
}  # fmt: skip


def compile_proto(directory: Path, text: str) -> Path:
    """The text as a file of descriptors."""
    (directory / "a.proto").write_text(text)
    options = (f"-I{directory}", "--include_imports", f"--descriptor_set_out={directory / 'a.desc'}")
    shared = Path(protoc.__file__).parent / "_proto"
    assert protoc.main(["protoc", f"-I{shared}", *options, "a.proto"]) == 0
    return directory / "a.desc"


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_proto(tmp_path_factory.mktemp("proto"), PROTO)


def options(path: Path, message: str = "shop.Event") -> dict[str, str]:
    return {"protobuf.descriptor-file": str(path), "protobuf.message": message}


def decode(path: Path, bodies: list[bytes], columns: dict[str, pl.DataType] = COLUMNS) -> Decoded:
    """What the format makes of them."""
    return open_decoder("protobuf", options(path), columns).decode(Records.of(bodies))


def event(path: Path, **fields: Any) -> bytes:
    """A record, made of Protobuf's JSON by its own library."""
    data: bytes = ParseDict(fields, message_class(path, "shop.Event")()).SerializeToString()
    return data


def test_every_type_becomes_its_column(described: Path) -> None:
    make = partial(event, described)
    at = {"at": "2024-05-01T10:00:00.123456789Z", "times": ["1969-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z"]}
    full = make(
        id=-3, age=0, big=2**63 - 1, half=2**32 - 1, name="é", raw="AP8=", open=True, share=1.5, color="BLUE", note="",
        place={"x": 2}, way=[{"x": 1, "city": ""}, {}], numbers=[1, -1], tags={"b": 1, "a": 0}, places={"2": {}, "-1": {"x": 3}},
        text="", parent={"parent": {"age": 5}}, given=False, **at,
    )  # fmt: skip
    none = {"x": 0.0, "city": None}
    row = {
        "id": -3, "age": 0, "big": 2**63 - 1, "half": 2**32 - 1, "name": "é", "raw": b"\0\xff", "open": True, "share": 1.5,
        "color": "BLUE", "at": datetime(2024, 5, 1, 10, 0, 0, 123456, UTC), "note": "", "place": {"x": 2.0, "city": None},
        "way": [{"x": 1.0, "city": ""}, none], "numbers": [1, -1], "tags": [{"key": "a", "value": 0}, {"key": "b", "value": 1}],
        "places": [{"key": -1, "value": {"x": 3.0, "city": None}}, {"key": 2, "value": none}], "text": "", "number": None,
        "times": [datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime(1, 1, 1, tzinfo=UTC)],
        "parent": {"id": 0, "parent": {"age": 5}}, "given": False,
    }  # fmt: skip
    decoded = decode(described, [b"", full, b"", make(number=0), full])
    assert decoded.frame.to_dicts() == [EMPTY, row, EMPTY, EMPTY | {"number": 0}, row]
    assert not decoded.bad
    assert dict(decoded.frame.schema) == COLUMNS
    assert decode(described, []).frame.schema == COLUMNS
    assert decode(described, [full, b""], {}).frame.height == 2


def test_records_of_other_writers_are_read_as_protobuf_says(described: Path) -> None:
    unpacked, newer, again = b"\x70\2\x70\1", b"\x48\7", b"\x08\1\x62\x09\x09" + bytes(8) + b"\x08\2\x62\3\x12\1z"
    unknown = b"\xfa\x3f\2ab" + b"\x08\5"
    columns = {name: COLUMNS[name] for name in ("id", "numbers", "color", "place")}
    empty = {name: EMPTY[name] for name in columns}
    assert decode(described, [unpacked, newer, again, unknown], columns).frame.to_dicts() == [
        empty | {"numbers": [1, -1]},
        empty | {"color": "7"},
        empty | {"id": 2, "place": {"x": 0.0, "city": "z"}},
        empty | {"id": 5},
    ]


def test_columns_take_wider_types_and_names_in_any_case(described: Path) -> None:
    columns = {
        "ID": pl.Decimal(20, 0),
        "age": pl.Int64(),
        "AT": pl.Datetime("us"),
        "place": pl.Struct({"CITY": pl.String()}),
    }
    decoded = decode(
        described, [event(described, id=7, age=1, at="1970-01-01T00:00:01Z", place={"city": "x"})], columns
    )
    assert decoded.frame.rows() == [(7, 1, datetime(1970, 1, 1, 0, 0, 1), {"CITY": "x"})]


def test_bad_records_are_named_and_no_other_is_lost(described: Path) -> None:
    make = partial(event, described)
    late = b"\x52\x0a\x08" + b"\xff" * 8 + b"\x3f"
    bodies = [
        make(id=1), b"\x08", b"\0\0\0\0\7\0\x08\1", make(big=2**63), make(bigs=[1], id=2), make(bigs=[3, 2**64 - 1]), late,
        make(times=["2024-01-01T00:00:00Z"], id=3), make(), b"\x2a\1\xff",
        make(wrapped=2**63), make(counts={"a": 2**63}),
    ]  # fmt: skip
    counts = pl.List(pl.Struct({"key": pl.String(), "value": pl.Int64()}))
    decoded = decode(
        described, bodies, COLUMNS | {"bigs": pl.List(pl.Int64()), "wrapped": pl.Int64(), "counts": counts}
    )
    reasons = dict(decoded.bad)
    assert [*reasons] == [1, 2, 3, 5, 6, 9, 10, 11]
    assert "shop.Event" in reasons[1]
    assert "Confluent" in reasons[2]
    assert reasons[3] == "its field 'big' is 9223372036854775808, more than BIGINT holds"
    assert reasons[5] == "its field 'bigs' is 18446744073709551615, more than BIGINT holds"
    assert reasons[6].startswith("its field 'at' is no time of the years 1 to 9999")
    assert reasons[10] == "its field 'wrapped' is 9223372036854775808, more than BIGINT holds"
    assert reasons[11] == "its field 'counts' is 9223372036854775808, more than BIGINT holds"
    assert decoded.kept is not None
    assert decoded.kept.tolist() == [0, 4, 7, 8]
    assert decoded.frame["id"].to_list() == [1, 2, 3, 0]


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_whatever_a_record_holds_it_is_a_row_or_bad_and_its_neighbours_are_read(
    syntax: str, seed: int, described: Path, tmp_path: Path
) -> None:
    random = Random(seed)
    whole = event(
        described, id=1, name="é", color="BLUE", at="2024-05-01T10:00:00Z", note="n", place={"x": 2, "city": "c"}, text="t",
        way=[{"city": "w"}], tags={"a": 1, "b": 2}, places={"2": {"city": "p"}}, times=["2024-05-01T10:00:00Z"], parent={"id": 1},
    )  # fmt: skip
    older = PROTO.replace("proto3", "proto2").replace("\n  oneof", "\n  ONEOF")
    older = sub(r"\n  (?!repeated|map|optional|ONEOF)", "\n  optional ", older).replace("ONEOF", "oneof")
    older = older.replace("{ double x", "{ optional double x")
    path = described if syntax == "proto3" else compile_proto(tmp_path, older)
    bodies = [whole]
    for _ in range(200):
        body = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            body[random.randrange(len(body))] = random.choice((0xFF, 0, random.randrange(256)))
        bodies += [bytes(body[: random.choice((len(body), random.randrange(len(body))))]), whole]
    decoded = decode(path, bodies)
    odd = [index for index, _ in decoded.bad]
    kept = range(len(bodies)) if decoded.kept is None else decoded.kept.tolist()
    assert sorted([*kept, *odd]) == [*range(len(bodies))]
    good = decode(path, [whole]).frame
    assert decoded.frame[[row for row, index in enumerate(kept) if index % 2 == 0]].equals(pl.concat([good] * 201))


def test_a_column_that_may_not_be_null_needs_its_field(described: Path) -> None:
    decoder = open_decoder("protobuf", options(described), {"age": pl.Int32()}, frozenset(["age"]))
    decoded = decoder.decode(Records.of([b"\x10\1", b"", b"\x08", b"\x10\3"]))
    assert decoded.frame.rows() == [(1,), (3,)]
    assert [index for index, _ in decoded.bad] == [1, 2]


def test_what_proto2_leaves_open_is_null(tmp_path: Path) -> None:
    text = """syntax = "proto2"; message M {
        optional int32 a = 1 [default = 7]; required int32 b = 2; optional string s = 3;
        enum E { X = 1; Y = 2; } optional E e = 4; repeated group G = 5 { optional int32 g = 1; }
        map<string, string> m = 6;
    }"""
    path = compile_proto(tmp_path, text)
    columns = {
        "a": pl.Int32(),
        "b": pl.Int32(),
        "s": pl.String(),
        "e": pl.String(),
        "g": pl.List(pl.Struct({"g": pl.Int32()})),
        "m": pl.List(pl.Struct({"key": pl.String(), "value": pl.String()})),
    }
    decoder = open_decoder("protobuf", options(path, "M"), columns)
    odd_key = b"\x32\5\x0a\1\xff\x12\0\x32\4\x0a\0\x12\0"
    decoded = decoder.decode(Records.of([b"", b"\x1a\1\xff", b"\x20\2\x2b\x08\1\x2c", b"\x20\x09", odd_key]))
    nothing = (None, None, None, None, [], [])
    assert decoded.frame.rows() == [nothing, (None, None, None, "Y", [{"g": 1}], []), nothing]
    assert decoded.bad == [(1, "its field 's' is not UTF-8"), (4, "its field 'm' is not UTF-8")]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"aeg": pl.Int32()}, "the message shop.Event has no field 'aeg'; did you mean 'age'?"),
        ({"zzzz": pl.Int32()}, "the message shop.Event has no field 'zzzz'; it has id, age, big"),
        ({"place": pl.Struct({"cty": pl.String()})}, "the message shop.Place has no field 'cty'; did you mean 'city'?"),
        ({"place": pl.String()}, "the field shop.Event.place is the message shop.Place; declare it ROW<x DOUBLE, city VARCHAR>"),
        ({"way": PLACE}, "declare it as the file has it"),
        ({"numbers": pl.Int32()}, "holds column 'numbers' as ARRAY<INT>"),
        ({"half": pl.Int32()}, "holds column 'half' as BIGINT"),
        ({"name": pl.Int32()}, "holds column 'name' as VARCHAR"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)  # fmt: skip
def test_what_cannot_be_mapped_is_refused(described: Path, columns: dict[str, pl.DataType], problem: str) -> None:
    with pytest.raises(ConnectorError) as refused:
        open_decoder("protobuf", options(described), columns)
    assert problem in str(refused.value)


def test_descriptors_that_cannot_be_used_are_refused(described: Path, tmp_path: Path) -> None:
    def refusal(path: Path, message: str) -> str:
        with pytest.raises(ConnectorError) as refused:
            open_decoder("protobuf", options(path, message), {"id": pl.Int64()})
        return str(refused.value)

    assert "cannot be read" in refusal(tmp_path / "none", "M")
    assert "has no message 'Event'; did you mean 'shop.Event'?" in refusal(described, "Event")
    assert "has no message 'shop.Evnt'; did you mean 'shop.Event'?" in refusal(described, "shop.Evnt")
    source = described.with_name("a.proto")
    assert "protoc --include_imports --descriptor_set_out=" in refusal(source, "shop.Event")
    alone = FileDescriptorSet.FromString(described.read_bytes())
    del alone.file[:-1]
    (tmp_path / "alone.desc").write_bytes(alone.SerializeToString())
    assert "protoc --include_imports" in refusal(tmp_path / "alone.desc", "shop.Event")


def test_kafka_records_of_a_message_are_planned_and_not_written(tmp_path: Path) -> None:
    def table(*more: str) -> str:
        given = "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't', 'format' = 'protobuf'"
        return f"CREATE TABLE t (id BIGINT) WITH ({', '.join((given, *more))});"

    both = ("'protobuf.descriptor-file' = 'a.desc'", "'protobuf.message' = 'shop.Event'")
    assert "read_table(" in batch_run(load_text(f"{table(*both)} SELECT id FROM t", tmp_path, "q")).text()
    with pytest.raises(QueryError, match="the format 'protobuf' can only be read"):
        load_text(f"{table(*both)} INSERT INTO t SELECT 1", tmp_path, "q")
    with pytest.raises(QueryError, match=r"needs 'protobuf\.message'"):
        load_text(f"{table(both[0])} SELECT id FROM t", tmp_path, "q")
    flinks = {
        "'protobuf.message-class-name' = 'a.B'": r"write 'protobuf\.message' = 'package\.Message'",
        "'protobuf.ignore-parse-errors' = 'true'": r"write 'false', or 'bad\.record' = 'skip'",
        "'protobuf.read-default-values' = 'true'": r"write COALESCE",
    }
    for option, problem in flinks.items():
        with pytest.raises(QueryError, match=problem):
            load_text(f"{table(*both, option)} SELECT id FROM t", tmp_path, "q")
    jvm = table(*both, "'spark.source' = 'jvm'")
    with pytest.raises(NotSupported, match="Spark's own Kafka source cannot do 'format' = 'protobuf'"):
        batch_run(load_text(f"{jvm} SELECT id FROM t", tmp_path, "q")).text()

"""Records of Protobuf read in columns from their bytes: exactly what Protobuf's own library makes of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from google.protobuf.json_format import ParseDict

from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.connectors.formats.protobuf.format import message_class
from ouzel.connectors.formats.protobuf.wire import WireMessage
from tests.connectors.test_protobuf import COLUMNS, PROTO, compile_proto
from tests.effort import seeds

PLAIN = PROTO.replace("Event parent = 20", "Place parent = 20").replace(
    "bytes HasField",
    "sint64 back = 26; sfixed32 four = 27; fixed64 eight = 28; repeated bool flags = 29;\n  bytes HasField",
)
READ: dict[str, pl.DataType] = {
    **{name: kind for name, kind in COLUMNS.items() if name != "parent"}, "wrapped": pl.Int64(), "bigs": pl.List(pl.Int64()),
    "counts": pl.List(pl.Struct({"key": pl.String(), "value": pl.Int64()})), "back": pl.Int64(), "four": pl.Int32(), "eight": pl.Int64(),
    "flags": pl.List(pl.Boolean()),
}  # fmt: skip


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_proto(tmp_path_factory.mktemp("plain"), PLAIN)


@cache
def decoders(path: Path, columns: tuple[str, ...]) -> list[Any]:
    """Two decoders of these columns."""
    options = {"protobuf.descriptor-file": str(path), "protobuf.message": "shop.Event"}
    return [open_decoder("protobuf", options, {name: READ[name] for name in columns}) for _ in range(2)]


event_class = cache(message_class)


def both(
    path: Path, bodies: list[bytes], columns: dict[str, pl.DataType], plain: bool = False
) -> tuple[Decoded, Decoded]:
    """What is made of them by us, of `plain` ones without the library's help, and by the library alone."""
    ours, theirs = decoders(path, tuple(columns))
    assert isinstance(ours._wire, WireMessage)
    theirs._wire = None
    assert not plain or ours._wire.read_records(Records.of(bodies), {}) is not None
    return ours.decode(Records.of(bodies)), theirs.decode(Records.of(bodies))


def drawn(path: Path, random: Random) -> bytes:
    """A record with some of the fields."""

    def numbers(bits: int, low: int = 0) -> int:
        return random.choice((0, 1, low, 2**bits - 1, random.randrange(low, 2**bits)))

    def text() -> str:
        return random.choice(("", "a", "é\U0001f600", "x" * 200))

    def place() -> dict[str, Any]:
        return random.choice(({}, {"x": random.random()}, {"city": text()}, {"x": -0.0, "city": ""}))

    times = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.123456789Z"
    every: dict[str, Any] = {
        "id": numbers(63, -(2**63)), "age": numbers(31, -(2**31)), "big": numbers(63), "half": numbers(32), "name": text(), "raw": "AP8=",
        "open": random.random() < 0.5, "share": 1.5, "color": random.choice(("RED", "BLUE")), "at": random.choice(times), "note": text(),
        "place": place(), "way": [place() for _ in range(random.randrange(4))], "numbers": [numbers(31, -(2**31)) for _ in range(3)],
        "tags": {text(): numbers(63) for _ in range(3)}, "places": {str(numbers(31, -(2**31))): place() for _ in range(3)},
        random.choice(("text", "number")): "7", "times": [random.choice(times)], "bigs": [numbers(63)] * 2, "given": False,
        "wrapped": numbers(63), "counts": {text(): numbers(63)}, "HasField": "AA==", "back": numbers(63, -(2**63)),
        "four": numbers(31, -(2**31)), "eight": numbers(63), "flags": [True, False], "parent": place(),
    }  # fmt: skip
    kept = {name: value for name, value in every.items() if random.random() < 0.7}
    data: bytes = ParseDict(kept, event_class(path, "shop.Event")()).SerializeToString()
    return data


@pytest.mark.parametrize("seed", seeds())
def test_plain_records_are_read_as_the_library_reads_them(described: Path, seed: int) -> None:
    random = Random(seed)
    bodies = [drawn(described, random) for _ in range(50)]
    columns = {name: kind for name, kind in READ.items() if random.random() < 0.8} or READ
    ours, theirs = both(described, bodies, columns, plain=True)
    assert ours.frame.equals(theirs.frame)
    assert not ours.bad
    assert ours.frame.schema == columns


@pytest.mark.parametrize("seed", seeds())
def test_damaged_records_are_what_the_library_finds_them_to_be(described: Path, seed: int) -> None:
    random = Random(seed)
    for _ in range(15):
        body = bytearray(drawn(described, random) or b"\0")
        for _ in range(random.randint(1, 3)):
            body[random.randrange(len(body))] = random.choice((0xFF, 0, random.randrange(256)))
        bodies = [drawn(described, random), bytes(body[: random.choice((len(body), random.randrange(len(body) + 1)))])]
        ours, theirs = both(described, bodies, READ)
        assert ours.frame.equals(theirs.frame), bodies
        assert list(ours.bad) == list(theirs.bad), bodies


def test_pieces_of_fields_are_read_as_the_library_reads_them(described: Path) -> None:
    packed_twice, unpacked, mixed = b"\x72\2\2\1\x72\1\4", b"\x70\2\x70\1", b"\x70\2\x72\1\4"
    other_wire, choice_again = b"\x0d\1\2\3\4\x0a\1a", b"\x8a\1\1a\x90\1\5\x8a\1\1b"
    message_twice, key_twice = b"\x62\x09\x09" + bytes(8) + b"\x62\3\x12\1z", b"\x7a\5\x0a\1a\x10\1\x7a\5\x0a\1a\x10\2"
    empty_entry, group, long_tag = b"\x7a\0", b"\xfb\3\xfc\3", b"\x88\x80\x80\x80\x80\0\5"
    odd_number, not_utf8, inside = b"\x08" + b"\xff" * 9 + b"\7", b"\x2a\1\xff", b"\xa2\1\3\x12\1\xff"
    for body in (packed_twice, unpacked, mixed, other_wire, choice_again, message_twice, key_twice, empty_entry, group, long_tag,
                 odd_number, not_utf8, inside):  # fmt: skip
        for columns in (READ, {"id": READ["id"]}, {}):
            ours, theirs = both(described, [b"\x08\1", body], columns)
            assert ours.frame.equals(theirs.frame), body
            assert list(ours.bad) == list(theirs.bad), body

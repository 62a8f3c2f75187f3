"""Messages survive the wire whatever their columns are."""

from __future__ import annotations

import socket
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    VARCHAR,
    ArrayType,
    DecimalType,
    Field,
    MapType,
    RowType,
    Schema,
)  # fmt: skip
from ouzel.errors import TopologyError
from ouzel.planner.topology import Component, Output, Topology
from ouzel.runtime.protocol.messages import END_OF_TIME, Ack, Data, Fail, Message, Root, Stalled, TimeStatus, Watermark
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.frames import Codec
from ouzel.runtime.wire.stream import (
    FRAME_BYTES_MAX,
    PREFIX,
    STRANGERS_BYTES_MAX,
    Closed,
    Frame,
    Inbound,
    Outbound,
    pack_header,
)

EVERY_TYPE = Schema(
    tuple(
        Field(f"c{number}", kind)
        for number, kind in enumerate(
            (
                BOOLEAN, INT, BIGINT, FLOAT, DOUBLE, VARCHAR, BYTES, DATE, TIMESTAMP, TIMESTAMP_LTZ, INTERVAL, DecimalType(38, 4),
                ArrayType(VARCHAR), MapType(VARCHAR, BIGINT), RowType((("a", INT), ("b", ArrayType(BYTES)))),
            )
        )
    )
)  # fmt: skip
WORDS = Schema((Field("word", VARCHAR), Field("n", BIGINT)))


def codec(schema: Schema, retracts: bool = False) -> Codec:
    return Codec(Topology("t", (Component("spout", 1, (), (Output(schema, retracts),)),)))


def data(frame: pl.DataFrame, roots: tuple[Root, ...] = (), edges: tuple[int, ...] = ()) -> Data:
    return Data(0, 1, 2, 2**64 - 3, roots, frame, edges)


def pairs() -> tuple[socket.socket, socket.socket]:
    left, right = socket.socketpair()
    left.setblocking(False)
    right.setblocking(False)
    return left, right


def through_a_socket(coder: Codec, messages: list[Message]) -> list[Message]:
    left, right = pairs()
    out, into, frames = Outbound(), Inbound(), list[Frame]()
    for message in messages:
        out.put(coder.encode(message))
    while len(frames) < len(messages):
        out.flush(left)
        frames += into.receive(right)
    assert not out.bytes
    return [coder.decode(frame) for frame in frames]


def test_every_type_and_null_survives() -> None:
    moment = datetime(2013, 1, 1, 5, 15, 0, 123456)
    row = [
        True, 1, -5, 1.5, float("-inf"), "ouzel", b"\x00\xff", date(1, 1, 1), moment, moment, timedelta(days=-1), Decimal("1.2345"),
        ["a", None, "a longer text than fits a view"], [{"key": "k", "value": 1}], {"a": 1, "b": [b"x", None]},
    ]  # fmt: skip
    frame = pl.DataFrame([row, [None] * len(row)], schema=EVERY_TYPE.polars(), orient="row")
    (got,) = through_a_socket(codec(EVERY_TYPE), [data(frame)])
    assert isinstance(got, Data)
    assert got.frame.schema == frame.schema
    assert got.frame.equals(frame)


def test_control_messages_survive_in_order_between_rows() -> None:
    root = Root(7, (3 << 32) + 9, 2, (3 << 32) + 4)
    frame = pl.DataFrame({"word": ["a", "b"], "n": [1, 2]})
    messages: list[Message] = [
        data(frame, (root, Root(8, 1, 1)), (2**64 - 1, 5)), Ack(7, root, 2**63 + 1), Fail(7, root),
        Watermark(1, 2, -5, TimeStatus.IDLE), Watermark(1, 2, 7, TimeStatus.PAUSED, 2**62),
        Watermark(1, 2, END_OF_TIME, TimeStatus.FINISHED), Stalled(3, 4), data(frame.clear()),
    ]  # fmt: skip
    got = through_a_socket(codec(WORDS), messages)
    assert got[1:-1] == messages[1:-1]
    first, last = got[0], got[-1]
    assert isinstance(first, Data)
    assert isinstance(last, Data)
    assert (first.id, first.roots, first.source, first.destination) == (2**64 - 3, (root, Root(8, 1, 1)), 1, 2)
    assert list(first.leaves) == [(root, 2**64 - 1), (Root(8, 1, 1), 5)]
    assert first.frame.equals(frame)
    assert last.frame.schema == frame.schema
    assert not last.frame.height


def test_a_frame_says_in_which_spans_it_was_made_only_if_a_root_is_traced() -> None:
    frame, roots = pl.DataFrame({"word": ["a"], "n": [1]}), (Root(7, 1, 0), Root(8, 2, 0))
    plain, traced = data(frame, roots), replace(data(frame, roots), spans=(2**64 - 1, 0))
    coder = codec(WORDS)
    before, after = through_a_socket(coder, [plain, traced])
    assert isinstance(before, Data)
    assert isinstance(after, Data)
    assert (before.spans, after.spans) == ((), (2**64 - 1, 0))
    frames = list[Frame]()
    left, right = pairs()
    out, into = Outbound(), Inbound()
    out.put(coder.encode(plain))
    while not frames:
        out.flush(left)
        frames += into.receive(right)
    assert not [field.name for field, _ in frames[0].header().ListFields() if field.name == "spans"]
    assert sum(map(len, coder.encode(traced))) - sum(map(len, coder.encode(plain))) <= 8 * 2 + 2 + 7  # padded to 8


@pytest.mark.parametrize("length", [3, 40])
def test_strings_picked_from_a_large_column_do_not_drag_it_along(length: int) -> None:
    column = pl.Series("word", [f"{number:0{length}}" for number in range(100_000)])
    frame = pl.DataFrame({"word": column.gather(range(0, 1000, 7)), "n": range(143)})
    buffers = codec(WORDS).encode(data(frame))
    assert sum(map(len, buffers)) < 143 * (length + 40) + 1000
    (got,) = through_a_socket(codec(WORDS), [data(frame)])
    assert isinstance(got, Data)
    assert got.frame.equals(frame)


def test_frames_larger_than_a_chunk_and_frames_cut_anywhere() -> None:
    big = pl.DataFrame({"word": ["x" * 100] * 40_000, "n": range(40_000)})
    small = pl.DataFrame({"word": ["y"], "n": [1]})
    frames = [big, small, small, big, small] + [
        small.with_columns(pl.lit("z" * size).alias("word")) for size in range(0, 3000, 7)
    ]
    got = through_a_socket(codec(WORDS), [data(frame) for frame in frames])
    assert all(isinstance(one, Data) and one.frame.equals(frame) for one, frame in zip(got, frames, strict=True))


def test_a_chunk_that_ends_within_a_prefix() -> None:
    left, right = pairs()
    out, into, coder = Outbound(), Inbound(), codec(WORDS)
    got: list[Frame] = []
    root = Root(1, 1, 1)
    for number in range(70_000):
        out.put(coder.encode(Ack(1, root, number)))
    while out.bytes:
        out.flush(left)
        got += into.receive(right)
    while len(got) < 70_000:
        got += into.receive(right)
    assert [coder.decode(frame).xor for frame in got[::1000]] == list(range(0, 70_000, 1000))  # type: ignore[union-attr]


def test_a_weight_column_travels_last() -> None:
    frame = pl.DataFrame({"word": ["a"], "n": [1], "$weight": [-1]})
    (got,) = through_a_socket(codec(WORDS, retracts=True), [data(frame)])
    assert isinstance(got, Data)
    assert got.frame.equals(frame)


def test_columns_in_another_order_or_of_a_narrower_type_are_put_right() -> None:
    frame = pl.DataFrame({"n": pl.Series([1], dtype=pl.Int8), "word": ["a"]})
    (got,) = through_a_socket(codec(WORDS), [data(frame)])
    assert isinstance(got, Data)
    assert got.frame.equals(pl.DataFrame({"word": ["a"], "n": [1]}))


def test_rows_that_do_not_fit_the_declared_output_are_refused() -> None:
    with pytest.raises(
        TopologyError, match=r"'spout' emitted \(wort String\), but its declared output is \(word String, n Int64\)"
    ):
        codec(WORDS).encode(data(pl.DataFrame({"wort": ["a"]})))


def test_a_frame_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.runtime.wire.stream.FRAME_BYTES_MAX", 1000)
    with pytest.raises(TopologyError, match=r"more than the 0 MiB a frame may have; lower batch\.rows"):
        codec(WORDS).encode(data(pl.DataFrame({"word": ["a" * 5000], "n": [1]})))


def test_nonsense_closes_the_connection() -> None:
    left, right = pairs()
    left.sendall(b"\xff" * 64)
    with pytest.raises(Closed):
        Inbound().receive(right)
    left.close()
    with pytest.raises(Closed):
        Inbound().receive(right)


def test_after_a_lost_connection_only_unseen_frames_go_again() -> None:
    left, right = pairs()
    out, coder = Outbound(), codec(WORDS)
    root = Root(1, 1, 1)
    for number in range(5):
        out.put(coder.encode(Ack(1, root, number)))
    sent = out.flush(left)
    for number in range(5, 7):
        out.put(coder.encode(Ack(1, root, number)))
    out.rewind(sent[3:])
    left, right = pairs()
    out.flush(left)
    assert [coder.decode(frame).xor for frame in Inbound().receive(right)] == [3, 4, 5, 6]  # type: ignore[union-attr]


@given(st.binary(max_size=400), st.integers(1, 64))
def test_any_bytes_are_frames_or_end_the_connection(text: bytes, step: int) -> None:
    left, right = pairs()
    into = Inbound(STRANGERS_BYTES_MAX)
    with left, right:
        try:
            for at in range(0, len(text), step):
                left.sendall(text[at : at + step])
                for frame in into.receive(right):
                    assert len(frame.view) <= STRANGERS_BYTES_MAX + 32
                    frame.header()
                    frame.body()
        except Closed:
            pass


def test_what_a_stranger_says_of_its_length_is_not_believed() -> None:
    left, right = pairs()
    with left, right:
        left.sendall(PREFIX.pack(10, 250 << 20, 1, 0))
        with pytest.raises(Closed):
            Inbound(STRANGERS_BYTES_MAX).receive(right)


def test_a_large_frame_behind_an_introduction_is_read_when_the_limit_is_raised() -> None:
    left, right = pairs()
    hello, large = (
        pack_header(wire_pb2.HELLO, 0, wire_pb2.Header()),
        pack_header(wire_pb2.DATA, 1, wire_pb2.Header(), 8_000),
    )
    into = Inbound(STRANGERS_BYTES_MAX)
    with left, right:
        left.sendall(hello + large + bytes(8_000))
        assert [frame.kind for frame in into.receive(right)] == [wire_pb2.HELLO]
        into.limit = FRAME_BYTES_MAX
        assert [len(frame.body()) for frame in into.rest()] == [8_000]


def test_a_long_frame_that_goes_on_arriving_is_known_and_whom_it_is_for() -> None:
    """Nothing is said of a frame that stands still, nor while others are completed."""
    left, right = pairs()
    into, body = Inbound(), bytes(3_000)
    frame = pack_header(wire_pb2.DATA, 42, wire_pb2.Header(), len(body)) + body
    with left, right:
        left.sendall(frame + frame[:8])
        into.receive(right)
        assert into.arriving() is None, "so little does not say whom it is for"
        said = []
        for at in (8, 1_000, 2_000):
            left.sendall(frame[at : at + 900])
            into.receive(right)
            said.append(into.arriving())
        assert said == [42, 42, 42]
        assert into.arriving() is None, "nothing has come since"


def test_a_frame_among_others_is_not_long() -> None:
    left, right = pairs()
    into = Inbound()
    frame = pack_header(wire_pb2.DATA, 42, wire_pb2.Header(), 800) + bytes(800)
    with left, right:
        for _ in range(3):
            left.sendall(frame + frame[:100])
            into.receive(right)
            assert into.arriving() is None
            left.sendall(frame[100:])
            into.receive(right)

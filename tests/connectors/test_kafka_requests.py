"""What a broker is sent: record batches as linger, compression and partitioner have them, and offsets that are seldom committed."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from confluent_kafka import Consumer, TopicPartition

from ouzel.connectors import open_sink
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.servers.waiting import wait_until

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker

COLUMNS = {"id": pl.Int64(), "word": pl.String()}
JAVAS = {
    "21": 0,
    "foobar": 2,
    "a-little-bit-long-string": 0,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": 1,
    "abc": 3,
}
"""In which of four partitions Java's producer puts these keys: the hashes are those of Kafka's own tests of its murmur2."""

CODECS = {"none": 0, "gzip": 1, "lz4": 3, "zstd": 4}
_LENGTH_AT, _ATTRIBUTES_AT = 8, 21


def batches(kafka: KafkaBroker, topic: str) -> Iterator[int]:
    """The codec of each record batch that the broker has on disk."""
    for log in sorted((kafka.directory / "log").glob(f"{topic}-*/*.log")):
        data, at = log.read_bytes(), 0
        while at + _ATTRIBUTES_AT + 2 <= len(data):
            yield struct.unpack_from(">h", data, at + _ATTRIBUTES_AT)[0] & 7
            at += 12 + int(struct.unpack_from(">i", data, at + _LENGTH_AT)[0])


def opened(kafka: KafkaBroker, topic: str, **properties: str) -> SinkWriter:
    """A sink of a topic of one partition, which it makes."""
    kafka.create_topic(topic, 1)
    options = {"bootstrap.servers": kafka.address, "topic": topic, "format": "json"}
    options |= {f"properties.{name.replace('_', '.')}": value for name, value in properties.items()}
    return open_sink("kafka", SinkRequest("out", options, COLUMNS, "append", Path(".")))


def write(kafka: KafkaBroker, topic: str, rows: int, **properties: str) -> None:
    """Rows, ten at a time."""
    sink = opened(kafka, topic, **properties)
    for first in range(0, rows, 10):
        sink.write(first, ten(first))
    sink.flush()
    sink.close()


def ten(first: int) -> pl.DataFrame:
    """Ten rows."""
    return pl.DataFrame({"id": range(first, first + 10), "word": ["word " * 20] * 10}, schema=COLUMNS)


@pytest.mark.parametrize("codec", CODECS)
def test_batches_are_compressed_as_the_properties_say(kafka: KafkaBroker, codec: str) -> None:
    write(kafka, f"packed-{codec}", 1_000, compression_type=codec)
    assert set(batches(kafka, f"packed-{codec}")) == {CODECS[codec]}


def test_rows_that_linger_go_in_fewer_batches(kafka: KafkaBroker) -> None:
    lingering, hasty = (opened(kafka, name, linger_ms=ms) for name, ms in (("lingering", "600000"), ("hasty", "0")))
    for number in range(10):
        for sink in (lingering, hasty):
            sink.write(number, ten(10 * number))
        wait_until(lambda most=number: sum(1 for _ in batches(kafka, "hasty")) > most)
    assert list(batches(kafka, "lingering")) == [], "it waits for more, or for a flush"
    for sink in (lingering, hasty):
        sink.flush()
        sink.close()
    assert 1 <= sum(1 for _ in batches(kafka, "lingering")) < 10


def test_a_key_is_where_javas_producers_put_it(kafka: KafkaBroker) -> None:
    kafka.create_topic("keyed", 4)
    options = {"bootstrap.servers": kafka.address, "topic": "keyed", "format": "json", "key.fields": "word"}
    sink = open_sink("kafka", SinkRequest("out", options, COLUMNS, "append", Path(".")))
    sink.write(1, pl.DataFrame({"id": range(len(JAVAS)), "word": [*JAVAS]}, schema=COLUMNS))
    sink.flush()
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "keyed"})
    consumer.assign([TopicPartition("keyed", number, 0) for number in range(4)])
    found: dict[str, int] = {}
    while len(found) < len(JAVAS):
        found |= {message.key().decode(): message.partition() for message in consumer.consume(10, 1)}
    consumer.close()
    assert found == JAVAS


def test_offsets_are_committed_once_a_second_and_not_for_each_batch(kafka: KafkaBroker, tmp_path: Path) -> None:
    kafka.create_topic("many", 4)
    kafka.produce("many", [b'{"id": %d}' % number for number in range(40_000)])
    text = f"""CREATE TABLE many (id BIGINT) WITH ('connector' = 'kafka', 'bootstrap.servers' = '{kafka.address}', 'topic' = 'many',
      'format' = 'json', 'end' = 'latest', 'group' = 'rarely');
    CREATE TABLE out (id BIGINT) WITH ('connector' = 'blackhole'); INSERT INTO out SELECT id FROM many;"""
    before, began = sum(1 for _ in batches(kafka, "__consumer_offsets")), time.monotonic()
    handle = start(load_text(text, tmp_path, "rarely", (("batch.rows", "100"), ("max.pending.rows", "400"))), "memory")
    handle.wait(120)
    assert (handle.status().state, handle.status().rows_acked) == (RunState.FINISHED, 40_000)
    seconds = time.monotonic() - began
    handle.stop()
    commits = sum(1 for _ in batches(kafka, "__consumer_offsets")) - before
    print(f"{commits} commits for 400 batches in {seconds:.1f} s")
    assert 1 <= commits <= seconds + 2

"""Kafka: partitions that appear, records that are passed over, and a broker that demands TLS and a password."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from confluent_kafka import Message
from confluent_kafka.admin import AdminClient, NewPartitions

from ouzel.connectors import CONNECTORS, open_sink, open_source
from ouzel.connectors.kafka.discovery import Discovery
from ouzel.connectors.kafka.reader import KafkaReader, RecordDecoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import ReadBatch, Source, SourceRequest
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError
from tests.connectors.test_kafka import COLUMNS, events, read_all, request_for
from tests.servers.waiting import wait_until

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker


def grow_topic(kafka: KafkaBroker, topic: str, partitions: int) -> None:
    """Add partitions to a topic, and wait until it has so many."""
    admin = AdminClient({"bootstrap.servers": kafka.address})
    for grown in admin.create_partitions([NewPartitions(topic, partitions)]).values():
        grown.result(30)


def until_known(source: Source, names: set[str]) -> None:
    """Until these are the partitions, which is asked in the background."""
    wait_until(
        lambda: {partition.id for partition in source.partitions()} == names,
        told=lambda: [*source.partitions()],
        look_s=0.05,
    )


@pytest.mark.server
def test_partitions_and_topics_that_appear_are_read_from_their_beginning(kafka: KafkaBroker) -> None:
    kafka.create_topic("grows-a", 1)
    kafka.produce("grows-a", events(0, 10))
    options = {**request_for(kafka.address, "", start="latest", discovery_interval_ms="50").options}
    options["topic.pattern"] = "grows-.*"
    options.pop("topic")
    request = SourceRequest("events", options, COLUMNS, Path("."), name="grows")
    source = open_source("kafka", request)
    (first,) = source.partitions()
    assert (first.id, source.reader(first, None).pinned) == ("grows-a-0", 10)  # type: ignore[attr-defined]
    grow_topic(kafka, "grows-a", 2)
    kafka.create_topic("grows-b", 1)
    kafka.produce("grows-b", events(10, 20))
    until_known(source, {"grows-a-0", "grows-a-1", "grows-b-0"})
    starts = {part.id: source.reader(part, None).pinned for part in source.partitions()[1:]}  # type: ignore[attr-defined]
    assert starts == {"grows-a-1": 0, "grows-b-0": 0}
    source.close()
    again = open_source("kafka", replace(request, again=True))
    reader = again.reader(again.partitions()[-1], None)
    assert reader.pinned == 0, "it has no place, so it came after the run began"  # type: ignore[attr-defined]
    again.close()


def test_where_there_is_no_answer_partitions_stay_known() -> None:
    answers: list[list[str] | None] = [["a-0"], None, ["a-1"], []]

    def ask(seconds: float, first: bool) -> list[str]:
        answer = answers.pop(0)
        if answer is None:
            raise ConnectorError("away")
        return answer

    discovery, seen = Discovery(ask, 10, 0), []
    assert discovery.names() == ("a-0",)
    while answers:
        discovery.look()
        seen.append(discovery.names())
    assert seen == [("a-0",), ("a-0", "a-1"), ("a-0", "a-1")]
    assert (discovery.is_new("a-0"), discovery.is_new("a-1")) == (False, True)


@pytest.mark.server
def test_a_broker_that_demands_tls_and_a_password_is_read_and_written(
    kafka: KafkaBroker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tests.servers.kafka import PASSWORD, USER

    kafka.create_topic("secured", 1)
    password = tmp_path / "password"
    secure = {
        "bootstrap.servers": kafka.secure_address, "topic": "secured", "format": "json",
        "properties.security.protocol": "SASL_SSL", "properties.ssl.ca.location": str(kafka.certificate),
        "properties.sasl.mechanism": "PLAIN", "properties.sasl.username": USER,
        "properties.sasl.password": f"${{file:{password}}}", "connect.timeout.ms": "60000",
    }  # fmt: skip
    password.write_text(PASSWORD)
    sink = open_sink("kafka", SinkRequest("out", secure, COLUMNS, "append", Path(".")))
    sink.write(1, pl.DataFrame({"id": [1, 2], "word": ["a", "b"]}))
    sink.flush()
    sink.close()
    source = open_source(
        "kafka", SourceRequest("events", {**secure, "end": "latest"}, COLUMNS, Path("."), name="secured")
    )
    frame, _, _ = read_all(source)
    source.close()
    assert frame.rows() == [(1, "a"), (2, "b")]
    password.write_text(f"wrong-{PASSWORD}")
    refused = open_source("kafka", SourceRequest("events", secure, COLUMNS, Path("."), name="secured"))
    with pytest.raises(ConnectorError, match=r"[Aa]uthentication") as told:
        refused.partitions()
    assert PASSWORD not in str(told.value)


def record(number: int) -> Message:
    """What librdkafka hands over."""
    return Message(topic="t", partition=0, offset=number, value=b'{"id": %d, "word": "w"}' % number)


class Partitioned:
    """A connection whose newest record has the offset 99; it notes from where a partition was to be fetched."""

    def __init__(self) -> None:
        self.sought: list[int] = []
        self.held: list[bool] = []

    def hold(self, place: tuple[str, int], paused: bool) -> None:
        self.held.append(paused)

    def fetch(self) -> None:
        pass

    def last(self, place: tuple[str, int]) -> int:
        return 100

    def away(self, place: tuple[str, int]) -> str:
        return ""

    def seek(self, place: tuple[str, int], offset: int) -> None:
        self.sought.append(offset)


def test_what_is_shed_is_not_taken_though_it_comes() -> None:
    request, connection = request_for("b:1", "t"), Partitioned()
    decoder = RecordDecoder(request, TableOptions(CONNECTORS["kafka"], request.options))
    reader = KafkaReader(connection, ("t", 0), 0, None, decoder, pinned=False)  # type: ignore[arg-type]
    reader.take([record(number) for number in range(30)])
    reader.skip(20)
    assert (reader.position, reader.lag(), connection.sought) == (20, 80, [])
    reader.skip(50)
    reader.take([record(number) for number in range(30, 40)])
    reader.take([record(number) for number in range(40, 60)])
    batch = reader.read(100)
    assert isinstance(batch, ReadBatch)
    assert (connection.sought, batch.start, batch.end, batch.frame["id"].to_list()) == (
        [50],
        50,
        60,
        list(range(50, 60)),
    )


def test_long_records_are_held_back_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.connectors.kafka.reader._QUEUE_BYTES_MAX", 1 << 20)
    monkeypatch.setattr("ouzel.connectors.kafka.reader._BATCH_BYTES", 1 << 18)
    request, connection = request_for("b:1", "t"), Partitioned()
    decoder = RecordDecoder(request, TableOptions(CONNECTORS["kafka"], request.options))
    reader = KafkaReader(connection, ("t", 0), 0, None, decoder, pinned=False)  # type: ignore[arg-type]
    word = "w" * (1 << 16)
    for first in range(0, 20, 2):
        reader.take(
            [
                Message(
                    topic="t", partition=0, offset=number, value=b'{"id": %d, "word": "%b"}' % (number, word.encode())
                )
                for number in (first, first + 1)
            ]
        )
    assert connection.held == [True], "sixteen of them are a megabyte"
    batches = []
    while isinstance(batch := reader.read(10_000), ReadBatch):
        batches.append(batch)
    assert [number for batch in batches for number in batch.frame["id"].to_list()] == list(range(20))
    assert max(batch.frame.height for batch in batches) <= 4
    assert connection.held == [True, False]

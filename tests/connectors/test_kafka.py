"""Kafka, through a real broker."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ouzel.connectors import CONNECTORS, check_options, open_sink, open_source
from ouzel.connectors.kafka.identity import topic_ids
from ouzel.connectors.reading import BadRow, Committed, ReadBatch, Reader, ReadState, Source, SourceRequest, Unreachable
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, QueryError
from tests.servers.waiting import wait_until

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker

COLUMNS = {"id": pl.Int64(), "word": pl.String()}


def request_for(address: str, topic: str, columns: Mapping[str, pl.DataType] = COLUMNS, **more: str) -> SourceRequest:
    options = {"bootstrap.servers": address, "topic": topic, "format": "json"}
    options |= {name.replace("_", "."): value for name, value in more.items()}
    return SourceRequest("events", options, columns, Path("."), name=topic)


def read_all(
    source: Source, offsets: Mapping[str, int | None] | None = None, limit_s: float = 120
) -> tuple[pl.DataFrame, list[BadRow], dict[str, int]]:
    """Everything up to END, in turn from all partitions; also how far each was read."""
    starts = offsets or {}
    readers = {part.id: source.reader(part, starts.get(part.id)) for part in source.partitions()}
    frames: list[pl.DataFrame] = []
    bad: list[BadRow] = []
    ends: dict[str, int] = {}

    def is_read() -> bool:
        for name, reader in list(readers.items()):
            while isinstance(batch := reader.read(10_000), ReadBatch):
                assert batch.start == ends.get(name, batch.start)
                frames.append(batch.frame)
                bad.extend(batch.bad)
                ends[name] = batch.end
            if batch is ReadState.END:
                readers.pop(name)
        return not readers

    wait_until(is_read, limit_s, lambda: f"not at the end: {list(readers)}", look_s=0.002)
    return (pl.concat(frames) if frames else pl.DataFrame()), bad, ends


def events(first: int, last: int) -> list[bytes | None]:
    return [json.dumps({"id": number, "word": f"w{number % 100}"}).encode() for number in range(first, last)]


def until_unreachable(reader: Reader, seen: list[int]) -> None:
    """What had been fetched, then nothing, then the word that the broker is away, and no error."""
    told: list[ReadState | Unreachable] = []

    def is_away() -> bool:
        while isinstance(batch := reader.read(10_000), ReadBatch):
            seen.extend(batch.frame["id"].to_list())
        told[:] = [batch]
        return isinstance(batch, Unreachable)

    wait_until(is_away, told=lambda: told)
    assert isinstance(told[0], Unreachable)
    assert re.fullmatch(r"broker 127.0.0.1:\d+ away", told[0].reason)


@pytest.mark.server
def test_a_restart_of_the_broker_loses_nothing(kafka: KafkaBroker) -> None:
    kafka.create_topic("restarted")
    kafka.produce("restarted", events(0, 50_000))
    source = open_source("kafka", request_for(kafka.address, "restarted"))
    readers = [source.reader(part, None) for part in source.partitions()]
    seen: list[int] = []

    def read_until(count: int) -> None:
        def has_read() -> bool:
            for reader in readers:
                if isinstance(batch := reader.read(10_000), ReadBatch):
                    seen.extend(batch.frame["id"].to_list())
            return len(seen) >= count

        wait_until(has_read, told=lambda: len(seen), look_s=0.002)

    read_until(20_000)
    kafka.kill()
    for reader in readers:
        until_unreachable(reader, seen)
    kafka.start()
    kafka.produce("restarted", events(50_000, 100_000))
    read_until(100_000)
    source.close()
    assert sorted(seen) == list(range(100_000))


def produce_in_transactions(kafka: KafkaBroker, topic: str, transactions: Iterable[tuple[Sequence[int], bool]]) -> None:
    """Records of these numbers, a control record behind each transaction, which is committed or aborted.

    A broker answers a commit before it has written the control records: up to then a reader's end is before them.
    """
    producer = Producer({"bootstrap.servers": kafka.address, "transactional.id": topic})
    producer.init_transactions(30)
    for numbers, committed in transactions:
        producer.begin_transaction()
        for number in numbers:
            producer.produce(topic, json.dumps({"id": number, "word": "w"}).encode(), partition=0)
        producer.flush()  # what waits to be sent is dropped by an abort
        producer.commit_transaction(30) if committed else producer.abort_transaction(30)
    every, stable = (
        Consumer({"bootstrap.servers": kafka.address, "group.id": topic, "isolation.level": level})
        for level in ("read_uncommitted", "read_committed")
    )
    place = TopicPartition(topic, 0)
    wait_until(
        lambda: stable.get_watermark_offsets(place, 30) == every.get_watermark_offsets(place, 30),
        told=lambda: "a transaction stays open",
    )
    every.close()
    stable.close()


@pytest.mark.server
def test_a_batch_among_gaps_is_read_again_as_it_was(kafka: KafkaBroker) -> None:
    kafka.create_topic("gaps", 1)
    numbers = [range(first, first + 10) for first in range(0, 400, 10)]
    ten = [(part, committed) for some in numbers for part, committed in ((range(-10, 0), False), (some, True))]
    produce_in_transactions(kafka, "gaps", ten)
    source = open_source("kafka", request_for(kafka.address, "gaps", start="earliest", end="latest"))
    part = source.partitions()[0]
    cuts = list(batches_of(source.reader(part, None), 7))
    assert [number for cut in cuts for number in cut.frame["id"]] == list(range(400))
    assert cuts[-1].end > 800, "a topic without gaps tests nothing"
    for begin in (0, 20):
        reader = source.reader(part, cuts[begin].start)
        for cut in cuts[begin:]:
            again = list(batches_of(reader, 1_000, cut.end))
            assert again[-1].end == cut.end
            assert [n for batch in again for n in batch.frame["id"]] == cut.frame["id"].to_list()
        reader.close()
    source.close()


def batches_of(reader: Reader, rows: int, until: int | None = None) -> Iterator[ReadBatch]:
    """What comes up to the end, or up to `until`."""
    while isinstance(batch := next_of(reader, rows, until), ReadBatch):
        yield batch
        if until is not None and batch.end >= until:
            return


def next_of(reader: Reader, rows: int, until: int | None) -> ReadBatch | ReadState | Unreachable:
    """The next batch, or the end: what a reader says once it does not wait."""
    told: list[ReadBatch | ReadState | Unreachable] = []

    def says() -> bool:
        told[:] = [reader.read(rows, until)]
        return told[0] is ReadState.END or isinstance(told[0], ReadBatch)

    wait_until(says, told=lambda: told, look_s=0.002)
    return told[0]


@pytest.mark.server
def test_reading_goes_on_where_it_was_committed(kafka: KafkaBroker) -> None:
    kafka.create_topic("resumed")
    kafka.produce("resumed", events(0, 1_000))
    first = open_source("kafka", request_for(kafka.address, "resumed", end="latest"))
    frame, _, ends = read_all(first)
    assert frame.height == 1_000
    assert first.commit({name: Committed(end - 100, "a note") for name, end in ends.items()}) == ""
    first.close()
    second = open_source("kafka", request_for(kafka.address, "resumed", end="latest"))
    assert second.committed() == {name: Committed(end - 100, "a note") for name, end in ends.items()}
    again, _, _ = read_all(second)
    second.close()
    assert sorted(again["id"]) == list(range(800, 1_000))
    third = open_source("kafka", request_for(kafka.address, "resumed", start="earliest", end="latest"))
    assert third.committed() == {}, "it starts at the earliest, whatever is committed"
    everything, _, ends = read_all(third)
    third.close()
    assert everything.height == 1_000


@pytest.mark.server
def test_a_commit_that_fails_is_told_and_made_good(kafka: KafkaBroker) -> None:
    kafka.create_topic("uncommitted", 1)
    # A commit may wait for a coordinator as long as a session lasts: usually 45 s.
    hasty = {"properties.socket.timeout.ms": "1000", "properties.session.timeout.ms": "6000"}
    source = open_source("kafka", request_for(kafka.address, "uncommitted", **hasty))
    reader = source.reader(source.partitions()[0], None)
    kafka.kill()
    told = [""]

    def is_told() -> bool:
        reader.read(10)
        told[:] = [source.commit({"uncommitted-0": Committed(7)})]
        return bool(told[0])

    wait_until(is_told)
    assert "a commit of offsets on Kafka at" in told[0]
    assert told[0].endswith("it is tried again")
    kafka.start()
    second = open_source("kafka", request_for(kafka.address, "uncommitted"))

    def is_made_good() -> bool:
        reader.read(10)
        source.commit({})  # on a busy machine the coordinator may keep it waiting for more than the second that it has
        return second.committed() == {"uncommitted-0": Committed(7)}

    wait_until(is_made_good, told=second.committed)
    second.close()
    source.close()


@pytest.mark.server
def test_the_latest_record_of_the_first_start_is_where_the_next_one_begins(kafka: KafkaBroker) -> None:
    kafka.create_topic("pinned", 1)
    kafka.produce("pinned", events(0, 10))
    first = open_source("kafka", request_for(kafka.address, "pinned", start="committed-or-latest"))
    first.reader(first.partitions()[0], None)
    first.commit({})
    first.close()
    kafka.produce("pinned", events(10, 20))
    second = open_source("kafka", request_for(kafka.address, "pinned", start="committed-or-latest"))
    assert second.committed() == {"pinned-0": Committed(10)}
    second.close()


@pytest.mark.server
def test_bad_records_are_named_by_offset_and_the_others_arrive(kafka: KafkaBroker) -> None:
    kafka.create_topic("broken", 1)
    kafka.produce(
        "broken", [*events(0, 10), b"{oops", b'{"id": "x"}', None, b'{"id":\n 10, "extra": 1}', *events(11, 20)]
    )
    source = open_source("kafka", request_for(kafka.address, "broken", end="latest"))
    frame, bad, _ = read_all(source)
    source.close()
    assert sorted(frame["id"]) == list(range(20))
    assert [row.where for row in bad] == ["broken[0]@10", "broken[0]@11"]
    assert bad[0].raw == b"{oops"
    assert "'x' does not fit column 'id' of type BIGINT" in bad[1].reason


@pytest.mark.server
def test_metadata_and_key_are_columns(kafka: KafkaBroker) -> None:
    kafka.create_topic("described", 1)
    kafka.produce("described", events(0, 3), key=b"7")
    columns = {
        **COLUMNS,
        "k": pl.Int32(),
        "at": pl.Int64(),
        "part": pl.Int32(),
        "t": pl.String(),
        "ts": pl.Datetime("us", "UTC"),
    }
    asked = request_for(kafka.address, "described", columns, end="latest", key_field="k")
    metadata = {"at": "offset", "part": "partition", "t": "topic", "ts": "timestamp"}
    source = open_source("kafka", replace(asked, metadata=metadata))
    frame, _, _ = read_all(source)
    source.close()
    assert frame.columns == list(columns)
    assert frame.select("id", "k", "at", "part", "t").rows() == [(n, 7, n, 0, "described") for n in range(3)]
    assert abs(frame["ts"][0].timestamp() - time.time()) < 600


@pytest.mark.server
def test_gaps_that_transactions_leave_do_not_hang_a_bounded_read(kafka: KafkaBroker) -> None:
    kafka.create_topic("transactional", 1)
    produce_in_transactions(kafka, "transactional", [(range(5), True), (range(5, 10), False)])
    source = open_source("kafka", request_for(kafka.address, "transactional", end="latest"))
    assert source.span(source.partitions()[0]) == (0, 12)
    frame, _, _ = read_all(source)
    source.close()
    assert frame["id"].to_list() == [0, 1, 2, 3, 4]


@pytest.mark.server
def test_the_lag_is_what_is_behind_what_was_read(kafka: KafkaBroker) -> None:
    kafka.create_topic("lagging", 1)
    kafka.produce("lagging", events(0, 50))
    source = open_source("kafka", request_for(kafka.address, "lagging"))
    reader = source.reader(source.partitions()[0], None)
    read = 0
    while read < 20:
        batch = reader.read(20 - read)
        read += batch.frame.height if isinstance(batch, ReadBatch) else 0
    assert reader.lag() == 30  # type: ignore[attr-defined]
    source.close()


def test_start_and_end_may_be_given_offsets(kafka: KafkaBroker) -> None:
    kafka.create_topic("ranged")
    kafka.produce("ranged", events(0, 100))
    asked = request_for(
        kafka.address, "ranged", start="offsets", start_offsets="ranged-1:10", end="offsets", end_offsets="ranged-1:20"
    )
    source = open_source("kafka", asked)
    frame, _, ends = read_all(source)
    source.close()
    assert frame["id"].to_list() == [number * 2 + 1 for number in range(10, 20)]
    assert ends == {"ranged-1": 20}


@pytest.mark.server
def test_a_sinks_records_are_read_back(kafka: KafkaBroker) -> None:
    kafka.create_topic("written")
    sink = open_sink(
        "kafka", SinkRequest("out", dict(request_for(kafka.address, "written").options), COLUMNS, "append", Path("."))
    )
    rows = pl.DataFrame({"id": range(1_000), "word": ['é,\n"x'] * 1_000}, schema=COLUMNS)
    sink.write(1, rows)
    sink.flush()
    sink.close()
    source = open_source("kafka", request_for(kafka.address, "written", end="latest"))
    frame, _, _ = read_all(source)
    source.close()
    assert frame.sort("id").equals(rows)


@pytest.mark.server
def test_upserts_have_keys_and_tombstones(kafka: KafkaBroker) -> None:
    kafka.create_topic("upserted", 1)
    options = dict(request_for(kafka.address, "upserted").options)
    sink = open_sink("kafka", SinkRequest("out", options, COLUMNS, "upsert", Path("."), keys=("word",)))
    sink.write(1, pl.DataFrame({"id": [1, 2], "word": ["a", "b"], "$weight": [1, -1]}))
    sink.flush()
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "look"})
    consumer.assign([TopicPartition("upserted", 0, 0)])
    found = []
    while len(found) < 2:
        found += [(message.key(), message.value()) for message in consumer.consume(2, 1) if not message.error()]
    consumer.close()
    assert found == [(b"a", b'{"id":1,"word":"a"}'), (b"b", None)]


@pytest.mark.server
def test_changes_that_are_written_are_read_back(kafka: KafkaBroker) -> None:
    kafka.create_topic("rewritten", 2)
    asked = request_for(kafka.address, "rewritten", end="latest")
    options = {**asked.options, "format": "debezium-json"}
    sink = open_sink("kafka", SinkRequest("out", {**options, "key.fields": "id"}, COLUMNS, "retract", Path(".")))
    changes = [(1, "a", 1), (2, 'b"', 2), (1, "a", -1), (1, None, 1)]
    sink.write(1, pl.DataFrame(changes, {**COLUMNS, "$weight": pl.Int64()}, orient="row"))
    sink.flush()
    source = open_source("kafka", replace(asked, options=options))
    frame, _, _ = read_all(source)
    source.close()
    assert sorted(frame.rows(), key=str) == sorted([*changes[:1], *[(2, 'b"', 1)] * 2, *changes[2:]], key=str)


@pytest.mark.server
def test_an_unknown_topic_is_named(kafka: KafkaBroker) -> None:
    source = open_source("kafka", request_for(kafka.address, "nowhere"))
    with pytest.raises(
        ConnectorError, match=rf"there is no topic 'nowhere' on Kafka at {kafka.address}; (did you mean|there are) "
    ):
        source.partitions()
    source.close()


@pytest.mark.server
def test_a_sink_says_which_records_were_not_taken(kafka: KafkaBroker) -> None:
    options = dict(request_for(kafka.address, "absent").options)
    sink = open_sink("kafka", SinkRequest("out", options, COLUMNS, "append", Path(".")))
    sink.write(1, pl.DataFrame({"id": [1], "word": ["a"]}))
    with pytest.raises(ConnectorError, match=f"topic 'absent'.* on Kafka at {kafka.address}"):
        sink.flush()


def test_a_sink_gives_no_record_up_for_a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Mapping[str, object]] = []
    monkeypatch.setattr("ouzel.connectors.kafka.sink.Producer", lambda settings, logger: made.append(settings))
    monkeypatch.setattr("ouzel.connectors.kafka.sink.topics_of", lambda *about: {})
    options = request_for("127.0.0.1:1", "anywhere").options
    open_sink("kafka", SinkRequest("out", dict(options), COLUMNS, "append", Path("."), again=True))
    assert made[0]["message.timeout.ms"] == 0, "however long it is away"


def test_secrets_are_read_late_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = request_for("127.0.0.1:1", "events", **{"properties_sasl.password": "${env:OUZEL_TEST_SECRET}"})
    monkeypatch.delenv("OUZEL_TEST_SECRET", raising=False)
    with pytest.raises(
        ConnectorError,
        match=r"'properties\.sasl\.password' takes its value from the environment variable OUZEL_TEST_SECRET",
    ):
        open_source("kafka", asked)
    wrong = request_for("127.0.0.1:1", "events", **{"properties_no.such": "${env:OUZEL_TEST_SECRET}"})
    monkeypatch.setenv("OUZEL_TEST_SECRET", "hunter2")
    with pytest.raises(ConnectorError, match=r"no\.such") as refused:
        open_source("kafka", wrong)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs a topic"),
        ({"topic": "a", "topic.pattern": "b"}, "needs a topic; write either"),
        ({"topic": "a", "start": "timestamp"}, "'start' = 'timestamp' needs 'start.timestamp'"),
        ({"topic": "a", "end.offsets": "a-0:5"}, "'end.offsets' has no effect here"),
        ({"topic": "a", "end": "offsets", "end.offsets": "a:x"}, "'end.offsets' cannot hold 'a:x'"),
        ({"topic": "a", "start": "middle"}, "'start' cannot be 'middle'; write 'committed-or-earliest'"),
        ({"topic": "a", "shed.lag": "5"}, "'shed.lag' has no effect alone; write both 'shed.lag' and 'shed.rows'"),
        (
            {"topic": "a", "shed.lag": "5", "shed.rows": "5", "format": "debezium-json"},
            "'shed.lag' cannot be given for a log of",
        ),
        ({"topic": "a", "shed.lag": "5", "shed.rows": "0"}, "'shed.rows' cannot be '0'"),
        (
            {"topic": "a", "shed.lag": "5", "shed.rows": "5", "end": "latest"},
            "'shed.lag' has no effect on a table that ends",
        ),
        ({"topik": "a"}, "no option 'topik'; did you mean 'topic'"),
    ],
)
def test_wrong_options_are_refused_when_the_query_is_planned(options: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError) as refused:
        check_options(CONNECTORS["kafka"], {"bootstrap.servers": "b:1", "format": "json", **options})
    assert message in str(refused.value)


def test_a_topic_that_was_deleted_and_made_anew_has_another_id(kafka: KafkaBroker) -> None:
    options = {"bootstrap.servers": kafka.address, "topic": "reborn", "format": "json"}
    kafka.create_topic("reborn", 1)
    first = topic_ids(options, ["reborn-0", "no such topic-0"])
    assert first.keys() == {"reborn"}
    assert topic_ids(options, ["reborn-0"]) == first
    client = AdminClient({"bootstrap.servers": kafka.address})  # a client that is gone answers nothing
    client.delete_topics(["reborn"])["reborn"].result(30)
    kafka.create_topic("reborn", 1)
    assert topic_ids(options, ["reborn-0"]) != first


@pytest.mark.server
def test_a_databases_log_of_changes_has_weights_and_its_tombstones_are_nothing(kafka: KafkaBroker) -> None:
    kafka.create_topic("changes", 1)
    one, two = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}
    changes = [
        {"after": one, "op": "c"},
        {"before": one, "after": two, "op": "u"},
        {"op": "t"},
        {"before": two, "op": "d"},
    ]
    kafka.produce("changes", [*(json.dumps(change).encode() for change in changes), None], key=b"1")
    asked = request_for(
        kafka.address, "changes", {"id": pl.Int64(), "name": pl.String(), "at": pl.Int64()}, end="latest"
    )
    asked = replace(asked, options={**asked.options, "format": "debezium-json"}, metadata={"at": "offset"})
    source = open_source("kafka", asked)
    (partition,) = source.partitions()
    (batch,) = batches_of(source.reader(partition, None), 10)
    source.close()
    assert batch.frame.rows() == [(1, "a", 0, 1), (1, "a", 1, -1), (1, "b", 1, 1), (1, "b", 3, -1)]
    assert [bad.where for bad in batch.bad] == ["changes[0]@2"]
    assert batch.place is not None
    assert [batch.place(row) for row in range(4)] == [f"changes[0]@{at}" for at in (0, 1, 1, 3)]

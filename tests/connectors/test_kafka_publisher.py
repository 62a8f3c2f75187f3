"""Epochs published to Kafka, through a real broker."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import polars as pl
import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from ouzel.connectors import open_publisher, open_sink
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError
from tests.connectors import publishing
from tests.connectors.lives import Lives
from tests.connectors.publishing import COLUMNS, Staged, Task, frames, ids
from tests.effort import seeds
from tests.servers.kafka import KafkaBroker
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

Record = tuple[bytes | None, bytes | None]


def task_of(broker: KafkaBroker, topic: str, **more: str) -> Task:
    broker.create_topic(topic, 1)
    options = {"bootstrap.servers": broker.address, "topic": topic, "format": "json"}
    return Task("kafka", options | {name.replace("_", "."): value for name, value in more.items()}, run=topic)


def records(broker: KafkaBroker, topic: str, isolation: str = "read_committed") -> list[Record]:
    """Key and value of each record of a topic of one partition, up to where a reader gets now."""
    settings = {"group.id": "reader", "enable.partition.eof": True, "isolation.level": isolation}
    consumer = Consumer({"bootstrap.servers": broker.address, **settings})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[Record] = []
    try:
        while True:
            message = consumer.poll(100)
            assert message is not None, "the broker does not answer"
            if (error := message.error()) is None:
                found.append((message.key(), message.value()))
            elif error.code() == KafkaError._PARTITION_EOF:
                return found
    finally:
        consumer.close()


def content(broker: KafkaBroker, topic: str) -> list[int]:
    return [json.loads(value)["id"] for _, value in records(broker, topic) if value]


def test_a_killed_task_goes_on_and_a_zombie_is_fenced(kafka: KafkaBroker, lives: Lives) -> None:
    task = task_of(kafka, "epochs-gate")
    first = task.open()
    publishing.publish(replace(task, epochs=1), first)
    asleep = lives.stop(task, 2)
    assert len(records(kafka, "epochs-gate", "read_uncommitted")) == len(ids(1)) + publishing.ROWS
    heir = task.open()
    assert heir.last_published() == 1
    with pytest.raises(ConnectorError, match="another task has taken over from 'ouzel-epochs-gate-sink-0'"):
        first.publish(2, frames(9))
    heir.publish(2, [])
    assert "another task has taken over" in lives.wake(asleep)
    publishing.publish(task, heir)
    assert content(kafka, "epochs-gate") == [number for epoch in (1, 3, 4, 5) for number in ids(epoch)]
    first.close()
    heir.close()


@pytest.mark.parametrize("seed", seeds())
def test_each_row_is_there_once_however_often_tasks_die(kafka: KafkaBroker, lives: Lives, seed: int) -> None:
    task = task_of(kafka, f"epochs-deaths-{seed}")
    lives.run_to_the_end([task, replace(task, task=1)], seed)
    publishing.check(content(kafka, f"epochs-deaths-{seed}"), task.epochs, 2)


@pytest.mark.parametrize("seed", seeds()[:3])
def test_each_row_is_there_once_though_the_broker_dies(tmp_path: Path, seed: int) -> None:
    broker = KafkaBroker(tmp_path)
    try:
        publisher = task_of(broker, "epochs").open()
        publishing.publish_while(2, publisher, broker.restart, publishing.delays(seed))
        publishing.check(content(broker, "epochs"), 2)
        publisher.close()
    finally:
        broker.kill()


def test_a_broker_that_dies_amid_the_rows_has_each_once(tmp_path: Path) -> None:
    broker = KafkaBroker(tmp_path)
    restarted: list[bool] = []

    def rows() -> Iterator[pl.DataFrame]:
        for number, frame in enumerate(frames(1)):
            if number == 1 and not restarted:
                wait_until(lambda: len(records(broker, "epochs", "read_uncommitted")) == publishing.ROWS)
                broker.restart()
                restarted.append(True)
            yield frame

    try:
        publisher = task_of(broker, "epochs").open()
        publisher.last_published()
        publisher.publish(1, Staged(rows))
        publishing.check(content(broker, "epochs"), 1)
        publisher.close()
    finally:
        broker.kill()


def test_another_run_has_epochs_of_its_own(kafka: KafkaBroker) -> None:
    task = task_of(kafka, "epochs-runs")
    for run in ("epochs-first", "epochs-second"):
        publisher = replace(task, run=run).open()
        publishing.publish(replace(task, run=run, epochs=2), publisher)
        publisher.close()
    assert content(kafka, "epochs-runs") == [*ids(1), *ids(2)] * 2


ROWS = pl.DataFrame(
    [(1, "a", 1), (2, "b", 1), (1, "c", 1), (2, "b", -1)], schema={**COLUMNS, "$weight": pl.Int64()}, orient="row"
)


@pytest.mark.parametrize(("mode", "form"), [("append", "json"), ("upsert", "json"), ("retract", "debezium-json")])
def test_records_are_those_of_the_sink(kafka: KafkaBroker, mode: str, form: str) -> None:
    def request(topic: str) -> SinkRequest:
        options = task_of(kafka, topic).options
        keys = () if mode == "append" else ("id",)
        return SinkRequest("t", {**options, "format": form}, COLUMNS, mode, Path(), keys, run=topic)

    names = [f"epochs-{mode}-{who}" for who in ("sink", "publisher")]
    sink, publisher = open_sink("kafka", request(names[0])), open_publisher("kafka", request(names[1]))
    publisher.last_published()
    parts = [frame if mode != "append" else frame.drop("$weight") for frame in (ROWS[:2], ROWS[2:])]
    for number, frame in enumerate(parts, 1):
        sink.write(number, frame)
        sink.flush()
        publisher.publish(number, [frame])
    found = records(kafka, names[1])
    assert found == records(kafka, names[0])
    assert len(found) == 4
    assert (found[3] == (b"2", None)) == (mode == "upsert"), "a tombstone"
    sink.close()
    publisher.close()


def test_a_record_that_the_broker_refuses_is_told_and_nothing_is_visible(kafka: KafkaBroker) -> None:
    task = task_of(kafka, "epochs-large", properties_message_max_bytes="3000000")
    publisher = task.open()
    publisher.last_published()
    large = pl.DataFrame({"id": [1], "word": ["x" * 2_000_000]}, schema=COLUMNS)
    with pytest.raises(ConnectorError, match=r"an epoch for topic 'epochs-large' was not taken .*too large"):
        publisher.publish(1, [*frames(1), large])
    assert records(kafka, "epochs-large") == []
    publisher.publish(1, frames(1))
    assert content(kafka, "epochs-large") == ids(1)
    publisher.close()


def test_rows_that_time_out_are_aborted_and_come_again(kafka: KafkaBroker) -> None:
    broker = kafka.process
    assert broker is not None
    publisher = task_of(kafka, "epochs-hung", properties_message_timeout_ms="1000").open()
    publisher.last_published()
    undelivered = publisher._undelivered  # type: ignore[attr-defined]
    seen: list[KafkaError] = []

    def wake() -> None:
        try:
            wait_until(lambda: undelivered)
            seen.extend(undelivered)
        finally:
            broker.send_signal(signal.SIGCONT)

    waking = Thread(target=wake)

    def rows() -> Iterator[pl.DataFrame]:
        for number, frame in enumerate(frames(1)):
            if number == 1 and waking.ident is None:
                wait_until(lambda: len(records(kafka, "epochs-hung", "read_uncommitted")) == publishing.ROWS)
                broker.send_signal(signal.SIGSTOP)
                waking.start()
            yield frame

    publisher.publish(1, Staged(rows))
    waking.join()
    assert {error.code() for error in seen} == {KafkaError._MSG_TIMED_OUT}
    assert content(kafka, "epochs-hung") == ids(1)
    publisher.close()


def test_frames_that_cannot_be_had_leave_no_transaction_open(kafka: KafkaBroker) -> None:
    publisher = task_of(kafka, "epochs-torn").open()
    publisher.last_published()

    def torn() -> Iterator[pl.DataFrame]:
        yield from frames(1)
        raise OSError("the file is torn")

    with pytest.raises(OSError, match="the file is torn"):
        publisher.publish(1, Staged(torn))
    publisher.publish(1, frames(1))
    assert content(kafka, "epochs-torn") == ids(1)
    publisher.close()


def test_a_transaction_that_the_broker_has_ended_is_told_and_comes_again(kafka: KafkaBroker) -> None:
    task = task_of(kafka, "epochs-late", properties_transaction_timeout_ms="1000")
    publisher = task.open()
    publisher.last_published()

    def late() -> Iterator[pl.DataFrame]:
        yield from frames(1)
        wait_until(lambda: len(records(kafka, "epochs-late", "read_uncommitted")) == len(ids(1)))
        kafka.produce("epochs-late", [json.dumps({"id": 1}).encode()])
        wait_until(lambda: records(kafka, "epochs-late"))  # readers get past the transaction: it is aborted

    with pytest.raises(ConnectorError, match=r"was open for longer than 'transaction\.timeout\.ms'"):
        publisher.publish(1, Staged(late))
    assert publisher.last_published() == 0
    publisher.publish(1, frames(1))
    assert content(kafka, "epochs-late") == [1, *ids(1)]
    publisher.close()


def test_what_is_noted_behind_an_open_transaction_is_waited_for(kafka: KafkaBroker) -> None:
    task = task_of(kafka, "epochs-behind", epochs_topic="epochs-of-behind")
    publisher = task.open()
    publisher.last_published()
    settings = {"transactional.id": "left-behind", "transaction.timeout.ms": 1_000}
    stranger = Producer({"bootstrap.servers": kafka.address, **settings})
    stranger.init_transactions()
    stranger.begin_transaction()
    stranger.produce("epochs-of-behind", b"{}", b"stranger", partition=0)
    assert stranger.flush(60) == 0
    publisher.publish(1, frames(1))
    heir = task.open()
    assert heir.last_published() == 1, (
        "not 0, which is all that can be read until the broker aborts what was left behind"
    )
    heir.close()


@pytest.mark.parametrize(
    ("partitions", "message"), [(2, "must have 1 partition, and has 2"), (1, "'cleanup.policy' = 'delete'")]
)
def test_a_topic_of_epochs_that_forgets_is_refused(kafka: KafkaBroker, partitions: int, message: str) -> None:
    name = f"epochs-forgets-{partitions}"
    kafka.create_topic(name, partitions)
    task = task_of(kafka, f"{name}-rows", epochs_topic=name)
    with pytest.raises(ConnectorError, match=message):
        task.open()

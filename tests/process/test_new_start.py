"""A query over Kafka is stopped in the middle of a window and started anew: the window is answered once, with all of its rows."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from confluent_kafka import Consumer, TopicPartition

from ouzel.runtime.run import Handle, Status
from ouzel.session import load_text, start
from tests.servers.waiting import wait_until

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker

pytestmark = pytest.mark.server

BEGIN = datetime(2024, 1, 1)
QUERY = """
CREATE TABLE clicks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'bootstrap.servers' = '{address}', 'topic' = 'stopped-clicks', 'format' = 'json', 'end' = '{end}');
SELECT window_start, COUNT(*) AS many
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
"""


@pytest.fixture
def kafka(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> KafkaBroker:
    """The broker of the session, whose tests make topics of their own."""
    from tests.servers.kafka import shared_broker

    return shared_broker(pytestconfig, tmp_path_factory)


def produce(kafka: KafkaBroker, first: int, last: int) -> None:
    """A click a second."""
    rows = ({"id": n, "ts": str(BEGIN + timedelta(seconds=n))} for n in range(first, last))
    kafka.produce("stopped-clicks", [json.dumps(row).encode() for row in rows])


def committed(kafka: KafkaBroker) -> list[int]:
    """How far the query has committed each partition; less than 0 where nothing is."""
    places = [TopicPartition("stopped-clicks", number) for number in range(2)]
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "ouzel-hourly"})
    try:
        return [place.offset for place in consumer.committed(places, 30)]
    finally:
        consumer.close()


def finished(kafka: KafkaBroker, handle: Handle, acked: int) -> tuple[Status, list[pl.DataFrame]]:
    """Stop it when so many rows are handled, and offsets committed, or it ends."""
    frames: list[pl.DataFrame] = []

    def is_over() -> bool:
        ended = handle.wait(0.1)
        frames.extend(handle.results())
        return ended or (handle.status().rows_acked >= acked and min(committed(kafka)) > 0)

    wait_until(is_over, told=handle.status)
    status = handle.stop()
    return status, frames + handle.results()


def test_a_window_that_was_open_at_the_stop_is_answered_wholly_by_the_next_run(
    kafka: KafkaBroker, tmp_path: Path
) -> None:
    kafka.create_topic("stopped-clicks", 2)
    produce(kafka, 0, 5_400)
    engines = ("heron", "heron")
    settings = (("parallelism", "2"), ("batch.rows", "500"))
    first = start(load_text(QUERY.format(address=kafka.address, end="none"), tmp_path, "hourly", settings), engines[0])
    status, frames = finished(kafka, first, 5_400)
    assert "the next start reads their rows again" in " ".join(event.text for event in status.events)
    produce(kafka, 5_400, 10_000)
    second = start(
        load_text(QUERY.format(address=kafka.address, end="latest"), tmp_path, "hourly", settings), engines[1]
    )
    status, later = finished(kafka, second, 1 << 60)
    found = {row[0]: row[1] for frame in (*frames, *later) for row in frame.select("window_start", "many").rows()}
    assert sum(frame.height for frame in (*frames, *later)) == 3, "each window is answered once"
    assert found == {BEGIN + timedelta(hours=hour): many for hour, many in enumerate((3_600, 3_600, 2_800))}
    assert status.rows_late == 0
    assert "were answered by the run before" in " ".join(event.text for event in status.events)

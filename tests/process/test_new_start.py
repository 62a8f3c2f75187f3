"""A query over Kafka is stopped in the middle of a window and started anew: the window is answered once, with all of its rows."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from confluent_kafka import Consumer, TopicPartition

from ouzel.planner.epochs import with_epochs_of_run
from ouzel.planner.topology import Topology
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import ROLLED_BACK, Handle, Status
from ouzel.session import load_text, start
from tests.process.topologies import pid_of
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


def produce(kafka: KafkaBroker, first: int, last: int, topic: str = "stopped-clicks") -> None:
    """A click a second."""
    rows = ({"id": n, "ts": str(BEGIN + timedelta(seconds=n))} for n in range(first, last))
    kafka.produce(topic, [json.dumps(row).encode() for row in rows])


def committed(kafka: KafkaBroker, topic: str = "stopped-clicks", query: str = "hourly") -> list[int]:
    """How far the query has committed each partition; less than 0 where nothing is."""
    places = [TopicPartition(topic, number) for number in range(2)]
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": f"ouzel-{query}"})
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


def test_where_a_run_began_it_begins_anew_though_it_has_committed_offsets_since(
    kafka: KafkaBroker, tmp_path: Path
) -> None:
    """Before the first epoch a task with state dies: windows that lie before the committed offsets are answered again, with all rows."""
    topic = "killed-clicks"
    kafka.create_topic(topic, 2)
    produce(kafka, 0, 5_400, topic)
    text = QUERY.replace("stopped-clicks", topic).format(address=kafka.address, end="none")
    job = load_text(text, tmp_path, "killed", (("parallelism", "2"), ("batch.rows", "500")))
    handle = start(replace(job, topology=rarely(job.topology)))
    assert isinstance(handle, HeronHandle)
    try:
        wait_until(lambda: min(committed(kafka, topic, "killed")) > 0, told=handle.status)
        for task in job.topology.tasks():
            if not job.topology.component(task.component).is_spout:
                container = job.packing.container_of(task.id).id
                os.kill(pid_of(handle, f"{container}/instance-{task.id}"), signal.SIGKILL)
        wait_until(lambda: any(event.kind == ROLLED_BACK for event in handle.status().events), told=handle.status)
        produce(kafka, 5_400, 10_000, topic)
        wait_until(lambda: handle.status().rows_acked >= 10_000, told=handle.status)
        wait_until(
            lambda: min(committed(kafka, topic, "killed")) > 2_700, told=handle.status
        )  # more than was there before
        status = handle.stop()
        frames = handle.results()
    finally:
        handle._scheduler.on_kill()
    assert status.rows_in == 10_000, "all that the run had read is read again"
    found = [row for frame in frames for row in frame.select("window_start", "many").rows()]
    assert sorted(found) == [(BEGIN + timedelta(hours=hour), 3_600) for hour in range(2)]
    assert min(committed(kafka, topic, "killed")) > 2_700


def rarely(topology: Topology) -> Topology:
    """With the epochs of a run where nobody has set anything, the first of which does not come before the test is over."""
    made = with_epochs_of_run(topology)
    assert made.settings.has_epochs
    return replace(made, settings=replace(made.settings, checkpoint_interval_ms=600_000))

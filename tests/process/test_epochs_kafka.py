"""A query over Kafka with epochs: a task with state dies, then all processes, and each row is counted once."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import ROLLED_BACK
from ouzel.session import load_text, start
from tests.law.compare import plain_fold
from tests.process.topologies import pid_of
from tests.servers.waiting import wait_until

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker

pytestmark = [pytest.mark.server, pytest.mark.whole]

TOPIC = "epochs-clicks"
QUERY = """
CREATE TABLE clicks (id BIGINT) WITH (
  'connector' = 'kafka', 'bootstrap.servers' = '{address}', 'topic' = '{topic}', 'format' = 'json', 'start' = '{start}');
SELECT id % 5 AS k, COUNT(*) AS many, SUM(id) AS total FROM clicks GROUP BY id % 5 EMIT CHANGES;
"""


@pytest.fixture
def kafka(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> KafkaBroker:
    """The broker of the session, whose tests make topics of their own."""
    from tests.servers.kafka import shared_broker

    return shared_broker(pytestconfig, tmp_path_factory)


def produce(kafka: KafkaBroker, topic: str, first: int, last: int) -> None:
    kafka.produce(topic, [b'{"id":%d}' % n for n in range(first, last)])


def count_pins(home: Path) -> int:
    """In how many partitions the tasks of the source know where they began."""
    return sum(len(journal.read_bytes().splitlines()) for journal in home.glob("container-*/cuts-?"))


@pytest.mark.parametrize(("begin", "interval_ms"), [("earliest", 200), ("latest", 600_000)])
def test_each_row_is_counted_once(kafka: KafkaBroker, tmp_path: Path, begin: str, interval_ms: int) -> None:
    """From the end on and before the first epoch, too: what came since the start is read again, and nothing older."""
    topic = f"{TOPIC}-{begin}"
    kafka.create_topic(topic, 2)
    before = 3_000 if begin == "latest" else 0
    produce(kafka, topic, 0, before)
    settings = (("parallelism", "2"), ("batch.rows", "100"), ("checkpoint.interval.ms", str(interval_ms)))
    handle = start(
        load_text(QUERY.format(address=kafka.address, topic=topic, start=begin), tmp_path, "clicks", settings)
    )
    assert isinstance(handle, HeronHandle)
    frames: list[pl.DataFrame] = []
    try:
        if begin == "latest":
            wait_until(lambda: count_pins(handle.job.home) == 2, told=handle.status)
        made = before
        for kill in range(1, 3):
            produce(kafka, topic, made, made + 4_000)
            made += 4_000
            wait_until(lambda made=made: handle.status().rows_acked >= made - before, told=handle.status)  # type: ignore[misc]
            if interval_ms < 1_000:
                kept = max(CheckpointStore(handle.job.checkpoints).epochs(), default=0)
                wait_until(lambda kept=kept: max(CheckpointStore(handle.job.checkpoints).epochs()) > kept)  # type: ignore[misc]
            produce(kafka, topic, made, made + 500)
            made += 500
            task = next(task for task in handle.job.topology.tasks() if task.component.startswith("aggregate"))
            container = handle.job.packing.container_of(task.id).id
            os.kill(pid_of(handle, f"{container}/instance-{task.id}"), signal.SIGKILL)
            wait_until(lambda kill=kill: sum(event.kind == ROLLED_BACK for event in handle.status().events) >= kill)  # type: ignore[misc]
        wait_until(lambda: handle.status().rows_acked >= made - before, told=handle.status)
        status = handle.stop()
        frames += handle.results()
    finally:
        handle._scheduler.on_kill()
    assert status.rows_acked == made - before
    ids = {k: [n for n in range(before, made) if n % 5 == k] for k in range(5)}
    found = plain_fold(frames, ["k", "many", "total"]).sort("k").rows()
    assert found == [(k, len(of), sum(of)) for k, of in ids.items()]

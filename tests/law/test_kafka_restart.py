"""JSON events in a real Kafka topic are aggregated by SQL while their broker is killed and started again: nothing is missing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.runtime.run import Handle, RunState
from ouzel.session import load
from tests.law.compare import difference, plain_fold
from tests.law.engines import run_to_end
from tests.servers.kafka import KafkaBroker, shared_broker
from tests.servers.waiting import wait_while_it_runs

EVENTS, KEYS, PARTITIONS = 200_000, 100, 4
LIMIT_S = 120

QUERY = """
CREATE TABLE clicks (id BIGINT NOT NULL, k INT, v BIGINT, page VARCHAR) WITH (
  'connector' = 'kafka', 'bootstrap.servers' = '{address}', 'topic' = 'clicks', 'format' = 'json', 'start' = 'earliest', 'end' = 'latest');
SELECT k, COUNT(*) AS n, SUM(v) AS total, MIN(id) AS first_id, MAX(id) AS last_id FROM clicks GROUP BY k;
"""


def event(number: int) -> bytes:
    """One click as JSON."""
    return b'{"id": %d, "k": %d, "v": %d, "page": "/item/%d"}' % (number, number % KEYS, number % 1000, number % 5000)


def expected() -> pl.DataFrame:
    """What all clicks add up to, from their numbers alone."""
    numbers = pl.DataFrame({"id": pl.Series(range(EVENTS), dtype=pl.Int64)})
    return (
        numbers.group_by((pl.col("id") % KEYS).alias("k"))
        .agg(n=pl.len(), total=(pl.col("id") % 1000).sum(), first_id=pl.col("id").min(), last_id=pl.col("id").max())
        .with_columns(pl.col("n").cast(pl.Int64))
    )


def until_under_way(handle: Handle) -> None:
    """Return once a tenth of the rows are acked, and far from all."""
    status = wait_while_it_runs(handle, lambda status: status.rows_acked >= EVENTS // 10)
    assert status.rows_acked < EVENTS * 9 // 10, "the run was too quick to be disturbed"


@pytest.fixture
def kafka(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> KafkaBroker:
    """The broker of the session."""
    return shared_broker(pytestconfig, tmp_path_factory)


@pytest.mark.server
@pytest.mark.slow
def test_events_survive_a_restart_of_their_broker(kafka: KafkaBroker, tmp_path: Path) -> None:
    kafka.create_topic("clicks", PARTITIONS)
    kafka.produce("clicks", [event(number) for number in range(EVENTS)])
    path = tmp_path / "clicks.sql"
    path.write_text(QUERY.format(address=kafka.address), encoding="utf-8")
    job = load(path, [("parallelism", "2"), ("batch.rows", "500"), ("max.pending.rows", "1000")])

    def disturb(handle: Handle) -> None:
        until_under_way(handle)
        kafka.restart()

    frames, status = run_to_end(job, "heron", LIMIT_S, disturb)
    assert status.state is RunState.FINISHED, status
    assert status.rows_in >= EVENTS, status
    assert (found := difference(expected(), plain_fold(frames, list(job.program.sinks[0].schema.names)))) == "", found

"""Each row is in a server's table once, whatever dies of the topology that writes it. With real servers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.runtime.run import ROLLED_BACK, RunState
from tests.connectors.test_kafka_publisher import records
from tests.connectors.test_postgres_publisher import options_of
from tests.process.test_effectively_once import QUERY, Written
from tests.servers.kafka import KafkaBroker, shared_broker
from tests.servers.postgres import PostgresServer
from tests.servers.redis import RedisServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.server, pytest.mark.whole]

TICKS = QUERY.partition(";")[0]


def with_options(options: dict[str, str]) -> str:
    return ", ".join(f"'{name}' = '{value}'" for name, value in options.items())


def query(options: dict[str, str]) -> str:
    """Counts by key, each change as a new row, and every third number as it is."""
    return f"""{TICKS};
CREATE TABLE seen (n BIGINT, k BIGINT) WITH ({with_options(options)});
INSERT INTO seen SELECT n, n % 7 FROM ticks WHERE n % 3 = 0;
SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM ticks GROUP BY n % 7;"""


def rows_after_deaths(directory: Path, options: dict[str, str]) -> int:
    """How many rows were read by a run in which all die that can, and that is stopped then."""
    made = Written(directory, query(options), interval_ms=500)
    try:
        for victims in (made.instances("seen"), made.instances("aggregate"), ["0/topology-master"], made.instances("")):
            made.wait_for_epochs(1)
            made.kill(*victims)
        made.wait_for_event(ROLLED_BACK)
        made.wait_for_epochs(1)
        wait_until(lambda: made.handle.status().rows_acked > 1_000)
        status = made.handle.stop()
        assert (status.state, status.reason) == (RunState.STOPPED, "")
        return status.rows_in
    finally:
        made.handle._scheduler.on_kill()


@pytest.fixture
def kafka(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> KafkaBroker:
    return shared_broker(pytestconfig, tmp_path_factory)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis")
    yield server
    server.kill()


def test_a_topic_has_each_row_once(kafka: KafkaBroker, tmp_path: Path) -> None:
    kafka.create_topic("seen", 1)
    options = {"connector": "kafka", "bootstrap.servers": kafka.address, "topic": "seen", "format": "json"}
    rows = rows_after_deaths(tmp_path, options)
    found = [json.loads(value)["n"] for _, value in records(kafka, "seen") if value]
    assert Counter(found) == Counter(range(0, rows, 3))


@pytest.fixture
def postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    (tmp_path / "postgres").mkdir()
    server = PostgresServer(tmp_path / "postgres")
    monkeypatch.setenv("STORE_PASSWORD", server.password)
    yield server
    server.remove()


def test_a_table_has_each_row_once(postgres: PostgresServer, tmp_path: Path) -> None:
    rows = rows_after_deaths(tmp_path, {"connector": "postgres", **options_of(postgres, "seen")})
    with postgres.connect() as connection:
        found = [row[0] for row in connection.execute("SELECT n FROM seen").fetchall()]  # type: ignore[misc]
    assert Counter(found) == Counter(range(0, rows, 3))


def test_a_stream_of_redis_has_each_row_once(redis: RedisServer, tmp_path: Path) -> None:
    options = {"connector": "redis", "url": redis.url, "key": "seen", "structure": "stream", "format": "json"}
    rows = rows_after_deaths(tmp_path, options)
    found = [json.loads(next(iter(fields.values())))["n"] for _, fields in redis.client.xrange("seen")]
    assert Counter(found) == Counter(range(0, rows, 3))

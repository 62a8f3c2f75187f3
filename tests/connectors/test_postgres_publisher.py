"""Epochs published to PostgreSQL, through a real server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors import open_publisher, open_sink
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError
from tests.connectors import publishing
from tests.connectors.lives import Lives
from tests.connectors.publishing import COLUMNS, Task, frames, ids
from tests.effort import seeds
from tests.servers.postgres import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    yield server
    server.remove()


@pytest.fixture(autouse=True)
def secret(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_PASSWORD", postgres.password)


def options_of(server: PostgresServer, table: str, **more: str) -> dict[str, str]:
    return {"url": server.url, "table": table, "password": "${env:STORE_PASSWORD}", "create": "true", **more}


def task_of(server: PostgresServer, table: str) -> Task:
    """It has a table with one column more, which says in which order rows came."""
    with server.connect() as connection:
        connection.execute(
            f"CREATE TABLE {table} (id bigint, word text, place bigint GENERATED ALWAYS AS IDENTITY)"  # type: ignore[arg-type]
        )
    return Task("postgres", options_of(server, table))


def content(server: PostgresServer, table: str) -> list[int]:
    with server.connect() as connection:
        found = connection.execute(f"SELECT id FROM {table} ORDER BY place").fetchall()  # type: ignore[arg-type]
    return [row[0] for row in found]  # type: ignore[misc]


def test_a_killed_task_goes_on_and_a_zombie_is_fenced(postgres: PostgresServer, lives: Lives) -> None:
    task = task_of(postgres, "gate")
    first = task.open()
    publishing.publish(replace(task, epochs=1), first)
    asleep = lives.stop(task, 2)
    heir = task.open()
    assert heir.last_published() == 1, "the transaction of who sleeps is ended"
    with pytest.raises(ConnectorError, match="another task has taken over from 'run-sink-0'"):
        first.publish(2, frames(9))
    heir.publish(2, [])
    assert "another task has taken over" in lives.wake(asleep)
    publishing.publish(task, heir)
    assert content(postgres, "gate") == [number for epoch in (1, 3, 4, 5) for number in ids(epoch)]
    first.close()
    heir.close()


@pytest.mark.parametrize("seed", seeds())
def test_each_row_is_there_once_however_often_tasks_die(postgres: PostgresServer, lives: Lives, seed: int) -> None:
    task = task_of(postgres, f"deaths_{seed}")
    lives.run_to_the_end([task, replace(task, task=1)], seed)
    publishing.check(content(postgres, f"deaths_{seed}"), task.epochs, 2)


@pytest.mark.parametrize("seed", seeds())
def test_each_row_is_there_once_though_the_server_dies(postgres: PostgresServer, seed: int) -> None:
    publisher = task_of(postgres, f"restart_{seed}").open()
    publishing.publish_while(5, publisher, postgres.restart, publishing.delays(seed))
    publishing.check(content(postgres, f"restart_{seed}"), 5)
    publisher.close()


def test_another_run_has_epochs_of_its_own(postgres: PostgresServer) -> None:
    task = task_of(postgres, "runs")
    for run in ("first", "second"):
        publisher = replace(task, run=run).open()
        publishing.publish(replace(task, run=run, epochs=2), publisher)
        publisher.close()
    assert content(postgres, "runs") == [*ids(1), *ids(2)] * 2


ROWS = pl.DataFrame(
    [(1, "a", 1), (2, "b", 1), (1, "c", 1), (2, "b", -1)], schema={**COLUMNS, "$weight": pl.Int64()}, orient="row"
)


def test_rows_by_key_are_as_the_sink_writes_them(postgres: PostgresServer) -> None:
    def request(table: str) -> SinkRequest:
        return SinkRequest("t", options_of(postgres, table), COLUMNS, "upsert", Path(), ("id",), name="q", run="r")

    sink = open_sink("postgres", request("by_key_sink"))
    publisher = open_publisher("postgres", request("by_key_epochs"))
    publisher.last_published()
    for number, frame in enumerate([ROWS[:2], ROWS[2:]], 1):
        sink.write(number, frame)
        sink.flush()
        publisher.publish(number, [frame])
    with postgres.connect() as connection:
        sunk, published = (
            connection.execute(f"SELECT id, word FROM by_key_{who} ORDER BY id").fetchall()  # type: ignore[arg-type]
            for who in ("sink", "epochs")
        )
    assert sunk == published == [(1, "c")]
    sink.close()
    publisher.close()


def test_rows_are_added_once(postgres: PostgresServer) -> None:
    columns = {"id": pl.Int64(), "n": pl.Int64()}
    request = SinkRequest("t", options_of(postgres, "sums", merge="n:sum"), columns, "merge", Path(), ("id",), run="r")
    both = [open_publisher("postgres", replace(request, task=task)) for task in (0, 1)]
    for publisher in both:
        publisher.last_published()
    for epoch, rows in enumerate(([(1, 1), (2, 2), (1, 5)], [(2, 7)]), 1):
        for publisher in both:
            publisher.publish(epoch, [pl.DataFrame([row], schema=columns, orient="row") for row in rows])
    with postgres.connect() as connection:
        assert connection.execute("SELECT id, n FROM sums ORDER BY id").fetchall() == [(1, 12), (2, 18)]
    for publisher in both:
        publisher.close()


def test_what_the_server_refuses_is_told_and_nothing_is_visible(postgres: PostgresServer) -> None:
    task = task_of(postgres, "refusing")
    with postgres.connect() as connection:
        connection.execute(f"ALTER TABLE refusing ADD CHECK (id < {ids(1)[-1]})")
    publisher = task.open()
    publisher.last_published()
    with pytest.raises(ConnectorError, match="violates check constraint"):
        publisher.publish(1, frames(1))
    assert content(postgres, "refusing") == []
    with postgres.connect() as connection:
        connection.execute("ALTER TABLE refusing DROP CONSTRAINT refusing_id_check")
    publisher.publish(1, frames(1))
    assert content(postgres, "refusing") == ids(1)
    publisher.close()


def test_a_server_that_has_forgotten_an_epoch_is_told_of(postgres: PostgresServer) -> None:
    publisher = task_of(postgres, "forgotten").open()
    publisher.last_published()
    publisher.publish(1, frames(1))
    with postgres.connect() as connection:
        connection.execute("UPDATE ouzel_epochs SET epoch = 0 WHERE store = 'forgotten'")
    with pytest.raises(ConnectorError, match="of 'run-sink-0' it has epoch 0, and 1 was visible"):
        publisher.publish(2, frames(2))
    assert content(postgres, "forgotten") == ids(1)
    publisher.close()

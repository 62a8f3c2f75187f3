"""Epochs published to Redis, through a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from redis import Redis

from ouzel.connectors import open_publisher, open_sink
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError
from tests.connectors import publishing
from tests.connectors.lives import Lives
from tests.connectors.publishing import COLUMNS, Task, frames, ids
from tests.effort import seeds
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


def task_of(server: RedisServer, key: str, **more: str) -> Task:
    options = {"url": server.url, "key": key, "format": "json"}
    return Task("redis", options | {name.replace("_", "."): value for name, value in more.items()})


def stream(client: Redis, key: str) -> list[int]:
    return [json.loads(fields[b"value"])["id"] for _, fields in client.xrange(key)]  # type: ignore[union-attr]


def test_a_killed_task_goes_on_and_a_zombie_is_fenced(redis: RedisServer, lives: Lives) -> None:
    task = task_of(redis, "gate")
    zombie = task.open()
    assert zombie.last_published() == 0
    publishing.publish(replace(task, epochs=1), zombie)
    lives.kill(replace(task, dies=2, moment="within"))
    heir = task.open()
    assert heir.last_published() == 1
    with pytest.raises(ConnectorError, match="another task has taken over from 'run-sink-0'"):
        zombie.publish(2, frames(9))
    heir.publish(2, frames(2))
    heir.publish(3, [])
    assert heir.last_published() == 3
    publishing.publish(task, heir)
    found = stream(redis.client, "gate")
    assert found == [number for epoch in (1, 2, 4, 5) for number in ids(epoch)]
    zombie.close()
    heir.close()


@pytest.mark.parametrize("seed", seeds())
def test_each_row_is_there_once_however_often_tasks_die(redis: RedisServer, lives: Lives, seed: int) -> None:
    task = task_of(redis, f"deaths-{seed}")
    lives.run_to_the_end([task, replace(task, task=1)], seed)
    publishing.check(stream(redis.client, f"deaths-{seed}"), task.epochs, 2)


@pytest.mark.parametrize("seed", seeds())
def test_each_row_is_there_once_though_the_server_dies(tmp_path: Path, seed: int) -> None:
    server = RedisServer(tmp_path)
    task = task_of(server, "restart")
    publisher = task.open()
    publishing.publish_while(5, publisher, server.restart, publishing.delays(seed))
    publishing.check(stream(server.client, "restart"), 5)
    publisher.close()
    server.kill()


def test_another_run_has_epochs_of_its_own(redis: RedisServer) -> None:
    task = task_of(redis, "runs")
    for run in ("first", "second"):
        publishing.publish(replace(task, run=run, epochs=2), replace(task, run=run).open())
    assert stream(redis.client, "runs") == [*ids(1), *ids(2)] * 2


ROWS = pl.DataFrame(
    [(1, "a", 1), (2, "b", 1), (1, "c", 1), (2, "b", -1)], schema={**COLUMNS, "$weight": pl.Int64()}, orient="row"
)


@pytest.mark.parametrize(
    ("structure", "more"), [("hash", {}), ("string", {}), ("sorted-set", {"score": "id"})], ids=lambda value: str(value)
)
def test_rows_by_key_are_as_the_sink_writes_them(redis: RedisServer, structure: str, more: dict[str, str]) -> None:
    def content(key: str) -> object:
        client = redis.client
        if structure == "string":
            return {name.partition(b":")[2]: client.get(name) for name in client.keys(f"{key}:[0-9]*")}  # type: ignore[union-attr]
        return client.hgetall(key) if structure == "hash" else client.zrange(key, 0, -1, withscores=True)

    def request(key: str) -> SinkRequest:
        options = {"url": redis.url, "key": key, "structure": structure, "format": "json", **more}
        return SinkRequest("t", options, COLUMNS, "upsert", Path(), ("id",), run="r")

    sink, publisher = (
        open_sink("redis", request(f"{structure}-sink")),
        open_publisher("redis", request(f"{structure}-epochs")),
    )
    publisher.last_published()
    for number, frame in enumerate([ROWS[:2], ROWS[2:]], 1):
        sink.write(number, frame)
        sink.flush()
        publisher.publish(number, [frame])
    assert content(f"{structure}-epochs") == content(f"{structure}-sink")
    assert content(f"{structure}-sink")
    sink.close()
    publisher.close()


def added(server: RedisServer, key: str, task: int = 0) -> SinkRequest:
    options = {"url": server.url, "key": key, "structure": "hash", "format": "json", "merge": "n:sum"}
    columns = {"id": pl.Int64(), "n": pl.Int64()}
    return SinkRequest("t", options, columns, "merge", Path(), ("id",), run="r", task=task)


def counts(*pairs: tuple[int, int]) -> pl.DataFrame:
    return pl.DataFrame(list(pairs), schema={"id": pl.Int64(), "n": pl.Int64()}, orient="row")


def test_rows_are_added_once_though_another_task_is_quicker(redis: RedisServer) -> None:
    slow, quick = (open_publisher("redis", added(redis, "sums", task)) for task in (0, 1))
    assert slow.last_published() == quick.last_published() == 0
    hash_of_slow = slow._hash  # type: ignore[attr-defined]
    changes, tries = hash_of_slow.changes, []

    def overtaken(frames: list[pl.DataFrame]) -> object:
        made = changes(frames)
        tries.append(len(made))
        if len(tries) == 1:
            quick.publish(1, [counts((1, 10), (3, 30))])
        return made

    hash_of_slow.changes = overtaken
    slow.publish(1, [counts((1, 1), (2, 2)), counts((1, 5))])
    assert len(tries) == 2
    slow.publish(2, [counts((2, 7))])
    assert {json.loads(row)["id"]: json.loads(row)["n"] for row in redis.client.hvals("sums")} == {1: 16, 2: 9, 3: 30}  # type: ignore[union-attr]
    slow.close()
    quick.close()


def test_many_rows_are_one_epoch(redis: RedisServer) -> None:
    task = task_of(redis, "many")
    publisher = task.open()
    publisher.last_published()
    many = pl.DataFrame({"id": range(5_500), "word": ["w"] * 5_500}, schema=COLUMNS)
    redis.client.script_flush()  # what the server has loaded it may lose
    publisher.publish(1, [many])
    assert stream(redis.client, "many") == list(range(5_500))
    publisher.close()


def test_what_cannot_be_written_is_told_and_nothing_is_visible(redis: RedisServer) -> None:
    redis.client.set("wrong", "text")
    publisher = task_of(redis, "wrong").open()
    publisher.last_published()
    with pytest.raises(ConnectorError, match="WRONGTYPE"):
        publisher.publish(1, frames(1))
    redis.client.delete("wrong")
    redis.client.config_set("maxmemory", "1")
    try:
        with pytest.raises(ConnectorError, match=r"(?i)memory"):
            publisher.publish(1, frames(1))
        assert not redis.client.exists("wrong")
    finally:
        redis.client.config_set("maxmemory", "0")
    publisher.publish(1, frames(1))
    assert stream(redis.client, "wrong") == ids(1)
    publisher.close()


def test_a_server_that_has_forgotten_an_epoch_is_told_of(redis: RedisServer) -> None:
    publisher = task_of(redis, "forgotten").open()
    publisher.last_published()
    publisher.publish(1, frames(1))
    redis.client.delete("{forgotten}:epochs")
    with pytest.raises(ConnectorError, match="has lost what it had acknowledged: 'run-sink-0' had published epoch 1"):
        publisher.publish(2, frames(2))
    assert stream(redis.client, "forgotten") == ids(1)
    publisher.close()


def test_a_score_that_sorts_nothing_is_refused(redis: RedisServer) -> None:
    options = {"url": redis.url, "key": "nan", "structure": "sorted-set", "score": "x", "format": "json"}
    columns = {"id": pl.Int64(), "x": pl.Float64()}
    publisher = open_publisher("redis", SinkRequest("t", options, columns, "append", Path(), ("id",), run="r"))
    publisher.last_published()
    with pytest.raises(ConnectorError, match="'x' is NaN in a row"):
        publisher.publish(1, [pl.DataFrame({"id": [1, 2], "x": [1.0, float("nan")]}, schema=columns)])
    assert not redis.client.exists("nan")
    publisher.close()

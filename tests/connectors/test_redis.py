"""Redis, through a real server."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import polars as pl
import pytest

import ouzel
from ouzel.connectors import CONNECTORS, check_options, open_sink, open_source
from ouzel.connectors.kept import KEPT
from ouzel.connectors.reading import ItemReader, ReadBatch, ReadState, Source, SourceRequest, Unreachable
from ouzel.connectors.redis import group
from ouzel.connectors.redis.pending import PendingEntries, StreamEntry
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, QueryError
from tests.servers.redis import RedisServer
from tests.servers.waiting import wait_until

COLUMNS = {"id": pl.Int64(), "word": pl.String()}


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A server for this file; tests have keys of their own."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


def request_for(server: RedisServer, key: str, tasks: int = 1, again: bool = False, **more: str) -> SourceRequest:
    options = {"url": server.url, "key": key, "format": "json"}
    options |= {name.replace("_", "."): value for name, value in more.items()}
    return SourceRequest("events", options, COLUMNS, Path("."), name="q", tasks=tasks, again=again)


def fill(server: RedisServer, key: str, first: int, last: int) -> None:
    pipeline = server.client.pipeline(transaction=False)
    for number in range(first, last):
        pipeline.xadd(key, {"value": json.dumps({"id": number, "word": f"w{number % 10}"})})
    pipeline.execute()


def reader_of(source: Source, task: int = 0) -> ItemReader:
    return cast(ItemReader, source.reader(source.partitions()[task], None))


def read(reader: ItemReader, rows: int) -> list[ReadBatch]:
    """Batches with so many rows in all."""
    batches: list[ReadBatch] = []

    def count() -> int:
        return sum(batch.frame.height for batch in batches)

    def has_read() -> bool:
        while count() < rows and isinstance(batch := reader.read(1_000), ReadBatch):
            batches.append(batch)
        return count() >= rows

    wait_until(has_read, told=lambda: f"{count()} of {rows} rows", look_s=0.005)
    return batches


def ids(batches: list[ReadBatch]) -> list[int]:
    return [number for batch in batches for number in batch.frame["id"].to_list()]


def pending(server: RedisServer, key: str) -> int:
    return int(server.client.xpending(key, "ouzel-q")["pending"])


@pytest.mark.server
def test_an_entry_is_pending_until_it_is_acknowledged_and_comes_again_after_a_death(redis: RedisServer) -> None:
    fill(redis, "s1", 0, 100)
    first = open_source("redis", request_for(redis, "s1"))
    reader = reader_of(first)
    (batch, *more) = read(reader, 100)
    assert not more
    assert ids([batch]) == list(range(100))
    assert (reader.held(0, 100), pending(redis, "s1")) == (100, 100)
    assert reader.acknowledge(0, 40) == 0
    reader.give_back(40, 50)
    (again,) = read(reader, 10)
    assert (again.start, again.end, ids([again])) == (100, 110, list(range(40, 50)))
    first.close()
    assert pending(redis, "s1") == 60
    second = open_source("redis", request_for(redis, "s1", again=True))
    assert ids(read(reader_of(second), 60)) == list(range(40, 100))
    second.close()


@pytest.mark.server
def test_what_a_dead_consumer_had_is_claimed_by_another(redis: RedisServer) -> None:
    fill(redis, "s2", 0, 50)
    redis.client.xgroup_create("s2", "ouzel-q", id="0")
    redis.client.xreadgroup("ouzel-q", "dead", {"s2": ">"}, count=20)
    source = open_source("redis", request_for(redis, "s2", claim_idle_ms="200", end="empty"))
    reader = reader_of(source)
    found = read(reader, 50)
    assert sorted(ids(found)) == list(range(50))
    assert reader.read(10) is ReadState.WAIT, "what is pending is not handled"
    reader.acknowledge(0, 50)
    wait_until(lambda: reader.read(10) is ReadState.END)
    assert pending(redis, "s2") == 0
    source.close()


def handle(reader: ItemReader, rows: int) -> list[ReadBatch]:
    """Read so many rows and acknowledge them."""
    batches = read(reader, rows)
    for batch in batches:
        reader.acknowledge(batch.start, batch.end)
    return batches


@pytest.mark.server
@pytest.mark.parametrize("left", [5, 0])
def test_a_stream_whose_newest_entries_were_deleted_ends(redis: RedisServer, left: int) -> None:
    fill(redis, f"deleted-{left}", 0, 5)
    redis.client.xtrim(f"deleted-{left}", maxlen=left, approximate=False)
    gone = redis.client.xadd(f"deleted-{left}", {"value": "gone"})
    redis.client.xdel(f"deleted-{left}", gone)
    source = open_source("redis", request_for(redis, f"deleted-{left}", end="empty"))
    reader = reader_of(source)
    assert ids(handle(reader, left)) == list(range(left))
    wait_until(lambda: reader.read(10) is ReadState.END)
    source.close()


@pytest.mark.server
@pytest.mark.parametrize("what", ["group", "stream"])
def test_a_group_that_is_removed_goes_on_where_it_was_and_that_is_told(redis: RedisServer, what: str) -> None:
    key = f"removed-{what}"
    fill(redis, key, 0, 5)
    source = open_source("redis", request_for(redis, key))
    reader = reader_of(source)
    assert ids(handle(reader, 5)) == list(range(5))
    if what == "group":
        redis.client.xgroup_destroy(key, "ouzel-q")
    else:
        redis.client.delete(key)
    fill(redis, key, 5, 8)
    after = handle(reader, 3)
    assert ids(after) == [5, 6, 7]
    told = [note for batch in after for note in batch.notes]
    assert re.search("its group 'ouzel-q' was removed while it was read, and goes on behind entry", "".join(told))
    source.close()


@pytest.mark.server
@pytest.mark.parametrize("what", ["group", "stream"])
def test_it_may_be_removed_while_a_read_waits(redis: RedisServer, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Redis then answers the read with an error of its own."""
    monkeypatch.setattr(group, "_WAIT_MS", 20_000)
    key = f"removed-waiting-{what}"
    fill(redis, key, 0, 5)
    source = open_source("redis", request_for(redis, key))
    reader = reader_of(source)
    assert ids(handle(reader, 5)) == list(range(5))
    wait_until(lambda: redis.client.info("clients")["blocked_clients"] > 0)
    if what == "group":
        redis.client.xgroup_destroy(key, "ouzel-q")
    else:
        redis.client.delete(key)
    fill(redis, key, 5, 8)
    assert ids(handle(reader, 3)) == [5, 6, 7]
    monkeypatch.setattr(group, "_WAIT_MS", 50)
    redis.client.xadd(key, {"value": "8"})  # ends the read that waits
    source.close()


@pytest.mark.server
def test_entries_that_are_trimmed_away_unhandled_are_told_of(redis: RedisServer) -> None:
    fill(redis, "trimmed", 0, 5)
    source = open_source("redis", request_for(redis, "trimmed"))
    read(reader_of(source), 5)
    source.close()
    redis.client.xtrim("trimmed", maxlen=0)
    fill(redis, "trimmed", 5, 6)
    source = open_source("redis", request_for(redis, "trimmed", again=True))
    (batch,) = read(reader_of(source), 1)
    assert ids([batch]) == [5]
    assert list(batch.notes) == [
        "stream 'trimmed': entries were deleted or trimmed away before they were handled; their rows are missing"
    ]
    source.close()


def pending_for(server: RedisServer, key: str, idle_ms: int) -> int:
    """How many entries have been pending for so long, by the server's clock."""
    return len(server.client.xpending_range(key, "ouzel-q", "-", "+", 1_000, idle=idle_ms))


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each consumer has looked at how the others are, which each does all the time."""
    counts, look = Counter[str](), group.Consumer._look

    def counted(self: group.Consumer) -> None:
        look(self)
        counts[self._reading.consumer] += 1

    monkeypatch.setattr(group.Consumer, "_look", counted)
    monkeypatch.setattr(group, "_LOOK_S", 0.05)
    return counts


@pytest.mark.server
def test_a_consumer_without_room_is_not_taken_for_dead(redis: RedisServer, looks: Counter[str]) -> None:
    fill(redis, "s3", 0, 30)
    options = {"claim_idle_ms": "1000", "pending_items": "10"}
    source = open_source("redis", request_for(redis, "s3", tasks=2, **options))
    readers = [reader_of(source, task) for task in range(2)]
    found = [ids(read(reader, 10)) for reader in readers]
    wait_until(lambda: pending_for(redis, "s3", 2_000) == 18)  # each reads its first anew to show that it lives
    looks.clear()
    wait_until(lambda: len(looks) == 2 and min(looks.values()) >= 3)  # for whoever may be dead
    assert [reader.held(0, 20) for reader in readers] == [10, 10]
    for reader in readers:
        reader.acknowledge(0, 10)
    rest: list[int] = []

    def has_rest() -> bool:
        rest.extend(
            number for reader in readers if isinstance(batch := reader.read(10), ReadBatch) for number in ids([batch])
        )
        return len(rest) >= 10

    wait_until(has_rest, told=lambda: rest)
    assert sorted([*found[0], *found[1], *rest]) == list(range(30)), "each came once"
    source.close()


@pytest.mark.server
def test_while_the_server_is_away_reading_waits_and_nothing_is_lost(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    fill(server, "s", 0, 20)
    source = open_source("redis", request_for(server, "s"))
    reader = reader_of(source)
    read(reader, 20)
    reader.acknowledge(0, 5)
    server.kill()
    wait_until(lambda: isinstance(reader.read(10), Unreachable))
    told = reader.read(10)
    assert isinstance(told, Unreachable)
    assert told.reason.startswith(f"Redis at 127.0.0.1:{server.port}: ")
    reader.acknowledge(5, 20)
    server.start()
    fill(server, "s", 20, 30)
    assert ids(read(reader, 10)) == list(range(20, 30))
    reader.acknowledge(20, 30)
    source.close()
    assert pending(server, "s") == 0
    server.kill()


def sink_request(server: RedisServer, key: str, mode: str, **more: str) -> SinkRequest:
    options = {"url": server.url, "key": key, "format": "json"}
    options |= {name.replace("_", "."): value for name, value in more.items()}
    return SinkRequest("out", options, COLUMNS, mode, Path("."), keys=("word",))


def changes(rows: list[tuple[int, str, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={**COLUMNS, "$weight": pl.Int64()}, orient="row")


STORED: Mapping[str, Mapping[str, object]] = {
    "hash": {b"a": b'{"id":3,"word":"a"}'},
    "string": {b"string:a": b'{"id":3,"word":"a"}'},
    "sorted-set": {b"a": 3.0},
}


@pytest.mark.server
@pytest.mark.parametrize("structure", STORED)
def test_upserts_keep_a_row_by_key_however_often_they_come(redis: RedisServer, structure: str) -> None:
    more = {"score": "id"} if structure == "sorted-set" else {}
    sink = open_sink("redis", sink_request(redis, structure, "upsert", structure=structure, **more))
    for _ in range(2):
        sink.write(1, changes([(1, "a", 1), (2, "b", 1)]))
        sink.write(2, changes([(3, "a", 1), (2, "b", -1)]))
        sink.flush()
    sink.close()
    client = redis.client
    stored: dict[bytes, object] = {
        "hash": lambda: client.hgetall("hash"),
        "string": lambda: {name: client.get(name) for name in client.keys("string:*")},
        "sorted-set": lambda: dict(client.zrange("sorted-set", 0, -1, withscores=True)),
    }[structure]()
    assert stored == STORED[structure]


@pytest.mark.server
def test_a_stream_that_was_written_is_read_back(redis: RedisServer) -> None:
    sink = open_sink("redis", sink_request(redis, "back", "append", max_length="10000"))
    sink.write(1, changes([(number, "a", 1) for number in range(2_500)]).drop("$weight"))
    sink.flush()
    sink.close()
    source = open_source("redis", request_for(redis, "back"))
    assert ids(read(reader_of(source), 2_500)) == list(range(2_500))
    source.close()


@pytest.mark.server
def test_a_stream_is_counted_by_sql_and_kept_for_a_batch(redis: RedisServer, tmp_path: Path) -> None:
    fill(redis, "sql", 0, 1_000)
    text = f"""CREATE TABLE events (id BIGINT, word VARCHAR) WITH ('connector' = 'redis', 'url' = '{redis.url}', 'key' = 'sql',
        'format' = 'json', 'end' = 'empty', 'items.path' = '{tmp_path}');
        SELECT word, COUNT(*) AS many FROM events GROUP BY word EMIT CHANGES;"""
    counted = ouzel.table(text, engine="memory")
    assert sorted(counted.rows()) == [(f"w{number}", 100) for number in range(10)]
    kept = request_for(redis, "sql", items_path=str(tmp_path))
    source = open_source("redis", replace(kept, options={**kept.options, KEPT: "true"}))
    reader = source.reader(source.partitions()[0], None)
    assert sorted(ids(read(cast(ItemReader, reader), 1_000))) == list(range(1_000))
    source.close()


@pytest.mark.server
def test_a_password_is_asked_for_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = RedisServer(tmp_path, password="hunter2")
    request = request_for(server, "s")
    with pytest.raises(ConnectorError, match=r"Redis at 127.0.0.1:\d+: Authentication required"):
        open_source("redis", request)
    for given, welcome in (("wrong-hunter2", False), ("hunter2", True)):
        monkeypatch.setenv("REDIS_PASSWORD", given)
        secret = request_for(server, "s", password="${env:REDIS_PASSWORD}")
        if welcome:
            open_source("redis", secret).close()
            continue
        with pytest.raises(ConnectorError, match="invalid username-password pair") as told:
            open_source("redis", secret)
        assert "hunter2" not in str(told.value)
    server.kill()


@pytest.mark.server
def test_an_entry_without_the_field_is_a_bad_record_and_loses_no_other(redis: RedisServer) -> None:
    redis.client.xadd("other", {"payload": "{}"})
    fill(redis, "other", 0, 2)
    source = open_source("redis", request_for(redis, "other"))
    reader = reader_of(source)
    batches = read(reader, 2)
    assert ids(batches) == [0, 1]
    (bad,) = (one for batch in batches for one in batch.bad)
    assert re.fullmatch(r"stream 'other', entry \d+-\d+", bad.where)
    assert bad.reason == "it has no field 'value'; say with 'field' which one holds the row"
    assert b"payload" in bad.raw
    reader.acknowledge(0, 3)
    assert (batches[-1].end, reader.held(0, 3)) == (3, 0)
    source.close()


def test_nothing_listens() -> None:
    options = {"url": "redis://127.0.0.1:1", "key": "s", "format": "json"}
    with pytest.raises(
        ConnectorError, match=r"no Redis server answers at 127.0.0.1:1: .*; is it running, and is 'url' right"
    ):
        open_source("redis", SourceRequest("events", options, COLUMNS, Path(".")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "http://h"}, "'url' cannot be 'http://h'; write 'redis://host:6379/0'"),
        ({"url": "redis://:secret@h"}, "'url' cannot hold a password; write 'password' = "),
        ({"url": "redis://h/zero"}, "'url' cannot be 'redis://h/zero'"),
        ({"structure": "sorted-set"}, "a sorted set needs 'score'"),
        ({"score": "n"}, "'score' has no effect here"),
        ({"structure": "hash", "max.length": "5"}, "'max.length' has no effect here"),
        ({"pending.items": "0"}, "'pending.items' cannot be 0"),
    ],
)
def test_wrong_options_are_refused_when_the_query_is_planned(options: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError) as told:
        check_options(CONNECTORS["redis"], {"url": "redis://h", "key": "k", "format": "json", **options})
    assert message in str(told.value)
    assert "secret" not in str(told.value)


def test_what_comes_twice_is_taken_once_and_what_is_given_back_is_new() -> None:
    pending = PendingEntries(tracked=True)
    assert pending.take([StreamEntry(b"1", b"a"), StreamEntry(b"2", b"b")]) == 2
    assert pending.take([StreamEntry(b"2", b"b"), StreamEntry(b"3", b"c")]) == 1, (
        "an answer that was lost with its connection is asked for again"
    )
    assert pending.give_out(2) == (0, [StreamEntry(b"1", b"a"), StreamEntry(b"2", b"b")])
    pending.give_back(0, 1)
    assert (pending.held(0, 2), pending.data(0, 2)) == (1, [b"b"])
    pending.acknowledge(0, 2)
    assert list(pending.handled) == [b"2"]
    assert pending.take([StreamEntry(b"2", b"b")]) == 0, "the server does not know yet"
    pending.on_acknowledged(1)
    assert pending.give_out(9) == (2, [StreamEntry(b"3", b"c"), StreamEntry(b"1", b"a")])
    assert not pending.is_empty
    pending.acknowledge(2, 4)
    pending.on_acknowledged(2)
    assert pending.is_empty


def test_at_most_once_nothing_stays_pending() -> None:
    pending = PendingEntries(tracked=False)
    pending.take([StreamEntry(b"1", b"a")])
    pending.give_out(1)
    pending.acknowledge(0, 1)
    assert pending.is_empty

"""Kestrel: queues are read and written, on real sockets, from a server of our own that follows Kestrel's guide."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as enumerate_threads

import polars as pl
import pytest

from ouzel.connectors import open_sink, open_source
from ouzel.connectors.items import KeptItems
from ouzel.connectors.kestrel import client, sink
from ouzel.connectors.kestrel.client import Client, KestrelConnection
from ouzel.connectors.kestrel.source import KestrelReader, KestrelSource
from ouzel.connectors.reading import BadRow, ReadBatch, ReadState, SourceRequest, Unreachable
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, QueryError
from ouzel.session import load_text
from tests.servers.kestrel import KestrelServer, Talk
from tests.servers.process import free_port
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KestrelServer]:
    made = KestrelServer(tmp_path_factory.mktemp("kestrel"))
    yield made
    made.kill()


@pytest.fixture
def server(one_server: KestrelServer) -> KestrelServer:
    """A server without queues."""
    talk = Talk(one_server.port)
    for queue in ("q", "q+copy"):
        talk.say(f"delete {queue}")
    talk.close()
    return one_server


@pytest.fixture
def other(tmp_path: Path) -> Iterator[KestrelServer]:
    """One more server, of one test's own."""
    made = KestrelServer(tmp_path / "other")
    yield made
    made.kill()


def request(server: KestrelServer | str, directory: Path = Path(), tracked: bool = True, **more: str) -> SourceRequest:
    address = server if isinstance(server, str) else server.address
    options = {"servers": address, "queue": "q", "format": "raw", "linger.ms": "0", **more}
    options = {name.replace("_", "."): value for name, value in options.items()}
    return SourceRequest("t", options, {"line": pl.String()}, directory, tracked=tracked)


def opened(request: SourceRequest) -> tuple[KestrelSource, KestrelReader]:
    source = open_source("kestrel", request)
    assert isinstance(source, KestrelSource)
    (partition,) = source.partitions()
    return source, source.reader(partition, None)


def read_until(reader: KestrelReader, count: int) -> list[ReadBatch]:
    """Batches with so many items together."""
    batches: list[ReadBatch] = []

    def has_read() -> bool:
        while isinstance(batch := reader.read(1_000), ReadBatch):
            batches.append(batch)
            if sum(batch.end - batch.start for batch in batches) >= count:
                return True
        return False

    wait_until(has_read, told=lambda: batches, look_s=0.002)
    return batches


def lines(batches: Sequence[ReadBatch]) -> list[str]:
    return [line for batch in batches for line in batch.frame["line"]]


@pytest.mark.parametrize("pending", ["1", "1000"])
def test_items_are_closed_when_acknowledged_and_go_back_otherwise(server: KestrelServer, pending: str) -> None:
    talk = Talk(server.port)
    talk.put("q", *map(str, range(6)))
    source, reader = opened(request(server, pending_items=pending, connections="6"))
    batches = read_until(reader, 6)
    assert sorted(lines(batches)) == [*map(str, range(6))]
    assert talk.stats("q")["open_transactions"] == 6
    for batch in batches:
        assert reader.held(batch.start, batch.end) == batch.end - batch.start
    half = {line for line in lines(batches) if int(line) % 2}
    places = {line: number for number, line in enumerate(lines(batches))}
    for line, number in places.items():
        (reader.acknowledge if line in half else reader.give_back)(number, number + 1)
    again = Counter(lines(read_until(reader, 3)))
    assert set(again) >= {"0", "2", "4"}, "what was given back is handed out again"
    source.close()
    wait_until(lambda: not talk.stats("q")["open_transactions"])
    assert talk.stats("q")["items"] <= 6 - 3 + (3 if pending == "1000" else 0)


def test_items_that_wait_go_back_when_the_source_is_closed(server: KestrelServer) -> None:
    talk = Talk(server.port)
    talk.put("q", "a", "b", "c")
    source, reader = opened(request(server, connections="1"))
    (batch,) = read_until(reader, 3)
    reader.acknowledge(batch.start, batch.start + 1)
    source.close()
    wait_until(lambda: not talk.stats("q")["open_transactions"])
    assert [talk.say("get q") for _ in range(3)] == ["b", "c", "END"], "in their order, at the head"


def test_what_is_handled_while_a_confirmation_is_under_way_is_confirmed_before_the_end(
    server: KestrelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(server.port)
    talk.put("q", "a", "b")
    source, reader = opened(request(server, connections="1"))
    (batch,) = read_until(reader, 2)
    ask, end_idle, closer, closing = KestrelConnection.ask, Client._end_idle, Thread(target=source.close), Event()

    async def ask_and_be_closed(self: KestrelConnection, command: bytes) -> str:
        answer = await ask(self, command)
        if command.startswith(b"confirm") and not closer.ident:
            reader.acknowledge(batch.start + 1, batch.end)
            closer.start()
            await asyncio.to_thread(closing.wait)
        return answer

    def note_and_end(self: Client) -> None:
        end_idle(self)
        closing.set()

    monkeypatch.setattr(KestrelConnection, "ask", ask_and_be_closed)
    monkeypatch.setattr(Client, "_end_idle", note_and_end)
    reader.acknowledge(batch.start, batch.start + 1)
    wait_until(closing.is_set)
    closer.join()
    wait_until(lambda: not talk.stats("q")["open_transactions"])
    assert talk.say("get q") == "END"


def test_what_a_server_took_back_is_told(server: KestrelServer) -> None:
    talk = Talk(server.port)
    talk.put("q", "a", "b")
    source, reader = opened(request(server, connections="1"))
    (batch,) = read_until(reader, 2)
    server.kill()
    wait_until(lambda: not reader.held(batch.start, batch.end))
    wait_until(lambda: isinstance(reader.read(1), Unreachable))
    assert reader.acknowledge(batch.start, batch.end) == 2
    server.start()
    assert sorted(lines(read_until(reader, 2))) == ["a", "b"], "its journal has them"
    source.close()


def test_at_most_once_takes_items_for_good(server: KestrelServer) -> None:
    talk = Talk(server.port)
    talk.put("q", "a", "b")
    source, reader = opened(request(server, tracked=False))
    assert sorted(lines(read_until(reader, 2))) == ["a", "b"]
    source.close()
    assert talk.say("get q") == "END"


def test_it_ends_when_the_queue_is_empty_and_nothing_is_open(server: KestrelServer) -> None:
    Talk(server.port).put("q", "a")
    source, reader = opened(request(server, end="empty"))
    (batch,) = read_until(reader, 1)
    for _ in range(5):
        assert reader.read(1) is ReadState.WAIT
    reader.acknowledge(batch.start, batch.end)
    wait_until(lambda: reader.read(1) is ReadState.END)
    source.close()


def test_the_lag_is_what_waits_at_the_server_and_here(server: KestrelServer) -> None:
    Talk(server.port).put("q", *"abcde")
    source, reader = opened(request(server, pending_items="1", connections="1"))
    wait_until(lambda: reader.lag() == 5)
    read_until(reader, 1)
    wait_until(lambda: reader.lag() == 4)
    (backlog,) = reader.backlogs()
    assert (backlog.place, backlog.records) == (f"q at {server.address}", 4)
    assert backlog.bytes == 4
    assert (backlog.age_ms or 0) >= 0
    assert (backlog.journal_bytes or 0) > 4
    source.close()


def test_servers_come_and_go_while_it_is_read_and_written(
    server: KestrelServer,
    other: KestrelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "LOOK_AGAIN_S", 0.02)
    monkeypatch.setattr(sink, "LOOK_AGAIN_S", 0)
    hosts, here, there = tmp_path / "hosts", Talk(server.port), Talk(other.port)
    hosts.write_text(server.address)
    here.put("q", *"abc")
    source, reader = opened(request("file:hosts", tmp_path, connections="1"))
    writer = open_sink(
        "kestrel", SinkRequest("t", written("file:hosts").options, {"n": pl.Int64()}, "append", tmp_path)
    )
    first = read_until(reader, 1)
    hosts.write_text(f"{server.address}\n{other.address}")
    there.put("q", "d")
    batches = [*first, *read_until(reader, 4 - sum(batch.end - batch.start for batch in first))]
    assert sorted(lines(batches)) == [*"abcd"], "a server that came is read"
    here.put("q", "e")
    hosts.write_text(f"-{server.address}\n{other.address}")
    for _ in range(2):
        writer.write(0, pl.DataFrame({"n": [7]}))
        writer.flush()
    for batch in batches:
        assert reader.acknowledge(batch.start, batch.end) == 0, "what is on its way is waited for"
    places = [f"q at {other.address}"]
    wait_until(
        lambda: [backlog.place for backlog in reader.backlogs()] == places and not here.stats("q")["open_transactions"]
    )
    left = [line for _ in range(2) if (line := here.say("get q")) != "END"]
    found = lines(read_until(reader, 3 - len(left)))
    assert sorted([*left, *found]) == ["e", '{"n":7}', '{"n":7}'], "nothing is lost, whoever was given it"
    source.close()
    writer.close()


def test_a_child_queue_gets_copies(server: KestrelServer) -> None:
    talk = Talk(server.port)
    talk.put("q", "before")
    assert talk.say("get q+copy") == "END"
    talk.put("q", "after")
    source, reader = opened(request(server, queue="q+copy"))
    assert lines(read_until(reader, 1)) == ["after"]
    source.close()
    assert [talk.say("get q"), talk.say("get q")] == ["before", "after"]


def test_what_was_handled_is_kept_and_read_by_offsets(server: KestrelServer, tmp_path: Path) -> None:
    talk = Talk(server.port)
    for first in ("abc", "de"):
        talk.put("q", *first)
        source, reader = opened(request(server, tmp_path, items_path="kept", connections="1"))
        (batch,) = read_until(reader, len(first))
        reader.acknowledge(batch.start, batch.end)
        assert reader.kept() == ((0, 3) if first == "abc" else (3, 5))
        source.close()
    with (tmp_path / "kept" / "q-0.items").open("ab") as file:
        file.write(b"\x05\0\0\0torn")
    kept = KeptItems(request(server, tmp_path), tmp_path / "kept", "raw")
    (partition,) = kept.partitions()
    found = kept.reader(partition, 2).read(10, 4)
    assert isinstance(found, ReadBatch)
    assert (found.start, found.end, found.frame["line"].to_list()) == (2, 4, ["c", "d"])
    assert kept.reader(partition, 5).read(10) is ReadState.END
    with pytest.raises(ConnectorError, match="ends before its record 6"):
        kept.reader(partition, 6)


def test_only_one_run_keeps_its_items_in_a_place(server: KestrelServer, tmp_path: Path) -> None:
    source, _ = opened(request(server, tmp_path, items_path="kept"))
    with pytest.raises(ConnectorError, match=r"is written by another run; give each its own 'items\.path'"):
        opened(request(server, tmp_path, items_path="kept"))
    source.close()
    assert not [thread for thread in enumerate_threads() if thread.name == "kestrel"], "nobody reads on unseen"


def test_bad_items_say_where_they_are_from(server: KestrelServer) -> None:
    Talk(server.port).put("q", '{"line": "a"}', "{")
    source, reader = opened(request(server, format="json", connections="1"))
    (batch,) = read_until(reader, 2)
    assert batch.frame["line"].to_list() == ["a"]
    (bad,) = batch.bad
    assert isinstance(bad, BadRow)
    assert (bad.where, bad.raw) == (f"queue 'q' at {server.address}", b"{")
    source.close()


def test_an_item_beyond_the_limit_stops_the_topology(server: KestrelServer) -> None:
    Talk(server.port).put("q", "x" * 100)
    source, reader = opened(request(server, item_max_bytes="99"))
    wait_until(lambda: not reader._client.is_alive())
    with pytest.raises(ConnectorError, match=r"hands out an item of 100 bytes, and 'item\.max\.bytes' is 99; raise it"):
        reader.read(1)
    source.close()


def test_nobody_there_is_told_at_the_start() -> None:
    with pytest.raises(ConnectorError, match=r"no Kestrel server answers: 127\.0\.0\.1:\d+"):
        opened(request(f"127.0.0.1:{free_port()}"))


def written(server: str, **more: str) -> SinkRequest:
    options = {"servers": server, "queue": "q", "format": "json"} | {k.replace("_", "."): v for k, v in more.items()}
    return SinkRequest("t", options, {"n": pl.Int64()}, "append", Path())


def test_rows_become_items(server: KestrelServer) -> None:
    sink = open_sink("kestrel", written(f"{server.address}, 127.0.0.1:{free_port()}"))
    sink.write(1, pl.DataFrame({"n": range(1_200)}))
    sink.flush()
    sink.close()
    talk = Talk(server.port)
    found = [json.loads(talk.say("get q"))["n"] for _ in range(1_200)]
    assert found == [*range(1_200)], "the server that is away is left out"


def test_a_server_that_goes_and_comes_back_has_every_row(server: KestrelServer) -> None:
    sink = open_sink("kestrel", written(server.address))
    sink.write(1, pl.DataFrame({"n": range(700)}))
    server.kill()
    sink.write(2, pl.DataFrame({"n": range(700, 1_400)}))
    flush = Thread(target=sink.flush)
    flush.start()
    server.start()
    flush.join()
    sink.close()
    talk = Talk(server.port)
    found = []
    while (item := talk.say("get q")) != "END":
        found.append(json.loads(item)["n"])
    assert set(found) == set(range(1_400)), "what was not said to be stored was sent again"


def test_a_full_queue_is_waited_for(tmp_path: Path) -> None:
    server = KestrelServer(tmp_path / "full", "--max-items", "3")
    sink = open_sink("kestrel", written(server.address))
    sink.write(1, pl.DataFrame({"n": range(5)}))
    flush = Thread(target=sink.flush)
    flush.start()
    talk = Talk(server.port)
    found: list[int] = []
    while len(found) < 5:
        item = talk.say("get q/t=500")
        found += [json.loads(item)["n"]] if item != "END" else []
    flush.join()
    assert sorted(found) == [*range(5)]
    sink.close()
    server.kill()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("'servers' = 'a:1,b', 'queue' = 'q'", "'servers' cannot hold 'b'; write 'host:22133, other:22133'"),
        ("'servers' = 'a:1', 'queue' = 'a/b'", "'queue' cannot be 'a/b'; write 'name', or 'name\\+child'"),
        ("'servers' = 'a:1', 'queue' = 'q', 'pending.items' = '0'", "'pending.items' cannot be 0"),
    ],
)
def test_wrong_options_are_refused(options: str, says: str) -> None:
    table = (
        f"CREATE TABLE t (line VARCHAR) WITH ('connector' = 'kestrel', 'format' = 'raw', {options}); SELECT * FROM t;"
    )
    with pytest.raises(QueryError, match=says):
        load_text(table, Path(), "t")


def test_its_client_is_a_thread_that_ends(server: KestrelServer) -> None:
    source, reader = opened(request(server))
    thread: Client = reader._client
    source.close()
    assert not thread.is_alive()


def test_a_task_that_is_started_again_waits_for_the_list_of_servers(
    server: KestrelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LOOK_AGAIN_S", 0.02)
    asked = request("file:hosts", tmp_path, end="empty")
    with pytest.raises(ConnectorError, match="the list of Kestrel's servers cannot be read"):
        opened(asked)
    Talk(server.port).put("q", "a")
    source, reader = opened(replace(asked, again=True))
    assert isinstance(reader.read(1), Unreachable), "its end is not known"
    (tmp_path / "hosts").write_text(server.address)
    assert lines(read_until(reader, 1)) == ["a"]
    (tmp_path / "hosts").unlink()
    Talk(server.port).put("q", "b")
    wait_until(lambda: reader._client.servers.problem)
    (batch,) = read_until(reader, 1)
    assert "cannot be read" in batch.notes[0]
    source.close()

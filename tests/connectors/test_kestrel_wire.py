"""What our Kestrel server says is what Kestrel's guide says, and, of what Twitter's own test server does right, what that says."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors import open_sink, open_source
from ouzel.connectors.reading import ReadBatch, SourceRequest
from ouzel.connectors.writing import SinkRequest
from tests.servers.kafka import JARS, fetched
from tests.servers.kestrel import KestrelServer, Talk
from tests.servers.process import free_port
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server
SERVERS = Path(__file__).parents[1] / "servers"


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    server = KestrelServer(tmp_path_factory.mktemp("kestrel"))
    yield server.port
    server.kill()


@pytest.fixture(scope="module")
def finagle() -> Iterator[int]:
    """Twitter's test server: without Java, Maven or its jars the test is skipped, and says so."""
    jars, port = fetched(SERVERS / "kestrel-pom.xml", JARS.with_name("kestrel")), free_port()
    java = shutil.which("java") or "java"
    command = [
        java,
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{jars}/*",
        str(SERVERS / "KestrelMain.java"),
        str(port),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    while line := process.stdout.readline():
        if b"listening" in line:
            break
    yield port
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture(params=["ours", "finagle"])
def port(request: pytest.FixtureRequest) -> int:
    found: int = request.getfixturevalue(request.param)
    return found


def test_both_speak_the_same_protocol(port: int) -> None:
    talk = Talk(port)
    talk.put("w", "a", "b", "c")
    assert [talk.say("get w"), talk.say("get w/open"), talk.say("get w/close")] == ["a", "b", "END"]
    assert [talk.say("get w/open"), talk.say("get w/abort"), talk.say("get w/open")] == ["c", "END", "c"], (
        "at the head again"
    )
    talk.put("w", "d")
    assert [talk.say("get w/close/open"), talk.say("get w/close"), talk.say("get w")] == ["d", "END", "END"]
    asked = time.monotonic()
    assert talk.say("get w/t=300") == "END"
    assert time.monotonic() - asked > 0.25
    other = Talk(port)
    other.put("w", "e")
    assert talk.say("get w/t=5000/open") == "e"
    talk.close()


@pytest.mark.parametrize("pending", ["1", "100"])
def test_the_connector_reads_and_writes(port: int, pending: str, request: pytest.FixtureRequest) -> None:
    if pending != "1" and "finagle" in request.node.name:
        pytest.skip("finagle's test server has neither MONITOR nor CONFIRM")
    options = {"servers": f"127.0.0.1:{port}", "queue": f"rows{pending}", "format": "json"}
    sink = open_sink("kestrel", SinkRequest("t", options, {"n": pl.Int64()}, "append", Path()))
    sink.write(1, pl.DataFrame({"n": range(700)}))
    sink.flush()
    sink.close()
    more = {"pending.items": pending, "connections": "8"}
    source = open_source("kestrel", SourceRequest("t", options | more, {"n": pl.Int64()}, Path()))
    (partition,) = source.partitions()
    reader = source.reader(partition, None)
    found: list[int] = []

    def has_read() -> bool:
        while isinstance(batch := reader.read(1_000), ReadBatch):
            found.extend(batch.frame["n"].to_list())
            reader.acknowledge(batch.start, batch.end)  # type: ignore[attr-defined]
        return len(found) >= 700

    wait_until(has_read, told=lambda: len(found), look_s=0.001)
    assert sorted(found) == [*range(700)]
    source.close()
    assert Talk(port).say(f"get rows{pending}") == "END", "all were closed"


def test_one_item_is_open_on_a_connection(ours: int) -> None:
    talk = Talk(ours)
    talk.put("one", "a", "b")
    assert talk.say("get one/open") == "a"
    assert talk.say("get one/open") == "ERROR"
    assert talk.hear() == "", "and the connection is closed"
    assert [Talk(ours).say("get one") for _ in range(2)] == ["a", "b"], "the item went back, before the other"


def test_peek_takes_nothing_and_is_no_reliable_read(ours: int) -> None:
    talk = Talk(ours)
    talk.put("p", "a")
    assert [talk.say("get p/peek"), talk.say("get p/peek"), talk.say("get p")] == ["a", "a", "a"]
    assert [talk.say("get p/peek/open"), talk.hear()] == ["CLIENT_ERROR", ""]


def test_monitor_opens_as_items_come_and_confirm_closes_the_first(ours: int) -> None:
    talk, other = Talk(ours), Talk(ours)
    other.put("m", "a", "b")
    assert [talk.say("monitor m 5 3"), talk.hear()] == ["a", "b"]
    other.put("m", "c", "d")
    assert [talk.hear(), talk.hear()] == ["c", "END"]
    assert other.stats("m")["open_transactions"] == 3
    assert [talk.say("confirm m 2"), talk.say("confirm m 2")] == ["END", "ERROR"]
    assert talk.say("monitor m 1 5") == "d"
    assert talk.hear() == "END", "after a second"
    talk.close()
    assert [other.say("get m/t=1000"), other.say("get m")] == ["c", "d"]


def test_items_expire(ours: int) -> None:
    talk = Talk(ours)
    talk.put("x", "gone", expiry=1_000_000)
    talk.put("x", "stays", expiry=999)
    assert talk.say("get x") == "stays"
    assert talk.stats("x")["expired_items"] == 1


def test_children_get_copies_and_lose_them_alone(ours: int) -> None:
    talk = Talk(ours)
    assert [talk.say("get f+a"), talk.say("get f+b")] == ["END", "END"]
    talk.put("f", "x")
    talk.put("f+a", "only a")
    assert [talk.say("get f+a"), talk.say("get f+a"), talk.say("get f+b"), talk.say("get f")] == [
        "x",
        "only a",
        "x",
        "x",
    ]
    assert talk.say("delete f+b") == "END"


def test_queues_are_flushed_and_deleted(ours: int) -> None:
    talk = Talk(ours)
    talk.put("d", "a")
    assert [talk.say("flush d"), talk.say("get d")] == ["END", "END"]
    talk.put("d", "a")
    assert [talk.say("delete d"), talk.say("get d")] == ["END", "END"]
    talk.put("d", "a")
    assert [talk.say("flush_all"), talk.say("get d")] == ["Flushed all queues.", "END"]
    assert talk.say("dump_stats").startswith("queue '")
    assert talk.hear_lines()[-1] == "END"
    assert talk.say("version").startswith("VERSION ")
    assert [talk.say("status"), talk.say("status readonly"), talk.say("set d 0 0 1", b"a"), talk.say("status up")] == [
        "UP", "END", "ERROR", "END",
    ]  # fmt: skip


@pytest.mark.parametrize("sent", [b"x" * 5_000, b"set q 0 0 99999999999\r\n", b"set q 0 0 z\r\n", b"get /open\r\n"])
def test_what_makes_no_sense_ends_the_connection(ours: int, sent: bytes) -> None:
    talk = Talk(ours)
    talk._socket.sendall(sent)
    assert [talk.hear(), talk.hear()] == ["CLIENT_ERROR", ""]


def test_a_killed_server_has_all_that_was_not_closed(tmp_path: Path) -> None:
    server = KestrelServer(tmp_path)
    talk = Talk(server.port)
    talk.put("j", *"abcd")
    assert [talk.say("get j"), talk.say("get j/open"), talk.say("get j/close/open")] == ["a", "b", "c"]
    server.kill()
    server.start()
    assert [Talk(server.port).say("get j") for _ in range(3)] == ["c", "d", "END"]
    server.kill()


def test_the_examples_differ_in_their_table_alone() -> None:
    folder = Path(__file__).parents[2] / "sql_examples/spouts"
    texts = [(folder / f"word_count_{kind}.sql").read_text() for kind in ("kestrel", "kafka")]
    queries = [text.partition(") WITH (")[2].partition(");")[2] for text in texts]
    tables = [text.partition("CREATE TABLE")[2].partition(") WITH (")[0] for text in texts]
    assert queries[0] == queries[1]
    assert tables[0] == tables[1]
    assert "COUNT(*)" in queries[0]

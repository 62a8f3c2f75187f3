"""From Kestrel to files, under fire: instances, stream managers and servers are killed; nothing is lost, and doubles are counted."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.connectors.base import ReadBatch, SourceRequest
from ouzel.connectors.items import KeptItems
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.effort import seeds
from tests.process.fire import run_under_fire
from tests.process.topologies import wait_until
from tests.servers.kestrel import KestrelServer, Talk

pytestmark = [pytest.mark.server, pytest.mark.slow]

ITEMS = 150_000
KILLS = 10
QUERY = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'kestrel', 'servers' = '{servers}', 'queue' = 'numbers', 'format' = 'json',
  'end' = 'empty', 'pending.items' = '500', 'items.path' = 'items');
CREATE TABLE out (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet');
INSERT INTO out SELECT n FROM numbers;
"""
SETTINGS = (("parallelism", "3"), ("containers", "2"), ("batch.rows", "500"), ("max.pending.rows", "5000"),
            ("ack.timeout.ms", "5000"))  # fmt: skip


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[KestrelServer]]:
    """Three servers, among which the numbers are dealt."""
    made = [KestrelServer(tmp_path / f"kestrel{number}") for number in range(3)]
    with ThreadPoolExecutor() as fillers:
        list(fillers.map(fill, made, [range(number, ITEMS, 3) for number in range(3)]))
    yield made
    for server in made:
        server.kill()


def fill(server: KestrelServer, numbers: range) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client, client.makefile("rb") as replies:
        for first in range(0, len(numbers), 1_000):
            items = [b'{"n": %d}' % number for number in numbers[first : first + 1_000]]
            client.sendall(b"".join(b"set numbers 0 0 %d\r\n%b\r\n" % (len(item), item) for item in items))
            assert all(replies.readline() == b"STORED\r\n" for _ in items)


def kept(directory: Path) -> set[int]:
    """The items that the run has written down as handled."""
    request = SourceRequest("numbers", {}, {"n": pl.Int64()}, directory)
    source = KeptItems(request, directory / "items", "json")
    readers = [source.reader(partition, 0) for partition in source.partitions()]
    found: set[int] = set()
    for reader in readers:
        while isinstance(batch := reader.read(50_000), ReadBatch):
            found |= set(batch.frame["n"])
        reader.close()
    return found


@pytest.mark.parametrize("seed", seeds()[:1])
def test_nothing_is_lost_under_fire(seed: int, servers: list[KestrelServer], tmp_path: Path) -> None:
    text = QUERY.format(servers=",".join(server.address for server in servers))
    job = load_text(text, tmp_path, "fire", SETTINGS)
    status, story = run_under_fire(job, servers, Random(seed), ITEMS, KILLS)
    assert (status.state, status.reason) == (RunState.FINISHED, ""), story
    found = pl.read_parquet(tmp_path / "out" / "*.parquet")["n"]
    lost = ITEMS - found.n_unique()
    told = sum(event.count for event in status.events if event.kind == "replayed")
    print(f"seed {seed}: killed {story}; {ITEMS:,} items, {lost} lost, {found.len() - ITEMS:,} twice; told of {told:,}")
    assert lost == 0, story
    assert kept(tmp_path) >= set(range(ITEMS)), "a batch reads all that was handled"
    assert len(story) == KILLS
    assert found.len() - ITEMS < ITEMS // 4, "only what was in hands comes twice"


def test_what_was_handled_is_gone_from_the_queue_when_a_run_is_stopped(tmp_path: Path) -> None:
    server = KestrelServer(tmp_path / "kestrel")
    fill(server, range(3_000))
    text = QUERY.format(servers=server.address).replace("'end' = 'empty', ", "")
    handle = start(load_text(text, tmp_path, "stopped", SETTINGS))
    assert isinstance(handle, HeronHandle)
    try:
        wait_until(lambda: handle.status().rows_acked == 3_000, 60)
        handle.stop()
    finally:
        handle._scheduler.on_kill()
    told = Talk(server.port).stats("numbers")
    server.kill()
    assert (told["items"], told["open_transactions"]) == (0, 0)
    assert sorted(pl.read_parquet(tmp_path / "out" / "*.parquet")["n"]) == [*range(3_000)]

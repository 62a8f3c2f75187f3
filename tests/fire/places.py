"""Where numbered events lie: topics, queues, streams and files, each behind a proxy if it has a server."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from redis import Redis

from ouzel.connectors.items import KeptItems
from ouzel.connectors.reading import ReadBatch, SourceRequest
from tests.servers.kafka import KafkaBroker
from tests.servers.kestrel import KestrelServer, Talk
from tests.servers.process import ServerProcess
from tests.servers.proxy import Proxy
from tests.servers.redis import RedisServer

_PORTION = 5_000
_FILES = 20


class Place(Protocol):
    """One kind of place. `servers` and `proxies` go together; both are empty where there is no server."""

    servers: list[ServerProcess]
    proxies: list[Proxy]

    def options(self, name: str, reads: bool) -> str:
        """What WITH says of `name`, beside the format."""

    def fill(self, name: str, events: int) -> None:
        """Put the numbers below `events` there."""

    def found(self, name: str) -> np.ndarray:
        """Each number that was written there, as often as it is."""

    def check(self, name: str, events: int) -> None:
        """Of what was read wholly: nothing is left, or in anybody's hands."""


class Kafka:
    """A topic of four partitions of one broker."""

    def __init__(self, directory: Path) -> None:
        self._proxy = Proxy()
        self._broker = KafkaBroker(directory / "kafka", self._proxy)
        self._proxy.port = self._broker.port
        self.servers: list[ServerProcess] = [self._broker]
        self.proxies = [self._proxy]

    def options(self, name: str, reads: bool) -> str:
        """See Place."""
        if not reads:
            self._broker.create_topic(name, 4)
        end = ", 'end' = 'latest'" if reads else ""
        return f"'connector' = 'kafka', 'bootstrap.servers' = '{self._proxy.address}', 'topic' = '{name}'{end}"

    def fill(self, name: str, events: int) -> None:
        """See Place."""
        self._broker.create_topic(name, 4)
        self.add(name, range(events))

    def add(self, name: str, numbers: Iterable[int]) -> None:
        """Put these numbers there, behind what there is."""
        self._broker.produce(name, _records(numbers))  # type: ignore[arg-type]

    def found(self, name: str) -> np.ndarray:
        """See Place."""
        return np.array([_number(value) for value in self._broker.values(name)], dtype=np.int64)

    def check(self, name: str, events: int) -> None:
        """See Place."""


class Kestrel:
    """A queue on three servers."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        made = [KestrelServer(directory / f"kestrel{number}") for number in range(3)]
        self.servers: list[ServerProcess] = [*made]
        self.proxies = [Proxy(server.port) for server in made]

    def options(self, name: str, reads: bool) -> str:
        """See Place."""
        servers = ",".join(proxy.address for proxy in self.proxies)
        more = f", 'end' = 'empty', 'pending.items' = '500', 'items.path' = '{self._items(name)}'" if reads else ""
        return f"'connector' = 'kestrel', 'servers' = '{servers}', 'queue' = '{name}'{more}"

    def _items(self, name: str) -> Path:
        return self._directory / f"items-{name}"

    def fill(self, name: str, events: int) -> None:
        """See Place."""
        for turn, server in enumerate(self.servers):
            items = _records(range(turn, events, 3))
            with socket.create_connection(("127.0.0.1", server.port)) as client, client.makefile("rb") as replies:
                for portion in _portions(items):
                    client.sendall(b"".join(b"set %b 0 0 %d\r\n%b\r\n" % (name.encode(), len(item), item) for item in portion))  # fmt: skip
                    assert all(replies.readline() == b"STORED\r\n" for _ in portion)

    def found(self, name: str) -> np.ndarray:
        """See Place."""
        numbers: list[int] = []
        for server in self.servers:
            left = Talk(server.port).stats(name).get("items", 0)
            with socket.create_connection(("127.0.0.1", server.port)) as client, client.makefile("rb") as replies:
                for first in range(0, left, _PORTION):
                    portion = min(_PORTION, left - first)
                    client.sendall(b"get %b\r\n" % name.encode() * portion)
                    for _ in range(portion):
                        size = int(replies.readline().split()[3])
                        numbers.append(_number(replies.read(size + 2)))
                        assert replies.readline() == b"END\r\n"
        return np.array(numbers, dtype=np.int64)

    def check(self, name: str, events: int) -> None:
        """Besides, a batch reads all that was handled."""
        for server in self.servers:
            told = Talk(server.port).stats(name)
            assert (told["items"], told["open_transactions"]) == (0, 0), told
        source = KeptItems(SourceRequest(name, {}, {"n": pl.Int64()}, self._directory), self._items(name), "json")
        kept: set[int] = set()
        for reader in [source.reader(partition, 0) for partition in source.partitions()]:
            while isinstance(batch := reader.read(50_000), ReadBatch):
                kept |= set(batch.frame["n"])
            reader.close()
        assert kept >= set(range(events)), f"a batch lacks {events - len(kept)} of what was handled"


class RedisStreams:
    """A stream of one server, read by a group."""

    def __init__(self, directory: Path) -> None:
        self._server = RedisServer(directory / "redis")
        self.servers: list[ServerProcess] = [self._server]
        self.proxies = [Proxy(self._server.port)]

    @property
    def _client(self) -> Redis:
        return self._server.client

    def options(self, name: str, reads: bool) -> str:
        """See Place."""
        more = ", 'end' = 'empty', 'pending.items' = '1000', 'group' = 'fire'" if reads else ""
        return f"'connector' = 'redis', 'url' = 'redis://{self.proxies[0].address}', 'key' = '{name}'{more}"

    def fill(self, name: str, events: int) -> None:
        """See Place."""
        for portion in _portions(_records(range(events))):
            pipeline = self._client.pipeline(transaction=False)
            for record in portion:
                pipeline.xadd(name, {"value": record})
            pipeline.execute()

    def found(self, name: str) -> np.ndarray:
        """See Place."""
        numbers, last = [], "-"
        while entries := self._client.xrange(name, last, count=_PORTION):
            numbers += [_number(fields[b"value"]) for _, fields in entries]
            last = "(" + entries[-1][0].decode()
        return np.array(numbers, dtype=np.int64)

    def check(self, name: str, events: int) -> None:
        """See Place."""
        assert self._client.xpending(name, "fire")["pending"] == 0


class Files:
    """Directories of lines of JSON."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.servers: list[ServerProcess] = []
        self.proxies: list[Proxy] = []

    def options(self, name: str, reads: bool) -> str:
        """See Place."""
        path = self._directory / name
        return (
            f"'connector' = 'file', 'path' = '{path}/*.json'" if reads else f"'connector' = 'file', 'path' = '{path}'"
        )

    def fill(self, name: str, events: int) -> None:
        """See Place."""
        (self._directory / name).mkdir()
        for number in range(_FILES):
            lines = b"".join(record + b"\n" for record in _records(range(number, events, _FILES)))
            (self._directory / name / f"{number:02}.json").write_bytes(lines)

    def found(self, name: str) -> np.ndarray:
        """See Place."""
        parts = [pl.read_ndjson(part)["n"] for part in (self._directory / name).glob("part-*.json")]
        return pl.concat(parts).to_numpy() if parts else np.array([], dtype=np.int64)

    def check(self, name: str, events: int) -> None:
        """See Place."""


def close(place: Place) -> None:
    """End its servers."""
    for proxy in place.proxies:
        proxy.close()
    for server in place.servers:
        server.kill()


PLACES = {"kafka": Kafka, "kestrel": Kestrel, "redis": RedisStreams, "files": Files}


def _records(numbers: Iterable[int]) -> list[bytes]:
    return [b'{"n":%d}' % number for number in numbers]


def _portions(records: list[bytes]) -> Iterator[list[bytes]]:
    return (records[first : first + _PORTION] for first in range(0, len(records), _PORTION))


def _number(record: bytes) -> int:
    return int(json.loads(record)["n"])

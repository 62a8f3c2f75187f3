"""Writing a stream, a hash, strings or a sorted set: commands in pipelines; `flush` returns when the server has answered all of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from ouzel.connectors.formats import open_encoder
from ouzel.connectors.formats.keys import KeyEncoder
from ouzel.connectors.keyed import GatheringWriter, keyed_request
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import Unreachable
from ouzel.connectors.redis import CONNECTOR
from ouzel.connectors.redis.client import Endpoint
from ouzel.connectors.redis.keyed import RedisHash
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.errors import ConnectorError

_PORTION = 1_000
_PAUSE_S = 0.1

Command = tuple[Any, ...]


def open_redis(request: SinkRequest) -> SinkWriter:
    """What writes such a table: row by row, or adding up.

    Raises:
        ConnectorError: it cannot be written so, or the server does not answer.
    """
    if request.mode != "merge":
        return RedisSink(request)
    table = RedisHash(keyed_request(request, request.keys))
    return GatheringWriter(table.merge, table.close)


class RedisSink:
    """Appends entries to a stream, or keeps a row by key in another structure.

    What the server has not answered is sent again: a stream may have it twice, the others are as they were.
    """

    flush_interval_ms, flush_rows = 20, 20_000

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._request, self._options = request, options
        self._key, self._structure = options.text("key"), options.text("structure")
        self._encoder = open_encoder(options.text("format"), request.options, request.columns)
        self._keys = KeyEncoder(request, options.names("key.fields"), "key.fields")
        self._check()
        self._unsent: deque[Command] = deque()
        self._server = Endpoint(options, request.directory)
        if not request.again:
            self._server.greet()

    def _check(self) -> None:
        table, score = self._request.table, self._options.text("score")
        if self._structure == "stream" and self._request.mode == "upsert":
            raise ConnectorError(
                f"table '{table}': a stream takes new rows only; write 'structure' = 'hash', 'string' or 'sorted-set'"
            )
        if self._structure != "stream" and not self._keys.columns:
            raise ConnectorError(f"table '{table}' has no PRIMARY KEY; declare one, or 'key.fields'")
        if score and score not in self._request.columns:
            raise ConnectorError(f"table '{table}' has no column '{score}' for 'score'")

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Send the rows as far as the server takes them at once."""
        self._unsent.extend(self._commands(frame))
        while len(self._unsent) >= _PORTION and self._send():
            pass

    def _commands(self, frame: pl.DataFrame) -> Iterator[Command]:
        values = self._encoder.encode(frame.select([*self._request.columns]))
        if self._structure == "stream":
            cut = ("MAXLEN", "~", limit) if (limit := self._options.integer("max.length")) else ()
            return (("XADD", self._key, *cut, "*", self._options.text("field"), value) for value in values)
        stays = (
            frame[self._request.weight] > 0
            if self._request.mode == "upsert"
            else pl.repeat(True, frame.height, eager=True)
        )
        keys, scores = self._keys.encode(frame), self._scores(frame)
        return map(self._command, keys, values, scores, stays.to_list())

    def _scores(self, frame: pl.DataFrame) -> list[Any]:
        score = self._options.text("score")
        if not score:
            return [None] * frame.height
        if frame[score].null_count():
            raise ConnectorError(f"table '{self._request.table}': '{score}' is NULL in a row, and sorts a sorted set")
        return frame[score].cast(pl.Float64).to_list()

    def _command(self, key: bytes, value: bytes, score: float | None, stays: bool) -> Command:
        match self._structure:
            case "hash":
                return ("HSET", self._key, key, value) if stays else ("HDEL", self._key, key)
            case "string":
                name = self._key.encode() + b":" + key
                return ("SET", name, value) if stays else ("DEL", name)
            case _:
                return ("ZADD", self._key, score, key) if stays else ("ZREM", self._key, key)

    def _send(self) -> bool:
        """A portion; False if the server is away."""
        portion = [self._unsent[place] for place in range(min(_PORTION, len(self._unsent)))]
        if isinstance(self._server.ask(lambda client: _execute(client, portion)), Unreachable):
            return False
        for _ in portion:
            self._unsent.popleft()
        return True

    def flush(self) -> None:
        """Wait until everything written has been answered, for as long as that takes.

        Raises:
            ConnectorError: the server refuses a command.
        """
        while self._unsent:
            if not self._send():
                time.sleep(_PAUSE_S)

    def close(self) -> None:
        """Everything has been answered."""
        self._server.client.close()


def _execute(client: Any, commands: Sequence[Command]) -> None:
    pipeline = client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    pipeline.execute()

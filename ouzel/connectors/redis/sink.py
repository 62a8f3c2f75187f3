"""Writing a stream, a hash, strings or a sorted set: commands in pipelines; `flush` returns when the server has answered all of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import polars as pl

from ouzel.connectors.keyed import GatheringWriter, keyed_request
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import Unreachable
from ouzel.connectors.redis import CONNECTOR
from ouzel.connectors.redis.client import Endpoint
from ouzel.connectors.redis.encoding import Command, CommandEncoder
from ouzel.connectors.redis.keyed import RedisHash
from ouzel.connectors.writing import SinkRequest, SinkWriter

_PORTION = 1_000
_PAUSE_S = 0.1


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
        self._rows = CommandEncoder(request, options)
        self._unsent: deque[Command] = deque()
        self._server = Endpoint(options, request.directory)
        if not request.again:
            self._server.greet()

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Send the rows as far as the server takes them at once."""
        self._unsent.extend(self._rows.commands(frame))
        while len(self._unsent) >= _PORTION and self._send():
            pass

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

"""Writing a queue: SET after SET, to one server after the other; `flush` returns when a server has stored each item."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Sequence

import polars as pl

from ouzel.connectors.formats import open_encoder
from ouzel.connectors.kestrel import CONNECTOR
from ouzel.connectors.kestrel.delivery_ledger import Blacklist
from ouzel.connectors.kestrel.protocol import Replies, set_command
from ouzel.connectors.kestrel.servers import LOOK_AGAIN_S, Servers
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_PORTION = 500
"""So many items are sent before their replies are read."""

_LINE_BYTES = 4_096
_PAUSE_S = 0.05


class KestrelSink:
    """Puts each row into the queue as an item of its own.

    Portions go to the servers in turn. What a server has not said that it stored goes to the next: it may be there twice.
    """

    flush_interval_ms, flush_rows = 20, 20_000

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._queue, self._expiry_s = options.text("queue"), options.integer("expiry.seconds")
        self._timeout_s = options.integer("connect.timeout.ms") / 1000
        self._encoder = open_encoder(options.text("format"), request.options, request.columns)
        self._listed = Servers(options.text("servers"), request.directory)
        self._servers, self._task, self._look_at_s = deque[str](), request.task, 0.0
        self._sockets: dict[str, socket.socket] = {}
        self._blacklist = Blacklist()
        self._unstored: deque[bytes] = deque()
        self._look()
        if not request.again:
            self._greet()

    def _look(self) -> None:
        """See which servers there are now; what is stored at those that are no more is stored."""
        self._look_at_s = time.monotonic() + LOOK_AGAIN_S
        self._listed.look()
        if set(self._listed.hosts) != set(self._servers):
            self._servers = deque(self._listed.hosts)
            self._servers.rotate(-self._task)
            for gone in self._sockets.keys() - set(self._servers):
                self._sockets.pop(gone).close()

    def _greet(self) -> None:
        if self._listed.problem:
            raise ConnectorError(self._listed.problem)
        reasons = [f"{server}: {reason}" for server in self._servers if (reason := self._try(server))]
        if len(reasons) == len(self._servers):
            raise ConnectorError(f"no Kestrel server answers: {'; '.join(reasons)}")

    def _try(self, server: str) -> str:
        try:
            self._socket(server)
        except OSError as error:
            return str(error)
        return ""

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Send the rows as far as servers take them at once."""
        self._unstored.extend(self._encoder.encode(frame))
        while len(self._unstored) >= _PORTION and self._send():
            pass

    def flush(self) -> None:
        """Wait until everything written is stored, for as long as that takes.

        Raises:
            ConnectorError: a server refuses an item.
        """
        while self._unstored:
            if not self._send():
                time.sleep(_PAUSE_S)

    def _send(self) -> bool:
        """A portion to the next server; False if no server takes anything now."""
        if self._listed.may_change and time.monotonic() >= self._look_at_s:
            self._look()
        for _ in range(len(self._servers)):
            server = self._servers[0]
            self._servers.rotate(-1)
            if self._blacklist.wait_s(server, time.monotonic()):
                continue
            portion = [self._unstored.popleft() for _ in range(min(_PORTION, len(self._unstored)))]
            left = self._store(server, portion)
            self._unstored.extendleft(reversed(left))
            if len(left) < len(portion):
                return True
        return False

    def _store(self, server: str, items: Sequence[bytes]) -> list[bytes]:
        """Put items into the queue of a server; those that it has not said that it stored."""
        said: list[str] = []
        try:
            connection = self._socket(server)
            connection.sendall(set_command(self._queue, self._expiry_s, items))
            replies = Replies(server, _LINE_BYTES)
            while len(said) < len(items):
                data = connection.recv(1 << 16)
                if not data:
                    raise ConnectionResetError("it closed the connection")
                said += [str(reply) for reply in replies.feed(data)]
        except OSError as error:
            self._let_go(server, str(error) or type(error).__name__)
        refused = {line for line in said if line not in ("STORED", "NOT_STORED")}
        if refused:
            raise ConnectorError(
                f"Kestrel at {server} refuses an item for queue '{self._queue}' with {refused.pop()!r}"
            )
        if "NOT_STORED" in said:
            self._blacklist.on_failure(server, "its queue is full", time.monotonic())
        elif len(said) == len(items):
            self._blacklist.on_answer(server)
        return [item for place, item in enumerate(items) if place >= len(said) or said[place] != "STORED"]

    def _socket(self, server: str) -> socket.socket:
        if server not in self._sockets:
            host, _, port = server.rpartition(":")
            self._sockets[server] = socket.create_connection((host, int(port)), self._timeout_s)
        return self._sockets[server]

    def _let_go(self, server: str, reason: str) -> None:
        self._blacklist.on_failure(server, reason, time.monotonic())
        if server in self._sockets:
            self._sockets.pop(server).close()

    def close(self) -> None:
        """Everything is stored."""
        for connection in self._sockets.values():
            connection.close()

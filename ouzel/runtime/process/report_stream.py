"""The sockets on which processes report to their container's metrics manager."""

from __future__ import annotations

import contextlib
import selectors
import socket
from pathlib import Path
from typing import cast

from ouzel.runtime.protocol.cluster.report_stream import REPORT_BYTES_MAX, Compose, ReportOutbox, unpack_report
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Inbound

SOCKET_NAME = "metrics-manager.sock"
_CHUNK_BYTES = 16 << 10
"""Memory of a connection: a container may have hundreds, and reports are short."""


class ReportSender:
    """A process's end. It never blocks: what the socket does not take waits, and nothing is added to it meanwhile."""

    def __init__(self, container: Path) -> None:
        self._path = str(container / SOCKET_NAME)
        self._socket: socket.socket | None = None
        self._outbox = ReportOutbox()

    def tell(self, compose: Compose) -> bool:
        """Send what `compose` says, which hears whether the listener is a new one; False if that has to be tried again.

        Only an `OSError` of the socket is swallowed: nobody listens now, and whoever comes next is told all.
        """
        try:
            connection = self._connect()
            outbox = self._outbox
            outbox.outbound.flush(connection)
            if not len(outbox.outbound):
                outbox.put(compose)
                outbox.outbound.flush(connection)
                return not len(outbox.outbound)
        except BlockingIOError:
            return False
        except (OSError, Closed):
            if self._socket is not None:
                self._socket.close()
            self._socket = None
        return False

    def _connect(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            connection.connect(self._path)
        except OSError:
            connection.close()
            raise
        self._socket = connection
        self._outbox.on_connected()
        return connection


class ReportReceiver:
    """The metrics manager's end: takes the place of a former one, and reads from all that connect."""

    def __init__(self, container: Path) -> None:
        path = container / SOCKET_NAME
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(1024)
        self._listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)

    def receive(self, wait_s: float) -> list[wire_pb2.Report]:
        """What has come in, as soon as something has, or nothing after so long."""
        reports: list[wire_pb2.Report] = []
        for key, _ in self._selector.select(wait_s):
            if key.fileobj is self._listener:
                self._accept()
            else:
                reports += self._read(cast(socket.socket, key.fileobj), key.data)
        return reports

    def close(self) -> None:
        """Listen no more; who had connected notices."""
        for key in list(self._selector.get_map().values()):
            cast(socket.socket, key.fileobj).close()
        self._selector.close()

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            self._selector.register(connection, selectors.EVENT_READ, Inbound(REPORT_BYTES_MAX, _CHUNK_BYTES))

    def _read(self, connection: socket.socket, inbound: Inbound) -> list[wire_pb2.Report]:
        """The reports that one read completes; a connection that has ended, or sends what is no report, is closed."""
        try:
            return list(map(unpack_report, inbound.receive(connection)))
        except Closed:
            self._selector.unregister(connection)
            connection.close()
            return []

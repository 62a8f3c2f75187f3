"""Reports of processes on their way to their container's metrics manager: messages over a Unix stream, each behind its length.

Nothing is lost while a connection lasts, and when one breaks, all is said again to whoever listens next.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

from google.protobuf.message import DecodeError

from ouzel.runtime.wire import wire_pb2

SOCKET_NAME = "metrics-manager.sock"
_LENGTH = struct.Struct("<I")
_READ_BYTES = 1 << 20
_REPORT_BYTES_MAX = 4 << 20


class ReportSender:
    """A process's end. It never blocks: what the socket does not take waits, and nothing is added to it meanwhile."""

    def __init__(self, container: Path) -> None:
        self._path = str(container / SOCKET_NAME)
        self._socket: socket.socket | None = None
        self._waiting = memoryview(b"")

    def tell(self, compose: Callable[[bool], Iterable[wire_pb2.Report]]) -> bool:
        """Send what `compose` says, which hears whether the listener is a new one; False if that has to be tried again.

        Only an `OSError` of the socket is swallowed: nobody listens now, and whoever comes next is told all.
        """
        try:
            anew = self._connect()
            self._flush()
            self._waiting = memoryview(b"".join(map(_frame, compose(anew))))
            self._flush()
        except BlockingIOError:
            return False
        except OSError:
            self._close()
            return False
        return True

    def _connect(self) -> bool:
        if self._socket is not None:
            return False
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            connection.connect(self._path)
        except OSError:
            connection.close()
            raise
        self._socket = connection
        return True

    def _flush(self) -> None:
        assert self._socket is not None
        while self._waiting:
            self._waiting = self._waiting[self._socket.send(self._waiting) :]

    def _close(self) -> None:
        self._waiting = memoryview(b"")
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _frame(report: wire_pb2.Report) -> bytes:
    text = report.SerializeToString()
    return _LENGTH.pack(len(text)) + text


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
            self._selector.register(connection, selectors.EVENT_READ, bytearray())

    def _read(self, connection: socket.socket, buffer: bytearray) -> list[wire_pb2.Report]:
        """The messages that one read completes; a connection that has ended, or sends what is no report, is closed."""
        try:
            fresh = connection.recv(_READ_BYTES)
            buffer += fresh
            reports = list(_cut(buffer))
        except BlockingIOError:
            return []
        except (OSError, DecodeError):
            fresh, reports = b"", []
        if not fresh:
            self._selector.unregister(connection)
            connection.close()
        return reports


def _cut(buffer: bytearray) -> Iterator[wire_pb2.Report]:
    """Take the whole messages off the front."""
    while len(buffer) >= _LENGTH.size:
        end = _LENGTH.size + _LENGTH.unpack_from(buffer)[0]
        if end > _REPORT_BYTES_MAX:
            raise DecodeError("too long for a report")
        if end > len(buffer):
            return
        yield wire_pb2.Report.FromString(bytes(buffer[_LENGTH.size : end]))
        del buffer[:end]

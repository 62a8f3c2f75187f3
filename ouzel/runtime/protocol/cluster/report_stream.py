"""Reports on a stream of bytes between a process and its container's metrics manager: messages, each behind its length.

Invariant: nothing is lost while a connection lasts, and a connection begins with everything, for whoever listens may be new. So what waits
for a connection that is lost is dropped, and nothing has to be kept for the next one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator

from google.protobuf.message import DecodeError

from ouzel.runtime.wire import wire_pb2

REPORT_BYTES_MAX = 4 << 20
_LENGTH = struct.Struct("<I")

Compose = Callable[[bool], Iterable[wire_pb2.Report]]
"""Makes reports: of everything if the listener is a new one, else of what has changed."""


class ReportOutbox:
    """A process's end: what waits to be written. Nothing is added while something waits."""

    def __init__(self) -> None:
        self.waiting = memoryview(b"")
        self._is_new = True

    def on_connected(self) -> None:
        """A connection begins."""
        self.waiting, self._is_new = memoryview(b""), True

    def on_written(self, count: int) -> None:
        """So many bytes of what waited are on their way."""
        self.waiting = self.waiting[count:]

    def put(self, compose: Compose) -> None:
        """Have reports made, once nothing waits any more."""
        is_new, self._is_new = self._is_new, False
        self.waiting = memoryview(b"".join(map(_pack, compose(is_new))))


def _pack(report: wire_pb2.Report) -> bytes:
    text = report.SerializeToString()
    return _LENGTH.pack(len(text)) + text


class ReportInbox:
    """The metrics manager's end of one connection."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def on_bytes(self, fresh: bytes) -> list[wire_pb2.Report]:
        """These have come in; the reports that they complete.

        Raises:
            DecodeError: that is no report; nothing more of this connection can be understood.
        """
        self._bytes += fresh
        return list(self._cut())

    def _cut(self) -> Iterator[wire_pb2.Report]:
        while len(self._bytes) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._bytes)[0]
            if end > REPORT_BYTES_MAX:
                raise DecodeError("too long for a report")
            if end > len(self._bytes):
                return
            yield wire_pb2.Report.FromString(bytes(self._bytes[_LENGTH.size : end]))
            del self._bytes[:end]

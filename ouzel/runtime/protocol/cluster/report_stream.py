"""Reports on their way from a process to its container's metrics manager: each is the body of a frame.

Invariant: nothing is lost while a connection lasts, and a connection begins with everything, for whoever listens may be new. So what waits
for a connection that is lost is dropped, and nothing has to be kept for the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from google.protobuf.message import DecodeError

from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, Outbound, pack_header, padding

REPORT_BYTES_MAX = 4 << 20

Compose = Callable[[bool], Iterable[wire_pb2.Report]]
"""Makes reports: of everything if the listener is a new one, else of what has changed."""


class ReportOutbox:
    """A process's end: what waits to be written. Nothing is added while something waits."""

    def __init__(self) -> None:
        self.outbound = Outbound()
        self._is_new = True

    def on_connected(self) -> None:
        """A connection begins."""
        self.outbound, self._is_new = Outbound(), True

    def put(self, compose: Compose) -> None:
        """Have reports made, once nothing waits any more."""
        is_new, self._is_new = self._is_new, False
        self.outbound.put(memoryview(pack_report(report)) for report in compose(is_new))


def pack_report(report: wire_pb2.Report) -> bytes:
    """The report as a frame."""
    body = report.SerializeToString()
    return pack_header(wire_pb2.REPORT, 0, wire_pb2.Header(), len(body)) + body + bytes(padding(len(body)))


def unpack_report(frame: Frame) -> wire_pb2.Report:
    """The report in a frame.

    Raises:
        Closed: there is none, so whoever sent it is not to be heard any more.
    """
    try:
        return wire_pb2.Report.FromString(bytes(frame.body()))
    except DecodeError as error:
        raise Closed from error

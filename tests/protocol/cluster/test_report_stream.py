"""Reports arrive whole however the stream is cut, and whoever listens anew hears everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ouzel.runtime.protocol.cluster.report_stream import ReportOutbox, unpack_report
from ouzel.runtime.simulator.cluster.wires import Wire, as_socket, receive
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, Inbound, pack_header
from ouzel.runtime.wire.wire_pb2 import Report, TaskReport


def compose(is_new: bool) -> Iterator[Report]:
    for task in (1, 2) if is_new else (3,):
        yield Report(task=TaskReport(task=task, component="count"))


def read(wire: Wire, inbound: Inbound) -> list[Report]:
    found: list[Report] = []
    while not wire.is_empty:
        found += map(unpack_report, receive(wire, inbound))
    return found


@pytest.mark.parametrize("gives", [1, 3, 7, 1_000])
def test_reports_arrive_whole_however_the_stream_is_cut(gives: int) -> None:
    outbox, wire = ReportOutbox(), Wire(gives=gives)
    outbox.put(compose)
    outbox.outbound.flush(as_socket(wire))
    assert read(wire, Inbound()) == list(compose(True))


def test_the_same_listener_hears_what_has_changed_and_a_new_one_all() -> None:
    outbox, wire, inbound = ReportOutbox(), Wire(), Inbound()
    for is_new in (True, False):
        outbox.put(compose)
        outbox.outbound.flush(as_socket(wire))
        assert read(wire, inbound) == list(compose(is_new))
    outbox.put(compose)
    outbox.outbound.flush(as_socket(Wire(room=5)))
    assert len(outbox.outbound)
    outbox.on_connected()
    assert not len(outbox.outbound), "the rest of a report is nothing to who has not heard its beginning"
    outbox.put(compose)
    outbox.outbound.flush(as_socket(wire))
    assert read(wire, Inbound()) == list(compose(True))


def test_what_is_no_report_ends_its_connection() -> None:
    text = pack_header(wire_pb2.REPORT, 0, wire_pb2.Header(), 2) + b"\xff\xff" + bytes(6)
    with pytest.raises(Closed):
        unpack_report(Frame(wire_pb2.REPORT, 0, memoryview(text)))

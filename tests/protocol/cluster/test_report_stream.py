"""Reports arrive whole however the stream is cut, and whoever listens anew hears everything."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from google.protobuf.message import DecodeError

from ouzel.runtime.protocol.cluster.report_stream import REPORT_BYTES_MAX, ReportInbox, ReportOutbox
from ouzel.runtime.wire.wire_pb2 import Report, TaskReport


def compose(is_new: bool) -> Iterator[Report]:
    for task in (1, 2) if is_new else (3,):
        yield Report(task=TaskReport(task=task, component="count"))


def written(outbox: ReportOutbox) -> bytes:
    text = bytes(outbox.waiting)
    outbox.on_written(len(text))
    return text


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
def test_reports_arrive_whole_however_the_stream_is_cut(size: int) -> None:
    outbox, inbox = ReportOutbox(), ReportInbox()
    outbox.put(compose)
    text = written(outbox)
    arrived = [report for place in range(0, len(text), size) for report in inbox.on_bytes(text[place : place + size])]
    assert arrived == list(compose(True))


def test_the_same_listener_hears_what_has_changed_and_a_new_one_all() -> None:
    outbox = ReportOutbox()
    outbox.put(compose)
    first = ReportInbox()
    assert len(first.on_bytes(written(outbox))) == 2
    outbox.put(compose)
    outbox.on_written(5)
    outbox.on_connected()
    assert not outbox.waiting, "the rest of a report is nothing to who has not heard its beginning"
    outbox.put(compose)
    assert ReportInbox().on_bytes(written(outbox)) == list(compose(True))


@pytest.mark.parametrize("text", [struct.pack("<I", REPORT_BYTES_MAX), struct.pack("<I", 2) + b"\xff\xff"])
def test_what_is_no_report_is_refused(text: bytes) -> None:
    with pytest.raises(DecodeError):
        ReportInbox().on_bytes(text)

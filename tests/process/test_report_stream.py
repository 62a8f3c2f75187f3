"""A report reaches the metrics manager however large it is; one that takes another's place is told that it is new."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ouzel.runtime.process.report_stream import SOCKET_NAME, ReportReceiver, ReportSender
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import pack_header
from ouzel.runtime.wire.wire_pb2 import Range, Report, TaskReport


def reports(count: int, name: str = "p") -> list[Report]:
    return [
        Report(task=TaskReport(ranges=[Range(partition=f"{name}{number}{1_000 * 'x'}") for number in range(100)]))
        for _ in range(count)
    ]


class Speaker:
    """Says so many reports, and notes whether the listener was new."""

    def __init__(self, container: Path) -> None:
        self.sender = ReportSender(container)
        self.anew: list[bool] = []

    def tell(self, count: int) -> bool:
        def compose(anew: bool) -> Iterable[Report]:
            self.anew.append(anew)
            return reports(count)

        return self.sender.tell(compose)


@pytest.fixture
def container() -> Iterable[Path]:
    with TemporaryDirectory(prefix="ouzel-") as name:
        yield Path(name)


def test_ten_megabytes_arrive_though_the_socket_takes_only_some_at_a_time(container: Path) -> None:
    receiver, speaker = ReportReceiver(container), Speaker(container)
    assert not speaker.tell(100)
    got: list[Report] = []
    while len(got) < 100:
        got += receiver.receive(0)
        speaker.tell(0)
    assert got == reports(100)
    assert speaker.anew == [True, *[False] * (len(speaker.anew) - 1)]


def test_a_listener_that_came_later_or_took_anothers_place_is_new(container: Path) -> None:
    speaker = Speaker(container)
    assert not speaker.tell(1), "nobody listens"
    first = ReportReceiver(container)
    assert speaker.tell(1)
    assert speaker.tell(1)
    first.close()
    second = ReportReceiver(container)
    assert not speaker.tell(1)
    assert speaker.tell(1)
    assert (speaker.anew[0], speaker.anew[1], speaker.anew[-1]) == (True, False, True)
    while not second.receive(1):
        pass


@pytest.mark.parametrize(
    "rubbish", [b"\xff" * 16, pack_header(wire_pb2.REPORT, 0, wire_pb2.Header(), 2) + b"\xff" * 8, b"\x00"]
)
def test_rubbish_ends_its_own_connection_only(container: Path, rubbish: bytes) -> None:
    receiver, speaker = ReportReceiver(container), Speaker(container)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bad:
        bad.connect(str(container / SOCKET_NAME))
        bad.sendall(rubbish)
        receiver.receive(0)
        receiver.receive(0)
    assert speaker.tell(1)
    got: list[Report] = []
    for _ in range(4):
        got += receiver.receive(0.1)
    assert got == reports(1)

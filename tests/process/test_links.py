"""What waits for a task or a peer survives the loss of the connection, and arrives once."""

from __future__ import annotations

import math
import socket

from ouzel.runtime.process.links import PeerLink, TaskLink
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, Inbound, pack_header


def frame(number: int, kind: int = wire_pb2.DATA, size: int = 0) -> Frame:
    return Frame(kind, 1, memoryview(pack_header(kind, 1, wire_pb2.Header(id=number), size) + bytes(size)))


def pair() -> tuple[socket.socket, socket.socket]:
    left, right = socket.socketpair()
    left.setblocking(False)
    right.setblocking(False)
    return left, right


def numbers(connection: socket.socket, inbound: Inbound) -> list[int]:
    got: list[int] = []
    while frames := inbound.receive(connection):
        got += [one.header().id for one in frames]
    return got


def test_frames_sent_but_not_arrived_go_again_in_order() -> None:
    link = PeerLink(-2, 1 << 20)
    left, right = pair()
    link.welcomed(0, left)
    for number in range(5):
        link.put(frame(number))
    link.flush()
    assert numbers(right, Inbound()) == [0, 1, 2, 3, 4]
    link.welcomed(2, left)
    link.connection = None
    link.put(frame(5))
    left, right = pair()
    link.welcomed(3, left)
    link.flush()
    assert numbers(right, Inbound()) == [3, 4, 5]


def test_nothing_goes_before_the_peer_has_said_what_it_has() -> None:
    link = PeerLink(-2, 1 << 20)
    link.put(frame(0))
    link.flush()
    assert link.waiting == len(frame(0).view)


def test_a_frame_cut_by_the_loss_of_a_connection_starts_anew() -> None:
    link = PeerLink(-2, 64 << 20)
    left, right = pair()
    link.welcomed(0, left)
    link.put(frame(7, size=8 << 20))
    link.flush()
    assert link.waiting > 0
    right.recv(1000)
    right.close()
    try:
        link.flush()
    except Closed:
        link.connection = None
    left, right = pair()
    link.welcomed(0, left)
    got: list[int] = []
    inbound = Inbound()
    while not got:
        link.flush()
        got = [one.header().id for one in inbound.receive(right)]
    assert got == [7]


def test_a_peer_that_was_started_anew_gets_what_is_waiting() -> None:
    link = PeerLink(-2, 1 << 20)
    left, right = pair()
    link.welcomed(0, left)
    for number in range(4):
        link.put(frame(number))
    link.flush()
    link.welcomed(4, left)
    link.connection = None
    link.put(frame(4))
    left, right = pair()
    link.welcomed(0, left)
    link.flush()
    assert numbers(right, Inbound()) == [4]


def test_a_task_that_pauses_gets_acks_but_no_rows_until_it_goes_on() -> None:
    link = TaskLink(1, 1 << 20)
    left, right = pair()
    link.attach(left)
    inbound = Inbound()
    link.paused = True
    for number, kind in enumerate((wire_pb2.DATA, wire_pb2.ACK, wire_pb2.WATERMARK, wire_pb2.FAIL, wire_pb2.DATA)):
        link.put(frame(number, kind))
    link.flush()
    assert numbers(right, inbound) == [1, 3]
    assert link.waiting > 0
    link.resume()
    link.flush()
    assert numbers(right, inbound) == [0, 2, 4]
    assert link.waiting == 0


def test_what_nobody_fetches_is_dropped_beyond_a_limit() -> None:
    link = TaskLink(1, 1000)
    for number in range(100):
        link.put(frame(number))
    assert link.dropped > 0
    assert link.waiting < 1100


def test_what_is_never_replayed_is_never_dropped() -> None:
    link = TaskLink(1, math.inf)
    for paused in (False, True):
        link.paused = paused
        for number in range(100):
            link.put(frame(number))
    assert link.dropped == 0

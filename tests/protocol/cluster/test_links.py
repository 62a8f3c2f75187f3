"""What waits for a task or a peer survives the loss of the connection, and arrives once."""

from __future__ import annotations

import math

from ouzel.runtime.protocol.cluster.links import PeerLink, Session, TaskLink
from ouzel.runtime.wire import wire_pb2
from tests.protocol.cluster.wires import Far, frame


def session() -> Session:
    return Session(0.0)


def test_frames_sent_but_not_arrived_go_again_in_order() -> None:
    link, first = PeerLink(-2, 1 << 20), session()
    link.on_welcome(0, first)
    for number in range(5):
        link.put(frame(number))
    assert Far().numbers(link) == [0, 1, 2, 3, 4]
    link.on_welcome(2, first)
    link.put(frame(5))
    link.on_welcome(3, session())
    assert Far().numbers(link) == [3, 4, 5]


def test_nothing_goes_before_the_peer_has_said_what_it_has() -> None:
    link = PeerLink(-2, 1 << 20)
    link.put(frame(0))
    assert link.session is None
    assert link.waiting == len(frame(0).view)


def test_a_frame_cut_by_the_loss_of_a_connection_starts_anew() -> None:
    link = PeerLink(-2, 64 << 20)
    link.on_welcome(0, session())
    link.put(frame(7, size=8 << 20))
    assert Far(room=1000).numbers(link) == []
    assert link.waiting > 0
    link.on_welcome(0, session())
    assert Far().numbers(link) == [7]


def test_a_peer_that_was_started_anew_gets_what_is_waiting() -> None:
    link, first = PeerLink(-2, 1 << 20), session()
    link.on_welcome(0, first)
    for number in range(4):
        link.put(frame(number))
    Far().numbers(link)
    link.on_welcome(4, first)
    link.put(frame(4))
    link.on_welcome(0, session())
    assert Far().numbers(link) == [4]


def test_a_task_that_pauses_gets_acks_but_no_rows_until_it_goes_on() -> None:
    link, task = TaskLink(1, 1 << 20), Far()
    link.on_connected(session())
    link.paused = True
    for number, kind in enumerate((wire_pb2.DATA, wire_pb2.ACK, wire_pb2.WATERMARK, wire_pb2.FAIL, wire_pb2.DATA)):
        link.put(frame(number, kind))
    assert task.numbers(link) == [1, 3]
    assert link.waiting > 0
    link.resume()
    assert task.numbers(link) == [0, 2, 4]
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

"""The outgoing side of a stream manager: one link for each local task and for each other container.

A link outlives its connection: what waits stays, and is written when the receiver connects (again).
"""

from __future__ import annotations

from collections import deque

from ouzel.runtime.protocol.cluster.handshake import Acceptor, Dialer
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Frame, Outbound

_ROWS = (wire_pb2.DATA, wire_pb2.WATERMARK)

STRANGERS_MAX = 64
"""Connections that have not been introduced."""

INTRODUCTION_MS, INTRODUCTION_LOOKS = 5_000.0, 100
"""A connection that is not introduced after so long and so many looks is closed. Time alone proves nothing: this process, or the other one,
may have had no core."""


class Session:
    """A connection, and who is at its other end; the shell knows which socket it is.

    Attributes:
        number: grows with each connection that is opened.
        trusted: the other end has been introduced.
        link: what is written to the other end, if it is a task or a stream manager that this one has dialled.
        dialer, acceptor: a handshake that has begun.
        claims: container and incarnation that a stream manager says to be.
        sender: the same, once it is proved: its frames are counted.
        acknowledged: of so many of its frames the sender has been told.
    """

    def __init__(self, opened_ms: float, number: int = 0) -> None:
        self.opened_ms, self.number, self._looks = opened_ms, number, 0
        self.trusted = False
        self.link: Link | None = None
        self.dialer: Dialer | None = None
        self.acceptor: Acceptor | None = None
        self.claims = (0, 0)
        self.sender: tuple[int, int] | None = None
        self.acknowledged = 0

    def is_late(self, now_ms: float) -> bool:
        """Whether a stranger has had enough time, and enough looks, of which this is one."""
        self._looks += 1
        return now_ms - self.opened_ms > INTRODUCTION_MS and self._looks > INTRODUCTION_LOOKS


class Link:
    """What waits for one task or container. `key` is the task's id, or minus the container's."""

    def __init__(self, key: int, limit: float) -> None:
        self.key, self._limit = key, limit
        self.outbound = Outbound()
        self.session: Session | None = None
        self.dropped = 0

    @property
    def waiting(self) -> int:
        """Bytes that wait."""
        return self.outbound.bytes

    def put(self, frame: Frame) -> None:
        """Add a frame; dropped when nobody has come for so long that too much waits (it is replayed, for with this limit it is tracked)."""
        if self.waiting > self._limit:
            self.dropped += 1
            return
        self.outbound.put((frame.view,))

    def on_connected(self, session: Session) -> None:
        """The receiver has connected. A frame of which a part had been written is written again, whole."""
        self.outbound.rewind(())
        self.session = session

    def on_written(self, buffers: list[memoryview]) -> None:
        """The socket has taken these buffers."""


class TaskLink(Link):
    """The link to a local task. While the task pauses, rows and watermarks stay here, and only the rest passes."""

    def __init__(self, key: int, limit: float) -> None:
        super().__init__(key, limit)
        self._held: deque[Frame] = deque()
        self._held_bytes = 0
        self.paused = False

    @property
    def waiting(self) -> int:
        return self.outbound.bytes + self._held_bytes

    def put(self, frame: Frame) -> None:
        if self.paused and frame.kind in _ROWS and self.waiting <= self._limit:
            self._held.append(frame)
            self._held_bytes += len(frame.view)
        else:
            super().put(frame)

    def resume(self) -> None:
        """The task no longer pauses."""
        self.paused = False
        self.outbound.put(frame.view for frame in self._held)
        self._held.clear()
        self._held_bytes = 0


class PeerLink(Link):
    """The link to another stream manager. What has been written is kept until the peer says that it has arrived, and else written again.

    Invariant: `_unseen`, then what waits, are the frames after the first `_seen` ones, in order. So a connection that is lost costs
    nothing, and repeats nothing that the peer has counted.
    """

    def __init__(self, key: int, limit: float) -> None:
        super().__init__(key, limit)
        self._unseen: deque[memoryview] = deque()
        self._seen = 0

    def on_welcome(self, received: int, session: Session) -> None:
        """The peer has so many frames of ours by now. The first time it says so on a connection, sending begins there."""
        if received < self._seen:  # a new process, which has none of them
            self._seen = received
            self._unseen.clear()
        while self._unseen and self._seen < received:
            self._unseen.popleft()
            self._seen += 1
        if self.session is not session:
            self.outbound.rewind(self._unseen)
            self._unseen.clear()
            self.session = session

    def on_written(self, buffers: list[memoryview]) -> None:
        self._unseen.extend(buffers)

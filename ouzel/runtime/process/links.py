"""The outgoing side of a stream manager: one link for each local task and for each other container.

A link outlives its connection: what waits for it stays, and goes when whoever it is for comes (back).
"""

from __future__ import annotations

import socket
from collections import deque

from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Frame, Outbound

_ROWS = (wire_pb2.DATA, wire_pb2.WATERMARK)


class Link:
    """What waits for one task or container. `key` is the task's id, or minus the container's."""

    def __init__(self, key: int, limit: float) -> None:
        self.key, self._limit = key, limit
        self.outbound = Outbound()
        self.connection: socket.socket | None = None
        self.watched = 0
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

    def attach(self, connection: socket.socket) -> None:
        """Whoever it is for has connected."""
        self.outbound.rewind(())
        self.connection = connection

    def flush(self) -> None:
        """Write what the socket takes.

        Raises:
            Closed: the other end is gone.
        """
        if self.connection is not None:
            self._on_written(self.outbound.flush(self.connection))

    def _on_written(self, buffers: list[memoryview]) -> None:
        """These have left."""


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
    """The link to another stream manager. What has left is kept until the peer says that it has arrived, and sent again otherwise."""

    def __init__(self, key: int, limit: float) -> None:
        super().__init__(key, limit)
        self._unseen: deque[memoryview] = deque()
        self._seen = 0

    def welcomed(self, received: int, connection: socket.socket) -> None:
        """The peer has so many frames of ours by now. The first time it says so on a connection, sending begins there."""
        if received < self._seen:  # a new process, which has none of them
            self._seen = received
            self._unseen.clear()
        while self._unseen and self._seen < received:
            self._unseen.popleft()
            self._seen += 1
        if self.connection is not connection:
            self.outbound.rewind(self._unseen)
            self._unseen.clear()
            self.connection = connection

    def _on_written(self, buffers: list[memoryview]) -> None:
        self._unseen.extend(buffers)

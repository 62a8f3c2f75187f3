"""The gateway thread of an instance: it reads from the stream manager whatever the task is doing, and writes what the socket did not take.

The task thread writes by itself while the socket takes it (an idle system sends at once); this thread takes over when it does not.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Condition, Lock, Thread

from ouzel.runtime.process.hub import SOCKET_BYTES
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, Inbound, Outbound, pack_header

INBOX_BYTES_MAX = 16 << 20
"""With more than this unhandled (or than the low watermark, if that is less) nothing is read: it waits in the stream manager."""

OUTBOX_BYTES_MAX = 16 << 20
"""With more than this unsent, the task thread waits."""

_RECONNECT_S = 0.02
_SOON_S = 0.1
_FRAME_RECONNECTED = Frame(wire_pb2.RECONNECTED, 0, memoryview(b""))


def connect(path: Path, hello: wire_pb2.Hello) -> socket.socket:
    """A connection to a stream manager's Unix socket, introduced by `hello`.

    Raises:
        OSError: nobody listens there.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
        connection.connect(str(path))
        connection.sendall(pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=hello)))
        connection.setblocking(False)
    except OSError:
        connection.close()
        raise
    return connection


class Gateway(Thread):
    """Owns the socket to the stream manager; `beat` is called every `beat_ms`, from this thread.

    It hears whether a long frame is arriving, and says whether it is to be called again soon. `clock` gives seconds.
    """

    def __init__(
        self,
        path: Path,
        hello: wire_pb2.Hello,
        beat: Callable[[bool], bool],
        beat_ms: int,
        low_watermark: int,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(name="gateway", daemon=True)
        self._path, self._hello, self._beat, self._beat_s = path, hello, beat, beat_ms / 1e3
        self._clock = clock
        self._inbox: SimpleQueue[list[Frame]] = SimpleQueue()
        self._outbox = Outbound()
        self._lock = Lock()
        self._room = Condition(self._lock)
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._socket: socket.socket | None = None
        self._left_over = False
        self._arrived_bytes = self._taken_bytes = 0
        self._inbox_max = min(INBOX_BYTES_MAX, low_watermark)
        self._next_beat = 0.0
        self._patience_s = self._beat_s

    def take(self, timeout_s: float) -> list[Frame]:
        """All frames that have arrived; waits for the first at most `timeout_s`. A frame of kind RECONNECTED marks a lost connection."""
        frames: list[Frame] = []
        try:
            frames.extend(self._inbox.get(timeout_s > 0, timeout_s))
            while True:
                frames.extend(self._inbox.get_nowait())
        except Empty:
            pass
        if frames:
            was_full = self._is_full()
            self._taken_bytes += sum(len(frame.view) for frame in frames)
            if was_full and not self._is_full():
                self._nudge()
        return frames

    def wake(self) -> None:
        """Make `take` return, with nothing if nothing has arrived; from any thread."""
        self._inbox.put([])

    def send(self, buffers: Sequence[memoryview]) -> None:
        """Send now what the socket takes, the rest as soon as it can; waits while too much is unsent."""
        with self._lock:
            self._outbox.put(buffers)
            if self._socket is not None and len(self._outbox):
                with contextlib.suppress(Closed):  # the gateway's own read finds out and reconnects
                    self._outbox.flush(self._socket)
            if len(self._outbox):
                self._left_over = True
                self._nudge()
                self._room.wait_for(lambda: self._outbox.bytes <= OUTBOX_BYTES_MAX)

    def say(self, buffers: Sequence[memoryview]) -> None:
        """As `send`, from this thread: it does not wait, and what is little always finds room."""
        with self._lock:
            self._outbox.put(buffers)
            self._left_over = True

    def run(self) -> None:
        """The thread's work: connect, carry, reconnect, for ever."""
        first = True
        while True:
            connection = self._connect()
            inbound = Inbound()
            with self._lock:
                self._outbox.rewind(())
                self._socket = connection
                self._left_over = True
            if not first:
                self._inbox.put([_FRAME_RECONNECTED])
            first = False
            with contextlib.suppress(Closed):
                self._carry(connection, inbound)
            with self._lock:
                self._socket = None
            connection.close()

    def _connect(self) -> socket.socket:
        while True:
            self._beat_if_due(None)
            try:
                return connect(self._path, self._hello)
            except OSError:
                time.sleep(_RECONNECT_S)

    def _carry(self, connection: socket.socket, inbound: Inbound) -> None:
        watched = select.EPOLLIN
        poller = select.epoll()
        poller.register(connection, watched)
        poller.register(self._wake, select.EPOLLIN)
        with contextlib.closing(poller):
            while True:
                for descriptor, mask in poller.poll(self._patience_s):
                    if descriptor == self._wake:
                        os.eventfd_read(self._wake)
                    elif mask & ~select.EPOLLOUT:
                        self._receive(connection, inbound)
                self._beat_if_due(inbound)
                wanted = self._flush(connection) | (0 if self._is_full() else select.EPOLLIN)
                if wanted != watched:
                    poller.modify(connection, wanted)
                    watched = wanted

    def _receive(self, connection: socket.socket, inbound: Inbound) -> None:
        frames = inbound.receive(connection)
        if frames:
            self._arrived_bytes += sum(len(frame.view) for frame in frames)
            self._inbox.put(frames)

    def _flush(self, connection: socket.socket) -> int:
        """Write what was left over; EPOLLOUT if more is left."""
        if not self._left_over:
            return 0
        with self._lock:
            self._outbox.flush(connection)
            if self._outbox.bytes <= OUTBOX_BYTES_MAX:
                self._room.notify()
            self._left_over = len(self._outbox) > 0
            return select.EPOLLOUT if self._left_over else 0

    def _is_full(self) -> bool:
        return self._arrived_bytes - self._taken_bytes > self._inbox_max

    def _nudge(self) -> None:
        os.eventfd_write(self._wake, 1)

    def _beat_if_due(self, inbound: Inbound | None) -> None:
        now = self._clock()
        if now >= self._next_beat:
            soon = self._beat(inbound is not None and inbound.arriving() is not None)
            self._patience_s = min(_SOON_S, self._beat_s) if soon else self._beat_s
            self._next_beat = now + self._patience_s / 2

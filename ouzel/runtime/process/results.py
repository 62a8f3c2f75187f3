"""Rows of the `result` sink on their way from its tasks to the client, over a Unix socket in the job directory."""

from __future__ import annotations

import contextlib
import select
import selectors
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Event, Thread

import polars as pl

from ouzel.errors import TopologyError
from ouzel.runtime.process.limits import start_thread
from ouzel.runtime.protocol.cluster.results import ResultInbox
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Inbound, pack_header, padding

SOCKET_NAME = "client.sock"

_ROUNDS = 64
"""After so many reads all is read that a socket held at the first one, even if more comes in meanwhile."""


class ResultSender:
    """The sink's end, in an instance."""

    def __init__(self, home: Path, task: int) -> None:
        self._path, self._task = home / SOCKET_NAME, task
        self._socket: socket.socket | None = None

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Hand a batch to the client; it has it when this returns, even if this process dies.

        Raises:
            TopologyError: the client is gone.
        """
        text = BytesIO()
        frame.write_ipc_stream(text, compat_level=pl.CompatLevel.newest())
        body = text.getbuffer()
        self._send(wire_pb2.DATA, wire_pb2.Header(source=self._task, rows=frame.height, id=batch_id), body)

    def mark(self, epoch: int, kept: int) -> None:
        """See Results. The client hears of it behind everything that was written before."""
        self._send(wire_pb2.MARK, wire_pb2.Header(source=self._task, mark=wire_pb2.Mark(epoch=epoch, kept=kept)))

    def roll_back(self, epoch: int, generation: int) -> None:
        """See Results. The client hears of it before everything that is written after it."""
        mark = wire_pb2.Mark(epoch=epoch, generation=generation)
        self._send(wire_pb2.ROLL_BACK, wire_pb2.Header(source=self._task, mark=mark))

    def _send(self, kind: int, header: wire_pb2.Header, body: memoryview | bytes = b"") -> None:
        try:
            connection = self._connect()
            connection.sendall(pack_header(kind, 0, header, len(body)))
            if body:
                connection.sendall(body)
                connection.sendall(bytes(padding(len(body))))
        except OSError as error:
            raise TopologyError(f"nobody takes the results any more: {error.strerror}") from error

    def _connect(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.connect(str(self._path))
        return self._socket


@dataclass(eq=False)
class _Connection:
    """What comes over one connection: `task` is None until the first frame says whose it is."""

    socket: socket.socket
    inbound: Inbound
    task: int | None = None
    is_closed: bool = False


class ResultReader:
    """The client's end: a thread that takes batches from all tasks of the sink, each once however often it comes.

    While `has_room` says no it reads nothing: the tasks wait, and with them, in the end, the sources. See `resume`.
    """

    def __init__(self, home: Path, deliver: Callable[[pl.DataFrame], None], has_room: Callable[[], bool]) -> None:
        self._deliver, self._has_room = deliver, has_room
        self._inbox = ResultInbox()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(home / SOCKET_NAME))
        self._listener.listen(64)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._asking, self._asked = socket.socketpair()
        self._selector.register(self._asked, selectors.EVENT_READ)
        self._connections: list[_Connection] = []
        self._waiting: deque[Event] = deque()
        self._ending = False
        self.failure = ""
        """Why nothing is taken any more, once that is so."""
        self._thread = Thread(target=self._run, name="results", daemon=True)
        start_thread(self._thread)

    def catch_up(self, timeout_s: float) -> None:
        """Return when whatever tasks had handed over before the call has been delivered, or after `timeout_s`."""
        done = Event()
        self._waiting.append(done)
        with contextlib.suppress(OSError):
            self._asking.send(b"c")
            done.wait(timeout_s)

    def resume(self) -> None:
        """There is room again."""
        with contextlib.suppress(OSError):
            self._asking.send(b"r")

    def close(self) -> None:
        """All writers have ended: deliver what they left in the sockets, then stop."""
        self._ending = True
        with contextlib.suppress(OSError):
            self._asking.send(b"e")
        self._thread.join()
        for done in self._waiting:
            done.set()
        self._selector.close()
        for one in (self._listener, self._asking, self._asked):
            one.close()

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as error:
            self.failure = str(error) or type(error).__name__

    def _serve(self) -> None:
        while not self._ending:
            if not self._has_room():
                select.select([self._asked], [], [])
            ready = [key for key, _ in self._selector.select()]
            for key in ready:
                if key.fileobj is not self._asked:
                    self._handle(key)
            if any(key.fileobj is self._asked for key in ready):  # last: it may close connections that are ready
                self._asked.recv(64)
                self._catch_up()
        while self._round():
            pass

    def _catch_up(self) -> None:
        """Deliver all that is there, then say so to those who wait for it."""
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        for _ in range(_ROUNDS):
            if not self._round():
                break
        for done in waiting:
            done.set()

    def _round(self) -> bool:
        """Read once from every socket that has something; whether one had."""
        ready = [key for key, _ in self._selector.select(0) if key.fileobj is not self._asked]
        for key in ready:
            self._handle(key)
        return bool(ready)

    def _handle(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._listener:
            self._accept()
        else:
            self._read(key.data)

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            self._connections.append(_Connection(connection, Inbound()))
            self._selector.register(connection, selectors.EVENT_READ, self._connections[-1])

    def _read(self, connection: _Connection) -> bool:
        """Read once; whether there was anything."""
        if connection.is_closed:
            return False
        came = connection.inbound.bytes
        try:
            frames = connection.inbound.receive(connection.socket)
            if frames and connection.task is None:
                connection.task = frames[0].header().source
                self._read_former(connection)
            for frame in frames:
                if (rows := self._inbox.on_frame(frame)) is not None:
                    self._deliver(rows)
        except Closed:
            self._hang_up(connection)
        return connection.inbound.bytes > came

    def _read_former(self, connection: _Connection) -> None:
        """Read first what the task's process before this one had sent before it died: its marks would come after later ones."""
        for former in self._connections[: self._connections.index(connection)]:
            if former.task in (None, connection.task):
                rounds = 0
                while rounds < _ROUNDS and self._read(former):
                    rounds += 1

    def _hang_up(self, connection: _Connection) -> None:
        connection.is_closed = True
        self._connections.remove(connection)
        self._selector.unregister(connection.socket)
        connection.socket.close()

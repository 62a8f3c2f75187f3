"""All connections of a stream manager on one epoll: what arrives is told to its machine, what waits is written once a round."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

from ouzel.runtime.protocol.cluster.links import Link, Session
from ouzel.runtime.protocol.cluster.stream_manager import (
    Close,
    Dial,
    SayNow,
    StreamManagerInstruction,
    StreamManagerMachine,
)
from ouzel.runtime.wire.stream import FRAME_BYTES_MAX, STRANGERS_BYTES_MAX, Closed, Frame, Inbound

SOCKET_BYTES = 1 << 20


class Connection:
    """The socket of a session."""

    def __init__(self, connection: socket.socket, session: Session) -> None:
        self.socket, self.session = connection, session
        self.inbound = Inbound(STRANGERS_BYTES_MAX)
        self.watched = select.EPOLLIN
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
        if connection.family == socket.AF_INET:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Hub:
    """Connections, by file descriptor and by session. `clock` gives milliseconds."""

    def __init__(self, machine: StreamManagerMachine, clock: Callable[[], float]) -> None:
        self._machine, self._clock = machine, clock
        self._epoll = select.epoll()
        self._listeners: dict[int, socket.socket] = {}
        self._connections: dict[int, Connection] = {}
        self._by_session: dict[Session, Connection] = {}
        self._closed_bytes = 0
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._wake, select.EPOLLIN)

    def listen(self, path: Path) -> None:
        """Accept on a Unix socket, in place of a former process's."""
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        self._listen(listener)

    def listen_on_tcp(self, host: str) -> int:
        """Accept on a free TCP port, which is returned."""
        listener = socket.create_server((host, 0))
        self._listen(listener)
        return int(listener.getsockname()[1])

    def wake(self) -> None:
        """Make `poll` return; from any thread."""
        os.eventfd_write(self._wake, 1)

    def poll(self, timeout_s: float) -> bool:
        """One round of reading; whether there was anything to do. A connection that sends rubbish is closed, and nothing else."""
        events = self._epoll.poll(timeout_s)
        for descriptor, mask in events:
            connection = self._connections.get(descriptor)
            if connection is not None:
                self._ready(connection, mask)
            elif descriptor == self._wake:
                os.eventfd_read(self._wake)
            elif descriptor in self._listeners:
                with contextlib.suppress(OSError):
                    self._add(self._listeners[descriptor].accept()[0])
                self.carry_out(self._machine.drop_strangers(self._clock()))
        return bool(events)

    def on_dialled(self, dial: Dial, opened: socket.socket) -> None:
        """Take over the socket of a connection that was dialled."""
        self._machine.on_dialled(dial, self._add(opened).session)

    def carry_out(self, instructions: Iterable[StreamManagerInstruction]) -> None:
        """Do what the machine says; of connections that are closed nothing."""
        for instruction in instructions:
            connection = self._by_session.get(instruction.session)
            match instruction:
                case _ if connection is None:
                    pass
                case SayNow(_, frame):
                    with contextlib.suppress(OSError):
                        connection.socket.send(frame)
                case Close():
                    self._drop(connection)

    def flush(self, links: Iterable[Link]) -> None:
        """Write what the sockets take; what they do not take goes when they are ready again."""
        for link in links:
            if link.session is not None:
                self._flush(self._by_session[link.session], link)

    def arriving(self) -> list[int]:
        """The tasks for which a part of a large frame has arrived, on a trusted connection, and the rest is coming."""
        looks = (one.inbound.arriving() for one in self._connections.values() if one.session.trusted)
        return [task for task in looks if task is not None]

    def received_bytes(self) -> int:
        """Bytes received since the start."""
        return self._closed_bytes + sum(connection.inbound.bytes for connection in self._connections.values())

    def _listen(self, listener: socket.socket) -> None:
        listener.listen(256)
        listener.setblocking(False)
        self._listeners[listener.fileno()] = listener
        self._epoll.register(listener, select.EPOLLIN)

    def _add(self, opened: socket.socket) -> Connection:
        connection = Connection(opened, self._machine.on_connected(self._clock()))
        self._connections[opened.fileno()] = self._by_session[connection.session] = connection
        self._epoll.register(opened, select.EPOLLIN)
        return connection

    def _drop(self, connection: Connection) -> None:
        """Close a connection."""
        if self._connections.pop(connection.socket.fileno(), None) is None:
            return
        del self._by_session[connection.session]
        with contextlib.suppress(OSError):
            self._epoll.unregister(connection.socket)
        connection.socket.close()
        self._closed_bytes += connection.inbound.bytes
        self._machine.on_closed(connection.session)

    def _ready(self, connection: Connection, mask: int) -> None:
        session = connection.session
        if mask & select.EPOLLOUT and session.link is not None and session.link.session is session:
            self._flush(connection, session.link)
        if mask & ~select.EPOLLOUT:
            try:
                was_trusted = session.trusted
                self._hand_on(connection, connection.inbound.receive(connection.socket))
                if session.trusted and not was_trusted:
                    connection.inbound.limit = FRAME_BYTES_MAX
                    self._hand_on(connection, connection.inbound.rest())
            except Closed:
                self._drop(connection)

    def _hand_on(self, connection: Connection, frames: list[Frame]) -> None:
        if frames and connection.session in self._by_session:
            self.carry_out(self._machine.on_frames(connection.session, frames, self._clock()))

    def _flush(self, connection: Connection, link: Link) -> None:
        try:
            link.on_written(link.outbound.flush(connection.socket))
        except Closed:
            self._drop(connection)
            return
        wanted = select.EPOLLIN | (select.EPOLLOUT if len(link.outbound) else 0)
        if wanted != connection.watched:
            connection.watched = wanted
            self._epoll.modify(connection.socket, wanted)

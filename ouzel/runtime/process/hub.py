"""All connections of a stream manager on one epoll: what arrives is handed on by the round, what waits is written once a round."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

from ouzel.runtime.process.links import Link
from ouzel.runtime.protocol.handshake import Acceptor, Dialer
from ouzel.runtime.wire.stream import FRAME_BYTES_MAX, STRANGERS_BYTES_MAX, Closed, Frame, Inbound

SOCKET_BYTES = 1 << 20

STRANGERS_MAX = 64
"""Connections that have not been introduced."""

INTRODUCTION_S, INTRODUCTION_LOOKS = 5.0, 100
"""Whoever has not introduced himself after so long, and so many looks, is let go: with less than that this process, or his, had no core."""


class Connection:
    """An open connection; whoever uses the hub notes in `link` or `sender` who is at the other end."""

    def __init__(self, connection: socket.socket, opened_ms: float) -> None:
        self.socket, self.inbound = connection, Inbound(STRANGERS_BYTES_MAX)
        self.trusted = False
        self.opened_ms, self.looks = opened_ms, 0
        self.dialer: Dialer | None = None
        self.acceptor: Acceptor | None = None
        self.claims = (0, 0)
        self.link: Link | None = None
        self.sender: tuple[int, int] | None = None
        self.acknowledged = 0
        self.watched = select.EPOLLIN
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
        if connection.family == socket.AF_INET:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def trust(self) -> None:
        """The other end has been introduced: large frames are read from now on."""
        self.trusted, self.inbound.limit = True, FRAME_BYTES_MAX


class Hub:
    """Connections by file descriptor. `received` gets the frames of each read. `clock` gives milliseconds."""

    def __init__(self, received: Callable[[Connection, list[Frame]], None], clock: Callable[[], float]) -> None:
        self._received, self._clock = received, clock
        self._epoll = select.epoll()
        self._listeners: dict[int, socket.socket] = {}
        self._connections: dict[int, Connection] = {}
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
                    self.add(self._listeners[descriptor].accept()[0])
                self.drop_strangers()
        return bool(events)

    def add(self, opened: socket.socket) -> Connection:
        """Take over an open socket."""
        connection = Connection(opened, self._clock())
        self._connections[opened.fileno()] = connection
        self._epoll.register(opened, select.EPOLLIN)
        return connection

    def drop_strangers(self) -> None:
        """Whoever does not introduce itself soon is let go, and so is the one that has waited longest when there are many."""
        strangers = [one for one in self._connections.values() if not one.trusted]
        late = self._clock() - 1e3 * INTRODUCTION_S
        for connection in strangers:
            connection.looks += 1
            is_late = connection.opened_ms < late and connection.looks > INTRODUCTION_LOOKS
            if is_late or len(strangers) > STRANGERS_MAX:
                self.drop(connection)
                strangers = strangers[1:]

    def drop(self, connection: Connection) -> None:
        """Close a connection; what waits for the other end stays in its link."""
        if self._connections.pop(connection.socket.fileno(), None) is None:
            return
        with contextlib.suppress(OSError):
            self._epoll.unregister(connection.socket)
        connection.socket.close()
        self._closed_bytes += connection.inbound.bytes
        if connection.link is not None and connection.link.connection is connection.socket:
            connection.link.connection = None

    def flush(self, links: Iterable[Link]) -> None:
        """Write what the sockets take; what they do not take goes when they are ready again."""
        for link in links:
            connection = self._connections.get(link.connection.fileno()) if link.connection is not None else None
            if connection is not None:
                self._flush(connection, link)

    def connections(self) -> list[Connection]:
        """Those that are open."""
        return list(self._connections.values())

    def is_linked(self, link: Link) -> bool:
        """Whether a connection for this link is open, or on its way to be."""
        return any(connection.link is link for connection in self._connections.values())

    def received_bytes(self) -> int:
        """Bytes received since the start."""
        return self._closed_bytes + sum(connection.inbound.bytes for connection in self._connections.values())

    def _listen(self, listener: socket.socket) -> None:
        listener.listen(256)
        listener.setblocking(False)
        self._listeners[listener.fileno()] = listener
        self._epoll.register(listener, select.EPOLLIN)

    def _ready(self, connection: Connection, mask: int) -> None:
        if mask & select.EPOLLOUT and connection.link is not None:
            self._flush(connection, connection.link)
        if mask & ~select.EPOLLOUT:
            try:
                known, frames = connection.trusted, connection.inbound.receive(connection.socket)
                if frames:
                    self._received(connection, frames)
                if connection.trusted and not known and (rest := connection.inbound.rest()):
                    self._received(connection, rest)
            except Closed:
                self.drop(connection)

    def _flush(self, connection: Connection, link: Link) -> None:
        try:
            link.flush()
        except Closed:
            self.drop(connection)
            return
        wanted = select.EPOLLIN | (select.EPOLLOUT if len(link.outbound) else 0)
        if wanted != connection.watched:
            connection.watched = wanted
            self._epoll.modify(connection.socket, wanted)

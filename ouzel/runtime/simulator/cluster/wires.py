"""Connections of simulated stream managers: each direction holds bytes, may be slow, and can be cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING, cast

from ouzel.runtime.protocol.cluster.links import Link, Session
from ouzel.runtime.protocol.cluster.stream_manager import (
    Close,
    Dial,
    SayNow,
    StreamManagerInstruction,
    StreamManagerMachine,
)
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import FRAME_BYTES_MAX, STRANGERS_BYTES_MAX, Closed, Frame, Inbound, pack_header

if TYPE_CHECKING:
    import socket


class Wire:
    """One direction of a connection, as a socket is used that never blocks; it holds `room` bytes, of which `gives` can be read at once."""

    def __init__(self, room: float = math.inf, gives: int = 1 << 30) -> None:
        self.room, self._gives, self.is_cut = room, gives, False
        self.slow_until_ms = 0.0
        self._bytes = bytearray()

    def sendmsg(self, buffers: Sequence[memoryview]) -> int:
        """As a socket's."""
        if self.is_cut:
            raise ConnectionResetError
        fresh = b"".join(buffers)[: max(0, int(min(self.room, 1 << 30)) - len(self._bytes))]
        if not fresh and any(buffers):
            raise BlockingIOError
        self._bytes += fresh
        return len(fresh)

    def recv_into(self, place: memoryview) -> int:
        """As a socket's."""
        if not self._bytes and not self.is_cut:
            raise BlockingIOError
        count = min(len(place), len(self._bytes), self._gives)
        place[:count] = self._bytes[:count]
        del self._bytes[:count]
        return count

    @property
    def is_empty(self) -> bool:
        """Whether all was read."""
        return not self._bytes

    def has_room_for(self, count: int) -> bool:
        """Whether so many bytes can be written at once."""
        return not self.is_cut and len(self._bytes) + count <= self.room

    def has_news(self, now_ms: float) -> bool:
        """Whether a read gives something now, be it the end."""
        return (bool(self._bytes) or self.is_cut) and now_ms >= self.slow_until_ms

    def lose(self, most: int = 1 << 30) -> None:
        """Cut the wire; of what is in it, all that comes behind the first `most` bytes is lost."""
        self.is_cut = True
        del self._bytes[most:]


def as_socket(wire: Wire) -> socket.socket:
    """The wire, for what is written for sockets."""
    return cast("socket.socket", wire)


def receive(wire: Wire, inbound: Inbound) -> list[Frame]:
    """The frames that are on the wire.

    Raises:
        Closed: it was cut.
    """
    return inbound.receive(as_socket(wire))


def flush(link: Link, wire: Wire) -> None:
    """Write what waits, as far as there is room.

    Raises:
        Closed: the wire was cut.
    """
    link.on_written(link.outbound.flush(as_socket(wire)))


class WireEnd:
    """One end of a connection, at a stream manager."""

    def __init__(self, session: Session, incoming: Wire, outgoing: Wire) -> None:
        self.session, self.incoming, self.outgoing = session, incoming, outgoing
        self.inbound = Inbound(STRANGERS_BYTES_MAX)


class SimulatedHub:
    """All connections of one stream manager, as `process.hub.Hub` has them on sockets."""

    def __init__(
        self, machine: StreamManagerMachine, random: Random, draw_latency: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.machine, self._random, self._draw_latency = machine, random, draw_latency
        self.ends: dict[Session, WireEnd] = {}
        self.received_bytes = 0

    def accept(self, greeting: bytes, room: float, now_ms: float) -> tuple[Wire, Wire]:
        """Somebody connects and says this: the wires that he reads and writes."""
        there, back = Wire(room), Wire(room)
        there.sendmsg([memoryview(greeting)])
        self.open(there, back, now_ms)
        return back, there

    def open(self, incoming: Wire, outgoing: Wire, now_ms: float) -> Session:
        """A connection is there."""
        session = self.machine.on_connected(now_ms)
        self.ends[session] = WireEnd(session, incoming, outgoing)
        return session

    def dial(self, dial: Dial, other: SimulatedHub | None, room: float, now_ms: float) -> None:
        """Connect to another stream manager, if it is there."""
        self.machine.on_dialling(dial.container, now_ms)
        if other is None:
            return
        greeting = pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=dial.hello))
        self.machine.on_dialled(dial, self.open(*other.accept(greeting, room, now_ms), now_ms))

    def read(self, now_ms: float) -> bool:
        """Read what has come on each connection, in any order; whether anything had."""
        ends = [end for end in self.ends.values() if end.incoming.has_news(now_ms)]
        self._random.shuffle(ends)
        for end in ends:
            if end.session in self.ends:
                self._read(end, now_ms)
                end.incoming.slow_until_ms = max(end.incoming.slow_until_ms, now_ms + self._draw_latency())
        return bool(ends)

    def write(self, now_ms: float, busy: bool) -> None:
        """Write what is due, and on connections that had no room."""
        due = self.machine.take_due(now_ms, busy)
        late = {end.session.link for end in self.ends.values() if end.session.link and len(end.session.link.outbound)}
        for link in sorted(due | late, key=lambda link: link.key):
            if link.session is not None and link.session in self.ends:
                try:
                    flush(link, self.ends[link.session].outgoing)
                except Closed:
                    self.close(link.session)
        self.machine.on_flushed(sorted(due, key=lambda link: link.key), now_ms)

    def carry_out(self, instructions: Iterable[StreamManagerInstruction]) -> None:
        """Do what the machine says; of connections that are closed nothing."""
        for instruction in instructions:
            end = self.ends.get(instruction.session)
            match instruction:
                case _ if end is None:
                    pass
                case SayNow(_, text):
                    if end.outgoing.has_room_for(len(text)):
                        end.outgoing.sendmsg([memoryview(text)])
                case Close():
                    self.close(instruction.session)

    def close(self, session: Session, most: int = 1 << 30) -> None:
        """A connection ends; of what has been written to it all but `most` bytes is lost."""
        end = self.ends.pop(session, None)
        if end is not None:
            end.incoming.lose(0)
            end.outgoing.lose(most)
            self.machine.on_closed(session)

    def _read(self, end: WireEnd, now_ms: float) -> None:
        session, was_trusted = end.session, end.session.trusted
        try:
            self._hand_on(session, receive(end.incoming, end.inbound), now_ms)
            if session.trusted and not was_trusted:
                end.inbound.limit = FRAME_BYTES_MAX
                self._hand_on(session, end.inbound.rest(), now_ms)
        except Closed:
            self.close(session)

    def _hand_on(self, session: Session, frames: list[Frame], now_ms: float) -> None:
        self.received_bytes += sum(len(frame.view) for frame in frames)
        if frames and session in self.ends:
            self.carry_out(self.machine.on_frames(session, frames, now_ms))

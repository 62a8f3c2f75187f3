"""Bytes in and out of a socket, cut into frames. No copies: frames that arrive are views of what was received, and leave as such.

A frame is a prefix of four numbers (header length, body length, destination task, kind), a protobuf header and a body, both padded to
8 bytes so that Arrow can use the body where it lies.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from ouzel.errors import TopologyError
from ouzel.runtime.wire import wire_pb2

PREFIX = struct.Struct("<IIiI")
FRAME_BYTES_MAX = 256 << 20
STRANGERS_BYTES_MAX = 4 << 10
"""Of whoever has not been introduced; what a frame says of its length is believed only up to a limit."""

CHUNK_BYTES = 1 << 20
_SENT_AT_ONCE = 64
_SENT_BYTES = 4 << 20


def padding(length: int) -> int:
    """How many bytes are missing to a multiple of 8."""
    return -length & 7


class Frame(NamedTuple):
    """A frame that has arrived: its kind, whom it is for, and all of its bytes."""

    kind: int
    destination: int
    view: memoryview

    def header(self) -> wire_pb2.Header:
        """The parsed header.

        Raises:
            Closed: it is none, so whoever sent it is not to be heard any more.
        """
        length = PREFIX.unpack_from(self.view)[0]
        try:
            return wire_pb2.Header.FromString(bytes(self.view[16 : 16 + length]))
        except DecodeError as error:
            raise Closed from error

    def body(self) -> memoryview:
        """The body, without its padding."""
        header_length, body_length, _, _ = PREFIX.unpack_from(self.view)
        start = 16 + header_length + padding(header_length)
        return self.view[start : start + body_length]


def pack_header(kind: int, destination: int, header: wire_pb2.Header, body_length: int = 0) -> bytes:
    """Prefix and header of a frame, to be followed by a body of that length and its padding.

    Raises:
        TopologyError: the frame would be larger than FRAME_BYTES_MAX.
    """
    text = header.SerializeToString()
    if len(text) + body_length > FRAME_BYTES_MAX:
        raise TopologyError(
            f"a frame of {header.rows} rows takes {body_length >> 20} MiB, more than the {FRAME_BYTES_MAX >> 20} MiB a frame may have; "
            "lower batch.rows or handle.rows"
        )
    return PREFIX.pack(len(text), body_length, destination, kind) + text + bytes(padding(len(text)))


def _chunk(size: int) -> memoryview:
    """Memory to receive into; not zeroed, as bytearray would be."""
    return np.empty(size, np.uint8).data


class Closed(Exception):
    """The other end is gone."""


class Inbound:
    """Reads frames from a socket, of at most `limit` bytes each, at most `chunk_bytes` of several at once."""

    def __init__(self, limit: int = FRAME_BYTES_MAX, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.limit, self._chunk_bytes = limit, chunk_bytes
        self._chunk = _chunk(chunk_bytes)
        self._start = self._end = 0
        self.bytes = self._cut_frames = 0
        self._looked = (0, 0)

    def arriving(self) -> int | None:
        """Whom the frame is for that is amid arriving: some of it has come since the last call, and no other was completed since."""
        (cut, came), self._looked = self._looked, (self._cut_frames, self.bytes)
        if self._cut_frames > cut or self.bytes == came or self._end - self._start < PREFIX.size:
            return None
        return int(PREFIX.unpack_from(self._chunk, self._start)[2])

    def receive(self, connection: socket.socket) -> list[Frame]:
        """One read, and the frames it completes.

        Raises:
            Closed: the other end is gone, or sent what is no frame.
        """
        try:
            count = connection.recv_into(self._chunk[self._end :])
        except BlockingIOError:
            return []
        except OSError as error:
            raise Closed from error
        if count == 0:
            raise Closed
        self._end += count
        self.bytes += count
        return self._cut()

    def rest(self) -> list[Frame]:
        """Frames that are there and were too large before the limit was raised."""
        return self._cut()

    def _cut(self) -> list[Frame]:
        frames: list[Frame] = []
        chunk, position, end = self._chunk, self._start, self._end
        length = 0
        while end - position >= 16:
            header_length, body_length, destination, kind = PREFIX.unpack_from(chunk, position)
            if header_length + body_length > self.limit:
                if frames:  # whoever sent these may be believed after them: see `rest`
                    break
                raise Closed
            length = 16 + header_length + padding(header_length) + body_length + padding(body_length)
            if end - position < length:
                break
            frames.append(Frame(kind, destination, chunk[position : position + length]))
            position += length
            length = 0
        self._start = position
        self._cut_frames += len(frames)
        self._make_room(length)
        return frames

    def _make_room(self, wanted: int) -> None:
        """Go on in a new chunk when the frame that has begun cannot end in this one; those handed out keep the old one alive."""
        left = self._end - self._start
        if self._start + max(wanted, 16) <= len(self._chunk) and self._end < len(self._chunk):
            return
        fresh = _chunk(max(self._chunk_bytes, wanted))
        fresh[:left] = self._chunk[self._start : self._end]
        self._chunk, self._start, self._end = fresh, 0, left


class Outbound:
    """What waits to be written to a socket, in order."""

    def __init__(self) -> None:
        self._waiting: deque[memoryview] = deque()
        self._written = 0
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, buffers: Iterable[memoryview]) -> None:
        """Add buffers to the end."""
        for buffer in buffers:
            self._waiting.append(buffer)
            self.bytes += len(buffer)

    def flush(self, connection: socket.socket) -> list[memoryview]:
        """Write what the socket takes without blocking; the buffers that are wholly written.

        Raises:
            Closed: the other end is gone.
        """
        done: list[memoryview] = []
        while self._waiting:
            try:
                count = connection.sendmsg(self._next())
            except BlockingIOError:
                break
            except OSError as error:
                raise Closed from error
            self._on_taken(count, done)
        return done

    def rewind(self, unseen: Iterable[memoryview]) -> None:
        """The connection was lost: the first buffer starts anew, after those in `unseen`, which must go again."""
        self._written = 0
        self._waiting.extendleft(reversed(list(unseen)))
        self.bytes = sum(map(len, self._waiting))

    def _next(self) -> list[memoryview]:
        buffers, size = [self._waiting[0][self._written :]], len(self._waiting[0])
        for buffer in islice(self._waiting, 1, _SENT_AT_ONCE):
            if size > _SENT_BYTES:
                break
            size += len(buffer)
            buffers.append(buffer)
        return buffers

    def _on_taken(self, count: int, done: list[memoryview]) -> None:
        self.bytes -= count
        count += self._written
        while self._waiting and count >= len(self._waiting[0]):
            count -= len(self._waiting[0])
            done.append(self._waiting.popleft())
        self._written = count

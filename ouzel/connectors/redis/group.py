"""One consumer of a group, in a thread of its own: it reads ahead, acknowledges, claims what the dead have left, and never falls silent."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from threading import Event, Lock, Thread
from typing import Any

from redis.exceptions import RedisError, ResponseError

from ouzel.connectors.redis.client import AWAY, FORBIDDEN, Endpoint
from ouzel.connectors.redis.pending import PendingEntries, StreamEntry
from ouzel.errors import ConnectorError

_PORTION = 5_000
_WAIT_MS = 50
_LOOK_S = 1.0
_PAUSE_S = (0.1, 5.0)
_FIRST = b"0"
_GONE = ("NOGROUP", "no such key", "UNBLOCKED")
"""How the errors begin that say that the group, or the stream with it, is gone; the last where a read was waiting at that moment."""


@dataclass(frozen=True)
class GroupReading:
    """What a consumer of a group reads, and as whom.

    Attributes:
        stream: the key of the stream.
        field: the field of an entry that holds the record.
        group: the consumer group.
        start: where a group that is made begins: "earliest" or "latest".
        consumer: the name of this consumer in the group.
        peers: the consumers of this topology, this one included.
        pending_most: how many entries it may hold that are not acknowledged.
        claim_idle_ms: how long another consumer must have been idle before its entries are taken over.
        tracked: False: entries are acknowledged as they are read.
    """

    stream: str
    field: bytes
    group: str
    start: str
    consumer: str
    peers: frozenset[str]
    pending_most: int
    claim_idle_ms: int
    tracked: bool


class Consumer:
    """Fills `pending`, under `lock`. `failure` is an error that does not pass, `away` why the server cannot be asked now.

    `notes` are sentences for the user, under the same lock.
    """

    def __init__(self, server: Endpoint, reading: GroupReading, pending: PendingEntries) -> None:
        self._server, self._client, self._reading, self._pending = server, server.client, reading, pending
        self.lock = Lock()
        self.failure: ConnectorError | None = None
        self.away = ""
        self.lag: int | None = None
        self.is_empty = False
        self.notes: dict[str, None] = {}
        self._delivered = (0, 0)  # the newest entry that we know the group has handed out
        self._stopped = Event()
        self._takes = True
        self._look_at = 0.0
        self._thread = Thread(target=self._run, name="redis-consumer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        pause_s = _PAUSE_S[0]
        recovered = False
        while not self._stopped.is_set():
            try:
                if not recovered:
                    self._recover()
                    recovered, self.away, pause_s = True, "", _PAUSE_S[0]
                self._turn()
            except FORBIDDEN as error:
                self.failure = self._server.error(error)
                return
            except AWAY as error:
                recovered, self.away, self.is_empty = False, f"Redis at {self._server.name}: {error}", False
                self._stopped.wait(pause_s)
                pause_s = min(2 * pause_s, _PAUSE_S[1])
            except RedisError as error:
                if not str(error).startswith(_GONE):
                    self.failure = self._server.error(error)
                    return
                recovered = False
            except Exception as error:  # nobody else would hear of it
                self.failure = ConnectorError(f"reading Redis failed: {type(error).__name__}: {error}")
                return

    def _recover(self) -> None:
        """Take in what is ours already: of a life before, or of an answer that was lost with the connection."""
        self._create_group()
        last = _FIRST
        while entries := self._read(last):
            self._take(entries)
            last = entries[-1][0]

    def _create_group(self) -> None:
        """Make the group, unless it is there. One that was removed while it was read goes on where it was, as far as we know."""
        reading, was = self._reading, self._delivered
        first = "0" if reading.start == "earliest" else "$"
        if was > (0, 0):
            first = f"{was[0]}-{was[1]}" if self._last_id() >= was else "0"  # all of a stream that was made anew is new
        try:
            self._client.xgroup_create(reading.stream, reading.group, id=first, mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise
        else:
            if was > (0, 0):
                self._note(
                    f"its group '{reading.group}' was removed while it was read, and goes on behind entry {first}"
                )

    def _last_id(self) -> tuple[int, int]:
        """The newest id that the stream has given; 0-0 if there is no stream."""
        try:
            return _parse(self._client.xinfo_stream(self._reading.stream)["last-generated-id"])
        except ResponseError:
            return 0, 0

    def _note(self, text: str) -> None:
        with self.lock:
            self.notes[f"stream '{self._reading.stream}': {text}"] = None

    def _turn(self) -> None:
        self._acknowledge()
        room = self._reading.pending_most - self._pending.count
        if room <= 0 or not self._takes:
            self._read(_FIRST, 1)  # so that nobody takes this consumer for dead
            self._stopped.wait(_WAIT_MS / 1000)
        elif entries := self._read(b">", min(room, _PORTION)):
            self._take(entries)
            return
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + _LOOK_S
            self._look()

    def _read(self, last: bytes, count: int = _PORTION) -> list[tuple[bytes, dict[bytes, bytes] | None]]:
        new, reading = last == b">", self._reading
        answer: Any = self._client.xreadgroup(
            reading.group, reading.consumer, {reading.stream: last}, count=count, block=_WAIT_MS if new else None,
            noack=new and not reading.tracked,
        )  # fmt: skip
        parts = answer.values() if isinstance(answer, dict) else [part for _, part in answer]
        return [entry for part in parts for entry in part]

    def _take(self, entries: Sequence[tuple[bytes, dict[bytes, bytes] | None]]) -> None:
        """Take in entries; one that was trimmed away meanwhile is there no more, and is acknowledged."""
        gone = [number for number, fields in entries if not fields]
        if gone:
            self._client.xack(self._reading.stream, self._reading.group, *gone)
            self._note(_TRIMMED)
        self._delivered = max([self._delivered, *(_parse(number) for number, _ in entries[-1:])])
        with self.lock:
            self._pending.take(self._entry(number, fields) for number, fields in entries if fields)

    def _entry(self, number: bytes, fields: dict[bytes, bytes]) -> StreamEntry:
        data, field = fields.get(self._reading.field), self._reading.field.decode()
        if data is not None:
            return StreamEntry(number, data)
        return StreamEntry(
            number, repr(fields).encode(), f"it has no field '{field}'; say with 'field' which one holds the row"
        )

    def _acknowledge(self) -> None:
        while True:
            with self.lock:
                handled = list(islice(self._pending.handled, _PORTION))
            if not handled:
                return
            self._client.xack(self._reading.stream, self._reading.group, *handled)
            with self.lock:
                self._pending.on_acknowledged(len(handled))

    def _look(self) -> None:
        """How much waits, and whether somebody has died."""
        reading = self._reading
        deleted = _parse(self._client.xinfo_stream(reading.stream).get("max-deleted-entry-id", b"0-0"))  # of Redis 7
        groups = [one for one in self._client.xinfo_groups(reading.stream) if one["name"] == reading.group.encode()]
        if not groups:
            raise ResponseError("NOGROUP")
        group, last = groups[0], _parse(groups[0]["last-delivered-id"])
        if deleted > last > (0, 0):
            self._note(_TRIMMED)
        self._delivered = max(self._delivered, last)
        others = [one for one in self._client.xinfo_consumers(reading.stream, reading.group) if one["pending"]]
        peers = {name.encode() for name in reading.peers}
        foreign = [one for one in others if one["name"] not in peers]
        self.lag = group.get("lag")
        behind = b"(" + group["last-delivered-id"]
        unread = self._client.xrange(reading.stream, min=behind, count=1)  # the newest entry may have been deleted
        self.is_empty = not (unread or foreign)
        for one in others:
            if one["name"] != reading.consumer.encode() and one["idle"] >= reading.claim_idle_ms:
                self._claim(one["name"])

    def _claim(self, dead: bytes) -> None:
        for numbers in self._pending_of(dead):
            claimed: Any = self._client.xclaim(
                self._reading.stream, self._reading.group, self._reading.consumer, self._reading.claim_idle_ms, numbers
            )
            self._take(claimed)

    def _pending_of(self, dead: bytes) -> Iterator[list[bytes]]:
        """Ids that are pending with a consumer, as many at a time as there is room for; what was claimed is pending there no more."""
        while (room := min(_PORTION, self._reading.pending_most - self._pending.count)) > 0:
            found = self._client.xpending_range(
                self._reading.stream, self._reading.group, "-", "+", room, consumername=dead,
                idle=self._reading.claim_idle_ms,
            )  # fmt: skip
            if not found:
                return
            yield [one["message_id"] for one in found]

    def take_no_more(self) -> None:
        """Read nothing new; what is handled is still acknowledged."""
        self._takes = False

    def close(self) -> None:
        """Acknowledge what is handled, if the server is there, and leave."""
        self._stopped.set()
        self._thread.join()
        with suppress(RedisError):  # what the server does not hear of is pending, and comes again
            self._acknowledge()
        self._client.close()


_TRIMMED = "entries were deleted or trimmed away before they were handled; their rows are missing"


def _parse(number: bytes) -> tuple[int, int]:
    """An entry's id as numbers, by which ids are in order."""
    milliseconds, _, sequence = number.partition(b"-")
    return int(milliseconds), int(sequence)

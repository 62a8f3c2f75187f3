"""Queues of the Kestrel server of the tests: items, fanout, expiry and limits, with a journal on disk; who reads them is a `Client`."""

from __future__ import annotations

import os
import struct
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

VERSION = "2.4.1"
RELATIVE_MAX = 1_000_000
"""An expiry below it is in seconds from now, else a time."""

_RECORD = struct.Struct("<cHQqI")


class Client(Protocol):
    """Who waits for items."""

    def offered(self) -> None:
        """There is something in the queue that it waits for."""


@dataclass(slots=True)
class Item:
    """What was put into a queue. Times are in milliseconds; `expires_ms` is 0 if it never does."""

    number: int
    data: bytes
    expires_ms: int
    added_ms: int


@dataclass
class Queue:
    """A queue: items that wait, clients that wait, and what is counted."""

    name: str
    created_ms: int
    items: deque[Item] = field(default_factory=deque)
    waiters: deque[Client] = field(default_factory=deque)
    counts: Counter[str] = field(default_factory=Counter)
    age_ms: int = 0

    @property
    def bytes(self) -> int:
        """Of the items that wait."""
        return sum(len(item.data) for item in self.items)

    def statistics(self, logsize: int) -> dict[str, int]:
        """What STATS says of it."""
        size = self.bytes
        told = (
            "total_items",
            "expired_items",
            "discarded",
            "open_transactions",
            "transactions",
            "canceled_transactions",
            "total_flushes",
        )
        return {
            "items": len(self.items), "bytes": size, "mem_items": len(self.items), "mem_bytes": size, "logsize": logsize,
            "age": self.age_ms if self.items else 0, "age_msec": self.age_ms, "waiters": len(self.waiters),
            "create_time": self.created_ms, **{name: self.counts[name] for name in told},
        }  # fmt: skip


class Journal:
    """What was added and what is gone for good, in one file; nothing is kept without a directory."""

    def __init__(self, directory: Path | None) -> None:
        self._path = directory / "kestrel.journal" if directory else None
        self._file: int | None = None
        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)

    def replay(self) -> tuple[dict[str, dict[int, Item]], int]:
        """The items of each queue, and the highest number; the file is written anew without what is gone."""
        queues: dict[str, dict[int, Item]] = {}
        newest = 0
        if not self._path:
            return queues, newest
        data = self._path.read_bytes() if self._path.exists() else b""
        at = 0
        while at + _RECORD.size <= len(data):
            kind, name_size, number, expires_ms, size = _RECORD.unpack_from(data, at)
            end = at + _RECORD.size + name_size + size
            if end > len(data):
                break
            name = data[at + _RECORD.size : end - size].decode()
            newest = max(newest, number)
            match kind:
                case b"A":
                    queues.setdefault(name, {})[number] = Item(number, data[end - size : end], expires_ms, now_ms())
                case b"R":
                    queues.setdefault(name, {}).pop(number, None)
                case b"Q":
                    queues.setdefault(name, {})
                case b"D":
                    queues.pop(name, None)
            at = end
        fresh = self._path.with_suffix(".new")
        fresh.write_bytes(b"")
        self._file = os.open(fresh, os.O_WRONLY | os.O_APPEND)
        for name, items in queues.items():
            self.note(b"Q", name, 0)
            for item in items.values():
                self.note(b"A", name, item.number, item.data, item.expires_ms)
        fresh.rename(self._path)
        return queues, newest

    def note(self, kind: bytes, name: str, number: int, data: bytes = b"", expires_ms: int = 0) -> None:
        """Append a record: Added, Removed, Queue made, queue Deleted."""
        if self._file is not None:
            encoded = name.encode()
            os.write(self._file, _RECORD.pack(kind, len(encoded), number, expires_ms, len(data)) + encoded + data)

    @property
    def size(self) -> int:
        """In bytes."""
        return os.fstat(self._file).st_size if self._file is not None else 0


class Server:
    """All queues of one process."""

    def __init__(self, directory: Path | None = None, max_items: int = 0, max_age_ms: int = 0) -> None:
        self._journal, self._max_items, self._max_age_ms = Journal(directory), max_items, max_age_ms
        self.queues: dict[str, Queue] = {}
        self.counts: Counter[str] = Counter()
        self.status, self._started_ms = "UP", now_ms()
        kept, self._number = self._journal.replay()
        for name, items in kept.items():
            self.queue(name, noted=True).items.extend(items.values())

    def queue(self, name: str, noted: bool = False) -> Queue:
        """The queue of that name, which is made when it is first spoken of."""
        if name not in self.queues:
            if not noted:
                self._journal.note(b"Q", name, 0)
            self.queues[name] = Queue(name, now_ms())
        return self.queues[name]

    def add(self, name: str, data: bytes, expiry: int) -> bool:
        """Put an item into a queue and each of its children; False if one of them is full."""
        children = [known for known in self.queues if known.startswith(f"{name}+")]
        queues = [self.queue(each) for each in (name, *children)]
        for queue in queues:
            self._expire(queue)
        if self._max_items and any(len(queue.items) >= self._max_items for queue in queues):
            return False
        for queue in queues:
            self._number += 1
            item = Item(self._number, data, self._expires_ms(expiry), now_ms())
            self._journal.note(b"A", queue.name, item.number, data, item.expires_ms)
            queue.items.append(item)
            queue.counts["total_items"] += 1
            self._serve(queue)
        return True

    def _expires_ms(self, expiry: int) -> int:
        relative = now_ms() + expiry * 1000 if expiry < RELATIVE_MAX else expiry * 1000
        latest = now_ms() + self._max_age_ms if self._max_age_ms else 0
        asked = relative if expiry else 0
        return min(asked or latest, latest or asked)

    def take(self, queue: Queue, peek: bool = False) -> Item | None:
        """The first item of a queue that has not expired."""
        self._expire(queue)
        if not queue.items:
            queue.age_ms = 0
            return None
        item = queue.items[0] if peek else queue.items.popleft()
        queue.age_ms = now_ms() - item.added_ms
        return item

    def _expire(self, queue: Queue) -> None:
        while queue.items and 0 < queue.items[0].expires_ms <= now_ms():
            self.remove(queue, queue.items.popleft())
            queue.counts["expired_items"] += 1

    def remove(self, queue: Queue, item: Item) -> None:
        """An item is gone for good."""
        self._journal.note(b"R", queue.name, item.number)

    def hand_back(self, queue: Queue, items: Sequence[Item]) -> None:
        """Items that were open are the first of their queue again, in that order."""
        queue.counts.update(canceled_transactions=len(items), open_transactions=-len(items))
        queue.items.extendleft(reversed(items))
        self._serve(queue)

    def _serve(self, queue: Queue) -> None:
        """Give to those who wait, the one who came first before the others."""
        while queue.items and queue.waiters:
            queue.waiters.popleft().offered()

    def flush(self, queue: Queue) -> None:
        """Drop what waits in a queue."""
        while queue.items:
            self.remove(queue, queue.items.popleft())
        queue.counts["total_flushes"] += 1

    def delete(self, name: str) -> None:
        """Drop a queue."""
        if self.queues.pop(name, None):
            self.counts["queue_deletes"] += 1
            self._journal.note(b"D", name, 0)

    def statistics(self) -> dict[str, object]:
        """What STATS says, the server first, then each queue."""
        queues = self.queues.values()
        found: dict[str, object] = {
            "uptime": (now_ms() - self._started_ms) // 1000, "time": now_ms() // 1000, "version": VERSION,
            "curr_items": sum(len(queue.items) for queue in queues),
            "total_items": sum(queue.counts["total_items"] for queue in queues),
            "bytes": sum(queue.bytes for queue in queues),
        }  # fmt: skip
        told = ("curr_connections", "total_connections", "cmd_get", "cmd_set", "cmd_peek", "get_hits", "get_misses",
                "bytes_read", "bytes_written", "queue_deletes")  # fmt: skip
        found |= {name: self.counts[name] for name in told}
        for queue in queues:
            found |= {f"queue_{queue.name}_{name}": value for name, value in self.of_queue(queue).items()}
        return found

    def of_queue(self, queue: Queue) -> dict[str, int]:
        """What is told of one queue."""
        return queue.statistics(self._journal.size)


def now_ms() -> int:
    """The wall clock."""
    return time.time_ns() // 1_000_000

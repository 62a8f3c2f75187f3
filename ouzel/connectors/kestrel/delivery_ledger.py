"""The items that a task holds, by the number that each got when it was read, and by connection. No sockets and no clock.

A connection's items are confirmed in the order in which they were opened, as the protocol has it: so one that is acknowledged waits for
those before it. One that is given back can only go back with its connection: that takes no more, and is closed when of all its items it is
known what becomes of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto


class Fate(Enum):
    """The state of an item."""

    UNKNOWN = auto()
    HANDLED = auto()
    RETURNED = auto()
    LOST = auto()


class Item:
    """One item that was handed out to one connection."""

    __slots__ = ("data", "fate")

    def __init__(self, data: bytes) -> None:
        self.data, self.fate = data, Fate.UNKNOWN


class OpenItems:
    """What one connection has open, from its beginning to its end, in the order in which it was opened."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.open: deque[Item] = deque()
        self.waiting: deque[Item] = deque()
        self.is_empty = False
        self.goes = self.is_over = False
        self._confirming = 0

    def take(self, data: bytes, stays_open: bool) -> None:
        """An item came, and waits to be read, or to go back with the others."""
        item = Item(data)
        if stays_open:
            self.open.append(item)
        if self.goes:
            item.fate = Fate.RETURNED
        else:
            self.waiting.append(item)
        self.is_empty = False

    def confirm(self) -> int:
        """How many items, from the first open one on, are to be confirmed now."""
        count = 0
        while self.can_confirm:
            self.open.popleft()
            count += 1
        self._confirming += count
        return count

    def on_confirmed(self, count: int) -> None:
        """The server has forgotten so many."""
        self._confirming -= count

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is handled and not yet confirmed."""
        return not self._confirming and all(item.fate is not Fate.HANDLED for item in self.open)

    @property
    def can_confirm(self) -> bool:
        """Whether `confirm` would give something."""
        return bool(self.open) and self.open[0].fate is Fate.HANDLED

    @property
    def may_go(self) -> bool:
        """Whether something is to go back, of everything before and behind it is known what becomes of it, and what can be is confirmed."""
        return self.goes and not self.can_confirm and all(item.fate is not Fate.UNKNOWN for item in self.open)

    def end(self) -> int:
        """The connection is gone: the server hands out again what was open; how many of these were handled."""
        handled = self._confirming + sum(item.fate is Fate.HANDLED for item in self.open)
        for item in self.open:
            if item.fate is Fate.UNKNOWN:
                item.fate = Fate.LOST
        self.open.clear()
        self.waiting.clear()
        self._confirming = 0
        return handled


class DeliveryLedger:
    """All items held by one task. They are read from its connections in turn, so that no host is preferred."""

    def __init__(self, tracked: bool) -> None:
        self._tracked = tracked
        self.opened: deque[OpenItems] = deque()
        self.numbered: dict[int, tuple[Item, OpenItems]] = {}
        self.handed = 0
        self.bytes = 0
        self._again = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is open, and each has found its queue empty since."""
        return (
            bool(self.opened)
            and not self.numbered
            and all(opened.is_empty and not opened.open for opened in self.opened)
        )

    @property
    def waiting(self) -> int:
        """How many items wait to be read."""
        return sum(len(opened.waiting) for opened in self.opened)

    def take(self, opened: OpenItems, data: bytes) -> None:
        """An item came."""
        opened.take(data, self._tracked)
        self.bytes += 0 if opened.goes else len(data)

    def read(self, rows: int) -> tuple[int, list[Item], list[str]]:
        """At most `rows` items, the number of the first, and the host of each."""
        start, items, hosts = self.handed, list[Item](), list[str]()
        share = max(1, rows // max(1, len(self.opened)))
        while len(items) < rows and any(opened.waiting for opened in self.opened):
            opened = self.opened[0]
            self.opened.rotate(-1)
            taken = [opened.waiting.popleft() for _ in range(min(share, rows - len(items), len(opened.waiting)))]
            items += taken
            hosts += [opened.host] * len(taken)
            self.numbered.update(
                (start + len(items) - len(taken) + place, (item, opened)) for place, item in enumerate(taken)
            )
            if opened.is_over and not opened.waiting:
                self.opened.remove(opened)
        self.handed += len(items)
        self.bytes -= sum(len(item.data) for item in items)
        return start, items, hosts

    def held(self, start: int, end: int) -> int:
        """How many of these the server has not taken back."""
        return sum(
            found is not None and found[0].fate is not Fate.LOST for found in map(self.numbered.get, range(start, end))
        )

    def data(self, start: int, end: int) -> list[bytes]:
        """The bytes of those that the server has not taken back."""
        found = (self.numbered[number][0] for number in range(start, end))
        return [item.data for item in found if item.fate is not Fate.LOST]

    def acknowledge(self, start: int, end: int) -> int:
        """These are handled; how many items, of these and of earlier ones, come again although they are."""
        again, self._again = self._again, 0
        for number in range(start, end):
            item, _ = self.numbered.pop(number)
            item.data = b""
            if item.fate is Fate.LOST:
                again += 1
            else:
                item.fate = Fate.HANDLED
        return again

    def give_back(self, start: int, end: int) -> None:
        """These are to be handed out again."""
        for number in range(start, end):
            item, opened = self.numbered.pop(number)
            if item.fate is not Fate.LOST:
                self._give_back(item, opened)

    def _give_back(self, item: Item, opened: OpenItems) -> None:
        item.fate = Fate.RETURNED
        self._return_waiting(opened)
        opened.goes = True

    def _return_waiting(self, opened: OpenItems) -> None:
        for item in opened.waiting:
            item.fate = Fate.RETURNED
            self.bytes -= len(item.data)
        opened.waiting.clear()

    def leave(self, opened: OpenItems) -> None:
        """Its server is not to be read any more: what is open there goes back, but for what is on its way, which is waited for."""
        if self._tracked:
            self._return_waiting(opened)
        opened.goes = True

    def end(self, opened: OpenItems) -> None:
        """A connection is gone. What was taken for good is still here."""
        if self._tracked:
            self.bytes -= sum(len(item.data) for item in opened.waiting)
            self._again += opened.end()
        elif opened.waiting:
            opened.is_over = True
            return
        self.opened.remove(opened)


class Blacklist:
    """When each host may be tried again: later and later while it does not answer."""

    def __init__(self, first_s: float = 0.1, most_s: float = 10.0) -> None:
        self._first_s, self._most_s = first_s, most_s
        self._failures: dict[str, int] = {}
        self._until: dict[str, float] = {}
        self.reasons: dict[str, str] = {}

    def on_failure(self, host: str, reason: str, now_s: float) -> None:
        """It did not answer, or broke off; several connections that fail together count once."""
        self.reasons[host] = reason
        if now_s >= self._until.get(host, now_s):
            failures = self._failures[host] = self._failures.get(host, 0) + 1
            self._until[host] = now_s + min(self._most_s, self._first_s * 2.0 ** min(failures - 1, 30))

    def on_answer(self, host: str) -> None:
        """It is there, and speaks the protocol."""
        for known in (self._failures, self._until, self.reasons):
            known.pop(host, None)

    def wait_s(self, host: str, now_s: float) -> float:
        """How long to leave it alone."""
        return max(0.0, self._until.get(host, now_s) - now_s)

    def away(self, hosts: Sequence[str]) -> str:
        """Why none of the hosts can be read; empty if one can."""
        return "" if not hosts or any(host not in self.reasons for host in hosts) else self.reasons[hosts[0]]

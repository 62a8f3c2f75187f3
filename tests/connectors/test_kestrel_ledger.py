"""Kestrel's state machines, without sockets: what is confirmed was handled, whatever breaks; replies are the same however they are cut."""

from __future__ import annotations

from collections import Counter, deque
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.connectors.kestrel.delivery_ledger import Blacklist, DeliveryLedger, OpenItems
from ouzel.connectors.kestrel.protocol import LINE_MAX, Replies, statistics_of
from ouzel.errors import ConnectorError
from tests.effort import examples, seeds

ITEMS = 300


class World:
    """A server with connections, each with what it has open there, and a task that reads, handles and gives back at random."""

    def __init__(self, seed: int) -> None:
        self.random, self.ledger = Random(seed), DeliveryLedger(tracked=True)
        self.waiting = deque(b"%d" % number for number in range(ITEMS))
        self.open: dict[OpenItems, deque[bytes]] = {}
        self.batches: list[tuple[int, int, list[bytes]]] = []
        self.handled, self.closed, self.told_again, self.came_again = Counter[bytes](), Counter[bytes](), 0, 0

    def connect(self) -> None:
        opened = OpenItems("host")
        self.ledger.opened.append(opened)
        self.open[opened] = deque()

    def hand_out(self) -> None:
        opened = self.random.choice(list(self.open))
        for _ in range(min(len(self.waiting), self.random.randint(1, 9))):
            self.open[opened].append(self.waiting.popleft())
            self.ledger.take(opened, self.open[opened][-1])

    def read(self) -> None:
        start, items, _ = self.ledger.read(self.random.randint(1, 20))
        if items:
            self.batches.append((start, start + len(items), [item.data for item in items]))

    def decide(self) -> None:
        if self.batches:
            start, end, data = self.batches.pop(self.random.randrange(len(self.batches)))
            assert len(self.ledger.data(start, end)) == self.ledger.held(start, end) <= end - start
            if self.random.random() < 0.2:
                self.ledger.give_back(start, end)
            else:
                self.handled.update(data)
                self.told_again += self.ledger.acknowledge(start, end)

    def confirm(self) -> None:
        opened = self.random.choice(list(self.open))
        count = opened.confirm()
        if self.random.random() < 0.1:
            return self.disconnect(opened)
        closed = [self.open[opened].popleft() for _ in range(count)]
        assert all(self.handled[item] > self.closed[item] for item in closed), "closed before it was handled"
        self.closed.update(closed)
        opened.on_confirmed(count)
        if opened.may_go:
            self.disconnect(opened)
        return None

    def leave(self) -> None:
        self.ledger.leave(self.random.choice(list(self.open)))

    def disconnect(self, opened: OpenItems | None = None) -> None:
        opened = opened or self.random.choice(list(self.open))
        back = self.open.pop(opened)
        self.came_again += sum(self.handled[item] > self.closed[item] for item in back)
        self.waiting.extendleft(reversed(back))
        self.ledger.end(opened)
        self.connect()


@pytest.mark.parametrize("seed", seeds())
def test_each_item_is_closed_once_and_only_when_it_was_handled(seed: int) -> None:
    world = World(seed)
    for _ in range(3):
        world.connect()
    acts = [world.hand_out, world.read, world.decide, world.confirm, world.confirm]
    for _ in range(1_500):
        world.random.choice(acts)()
        assert world.ledger.bytes == sum(len(item.data) for opened in world.ledger.opened for item in opened.waiting)
        if world.random.random() < 0.01:
            world.disconnect()
        if world.random.random() < 0.01:
            world.leave()
    for _ in range(20_000):
        if world.closed.total() == ITEMS and not world.batches:
            break
        world.random.choice(acts)()
    assert set(world.closed.values()) == {1}
    assert len(world.closed) == ITEMS
    assert world.ledger.is_empty or any(not opened.is_empty for opened in world.ledger.opened)
    assert not world.ledger.numbered


def test_what_was_taken_for_good_of_a_host_that_is_left_is_still_read() -> None:
    ledger, opened = DeliveryLedger(tracked=False), OpenItems("a")
    ledger.opened.append(opened)
    ledger.take(opened, b"x")
    ledger.leave(opened)
    assert opened.may_go
    ledger.end(opened)
    _, items, _ = ledger.read(8)
    assert [item.data for item in items] == [b"x"]
    assert not ledger.opened, "and is no more waited for"


def test_hosts_are_read_in_turn() -> None:
    ledger = DeliveryLedger(tracked=True)
    for host in ("a", "b"):
        opened = OpenItems(host)
        ledger.opened.append(opened)
        for number in range(10):
            ledger.take(opened, f"{host}{number}".encode())
    _, _, hosts = ledger.read(8)
    assert Counter(hosts) == {"a": 4, "b": 4}


def test_a_host_is_left_alone_for_longer_and_longer() -> None:
    blacklist = Blacklist(first_s=1.0, most_s=5.0)
    waits = []
    now = 0.0
    for _ in range(5):
        blacklist.on_failure("a", "gone", now)
        blacklist.on_failure("a", "gone", now)
        waits.append(blacklist.wait_s("a", now))
        now += waits[-1]
    assert waits == [1, 2, 4, 5, 5], "two connections that fail together count once"
    assert blacklist.away(["a"]) == "gone"
    assert blacklist.away(["a", "b"]) == ""
    blacklist.on_answer("a")
    assert (blacklist.wait_s("a", now), blacklist.away(["a"])) == (0, "")


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=50), st.sampled_from(["END", "STORED", "ERROR "]))), st.randoms())
def test_replies_are_the_same_however_they_are_cut(replies: list[bytes | str], random: Random) -> None:
    sent = b"".join(
        b"VALUE q 0 %d\r\n%b\r\nEND\r\n" % (len(reply), reply) if isinstance(reply, bytes) else f"{reply}\r\n".encode()
        for reply in replies
    )
    parser, found, at = Replies("host", 1_000), list[bytes | str](), 0
    while at < len(sent):
        size = random.randint(1, 20)
        found += parser.feed(sent[at : at + size])
        at += size
    assert found == [reply if isinstance(reply, bytes) else reply.strip() for reply in replies]


@pytest.mark.parametrize(
    "sent", [b"x" * (LINE_MAX + 1), b"VALUE q 0 -1\r\n", b"VALUE q\r\n", b"VALUE q 0 1\r\naaaaaaa\r\n\r\n"]
)
def test_what_is_not_kestrels_protocol_is_refused(sent: bytes) -> None:
    with pytest.raises(ConnectorError, match="host does not speak Kestrel's memcache protocol: it says"):
        list(Replies("host", 1_000).feed(sent))


def test_statistics_are_those_of_the_queue() -> None:
    lines = [
        "STAT uptime 5",
        "STAT queue_q_items 7",
        "STAT queue_q_age 12",
        "STAT queue_q+c_items 9",
        "STAT queue_qq_items 1",
        "END",
    ]
    assert statistics_of(lines, "q") == {"items": 7, "age": 12}

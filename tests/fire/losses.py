"""At most once: what is lost when something breaks is what was on its way then, and nothing comes twice.

Calm portions of events alternate with portions that are fed while something breaks. All of a calm portion has to arrive: it is fed when an
event that was fed after the break has arrived, and the next thing breaks when all of it is there.
"""

from __future__ import annotations

from random import Random
from threading import Thread

import numpy as np

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.session import load_text, start
from tests.fire.faults import Fault, Scene, faults_of, kill_task
from tests.fire.pairs import QUERY, Grounds, Outcome
from tests.fire.places import Kafka, Place
from tests.servers.waiting import is_reached, wait_until

SETTINGS = (("containers", "2"), ("parallelism", "1"), ("batch.rows", "50"))
LIMIT_S, PROBE_S = 120, 3.0
PORTION, PIECE = 200, 20


class Feed:
    """Numbers that are put into a topic one after the other while it is read, and which of them were fed while something broke."""

    def __init__(self, source: Kafka, name: str, sink: Place, written: str) -> None:
        self._source, self._name, self._sink, self._written = source, name, sink, written
        self.fed, self.shaken = 0, set[int]()

    def feed(self, count: int) -> range:
        """The next numbers."""
        numbers = range(self.fed, self.fed + count)
        self._source.add(self._name, numbers)
        self.fed += count
        return numbers

    def feed_calmly(self) -> None:
        """A portion, and wait until all of it has arrived."""
        portion = {*self.feed(PORTION)}
        wait_until(lambda: portion <= self._found(), LIMIT_S)

    def feed_shaken(self) -> None:
        """A portion in pieces, so that some are on their way whenever something breaks."""
        for _ in range(PORTION // PIECE):
            self.shaken |= {*self.feed(PIECE)}

    def probe(self) -> None:
        """Feed one after the other until one arrives."""

        def arrives() -> bool:
            (number,) = self.feed(1)
            self.shaken.add(number)
            return is_reached(lambda: number in self._found(), PROBE_S, look_s=0.1)

        wait_until(arrives, LIMIT_S, lambda: f"nothing arrives any more, of {self.fed} events")

    def _found(self) -> set[int]:
        return {*self._sink.found(self._written).tolist()}


def run_at_most_once(grounds: Grounds, kind: str, seed: int, faults: tuple[str, ...] = ()) -> Outcome:
    """From Kafka to that kind of place, with each of the faults once: by default all that there are for the pair.

    Raises:
        AssertionError: something was lost that was not on its way when something broke.
    """
    source, sink, name = grounds.place("kafka"), grounds.place(kind), grounds.name()
    assert isinstance(source, Kafka)
    known, random = _faults(source, sink), Random(f"{kind} {seed}")
    plan = random.sample([*(faults or known)], len(faults or known))
    source.fill(f"{name}in", 0)
    reads = source.options(f"{name}in", True).replace(", 'end' = 'latest'", ", 'start' = 'earliest'")
    text = QUERY.format(source=reads, sink=sink.options(f"{name}out", False), delivery="at-most-once")
    job = load_text(text, grounds.disk, name, SETTINGS)
    handle, feed = start(job), Feed(source, f"{name}in", sink, f"{name}out")
    assert isinstance(handle, HeronHandle)
    try:
        scene = Scene(job, handle, source, sink, None, random)
        for fault in plan:
            feed.feed_calmly()
            feeder = Thread(target=feed.feed_shaken)
            feeder.start()
            known[fault](scene)
            feeder.join()
            feed.probe()
        feed.feed_calmly()
    finally:
        handle._scheduler.on_kill()
    return _outcome(feed, plan, sink.found(f"{name}out"))


def _faults(source: Place, sink: Place) -> dict[str, Fault]:
    own: dict[str, Fault] = {
        "reader": lambda scene: kill_task(scene, "numbers"),
        "writer": lambda scene: kill_task(scene, "out"),
    }
    return {name: fault for name, fault in faults_of(source, sink, None).items() if name != "task"} | own


def _outcome(feed: Feed, plan: list[str], found: np.ndarray) -> Outcome:
    lost = {*range(feed.fed)} - {*found.tolist()}
    assert lost <= feed.shaken, (
        f"{len(lost - feed.shaken)} events are lost that were not on their way when something broke"
    )
    return Outcome(feed.fed, plan, len(lost), found.size - np.unique(found).size)

"""A frame that came of two batches of one root: its tree is done when the frame is handled, in whatever order the two are acked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.planner.api import BasicBolt, Batch, Bolt, Collector, Spout, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.topology import Topology
from ouzel.runtime.simulator import simulate
from ouzel.runtime.simulator.faults import kill_stateless_task, kill_stream_manager, lose_link
from tests.effort import seeds
from tests.simulator.test_topology_api import in_two_containers

NUMBERS = 60
SEEN: Counter[int] = Counter()
"""What the last bolt of the topology under test has handled; the simulator runs in this process."""


class Numbers(Spout):
    """Emits 0, 1, 2, ..., each a batch; a failed or unacked one is replayed by the runtime."""

    def open(self, context) -> None:
        self.number = 0

    def next_batch(self, collector: Collector) -> bool:
        collector.emit(pl.DataFrame({"n": [self.number]}), message_id=self.number)
        self.number += 1
        return self.number < NUMBERS


class Pass(BasicBolt):
    """Emits what it gets."""

    def process(self, frame: pl.DataFrame):
        return [frame]


class Pair(Bolt):
    """Emits a number when it has come both ways, anchored to both; `order` says when each is acked."""

    def __init__(self, order: str) -> None:
        self.order = order

    def open(self, context) -> None:
        self.first: dict[int, Batch] = {}
        self.paired: set[int] = set()
        self.late: list[Batch] = []
        self.random = Random(self.order)

    def execute(self, batch: Batch, collector: Collector) -> None:
        number = batch.frame["n"][0]
        if number in self.paired:  # another attempt
            self.emit(batch.frame, [batch], collector)
            collector.ack(batch)
            return
        known = self.first.get(number)
        if known is None or known.component == batch.component:
            self.first[number] = batch
            return
        self.paired.add(number)
        pair = [self.first.pop(number), batch]
        self.emit(batch.frame, pair, collector)
        if self.order == "second first":
            pair.reverse()
        elif self.order == "any":
            self.random.shuffle(pair)
        collector.ack(pair[0])
        self.late.append(pair[1])
        if self.order != "late" or len(self.late) > 2:
            collector.ack(self.late.pop(0))

    def emit(self, frame: pl.DataFrame, anchors: list[Batch], collector: Collector) -> None:
        """Two frames, the second with an anchor that is named twice."""
        collector.emit(frame, anchors=anchors)
        collector.emit(frame.with_columns(pl.col("n") + 1_000), anchors=[*anchors, anchors[0]])

    def tick(self, collector: Collector) -> None:
        while self.late:
            collector.ack(self.late.pop())


class Note(Bolt):
    """The last: notes what it handles."""

    def execute(self, batch: Batch, collector: Collector) -> None:
        SEEN.update(batch.frame["n"])
        collector.ack(batch)


def two_ways(order: str) -> Topology:
    builder = TopologyBuilder("two_ways")
    builder.set_spout("numbers", Numbers(), schema(n=int))
    for name in ("left", "right"):
        builder.set_bolt(name, Pass(), schema(n=int), parallelism=2).shuffle_grouping("numbers")
    builder.set_bolt("pair", Pair(order), schema(n=int)).global_grouping("left").global_grouping("right")
    builder.set_bolt("pass", Pass(), schema(n=int)).shuffle_grouping("pair")
    builder.set_bolt("note", Note()).global_grouping("pass")
    return builder.build()


ALL = {*range(NUMBERS), *range(1_000, 1_000 + NUMBERS)}
ORDERS = ("first first", "second first", "any", "late")


@pytest.mark.parametrize("order", ORDERS)
def test_without_faults_nothing_comes_again(order: str) -> None:
    topology = two_ways(order)
    for seed in seeds():
        SEEN.clear()
        done = simulate(topology, in_two_containers(topology), Path(), seed=seed)
        assert done.rows_failed == 0
        assert Counter(dict.fromkeys(ALL, 1)) == SEEN


@pytest.mark.parametrize("order", ORDERS)
def test_a_bolt_that_dies_loses_nothing(order: str) -> None:
    topology = two_ways(order)
    faults = [kill_stateless_task] * 4 + [lose_link, lose_link, kill_stream_manager]
    for seed in seeds():
        SEEN.clear()
        done = simulate(topology, in_two_containers(topology), Path(), seed=seed, faults=faults)
        spout_died = any("(numbers) killed" in fault for fault in done.faults)
        assert spout_died or set(SEEN) == ALL, f"seed={seed}: {done.faults}"

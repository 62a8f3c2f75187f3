"""Hand-written topologies in the simulator: at least once holds whatever the seed breaks, and without acks a loss is a loss."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from ouzel.planner.api import BasicBolt, Batch, Bolt, Collector, RowBolt, Spout, TopologyBuilder
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Delivery, Settings
from ouzel.planner.topology import Resources, Topology
from ouzel.runtime.simulator import simulate
from ouzel.runtime.simulator.faults import SURVIVABLE, kill_stateful_task, kill_stream_manager, lose_link
from tests.effort import seeds

SENTENCES = ["the ouzel walks in streams", "the stream never ends", "ouzel ouzel"] * 40
EXACT = Counter(word for sentence in SENTENCES for word in sentence.split())
COUNTS: Counter[str] = Counter()
"""What the bolts of the topology under test have counted; the simulator runs in this process."""


class Sentences(Spout):
    """Emits the sentences, seven at a time."""

    def open(self, context) -> None:
        self.left = list(SENTENCES)
        self.acked: list[object] = []

    def next_batch(self, collector: Collector) -> bool:
        batch, self.left = self.left[:7], self.left[7:]
        collector.emit(pl.DataFrame({"sentence": batch}), message_id=len(self.left))
        return bool(self.left)

    def ack(self, message_id: object) -> None:
        self.acked.append(message_id)


class Split(RowBolt):
    """Sentence to words, row by row."""

    fields = ("word",)

    def handle(self, sentence: str):
        return [(word,) for word in sentence.split()]


class Count(Bolt):
    """Counts words."""

    def execute(self, batch: Batch, collector: Collector) -> None:
        COUNTS.update(batch.frame["word"])
        collector.ack(batch)


class FailsOnce(BasicBolt):
    """Passes everything on, but fails its first batch the first time."""

    failed = False

    def execute(self, batch: Batch, collector: Collector) -> None:
        if not FailsOnce.failed:
            FailsOnce.failed = True
            collector.fail(batch)
        else:
            super().execute(batch, collector)

    def process(self, frame: pl.DataFrame):
        return [frame]


def word_count(delivery: Delivery = Delivery.AT_LEAST_ONCE, between: BasicBolt | None = None) -> Topology:
    builder = TopologyBuilder("words", Settings(delivery=delivery))
    builder.set_spout("sentences", Sentences(), schema(sentence=str))
    builder.set_bolt("split", between or Split(), schema(word=str), parallelism=2).shuffle_grouping("sentences")
    builder.set_bolt("count", Count(), parallelism=3).fields_grouping("split", "word")
    return builder.build()


def in_two_containers(topology: Topology) -> PackingPlan:
    tasks = topology.tasks()
    return PackingPlan(tuple(Container(number, tasks[number - 1 :: 2], Resources()) for number in (1, 2)))


def run(topology: Topology, seed: int, faults=()):
    COUNTS.clear()
    return simulate(topology, in_two_containers(topology), Path(), seed=seed, faults=faults)


def test_without_faults_the_count_is_exact() -> None:
    for seed in seeds():
        run(word_count(), seed)
        assert COUNTS == EXACT


@pytest.mark.parametrize("seed", seeds())
def test_at_least_once_holds(seed: int) -> None:
    done = run(word_count(), seed, [*SURVIVABLE, lose_link, lose_link, kill_stateful_task])
    assert all(COUNTS[word] >= count for word, count in EXACT.items()), f"seed={seed}: {done.faults}"


def test_without_acks_a_loss_is_a_loss() -> None:
    lost = 0
    for seed in range(20):
        run(word_count(Delivery.AT_MOST_ONCE), seed, [lose_link, kill_stream_manager])
        assert all(COUNTS[word] <= count for word, count in EXACT.items())
        lost += COUNTS != EXACT
    assert lost, "no seed lost anything, so this test shows nothing"


def test_a_failed_batch_comes_again() -> None:
    FailsOnce.failed = False
    topology = TopologyBuilder("again")
    topology.set_spout("sentences", Sentences(), schema(sentence=str))
    topology.set_bolt("fails", FailsOnce(), schema(sentence=str)).global_grouping("sentences")
    topology.set_bolt("split", Split(), schema(word=str)).local_or_shuffle_grouping("fails")
    topology.set_bolt("count", Count()).all_grouping("split")
    run(topology.build(), seed=1)
    assert FailsOnce.failed
    assert COUNTS == EXACT

"""Spouts and bolts written by hand in epochs: whatever dies, each row of the answer comes once."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.entry import _with_result
from ouzel.errors import NotSupported, TopologyError
from ouzel.planner.api import BasicBolt, Batch, Bolt, Collector, Context, Spout, TopologyBuilder
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Resources, Topology
from ouzel.runtime.simulator import simulate
from ouzel.runtime.simulator.faults import lose_state_after_epoch, take_epoch
from ouzel.runtime.simulator.simulation import SimulatedRun
from ouzel.runtime.simulator.world import Fault
from tests.effort import seeds
from tests.law.engines import faults_with_epochs

SENTENCES = ["the ouzel walks in streams", "the stream never ends", "ouzel ouzel"] * 40
WORDS = Counter(word for sentence in SENTENCES for word in sentence.split())
RUNNING = Counter((word, many) for word, count in WORDS.items() for many in range(1, count + 1))
"""Each word with each count that it comes to: what a count that is lost, or counted twice, would make otherwise."""
PER_SEED = 5
COUNTED = schema(word=str, many=int)


class Sentences(Spout):
    """Emits its share of the sentences, seven at a time."""

    def open(self, context: Context) -> None:
        self.mine = SENTENCES[context.index :: context.parallelism]
        self.at = 0

    def next_batch(self, collector: Collector) -> bool:
        batch = self.mine[self.at : self.at + 7]
        self.at += len(batch)
        collector.emit(pl.DataFrame({"sentence": batch}), message_id=self.at)
        return self.at < len(self.mine)

    def snapshot(self) -> int:
        return self.at

    def restore(self, state: int) -> None:
        self.at = state


class Split(BasicBolt):
    """Sentences to words."""

    stateless = True

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        words = frame["sentence"].str.split(" ").explode().alias("word")
        return [words.to_frame()] if len(words) else []


class Count(Bolt):
    """Counts words, and emits each with what it has come to."""

    def open(self, context: Context) -> None:
        self.counts: Counter[str] = Counter()

    def counted(self, words: Sequence[str]) -> pl.DataFrame:
        rows = []
        for word in words:
            self.counts[word] += 1
            rows.append((word, self.counts[word]))
        return pl.DataFrame(rows, schema={"word": pl.String, "many": pl.Int64}, orient="row")

    def execute(self, batch: Batch, collector: Collector) -> None:
        collector.emit(self.counted(batch.frame["word"].to_list()), anchors=(batch,))
        collector.ack(batch)

    def snapshot(self) -> object:
        return self.counts

    def restore(self, state: Counter[str]) -> None:
        assert not self.counts, "it is opened, and has seen nothing"
        self.counts = state


class CountAtEnd(Count):
    """Counts words, and emits all that they have come to when the input ends."""

    def execute(self, batch: Batch, collector: Collector) -> None:
        self.counted(batch.frame["word"].to_list())
        collector.ack(batch)

    def finish(self, collector: Collector) -> None:
        rows = list(self.counts.items())
        collector.emit(pl.DataFrame(rows, schema={"word": pl.String, "many": pl.Int64}, orient="row"))


class CountInTicks(Count):
    """Acks words when it has them, and counts those that wait whenever it is ticked. Its snapshot is bytes."""

    tick_ms = 1

    def open(self, context: Context) -> None:
        super().open(context)
        self.waiting: deque[str] = deque()

    def execute(self, batch: Batch, collector: Collector) -> None:
        self.waiting.extend(batch.frame["word"])
        collector.ack(batch)

    def tick(self, collector: Collector) -> None:
        collector.emit(self.counted([self.waiting.popleft() for _ in range(min(3, len(self.waiting)))]))

    def finish(self, collector: Collector) -> None:
        collector.emit(self.counted(list(self.waiting)))
        self.waiting.clear()

    def snapshot(self) -> bytes:
        return "\n".join([" ".join(self.waiting), *(f"{word} {many}" for word, many in self.counts.items())]).encode()

    def restore(self, state: bytes) -> None:
        waiting, *counts = state.decode().split("\n")
        self.waiting = deque(waiting.split())
        self.counts = Counter({word: int(many) for word, many in map(str.split, counts)})


class FailsToSnapshot(Count):
    """A bolt whose snapshot fails two times of three."""

    tried = 0

    def snapshot(self) -> object:
        FailsToSnapshot.tried += 1
        if FailsToSnapshot.tried % 3:
            raise ValueError("the moon is full")
        return super().snapshot()


class FailsToRestore(Count):
    def restore(self, state: object) -> None:
        raise ValueError("these are another's counts")


class KeepsItself(Count):
    def snapshot(self) -> object:
        return {"counts": self.counts, "bolt": self}


def topology(count: Bolt, split: Bolt | None = None, interval_ms: int = 1000) -> Topology:
    builder = TopologyBuilder("words", Settings(checkpoint_interval_ms=interval_ms))
    builder.set_spout("sentences", Sentences(), schema(sentence=str), parallelism=2)
    builder.set_bolt("split", split or Split(), schema(word=str), parallelism=2).shuffle_grouping("sentences")
    builder.set_bolt("count", count, COUNTED, parallelism=2).fields_grouping("split", "word")
    return _with_result(builder.build(), "count")


def run(count: Bolt, seed: int, faults: Sequence[Fault]) -> SimulatedRun:
    made = topology(count)
    tasks = made.tasks()
    packing = PackingPlan(tuple(Container(number, tasks[number - 1 :: 2], Resources()) for number in (1, 2)))
    return simulate(made, packing, Path(), seed=seed, faults=faults)


def rows_of(done: SimulatedRun) -> Counter[tuple[object, ...]]:
    return Counter(row for frame in done.frames.values() for row in frame.rows())


@pytest.mark.parametrize(
    ("count", "exact"), [(Count, RUNNING), (CountAtEnd, Counter(WORDS.items())), (CountInTicks, RUNNING)]
)
def test_each_row_comes_once_whatever_dies(count: type[Bolt], exact: Counter[tuple[object, ...]]) -> None:
    went_back = 0
    for seed in (PER_SEED * one + number for one in seeds() for number in range(PER_SEED)):
        done = run(count(), seed, faults_with_epochs(Random(seed)))
        assert rows_of(done) == exact, f"seed={seed}: {done.faults}"
        went_back += sum("go back to epoch" in told and not told.endswith(" 0") for told in done.faults)
    assert went_back, "no seed went back to an epoch, so this test shows nothing"


def test_without_a_snapshot_of_its_own_a_death_would_be_seen() -> None:
    """The law above notices what is lost."""

    class Forgets(Count):
        def restore(self, state: object) -> None:
            pass

    faults = [lose_state_after_epoch] * 3
    assert any(rows_of(run(Forgets(), seed, faults)) != RUNNING for seed in range(5))


def failed_epochs(count: type[Bolt], faults: Sequence[Fault]) -> list[str]:
    """What is said of epochs that were given up, in runs whose answer is right."""
    told = []
    for seed in range(5):
        done = run(count(), seed, faults)
        assert rows_of(done) == RUNNING, f"seed={seed}: {done.faults}"
        told += [event.text for event in done.events if event.kind == "epoch-failed"]
    assert told, "no seed gave an epoch up, so this test shows nothing"
    return told


def test_an_epoch_whose_snapshot_fails_is_given_up_and_the_next_one_counts() -> None:
    FailsToSnapshot.tried = 0
    told = failed_epochs(FailsToSnapshot, [take_epoch, lose_state_after_epoch])
    assert told[0].startswith("'count' (task ")
    assert "failed: ValueError: the moon is full (in snapshot, " in told[0]


def test_a_snapshot_of_other_than_plain_values_is_given_up_with_its_reason() -> None:
    told = failed_epochs(KeepsItself, [take_epoch])
    assert "what snapshot of 'count' (task " in told[0]
    assert "gives cannot be kept: a snapshot is bytes or a plain value: " in told[0]
    assert told[0].endswith("there is a KeepsItself in it")


def go_back(count: type[Bolt]) -> None:
    for seed in range(5):
        run(count(), seed, [lose_state_after_epoch])


def test_a_restore_that_fails_ends_the_topology() -> None:
    said = r"'count' \(task \d+\) failed: ValueError: these are another's counts \(in restore, "
    with pytest.raises(TopologyError, match=said):
        go_back(FailsToRestore)


class SaysNothing(Count):
    snapshot = Bolt.snapshot
    restore = Bolt.restore


class OnlySnapshots(Count):
    restore = Bolt.restore


class OnlyRestores(Count):
    snapshot = Bolt.snapshot


class SaysBoth(Count):
    stateless = True


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (SaysNothing, "'count' does not say what it keeps in memory"),
        (OnlySnapshots, "'count' defines snapshot and no restore"),
        (OnlyRestores, "'count' defines restore and no snapshot"),
        (SaysBoth, "'count' says stateless = True and defines snapshot and restore"),
    ],
)
def test_a_component_that_does_not_say_what_it_keeps_is_refused(count: type[Bolt], said: str) -> None:
    with pytest.raises(NotSupported) as refused:
        topology(count())
    assert said in str(refused.value)
    assert "define snapshot and restore in its class, or write stateless = True there" in str(refused.value)
    topology(count(), interval_ms=0)


def test_a_snapshot_that_yields_is_refused() -> None:
    class Yields(Count):
        def snapshot(self):  # type: ignore[no-untyped-def]
            yield self.counts

    with pytest.raises(Exception, match="snapshot of 'count' has a `yield`"):
        topology(Yields())

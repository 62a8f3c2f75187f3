"""What the user's functions, spouts and bolts count by themselves, added up over tasks and lives."""

from __future__ import annotations

import polars as pl
import pytest

import ouzel
from ouzel import Batch, Bolt, Collector, Context, Source, monoid
from ouzel.errors import OuzelError
from ouzel.planner.metrics import MAX_COUNTERS, UserMetrics
from ouzel.runtime.observe.totals import Totals
from ouzel.runtime.run import Handle, Status
from ouzel.runtime.wire.wire_pb2 import TaskReport


def end(run: Handle) -> Status:
    with run:
        for _ in run:
            pass
        return run.status()


def test_functions_of_a_program_count() -> None:
    def known(word: str) -> bool:
        if word == "ouzel":
            ouzel.counter("birds").add()
        ouzel.counter("letters").add(len(word))
        return True

    words = Source.of(["an ouzel dives", "an ouzel"]).flat_map(str.split).filter(known)
    counted = end(words.map(lambda word: (word, 1)).sum_by_key(monoid.Sum()).start("memory", batch_rows=1)).counters
    assert counted == {"records.birds": 2, "records.letters": 19}
    assert words.memory(), "nobody reads what is counted there"


class Lines(ouzel.RowSpout):
    fields = ("line",)

    def open(self, context: Context) -> None:
        self.left, self.read = ["a b", "b", "c"], context.metrics.counter("read")

    def next_row(self) -> tuple[str] | None:
        if not self.left:
            return None
        self.read.add()
        return (self.left.pop(),)


class Split(Bolt):
    def open(self, context: Context) -> None:
        self.words = context.metrics.counter("words")

    def execute(self, batch: Batch, collector: Collector) -> None:
        words = batch.frame["line"].str.split(" ").explode()
        self.words.add(len(words))
        collector.emit(pl.DataFrame({"word": words}), anchors=(batch,))
        collector.ack(batch)


def test_spouts_and_bolts_count() -> None:
    builder = ouzel.TopologyBuilder("counted")
    builder.set_spout("lines", Lines(), ouzel.schema(line=str))
    builder.set_bolt("split", Split(), ouzel.schema(word=str), parallelism=2).shuffle_grouping("lines")
    assert end(ouzel.start(builder.build(), "memory")).counters == {"lines.read": 3, "split.words": 4}


def test_the_counters_of_all_lives_and_tasks_are_added_up() -> None:
    totals = Totals(frozenset({1}), frozenset())
    for task, incarnation, count in ((1, 0, 5), (1, 1, 2), (1, 1, 3), (2, 0, 10)):
        totals.take(
            TaskReport(
                task=task, incarnation=incarnation, component="lines", batches_in=count, counters={"read": count}
            )
        )
    assert dict(totals.status(0.0).counters) == {"lines.read": 18}


def test_a_name_for_each_record_is_refused() -> None:
    metrics = UserMetrics({f"n{number}": 1 for number in range(MAX_COUNTERS)})
    metrics.counter("n7").add()
    with pytest.raises(
        OuzelError, match="a task has at most 1,000 counters; 'new' would be one more: count fewer names"
    ):
        metrics.counter("new").add()


@pytest.mark.parametrize(
    ("name", "amount", "told"),
    [
        ("n", 0.5, "told to add a float; add whole numbers"),
        ("n", 2**70, "a task counts to 9,007,199,254,740,992 at most"),
        ("half of \ud83e", 1, r"a counter's name is a text, not 'half of \ud83e'"),
        (5, 1, "a counter's name is a text, not 5"),
    ],
    ids=["half", "large", "no text", "number"],
)
def test_what_no_message_holds_is_not_counted(name: str, amount: int, told: str) -> None:
    """The task died 13 times when it came to be told."""
    counts: dict[str, int] = {}
    with pytest.raises(OuzelError) as caught:
        UserMetrics(counts).counter(name).add(amount)
    assert told in str(caught.value)
    assert not counts

"""A batch that comes again to a bolt of the user's own: it is not handed over twice while the task lives, and its tree comes to an end."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import ouzel
from ouzel.runtime.protocol.acker import Acker
from ouzel.runtime.protocol.messages import Ack, Data, Fail, Instruction, Send
from ouzel.runtime.tasks.factory import TaskContext, make_task
from ouzel.runtime.tasks.user import UserBolt

ROWS = pl.DataFrame({"n": range(10)})


class Waits(ouzel.Bolt):
    """Emits each batch, and acks or fails it when it is told to."""

    def open(self, context: ouzel.Context) -> None:
        self.got: list[ouzel.Batch] = []

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        self.got.append(batch)
        collector.emit(batch.frame, anchors=[batch])


class Numbers(ouzel.Spout):
    def next_batch(self, collector: ouzel.Collector) -> bool | None:
        return False


class Sink(ouzel.BasicBolt):
    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return []


class Tree:
    """A spout's batch of ten rows, the bolt under test, and a bolt after it that acks what it gets."""

    def __init__(self) -> None:
        builder = ouzel.TopologyBuilder("again")
        builder.set_spout("a", Numbers(), ouzel.schema(n=int))
        builder.set_bolt("b", Waits(), ouzel.schema(n=int)).shuffle_grouping("a")
        builder.set_bolt("c", Sink()).shuffle_grouping("b")
        topology = builder.build()
        first, second = (make_task(task, TaskContext(topology, Path())) for task in topology.tasks()[1:])
        assert isinstance(first, UserBolt)
        assert isinstance(first.bolt, Waits)
        assert isinstance(second, UserBolt)
        self.machine, self.bolt, self.sink = first, first.bolt, second
        self.acker = Acker(1, 0, 1_000)
        root = self.acker.next_root()
        self.sent = [Data(0, 1, 2, 77, (root,), ROWS)]
        self.acker.hold(root, self.sent, 10, None, 0)

    def again(self) -> list[Data]:
        """The batch as its source sends it once more."""
        (held,) = self.acker.pending.values()
        return list(self.acker._again(held, 1).messages)

    def handle(self, messages: Sequence[Data]) -> list[Instruction]:
        return self.machine.handle(messages, 1)

    def settle(self, said: Sequence[Instruction]) -> list[Data]:
        """Have all that the bolt said heard: what it emitted, which the bolt after it acks, and its own acks."""
        messages = [one.message for one in said if isinstance(one, Send)]
        emitted = [one for one in messages if isinstance(one, Data)]
        acks = [one for one in messages if isinstance(one, Ack)]
        for one in self.sink.handle(emitted, 1) if emitted else ():
            if isinstance(one, Send) and isinstance(one.message, Ack):
                acks.append(one.message)
        for ack in acks:
            self.acker.on_ack(ack, 1)
        return emitted

    def said(self, call: object, batch: ouzel.Batch) -> list[Instruction]:
        assert callable(call)
        call(batch)
        return self.machine._take()


@pytest.mark.parametrize("replays", [0, 3])
@pytest.mark.parametrize("acks_first", [True, False], ids=["acked before", "acked after"])
def test_a_batch_that_comes_again_is_handed_over_once_and_its_tree_ends(replays: int, acks_first: bool) -> None:
    tree = Tree()
    tree.settle(tree.handle(tree.sent))
    if acks_first:
        tree.said(tree.machine.ack, tree.bolt.got[0])  # this ack is lost
    for _ in range(min(replays, 1) if acks_first else replays):
        tree.settle(tree.handle(tree.again()))
    if not acks_first:
        tree.settle(tree.said(tree.machine.ack, tree.bolt.got[0]))
    assert len(tree.bolt.got) == 1
    assert tree.machine.counts.rows_in == tree.sink.counts.rows_in == 10
    assert bool(tree.acker.pending) is (acks_first and not replays), "the lost ack alone leaves the tree open"


def test_both_attempts_at_once_are_one_batch() -> None:
    tree = Tree()
    first = tree.sent
    again = tree.again()
    tree.settle(tree.handle([*first, *again]))
    tree.settle(tree.said(tree.machine.ack, tree.bolt.got[0]))
    assert len(tree.bolt.got) == 1
    assert not tree.acker.pending


def test_what_was_emitted_and_lost_is_emitted_again() -> None:
    tree = Tree()
    tree.handle(tree.sent)  # what it said is lost
    emitted = tree.settle(tree.handle(tree.again()))
    tree.settle(tree.said(tree.machine.ack, tree.bolt.got[0]))
    assert [one.frame.height for one in emitted] == [10]
    assert not tree.acker.pending


def test_a_batch_that_was_failed_is_handed_over_again() -> None:
    tree = Tree()
    tree.settle(tree.handle(tree.sent))
    said = tree.said(tree.machine.fail, tree.bolt.got[0])
    assert [type(one.message) for one in said if isinstance(one, Send)] == [Fail]
    tree.settle(tree.handle(tree.again()))
    tree.settle(tree.said(tree.machine.ack, tree.bolt.got[1]))
    assert not tree.acker.pending


def test_a_batch_that_was_let_go_of_is_handed_over_again() -> None:
    tree = Tree()
    tree.settle(tree.handle(tree.sent))
    tree.bolt.got.clear()
    gc.collect()
    tree.settle(tree.handle(tree.again()))
    tree.settle(tree.said(tree.machine.ack, tree.bolt.got[0]))
    assert not tree.acker.pending

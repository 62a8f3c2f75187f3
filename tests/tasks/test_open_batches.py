"""Batches that a bolt neither acks nor fails: what it has let go of is not kept, and the user is told."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from weakref import ref

import polars as pl

import ouzel
from ouzel.planner.settings import Settings
from ouzel.runtime.protocol.messages import Data, Event, Instruction, Root
from ouzel.runtime.tasks.factory import TaskContext, make_task
from ouzel.runtime.tasks.user import UserBolt
from tests.tasks.test_user_code import topology


class Forgets(ouzel.Bolt):
    """Acks nothing, and lets go of all but the first batch."""

    def open(self, context: ouzel.Context) -> None:
        self.first: ouzel.Batch | None = None

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        self.first = self.first or batch


class Keeps(ouzel.Bolt):
    """Acks nothing, and keeps all."""

    def open(self, context: ouzel.Context) -> None:
        self.kept: list[ouzel.Batch] = []

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        self.kept.append(batch)


def task_of(bolt: ouzel.Bolt) -> UserBolt:
    whole = topology(bolt)
    machine = make_task(whole.tasks()[1], TaskContext(whole, Path()))
    assert isinstance(machine, UserBolt)
    return machine


def batches(machine: UserBolt, count: int) -> Iterator[ref[pl.DataFrame]]:
    """The frames of so many batches, once the bolt has them."""
    for number in range(count):
        frame = pl.DataFrame({"n": [number]})
        machine.handle([Data(0, 1, 2, 99 + number, (Root(1, 1 + number, 0),), frame)], 1.0)
        yield ref(frame)


def notes(instructions: list[Instruction]) -> list[str]:
    return [one.text for one in instructions if isinstance(one, Event)]


def test_rows_of_batches_that_nobody_can_ack_are_let_go_of() -> None:
    gc.freeze()  # what other tests have left is not looked through
    machine = task_of(Forgets())
    frames = list(batches(machine, 200))
    gc.collect()
    assert sum(frame() is not None for frame in frames) == 1
    (note,) = notes(machine.tick(60.0))
    assert "'b' (task 2) has let go of a batch that it had neither acked nor failed; call collector.ack(batch)" in note
    assert notes(machine.tick(120.0)) == []


def test_who_keeps_batches_for_longer_than_their_source_waits_is_told() -> None:
    machine = task_of(Keeps())
    list(batches(machine, 3))
    limit = Settings().ack_timeout_ms
    assert notes(machine.tick(limit - 1.0)) == []
    (note,) = notes(machine.tick(limit + 1.0))
    assert "has neither acked nor failed a batch for longer than that" in note


def test_who_acks_in_time_is_told_nothing() -> None:
    machine = task_of(Keeps())
    list(batches(machine, 3))
    assert isinstance(machine.bolt, Keeps)
    for batch in machine.bolt.kept:
        machine.ack(batch)
    assert notes(machine.tick(2.0 * Settings().ack_timeout_ms)) == []

"""A snapshot is of the moment when it was taken, whenever it is put together, and whatever is written meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from threading import Thread

import numpy as np
import polars as pl
import pytest

from ouzel.runtime.state import table
from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.context import Snapshot, StateContext
from ouzel.runtime.state.table import FEW
from tests.effort import seeds

KEYS = {"word": pl.String(), "day": pl.Int64()}


class Kept:
    """A table with a column, rows and a bag of each kind, to which a random step does what operators do."""

    def __init__(self, routing: tuple[str, ...]) -> None:
        self.context = StateContext("counts", 7, routing)
        self.table = self.context.table("groups", KEYS)
        self.counts = self.table.columns("count", {"many": np.int64, "sum": np.float64})
        self.latest = self.table.rows("latest", {"text": pl.String()})
        self.bag = self.context.bag("bag", self.table, {"v": pl.Int64()})

    def step(self, random: Random) -> None:
        rows = random.choice([1, 5, 300])
        frame = pl.DataFrame(
            {"word": [f"w{random.randrange(400)}" for _ in range(rows)], "day": [random.randrange(3)] * rows},
            schema=KEYS,
        )
        entered = self.table.enter(frame, list(KEYS))
        np.add.at(self.counts["many"], entered.slots, 1)
        self.counts["sum"][entered.touched] += 0.5
        some = entered.touched[: random.randrange(len(entered.touched) + 1)]
        self.latest.put(some, pl.DataFrame({"text": [f"t{random.random()}" for _ in some]}, schema={"text": pl.String}))
        values = pl.DataFrame({"v": [random.randrange(3) for _ in range(rows)]})
        slots = self.bag.find_or_put(entered.key, entered.slots, values)
        self.bag.add(slots, np.ones(rows, np.int64) * random.choice([1, -1]))
        self.bag.sweep(slots)
        if random.random() < 0.4:
            held = self.table.index.slots()
            self.table.remove(held[np.array([random.random() < 0.3 for _ in held], np.bool_)])

    def take(self, random: Random) -> Snapshot:
        return self.context.snapshot() if random.random() < 0.4 else self.context.changes()


def made(snapshot: Snapshot) -> Mapping[str, pl.DataFrame]:
    return dict(snapshot.parts)


def same(one: Mapping[str, pl.DataFrame], other: Mapping[str, pl.DataFrame]) -> bool:
    return one.keys() == other.keys() and all(one[name].equals(other[name]) for name in one)


NEVER = 1 << 60


@pytest.mark.parametrize("few", [0, FEW, NEVER])
@pytest.mark.parametrize("routing", [("word", "day"), ("word",)])
def test_what_is_written_later_is_in_no_snapshot(
    routing: tuple[str, ...], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether what has changed is copied at once or lent."""
    for seed in seeds():
        now, later = (Random(seed), Random(seed))
        at_once, lazy = Kept(routing), Kept(routing)
        expected: list[Mapping[str, pl.DataFrame]] = []
        waiting: list[tuple[int, Snapshot]] = []
        for number in range(40):
            at_once.step(now)
            lazy.step(later)
            if number % 3 == 0:
                monkeypatch.setattr(table, "FEW", NEVER)
                expected.append(made(at_once.take(now)))
                monkeypatch.setattr(table, "FEW", few)
                waiting.append((len(expected) - 1, lazy.take(later)))
            if len(waiting) > number % 4:
                place, snapshot = waiting.pop(0)
                assert same(made(snapshot), expected[place]), f"seed={seed}: snapshot {place}"
        assert all(same(made(snapshot), expected[place]) for place, snapshot in waiting), f"seed={seed}"


def test_another_thread_puts_it_together_while_the_task_goes_on() -> None:
    random, kept = Random(5), Kept(("word", "day"))
    for _ in range(20):
        kept.step(random)
    for _ in range(10):
        expected, snapshot = made(kept.context.snapshot()), kept.context.snapshot()
        found: list[Mapping[str, pl.DataFrame]] = []
        thread = Thread(target=lambda snapshot=snapshot, found=found: found.append(made(snapshot)))
        thread.start()
        while thread.is_alive():
            kept.step(random)
        thread.join()
        assert same(found[0], expected)


def test_a_snapshot_copies_nothing_and_what_is_written_next_is_copied_once() -> None:
    columns = SlotColumns({"a": np.int64, "b": np.int64})
    before = {name: columns[name] for name in columns.names}
    frozen = columns.freeze(64)
    again = columns.freeze(64)
    columns["a"][3] = 1
    copy = columns["a"]
    assert (copy[3], frozen["a"][3], again["a"][3]) == (1, 0, 0)
    assert frozen["a"] is before["a"]
    assert columns["a"] is copy
    del frozen, again
    assert columns["b"] is before["b"], "nobody reads it any more"


def test_a_part_lets_go_of_what_it_is_made_from() -> None:
    kept = Kept(("word", "day"))
    kept.step(Random(1))
    snapshot = kept.context.snapshot()
    made(snapshot)
    before = kept.counts._arrays["many"]
    assert kept.counts["many"] is before
    assert isinstance(snapshot.parts["groups"], pl.DataFrame)


def test_of_a_large_table_only_what_has_changed_is_copied() -> None:
    context = StateContext("counts", 7, ("k",))
    kept = context.table("groups", {"k": pl.Int64()})
    counts = kept.columns("count", {"many": np.int64})
    kept.enter(pl.DataFrame({"k": range(1_000)}), ["k"])
    context.changes()
    kept.enter(pl.DataFrame({"k": range(10)}), ["k"])
    before, snapshot = counts["many"], context.changes()
    assert counts["many"] is before
    assert snapshot.parts["groups"].height == 10

"""State that moves: snapshots, changes, restores and other splits at random points, and the answer stays what it is."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.compiler.plan import WEIGHT, Emit, EmitRule
from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.operators.recompute import RecomputeAndDifference
from ouzel.runtime.protocol.groupings import key_tasks
from ouzel.runtime.state.context import Snapshot, key_groups_of
from tests.effort import examples, seeds
from tests.operators.nodes import CHANGES, FINAL, call, chain, folded, group, one_stream, split, table
from tests.operators.tasks import Tasks as SpreadTasks
from tests.operators.test_laws import calls, oracle, rows, said, source, table_of

SEED = 7


class Tasks:
    """The tasks of one operator with state, of which there are sometimes more and sometimes fewer."""

    def __init__(self, make: Any, keys: tuple[str, ...]) -> None:
        self._make, self._keys = make, keys
        self.out: list[pl.DataFrame | None] = []
        self.begin(1)

    def begin(self, count: int) -> None:
        self.chains: list[Chain] = [self._make() for _ in range(count)]
        self._take: list[list[Snapshot]] = [[] for _ in range(count)]
        for task, made in enumerate(self.chains):
            made.states[0].groups = key_groups_of(task, count)

    def process(self, frame: pl.DataFrame) -> None:
        chosen = key_tasks(frame, self._keys, len(self.chains), SEED)
        for task, made in enumerate(self.chains):
            self.out.append(made.process(frame.filter(chosen == task)))

    def snapshot(self) -> None:
        for made, taken in zip(self.chains, self._take, strict=True):
            self.out += made.flush_on_pause()
            snapshot = made.states[0].changes()
            taken[:] = [snapshot] if snapshot.whole else [*taken, snapshot]

    def move(self, count: int) -> None:
        self.snapshot()
        taken = self._take
        self.begin(count)
        for made in self.chains:
            made.states[0].restore(*taken)
            made.on_restored()

    def each(self, do: Any) -> None:
        for made in self.chains:
            self.out += do(made)


@pytest.mark.parametrize("retracts", [False, True])
@pytest.mark.parametrize("keys", [["k"], [], ["f", "s"]], ids=str)
@pytest.mark.parametrize("options", [{}, {"distinct": True}, {"filter": "keep"}], ids=str)
@settings(max_examples=examples(10), deadline=None)
@given(rows=rows, noise=rows, data=st.data())
def test_an_aggregate_whose_state_moves_says_the_same(
    retracts: bool, keys: list[str], options: dict[str, Any], rows: Any, noise: Any, data: st.DataObject
) -> None:
    node_source = source(retracts=retracts)
    some = data.draw(st.permutations(calls(node_source, **options)))[:5]
    node = group(node_source, keys, *some, emit=data.draw(st.sampled_from([CHANGES, FINAL, Emit(EmitRule.DELAY, 10)])))
    schema = node_source.schema.polars()
    noise = noise if retracts else []
    changes = data.draw(st.permutations([(row, 1) for row in [*rows, *noise]] + [(row, -1) for row in noise]))
    frame = pl.DataFrame([row for row, _ in changes], schema=schema, orient="row")
    if retracts:
        frame = frame.with_columns(pl.Series(WEIGHT, [weight for _, weight in changes], dtype=pl.Int64))
    nodes = split(node) if not retracts and not options.get("distinct") and data.draw(st.booleans()) else (node,)
    tasks = Tasks(lambda: chain(*nodes), node.routing_keys)
    for start in range(0, frame.height, 3):
        tasks.process(frame[start : start + 3])
        match data.draw(st.sampled_from(["", "snapshot", "move"])):
            case "snapshot":
                tasks.snapshot()
            case "move":
                tasks.move(data.draw(st.integers(1, 3)) if keys else 1)
    tasks.each(lambda made: made.finish())
    expected = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("f") + 0.0)
    assert said(node, tasks.out) == table_of(oracle(expected, node))


@pytest.mark.parametrize("seed", seeds())
def test_windows_whose_state_moves_close_as_they_would(seed: int) -> None:
    random = Random(seed)
    node_source = table(k=VARCHAR, w=TIMESTAMP, v=BIGINT, s=VARCHAR)
    some = [
        call("sum", node_source, "v"),
        call("max", node_source, "s"),
        call("count", node_source, "s", distinct=True),
    ]
    node = group(node_source, ["w", "k"], *some, emit=random.choice([FINAL, CHANGES]), window=("", "w", ""))
    still, moving = (Tasks(lambda: chain(node), node.routing_keys) for _ in range(2))
    for now in range(1, 30):
        frame = pl.DataFrame(
            [(random.choice("abcdef"), (now + random.randrange(4)) * 1_000, random.randrange(99), random.choice("xyz")) for _ in range(5)],
            schema={"k": pl.String, "w": pl.Int64, "v": pl.Int64, "s": pl.String}, orient="row",
        ).cast({"w": pl.Datetime("us")})  # fmt: skip
        for tasks in (still, moving):
            tasks.process(frame)
            tasks.each(lambda made, now=now: made.advance(now * 1_000))
        if random.random() < 0.4:
            moving.snapshot()
        if random.random() < 0.3:
            moving.move(random.randrange(1, 5))
    names = list(node.schema.names)
    assert folded(moving.out, names) == folded(still.out, names)
    assert sum(made.states[0].snapshot().parts["groups"].height for made in moving.chains) < 30


class Last(RecomputeAndDifference):
    """Of each k the row with the largest v."""

    def __init__(self) -> None:
        super().__init__("last", {"k": pl.String(), "v": pl.Int64()}, ["k"], SEED, order_by="v")

    def compute(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.group_by("k", maintain_order=True).last()


@pytest.mark.parametrize("seed", seeds())
def test_recompute_and_difference_tells_what_changes(seed: int) -> None:
    random, held = Random(seed), Counter[tuple[str | None, int]]()
    tasks = Tasks(lambda: one_stream(Chain([Last()])), ("k",))
    for _ in range(40):
        batch = [((random.choice(["a", "b", None]), random.randrange(6)), random.choice([1, 1, -1])) for _ in range(4)]
        schema = {"k": pl.String, "v": pl.Int64, WEIGHT: pl.Int64}
        frame = pl.DataFrame([(*row, weight) for row, weight in batch], schema=schema, orient="row")  # fmt: skip
        tasks.process(frame)
        for row, weight in batch:
            held[row] += weight
        if random.random() < 0.3:
            tasks.move(random.randrange(1, 4))
        best: dict[str | None, int] = {}
        for (key, value), weight in held.items():
            if weight > 0:
                best[key] = max(best.get(key, value), value)
        assert folded(tasks.out, ["k", "v"]) == dict.fromkeys(best.items(), 1)
    kept = sum(made.states[0].snapshot().parts["keys"].height for made in tasks.chains)
    assert kept == len({key for (key, _), weight in held.items() if weight})


def test_groups_move_from_tasks_of_which_some_have_had_no_rows() -> None:
    node_source = table(k=VARCHAR)
    tasks = SpreadTasks(group(node_source, ["k"], call("count", node_source, name="n")))
    tasks.move(3)
    tasks.process([(("a",), 1)])
    tasks.move(2)
    assert +tasks.out == {("a", 1): 1}

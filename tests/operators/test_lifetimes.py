"""Keys that are forgotten: the lives of a key are told apart, whatever the batches and tasks, and what is kept of one that is over goes."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

import pytest

from ouzel.compiler.plan import Aggregate, Lifetime, Node, Over, OverCall, SortKey, TopN
from ouzel.compiler.plan.over import LIFE, UP_TO_PEERS
from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR
from ouzel.runtime.operators.chain import Streams
from tests.effort import seeds
from tests.operators.nodes import call, group, table
from tests.operators.tasks import Row, Tasks
from tests.operators.test_over import call as over_call

TTL = 10
FORGETS = Lifetime("t", TTL)
SOURCE = table(False, k=VARCHAR, t=TIMESTAMP, v=BIGINT)
LIVES = Over(
    SOURCE, ("k",), (SortKey("t"),), (), (OverCall("$life", LIFE, None, TIMESTAMP, UP_TO_PEERS, TTL),), "t", lifetime=FORGETS
)  # fmt: skip
BY_LIFE = ("k", "$life")
COUNTED = group(LIVES, BY_LIFE, call("count", SOURCE, name="n"), call("max", SOURCE, "v"))
NODES: dict[str, Node] = {
    "aggregate": Aggregate(LIVES, BY_LIFE, COUNTED.calls, COUNTED.emit, lifetime=FORGETS),
    "first rows": TopN(LIVES, BY_LIFE, (SortKey("v", True),), ("t",), "row_number", 1, lifetime=FORGETS),
    "over, which changes": Over(LIVES, BY_LIFE, (SortKey("v"),), ("t",), (over_call("row_number"),), lifetime=FORGETS),
    "over, in time": Over(LIVES, BY_LIFE, (SortKey("t"),), ("v",), (over_call("row_number"),), "t", lifetime=FORGETS),
}


class Lives(Tasks):
    """Tasks that tell lives apart, and hand on rows and time to those of what reads them."""

    def __init__(self, reader: Node) -> None:
        self.reader = Tasks(reader)
        super().__init__(LIVES)

    def take(self, made: Streams) -> None:
        super().take(made)
        for _, frame in made:
            self.reader.process([(row, 1) for row in frame.iter_rows()])

    def advance(self, watermark_us: int) -> None:
        super().advance(watermark_us)
        self.reader.advance(watermark_us)


def told_apart(rows: list[Row]) -> dict[Row, list[Row]]:
    """The rows of each life: (key, when it began)."""
    lives, last = defaultdict[Row, list[Row]](list), dict[str, tuple[int, int]]()
    for key, at, value in sorted(rows, key=lambda row: row[1]):
        before, since = last.get(key, (-(10**9), 0))
        since = since if at - before <= TTL else at
        last[key] = (at, since)
        lives[key, since].append((key, at, value))
    return lives


def model(name: str, lives: dict[Row, list[Row]]) -> Counter[Row]:
    """What each node makes of each life by itself."""
    out = Counter[Row]()
    for (key, since), rows in lives.items():
        by_value = sorted(rows, key=lambda row: (row[2], row[1]))
        match name:
            case "aggregate":
                out[key, since, len(rows), by_value[-1][2]] += 1
            case "first rows":
                out[(*min(rows, key=lambda row: (-row[2], row[1])), since)] += 1
            case _:
                order = by_value if name == "over, which changes" else sorted(rows, key=lambda row: row[1:])
                out.update((*row, since, place) for place, row in enumerate(order, 1))
    return out


def us(rows: Counter[Row]) -> Counter[Row]:
    """Rows with times as microseconds."""
    return Counter(
        {tuple(int(cell.timestamp() * 1e6 + 0.5) if hasattr(cell, "timestamp") else cell for cell in row): times
         for row, times in rows.items() if times}
    )  # fmt: skip


@pytest.mark.parametrize("name", NODES)
def test_each_life_is_answered_by_itself_and_nothing_is_kept_of_those_that_are_over(name: str) -> None:
    for seed in seeds():
        random, rows, now = Random(seed), list[Row](), 1_000_000
        tasks = Lives(NODES[name])
        for _ in range(20):
            drawn = ((random.choice("abc"), now + random.randint(1, 9), random.randint(0, 4)) for _ in range(4))
            batch = list(dict.fromkeys(drawn))[: random.randint(0, 4)]
            rows += batch
            tasks.process([(row, 1) for row in batch]) if batch else None
            now += random.choice([0, 0, 3, 3, 9, 30])
            tasks.advance(now)
            if random.random() < 0.2:
                tasks.move(random.choice([0, 1, 3]))
                tasks.reader.move(random.choice([0, 1, 3]))
        tasks.advance(now + 100 * TTL)
        assert us(tasks.reader.out) == model(name, told_apart(rows)), f"seed {seed}"
        kept = [part.height for _, part in (*tasks.parts, *tasks.reader.parts) if "$low" in part.columns]
        assert not sum(kept), f"seed {seed}"

"""Top-N: what leaves adds up to the first rows of what is there, and no more is kept than can be among them."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from ouzel.compiler.plan import Over, SortKey, TopN
from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR
from tests.effort import seeds
from tests.operators.nodes import table
from tests.operators.tasks import Row, Tasks
from tests.operators.test_over import NAMES, call, drawn, oracle


def drawn_node(random: Random, retracts: bool, keys: tuple[str, ...]) -> TopN:
    source = table(retracts, k=VARCHAR, t=TIMESTAMP, v=BIGINT, s=VARCHAR)
    order = (SortKey("v", random.random() < 0.5, random.random() < 0.5),)
    ties = tuple(name for name in NAMES if name not in (*keys, "v"))
    skip = random.choice([0, 0, 1])
    function = random.choice(["row_number", "rank", "dense_rank"])
    return TopN(source, keys, order, ties, function, skip + random.randint(0, 3), skip, random.choice(["", "place"]))


def first_rows(node: TopN, rows: Counter[Row]) -> Counter[Row]:
    """By the place that OVER gives each row."""
    placed = oracle(Over(node.input, node.partition, node.order, node.ties, (call(node.function),)), rows)
    out = Counter[Row]()
    for (*row, place), times in placed.items():
        if node.skip < place <= node.most:
            out[(*row, place) if node.name else tuple(row)] += times
    return out


@pytest.mark.parametrize("keys", [("k",), ()], ids=["partitions", "one partition"])
@pytest.mark.parametrize("retracts", [False, True], ids=["appends", "retracts"])
def test_what_leaves_adds_up_to_the_first_rows(retracts: bool, keys: tuple[str, ...]) -> None:
    for seed in seeds():
        random = Random(seed)
        node = drawn_node(random, retracts, keys)
        tasks, held = Tasks(node), Counter[Row]()
        for _ in range(15):
            rows = [
                (row, sign) for row, sign in drawn(random, 0, held if retracts else None) if sign > 0 or held[row] > 0
            ]
            for row, weight in rows:
                held[row] += weight
            tasks.process(rows) if rows else None
            if random.random() < 0.2:
                tasks.move(random.choice([0, 1, 2, 4]))
        owed = [(row, -times) for row, times in held.items() if times < 0]
        if owed:
            tasks.process(owed)
            held.update(dict(owed))
        assert +tasks.out == first_rows(node, +held), f"seed {seed}"
        assert not -tasks.out, f"seed {seed}: rows were taken back that had not been told"


def test_rows_that_cannot_be_among_the_first_are_not_kept() -> None:
    source = table(False, k=VARCHAR, t=TIMESTAMP, v=BIGINT, s=VARCHAR)
    tasks = Tasks(TopN(source, ("k",), (SortKey("v"),), ("t", "s"), "row_number", 2))
    random = Random(1)
    for _ in range(50):
        tasks.process(list(drawn(random, 0, None)))
    parts = tasks.chains[0].states[0].snapshot().parts
    assert parts["keys"].height == 3
    assert parts["rows"]["column.row.weight"].sum() == 6

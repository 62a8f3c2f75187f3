"""INTERSECT and EXCEPT: whatever comes in whatever order on either side, what leaves adds up to the answer over what is there."""

from __future__ import annotations

from collections import Counter
from random import Random

import polars as pl
import pytest

from ouzel.compiler.plan import SetKind, SetOperation
from ouzel.compiler.types import BIGINT, DOUBLE, VARCHAR
from ouzel.runtime.operators.joined.sets import Comparing
from tests.effort import seeds
from tests.operators.nodes import table
from tests.operators.tasks import SEED, Row, Tasks

COLUMNS = {"a": pl.String, "k": pl.Int64, "x": pl.Float64}
KINDS = [(kind, every) for kind in SetKind for every in (False, True)]


def node(kind: SetKind, every: bool, retracting: bool = True) -> SetOperation:
    sides = (table(retracting, a=VARCHAR, k=BIGINT, x=DOUBLE) for _ in range(2))
    return SetOperation(*sides, kind, every)


def answer(made: SetOperation, left: Counter[Row], right: Counter[Row]) -> Counter[Row]:
    """By the definition."""
    if not made.all:
        left, right = Counter(dict.fromkeys(left, 1)), Counter(dict.fromkeys(right, 1))
    return left & right if made.kind is SetKind.INTERSECT else left - right


def drawn(random: Random, held: Counter[Row]) -> list[tuple[Row, int]]:
    """Rows that come, and rows that are taken back, some before they come."""
    rows: list[tuple[Row, int]] = []
    for _ in range(random.randint(1, 6)):
        if held and random.random() < 0.4:
            rows.append((random.choice(list(held)), -1))
        else:
            rows.append(
                ((random.choice(["x", "y", None]), random.choice([1, None]), random.choice([0.0, -0.0, None])), 1)
            )
    return rows


@pytest.mark.parametrize(("kind", "every"), KINDS, ids=lambda value: getattr(value, "name", "all" if value else "once"))
def test_what_leaves_adds_up_to_the_answer(kind: SetKind, every: bool) -> None:
    for seed in seeds():
        random, made = Random(seed), node(kind, every)
        tasks = Tasks(made)
        held = (Counter[Row](), Counter[Row]())
        for _ in range(25):
            port = random.randrange(2)
            rows = drawn(random, held[port])
            for row, weight in rows:
                held[port][row] += weight
            tasks.process(rows, port)
            if random.random() < 0.2:
                tasks.move(random.choice([0, 1, 2, 4]))
        for port in (0, 1):
            owed = [(row, 1) for row, times in held[port].items() for _ in range(-times)]
            if owed:
                tasks.process(owed, port)
        assert +tasks.out == answer(made, +held[0], +held[1]), f"seed {seed}"
        assert not -tasks.out, f"seed {seed}: rows were taken back that had not been told"


def test_a_row_that_neither_side_has_is_forgotten() -> None:
    tasks = Tasks(node(SetKind.EXCEPT, True))
    for sign in (1, -1):
        for port in (0, 1):
            tasks.process([(("x", n, 0.5), sign) for n in range(50 * port, 100)], port)
    assert +tasks.out == Counter()
    assert all(part.is_empty() for _, part in tasks.parts)


def test_what_both_only_add_to_is_only_added_to() -> None:
    made = Comparing(node(SetKind.INTERSECT, False, retracting=False), SEED)
    rows = pl.DataFrame([("x", 1, 0.0)] * 2, COLUMNS, orient="row")
    assert made.process(rows, 0) is None
    out = made.process(rows, 1)
    assert out is not None
    assert out.rows() == [("x", 1, 0.0)]
    assert made.process(rows, 1) is None

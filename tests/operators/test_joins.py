"""Joining: whatever comes in whatever order on either side, what leaves adds up to the join of what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from ouzel.compiler.expressions import Call, Column, Expression, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import LEFT_ONLY, PADDED, Join, JoinKind
from ouzel.compiler.types import BIGINT, BOOLEAN, VARCHAR
from ouzel.runtime.operators.joined import join
from tests.effort import seeds
from tests.operators.nodes import table
from tests.operators.tasks import Row, Tasks

SIDES = (("a", "k", "v"), ("b", "j", "w"))
CONDITION = Call(BOOLEAN, "lt", (Column(BIGINT, "v"), Column(BIGINT, "w")))
SHAPES: dict[str, tuple[tuple[tuple[str, str], ...], Expression | None]] = {
    "by two keys": ((("a", "b"), ("k", "j")), None),
    "by a key and a condition": ((("a", "b"),), CONDITION),
    "by a condition": ((), CONDITION),
    "every row with every row": ((), None),
}


def node(kind: JoinKind, shape: str) -> Join:
    left = table(True, a=VARCHAR, k=BIGINT, v=BIGINT)
    right = table(True, b=VARCHAR, j=BIGINT, w=BIGINT)
    return Join(left, right, kind, *SHAPES[shape])


def joined(made: Join, left: Counter[Row], right: Counter[Row]) -> Counter[Row]:
    """The join by its definition, pair by pair."""
    out = Counter[Row]()
    met = (Counter[Row](), Counter[Row]())
    for one, times in left.items():
        for other, again in right.items():
            if meets(made, one, other):
                met[0][one] += again
                met[1][other] += times
                if made.kind not in LEFT_ONLY:
                    out[(*one, *other)] += times * again
    for one, times in left.items():
        if made.kind in LEFT_ONLY:
            out[one] += times * ((met[0][one] > 0) == (made.kind is JoinKind.SEMI))
        elif 1 in PADDED[made.kind] and not met[0][one]:
            out[(*one, None, None, None)] += times
    for other, times in right.items():
        if 0 in PADDED[made.kind] and not met[1][other]:
            out[(None, None, None, *other)] += times
    return +out


def meets(made: Join, one: Row, other: Row) -> bool:
    pairs = [(one[SIDES[0].index(a)], other[SIDES[1].index(b)]) for a, b in made.keys]
    same = all(left is not None and left == right for left, right in pairs)
    return same and (made.condition is None or (None not in (one[2], other[2]) and one[2] < other[2]))


def drawn(random: Random, held: Counter[Row]) -> Iterator[tuple[Row, int]]:
    """Rows that come, and rows that are taken back; what is taken back may come afterwards."""
    for _ in range(random.randint(1, 6)):
        if held and random.random() < 0.4:
            row = random.choice(list(held))
            yield row, -1
            continue
        yield (random.choice(["x", "y", None]), random.choice([1, 2, None]), random.choice([1, 2, 3, None])), 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", JoinKind, ids=lambda kind: kind.name)
def test_what_leaves_adds_up_to_the_join(kind: JoinKind, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds():
        random, made = Random(seed), node(kind, shape)
        monkeypatch.setattr(join, "MOST_PAIRS", random.choice([1, 7, 1 << 19]))
        tasks, held = Tasks(made), (Counter[Row](), Counter[Row]())
        for _ in range(25):
            port = random.randrange(2)
            rows = list(drawn(random, held[port]))
            for row, weight in rows:
                held[port][row] += weight
            tasks.process(rows, port)
            if random.random() < 0.2:
                tasks.move(random.choice([0, 1, 2, 4]))
        for port in (0, 1):
            rows = [(row, -times) for row, times in held[port].items() if times < 0]
            tasks.process(rows, port)
            for row, weight in rows:
                held[port][row] += weight
        assert +tasks.out == joined(made, +held[0], +held[1]), f"seed {seed}"
        assert not -tasks.out, f"seed {seed}: rows were taken back that had not been told"


def test_a_pair_whose_condition_fails_is_refused_and_meets_nothing() -> None:
    left = table(True, a=VARCHAR, k=BIGINT, v=BIGINT)
    right = table(True, b=VARCHAR, j=BIGINT, w=BIGINT)
    ratio = resolve_call("divide", [Column(BIGINT, "v"), Column(BIGINT, "w")])
    condition = resolve_call("gt", [ratio, Literal(BIGINT, 1)])
    tasks = Tasks(Join(left, right, JoinKind.LEFT, (("a", "b"),), condition))
    chain = tasks.chains[0]
    chain.operators[0].refused = []  # as where another takes its place
    tasks.process([(("x", 1, 8), 1)], 0)
    tasks.process([(("x", 1, 2), 1), (("x", 1, 0), 1)], 1)
    assert +tasks.out == Counter({("x", 1, 8, "x", 1, 2): 1})
    assert len(chain.take_refused()) == 1
    assert chain.take_refused() == []


def test_a_key_whose_rows_are_gone_is_forgotten() -> None:
    tasks = Tasks(node(JoinKind.FULL, "by two keys"))
    for sign in (1, -1):
        tasks.process([(("x", n, n), sign) for n in range(100)], 0)
        tasks.process([(("x", n, n), sign) for n in range(50, 150)], 1)
    assert +tasks.out == Counter()
    assert all(part.is_empty() for _, part in tasks.parts)

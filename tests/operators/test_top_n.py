"""Top-N: what leaves adds up to the first rows of what is there, and no more is kept than can be among them."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import replace
from random import Random

import polars as pl
import pytest

from ouzel.compiler.plan import Over, PartialTopN, SortKey, TopN
from ouzel.compiler.types import BIGINT, BOOLEAN, DATE, DOUBLE, TIMESTAMP, VARCHAR, DataType
from ouzel.runtime.operators.ordered.first_rows import PartialTop, order_codes
from ouzel.runtime.operators.ordered.frames import sort_rows
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


@pytest.mark.parametrize("keys", [("k",), ()], ids=["partitions", "one partition"])
def test_what_a_batch_leaves_out_changes_no_answer(keys: tuple[str, ...]) -> None:
    left_out = 0
    for seed in seeds():
        random = Random(seed)
        node = replace(drawn_node(random, False, keys), function="row_number")
        partial, tasks, all_rows = PartialTop(PartialTopN(node.input, node)), Tasks(node), Counter[Row]()
        for _ in range(10):
            rows = [row for row, _ in drawn(random, 0, None)]
            all_rows.update(rows)
            frame = pl.DataFrame(rows, node.input.schema.polars(), orient="row")
            kept = partial.process(frame)
            assert kept is not None
            assert kept.columns == frame.columns
            left_out += frame.height - kept.height
            tasks.process([(row, 1) for row in kept.iter_rows()])
        assert +tasks.out == first_rows(node, all_rows), f"seed {seed}"
    assert left_out > 0, "the test tests nothing"


CODED = {
    BIGINT: [None, -(2**63), -1, 0, 1, 2**63 - 1],
    DOUBLE: [None, float("-inf"), -2.5, -0.0, 0.0, 5e-324, 2.5, float("inf"), float("nan")],
    BOOLEAN: [None, False, True],
    DATE: [None, dt.date(1900, 1, 1), dt.date(2024, 2, 29)],
    TIMESTAMP: [None, dt.datetime(1969, 12, 31), dt.datetime(2024, 2, 29, 12)],
    VARCHAR: [None, "", "a", "b"],
}


@pytest.mark.parametrize("kind", CODED, ids=str)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls_last", [False, True])
def test_codes_never_fall_in_the_order_of_rows(kind: DataType, descending: bool, nulls_last: bool) -> None:
    node = TopN(table(False, v=kind), (), (SortKey("v", descending, nulls_last),), (), "row_number", 1)
    rows = sort_rows(pl.DataFrame({"v": CODED[kind]}, node.input.schema.polars()), (), node.order)
    codes = order_codes(node, rows)
    assert (codes[1:] >= codes[:-1]).all(), list(zip(rows["v"], codes, strict=True))
    assert kind == VARCHAR or len(set(codes.tolist())) >= rows.height - 2, "only extremes and zeros may be alike"


def check_batch(tasks: Tasks, node: TopN, held: Counter[Row], batch: list[tuple[Row, int]], said: str = "") -> None:
    """Have a batch processed: what has left adds up to the first rows of what is `held` now."""
    for row, weight in batch:
        held[row] += weight
    tasks.process(batch)
    assert +tasks.out == first_rows(node, +held), said
    assert not -tasks.out, f"{said}: rows were taken back that had not been told"


def test_rows_of_one_code_are_compared_whole_where_it_matters() -> None:
    """Rows tie at the last place, some held and some new, and among them are equal ones."""
    source = table(False, k=VARCHAR, t=TIMESTAMP, v=BIGINT, s=VARCHAR)
    for name in ("", "place"):
        node = TopN(source, ("k",), (SortKey("v", True, True),), ("t", "s"), "row_number", 3, 0, name)
        tasks, held = Tasks(node), Counter[Row]()
        for letters in ("dd", "cf", "ba", "aa", "ab"):
            check_batch(tasks, node, held, [(("k", None, 7, letter), 1) for letter in letters])


def test_places_that_are_taken_back_are_those_that_were_told() -> None:
    """Rows that tie are held, and better ones push them all out: each goes from the place that it had."""
    source = table(False, k=VARCHAR, t=TIMESTAMP, v=BIGINT, s=VARCHAR)
    for name, skip in (("place", 0), ("place", 1), ("", 1)):
        node = TopN(source, ("k",), (SortKey("v", True, True),), ("s", "t"), "row_number", 3, skip, name)
        tasks, held = Tasks(node), Counter[Row]()
        for value, letters in ((19, "cab"), (20, "c"), (20, "ab"), (21, "cba")):
            check_batch(tasks, node, held, [(("k", None, value, letter), 1) for letter in letters])


@pytest.mark.parametrize("retracts", [False, True], ids=["appends", "retracts"])
def test_each_batch_leaves_the_first_rows_among_many_that_tie(retracts: bool) -> None:
    for seed in seeds():
        random = Random(seed)
        node = drawn_node(random, retracts, random.choice([("k",), ()]))
        tasks, held = Tasks(node), Counter[Row]()
        for _ in range(12):
            rows, now = list[tuple[Row, int]](), held.copy()
            for _ in range(random.randint(1, 5)):
                there = sorted(+now, key=repr) if retracts and random.random() < 0.4 else []
                new = (random.choice("xy"), None, random.choice([None, 0, 1]), random.choice("abcd"))
                rows.append((random.choice(there), -1) if there else (new, 1))
                now[rows[-1][0]] += rows[-1][1]
            check_batch(tasks, node, held, rows, f"seed {seed}")

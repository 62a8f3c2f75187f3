"""Every monoid keeps its laws, and what Python computes in a topology is what it says in Python."""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from ouzel import monoid
from ouzel.compiler.functions.approximate import register_bits
from ouzel.compiler.plan import WEIGHT, Aggregate
from ouzel.compiler.plan.aggregates import is_combinable
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    RowType,
)
from ouzel.errors import NotSupported, QueryError
from ouzel.monoid import Monoid
from ouzel.runtime.operators.keyed.approximate import estimate, find_registers
from ouzel.runtime.operators.keyed.python_totals import from_storage, to_storage
from ouzel.testing import check_laws
from tests.effort import seeds
from tests.law.compare import plain_fold
from tests.operators import nodes


def longer(a: str, b: str) -> str:
    """The longer of two texts, of two equally long the greater."""
    return max(a, b, key=lambda text: (len(text), text))


LONGEST = monoid.UserDefined("longest", "", longer, str, commutative=True)
BALANCE = monoid.UserDefined("balance", 0, int.__add__, BIGINT, commutative=True, take_back=int.__neg__)
PAIR = RowType((("by", BIGINT), ("value", VARCHAR)))
PAIRS = [(3, "c"), (1, "b"), (1, "a"), (None, "z"), (9, None), (9, "y"), None]
TIMED, AT = (RowType((("at", kind), ("value", DOUBLE))) for kind in (DOUBLE, TIMESTAMP))
NUMBERS = [3, -7, 3, None, 1 << 40]
MAPS = [{"a": 1, "b": 2}, {"a": -1}, None, {}]
CASES: list[tuple[Monoid[Any, Any, Any], DataType, list[Any]]] = [
    (monoid.Sum(), BIGINT, NUMBERS),
    (monoid.Sum(), DOUBLE, [0.1, 0.2, -0.3, math.nan, math.inf, -math.inf, None]),
    (monoid.Mean(), DOUBLE, [0.1, 0.25, -0.5, 1e3, -1e3, None]),
    (monoid.Count(), VARCHAR, ["a", None, "b"]),
    (monoid.Min(), DOUBLE, [1.5, math.nan, -math.inf, None]),
    (monoid.Max(), VARCHAR, ["b", "", "ü", None]),
    (monoid.MinBy(), PAIR, PAIRS),
    (monoid.MaxBy(), PAIR, PAIRS),
    (monoid.First(), PAIR, PAIRS),
    (monoid.Last(), PAIR, PAIRS),
    (monoid.And(), BOOLEAN, [True, False, None]),
    (monoid.Or(), BOOLEAN, [True, False, None]),
    (monoid.Bag(), VARCHAR, ["b", "a", "b", None]),
    (monoid.ListOf(), BIGINT, NUMBERS),
    (monoid.SetOf(), VARCHAR, ["b", "a", "b", None]),
    (monoid.ListOf(), PAIR, [(3, "c"), (1, "b"), (1, "a"), (None, "z")]),
    (monoid.SetOf(), PAIR, [(3, "c"), (1, "b"), (1, "b"), (1, "a")]),
    (monoid.TopK(2), BIGINT, NUMBERS),
    (monoid.TupleOf((monoid.Max(), monoid.Count())), PAIR, PAIRS),
    (monoid.MapOf(monoid.Sum()), MapType(VARCHAR, BIGINT), MAPS),
    (
        monoid.TupleOf((monoid.Sum(), monoid.Count())),
        RowType((("f0", BIGINT), ("f1", VARCHAR))),
        [(1, "a"), (2, None), None],
    ),
    (monoid.Quantile(0.4), DOUBLE, [0.1, -1234.5678, 1e-9, None, 12.34, 129.0]),
    (monoid.Quantiles((0.1, 0.5, 1.0)), DOUBLE, [0.1, -1234.5678, 1e-9, None, 12.34, 129.0]),
    (monoid.HyperLogLog(), VARCHAR, ["", "a", "ouzel" * 9, "bé", None]),
    (monoid.HyperLogLog(0.01), BIGINT, [*range(-3, 9), 1 << 40, None]),
    (monoid.HyperLogLog(), DOUBLE, [0.0, -0.0, math.nan, math.inf, 1.5, None]),
    (monoid.HyperLogLog(), TIMESTAMP, [datetime(2024, 1, 1), datetime(1969, 1, 1, 0, 0, 1), None]),
    (monoid.HyperLogLog(), BOOLEAN, [True, False, None]),
    (monoid.Product(), DOUBLE, [0.5, -3.0, 1e200, 1e-200, 0.0, None]),
    (monoid.Product(), BIGINT, [3, -7, None]),
    (monoid.Moments(), DOUBLE, [0.1, 1e6, -2.5, None, 3.0]),
    (monoid.Moments(), DOUBLE, [0.1, math.nan, math.inf, None]),
    (monoid.DecayedValue(60), TIMED, [(0.0, 3), (30.0, -1), (600.0, 2), (None, 1), None]),
    (monoid.DecayedValue(60), AT, [(datetime(2024, 1, 1, 0, minute), 1.5) for minute in (3, 0, 2)]),
    (monoid.Reservoir(2), VARCHAR, ["a", "b", "c", None, "d"]),
    (monoid.Theta(4), BIGINT, [*range(7), None]),
    (monoid.BloomFilter(64), VARCHAR, ["a", "b", None]),
    (monoid.CountMinSketch(8), VARCHAR, ["a", "b", "a", None, "c"]),
    (LONGEST, VARCHAR, ["aa", "b", None, "bb"]),
    (BALANCE, BIGINT, NUMBERS),
]


def named(case: tuple[Monoid[Any, Any, Any], DataType, list[Any]]) -> str:
    """`repr` of what has functions holds their addresses, which are others in every process."""
    made, kind, _ = case
    return f"{made.name if isinstance(made, monoid.UserDefined) else made}-{kind}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_monoid_keeps_its_laws(case: tuple[Monoid[Any, Any, Any], DataType, list[Any]]) -> None:
    for seed in seeds():
        check_laws(case[0], case[2], seed)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_topology_gives_what_python_gives(case: tuple[Monoid[Any, Any, Any], DataType, list[Any]]) -> None:
    """At any batching, at once or in two steps, and where rows can go, after some have gone."""
    made, kind, values = case
    takes_back = made.aggregate(kind).state.takes_back
    for seed in seeds():
        dice = Random(seed)
        rows = [(dice.randrange(3), dice.choice(values)) for _ in range(30)]
        plain = nodes.group(nodes.table(k=BIGINT, value=kind), ["k"], made.call("total", "value", kind))
        assert told(plain, (plain,), rows, [], dice) == meant(made, kind, rows), f"seed {seed}"
        if is_combinable(plain):
            assert told(plain, nodes.split(plain), rows, [], dice) == meant(made, kind, rows), (
                f"in two steps, seed {seed}"
            )
        if takes_back:
            node = nodes.group(nodes.table(True, k=BIGINT, value=kind), ["k"], made.call("total", "value", kind))
            gone = dice.sample(rows, 12)
            left = list(rows)
            for row in gone:
                left.remove(row)
            assert told(node, (node,), rows, gone, dice) == meant(made, kind, left), f"with rows that go, seed {seed}"


def told(node: Aggregate, way: Any, rows: list[Any], gone: list[Any], dice: Random) -> dict[int, object]:
    """The table that comes of these rows, and of those that go again."""
    kind = node.input.schema["value"].type
    chain = nodes.chain(*way)
    schema = node.input.schema.polars()
    changes = [
        (key, to_storage(value, kind), weight) for part, weight in ((rows, 1), (gone, -1)) for key, value in part
    ]
    frame = pl.DataFrame(
        [[row[0] for row in changes], [row[1] for row in changes], [row[2] for row in changes]],
        schema={**schema, WEIGHT: pl.Int64}, strict=False,
    )  # fmt: skip
    frame = frame if node.input.retracts else frame.drop(WEIGHT)
    out, at = [], 0
    while at < frame.height:
        size = dice.randrange(1, 12)
        out.append(chain.process(frame[at : at + size]))
        at += size
    table = plain_fold([one for one in (*out, *chain.finish()) if one is not None], list(node.schema.names))
    return {row["k"]: settled(from_storage(row["total"], node.schema["total"].type)) for row in table.to_dicts()}


def meant(made: Monoid[Any, Any, Any], kind: DataType, rows: list[Any]) -> dict[int, object]:
    """The same in plain Python."""
    keys = {key for key, _ in rows}
    return {key: settled(made.sum([value for other, value in rows if other == key])) for key in keys}


def settled(value: Any) -> Any:
    """A value that compares: NaN is equal to itself, floats by nine digits, a tuple is a list."""
    match value:
        case float():
            return "NaN" if math.isnan(value) else float(f"{value + 0.0:.9g}")
        case tuple() | list():
            return [settled(one) for one in value]
        case dict():
            return {key: settled(one) for key, one in value.items()}
    return value


def test_plain_python_estimates_as_the_engine_does_whatever_the_number_of_values() -> None:
    """Few registers filled, many, all of them; texts of all lengths."""
    dice = Random(3)
    for error in (0.05, 0.01):
        sketch = monoid.HyperLogLog(error)
        bits = register_bits(error)
        for number in (0, 1, 90, 600, 2_000, 9_000):
            values = [str(dice.getrandbits(dice.choice([8, 60, 300]))) for _ in range(number)]
            places = np.unique(find_registers(pl.Series(values, dtype=pl.String), VARCHAR, bits))
            ranks = [
                int(one[-1]) % 64 for one in np.split(places, np.flatnonzero(np.diff(places // 64)) + 1) if one.size
            ]
            empty = (1 << bits) - len(ranks)
            expected = estimate(np.array([empty]), np.array([empty + sum(2.0**-rank for rank in ranks)]), bits)
            found = sketch.present(Counter(place for value in values for place in sketch.prepare(value)))
            assert found == expected[0], (error, number)
            assert found == pytest.approx(len(set(values)), rel=4 * error)
    with pytest.raises(QueryError, match=r"0.001 is out of reach; take 0.01 to 0.05"):
        monoid.HyperLogLog(0.001)
    with pytest.raises(QueryError, match=r"takes no DECIMAL.*; map decimals to texts"):
        monoid.HyperLogLog().signature(DecimalType(38, 18))


def test_who_breaks_a_law_is_told_which() -> None:
    wrong = monoid.UserDefined("difference", 0, int.__sub__, BIGINT, commutative=True)
    with pytest.raises(AssertionError, match="does not keep zero \\+ a == a"):
        check_laws(wrong, [1, 2])
    ordered = monoid.UserDefined("joined", "", str.__add__, VARCHAR, commutative=True)
    with pytest.raises(AssertionError, match="does not keep a \\+ b == b \\+ a"):
        check_laws(ordered, ["a", "b"])
    forgetful = monoid.UserDefined("forgetful", 0, max, BIGINT, commutative=True, take_back=int.__neg__)
    with pytest.raises(AssertionError, match="does not keep"):
        check_laws(forgetful, [1, 2])


def test_what_cannot_be_is_refused_with_a_way_out() -> None:
    joined = monoid.UserDefined("joined", "", str.__add__, VARCHAR)
    with pytest.raises(NotSupported, match="joined depends on the order of its values"):
        joined.aggregate(VARCHAR)
    with pytest.raises(
        QueryError, match=r"TopK\(\) adds up no MAP.*map the values to what it takes: the largest values"
    ):
        monoid.TopK(3).aggregate(MapType(VARCHAR, BIGINT))
    assert not LONGEST.aggregate(VARCHAR).state.takes_back
    with pytest.raises(NotSupported, match="joined depends on the order of its values"):
        monoid.as_function(joined)
    with pytest.raises(QueryError, match=r"SQL has an aggregate for Sum\(\) already; call it by its name"):
        monoid.as_function(monoid.Sum())
    assert monoid.TopK(3).signature(BIGINT).result == ArrayType(BIGINT)


def test_decimals_add_up_exactly() -> None:
    check_laws(monoid.Sum(), [Decimal("0.10"), Decimal("-99999999999999999999999999999999.99"), None])


def test_summaries_are_as_right_as_they_say() -> None:
    words = [f"word{number % 3000}" for number in range(9000)]
    theta = monoid.Theta(1024)
    first, second = theta.total(words), theta.total([f"word{number}" for number in range(2000, 5000)])
    assert theta.present(first) == pytest.approx(3000, rel=0.1)
    assert theta.intersection(first, second) == pytest.approx(1000, rel=0.25)
    bloom = monoid.BloomFilter(30_000)
    bits = bloom.sum(words)
    assert all(bloom.contains(bits, word) for word in words)
    assert sum(bloom.contains(bits, f"other{number}") for number in range(2000)) < 60
    counts = monoid.CountMinSketch(500)
    shown = counts.sum(words)
    assert all(3 <= counts.count(shown, word) <= 3 + 3 * 9000 / 500 for word in words[:300])
    chosen = monoid.Reservoir(20).sum(words)
    assert len(set(chosen)) == 20 == len(set(words) & set(chosen))
    assert monoid.Reservoir(20, seed=1).sum(words) != chosen
    assert monoid.DecayedValue(10).sum([(0, 8.0), (20, 1.0)]) == 3.0
    assert monoid.Moments().sum([1.0, 2.0, 3.0, 6.0]) == pytest.approx((4, 3.0, 3.5, 0.687243, -1.0), rel=1e-4)
    assert monoid.Product().sum([1e200, 1e200, 1e-200, 1e-190]) == pytest.approx(1e10)
    assert monoid.Product().sum([1e200, -1e200]) == -math.inf

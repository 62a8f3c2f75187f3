"""Monoids are what they say: lawful, picklable, and the same as the aggregate of their name."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from ouzel import monoid
from ouzel.compiler.functions.aggregates import find_aggregate
from ouzel.compiler.types import BIGINT, DOUBLE, VARCHAR, DataType, DecimalType
from ouzel.errors import QueryError
from ouzel.monoid import Monoid
from tests.operators import nodes

NUMBERS: list[tuple[DataType, list[Any]]] = [
    (BIGINT, [3, None, -7, 1 << 40, 3]),
    (DOUBLE, [0.1, 0.2, None, 0.3, -1e300, 1e300]),
    (DOUBLE, [1.5, math.inf, None]),
    (DOUBLE, [math.inf, -math.inf, 2.0]),
    (DecimalType(10, 2), [Decimal("0.05"), Decimal("-1.20"), None, Decimal("10.00")]),
]
TEXTS: list[tuple[DataType, list[Any]]] = [(VARCHAR, ["b", "\ue000", "\U0001f600", None])]
CASES = [
    (made, kind, values)
    for made, cases in (
        (monoid.Sum(), NUMBERS),
        (monoid.Mean(), NUMBERS),
        (monoid.Count(), NUMBERS + TEXTS),
        (monoid.Min(), NUMBERS + TEXTS),
        (monoid.Max(), NUMBERS + TEXTS),
    )
    for kind, values in cases
]


def computed(made: Monoid[Any, Any, Any], kind: DataType, values: list[Any]) -> object:
    """What the aggregate gives of a column of these values."""
    source = nodes.table(value=kind)
    node = nodes.group(source, (), made.call("total", "value", kind))
    chain = nodes.chain(node)
    frame = pl.DataFrame({"value": values}, schema=source.schema.polars())
    pieces = [piece for piece in (chain.process(frame), *chain.finish()) if piece is not None]
    return pieces[-1]["total"][-1]


@pytest.mark.parametrize(("made", "kind", "values"), CASES, ids=lambda value: type(value).__name__)
def test_a_monoid_gives_what_its_aggregate_gives(
    made: Monoid[Any, Any, Any], kind: DataType, values: list[Any]
) -> None:
    meant = made.sum(values)
    if isinstance(meant, float):
        assert computed(made, kind, values) == pytest.approx(meant, nan_ok=True)
    else:
        assert computed(made, kind, values) == meant


@pytest.mark.parametrize("made", [monoid.Sum(), monoid.Count(), monoid.Min(), monoid.Max(), monoid.Mean()])
def test_a_monoid_is_a_plain_description(made: Monoid[Any, Any, Any]) -> None:
    assert pickle.loads(pickle.dumps(made)) == made == type(made)()
    assert not fields(made)  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        made.anything = 1  # type: ignore[attr-defined]
    assert made.aggregate(BIGINT) is find_aggregate(made.aggregate(BIGINT).name)


def test_a_monoid_is_of_values_that_have_such_a_total() -> None:
    with pytest.raises(QueryError, match=r"SUM takes a number, not VARCHAR"):
        monoid.Sum().aggregate(VARCHAR)

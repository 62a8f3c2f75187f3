"""What operators keep for each aggregate of the registry; one that nothing computes is refused."""

from __future__ import annotations

import polars as pl
import pytest

from ouzel.compiler.functions import aggregates
from ouzel.compiler.functions.aggregates import AGGREGATES, AggregateFunction, Keeps, keeps
from ouzel.compiler.plan import NEVER_NULL
from ouzel.compiler.types import BIGINT, BOOLEAN
from ouzel.errors import NotSupported
from tests.operators import nodes


def test_what_is_never_null_is_what_counts() -> None:
    assert {function.name for function in AGGREGATES if function.keeps is Keeps.COUNT} == NEVER_NULL
    source = nodes.table(f=BOOLEAN)
    made = nodes.group(source, [], nodes.call("count_if", source, "f"), nodes.call("max", source, "f"))
    assert [field.nullable for field in made.schema] == [False, True]


@pytest.mark.parametrize("kept", [Keeps.TOTAL, Keeps.EXTREME])
@pytest.mark.parametrize("retracting", [False, True])
def test_an_aggregate_that_nothing_computes_is_refused(
    monkeypatch: pytest.MonkeyPatch, kept: Keeps, retracting: bool
) -> None:
    toy = AggregateFunction(
        "stddev_pop", kept, lambda kind: (kind, kind), "a number", "the spread", "STDDEV_POP(value)"
    )
    monkeypatch.setitem(aggregates._BY_NAME, toy.name, toy)
    source = nodes.table(retracting, v=BIGINT)
    node = nodes.group(source, [], nodes.call("stddev_pop", source, "v", "spread"))
    frame = pl.DataFrame({"v": [3, 5, 10]} | ({nodes.WEIGHT: [1, 1, 1]} if retracting else {}))
    with pytest.raises(NotSupported, match="STDDEV_POP cannot be computed here; write one of"):
        nodes.chain(node).process(frame)


def test_every_aggregate_says_what_it_keeps() -> None:
    for function in AGGREGATES:
        assert keeps(function.name) is function.keeps

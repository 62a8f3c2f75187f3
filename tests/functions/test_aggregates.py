"""What operators keep for each aggregate of the registry; one that nothing computes is refused."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from ouzel.compiler.functions import aggregates
from ouzel.compiler.types import BIGINT, BOOLEAN
from ouzel.errors import NotSupported
from tests.operators import nodes


def test_what_counts_is_never_null() -> None:
    source = nodes.table(f=BOOLEAN)
    made = nodes.group(source, [], nodes.call("count_if", source, "f"), nodes.call("max", source, "f"))
    assert [field.nullable for field in made.schema] == [False, True]


@pytest.mark.parametrize("like", ["sum", "max"])
@pytest.mark.parametrize("retracting", [False, True])
def test_an_aggregate_that_nothing_computes_is_refused(
    monkeypatch: pytest.MonkeyPatch, like: str, retracting: bool
) -> None:
    known = aggregates._BY_NAME[like]
    toy = replace(known, name="stddev_pop", state=replace(known.state, variant="spread"))
    monkeypatch.setitem(aggregates._BY_NAME, toy.name, toy)
    source = nodes.table(retracting, v=BIGINT)
    node = nodes.group(source, [], nodes.call("stddev_pop", source, "v", "spread"))
    frame = pl.DataFrame({"v": [3, 5, 10]} | ({nodes.WEIGHT: [1, 1, 1]} if retracting else {}))
    with pytest.raises(NotSupported, match="STDDEV_POP cannot be computed here: its accumulators give"):
        nodes.chain(node).process(frame)

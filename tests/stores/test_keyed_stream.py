"""A stream store in a server's table, over a table that a test holds: what its keys are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR, Field
from ouzel.stores import BatchID, KeyedStream, KeyedTotals, keyed
from ouzel.stores.batcher import parse_batcher
from ouzel.stores.columns import StoreColumns, StoredValue

DAY = datetime(2026, 1, 2)
BEGAN, PLACE, CARRIER = Field("began", TIMESTAMP), Field("place", VARCHAR), Field("carrier", VARCHAR)
ADDED = StoredValue("n", BIGINT, "sum")


class HeldRows:
    """Rows in this process."""

    def __init__(self) -> None:
        self.frames: list[pl.DataFrame] = []

    def get_many(self, keys: pl.DataFrame) -> pl.DataFrame:
        return self.rows().join(keys, on=keys.columns, how="semi")

    def rows(self) -> pl.DataFrame:
        return pl.concat(self.frames)

    def merge(self, batches: Mapping[str, pl.DataFrame]) -> None:
        self.frames += batches.values()

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("keys", "key", "other"),
    [((), (), None), ((PLACE,), "a", "b"), ((PLACE, CARRIER), ("a", "x"), ("a", "y"))],
    ids=["no key", "one column", "two columns"],
)
@pytest.mark.parametrize("most", [0, 100], ids=["by the whole table", "one by one"])
def test_sums_are_found_by_batch_and_key(
    keys: tuple[Field, ...], key: Any, other: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = HeldRows()
    monkeypatch.setattr(keyed, "open_keyed", lambda connector, request: table)
    monkeypatch.setattr(keyed, "LOOKUPS_MOST", most)
    totals = KeyedTotals("t", "none", {}, (BEGAN, *keys), (ADDED,))
    columns = StoreColumns(BEGAN, timedelta(hours=12), keys, (ADDED,), "q")
    stream = KeyedStream(parse_batcher("1 day"), columns, totals)
    first, second = stream.batcher.batch_of(DAY), stream.batcher.batch_of(DAY + timedelta(days=1))
    deltas: dict[tuple[Any, BatchID], Any] = {(key, first): stream.monoid.prepare((3,))}
    if other is not None:
        deltas[other, second] = stream.monoid.prepare((5,))
    stream.merge_many(deltas, "1")
    parts = (key,) if isinstance(key, str) else key
    table.frames.append(
        pl.DataFrame([(DAY + timedelta(hours=12), *parts, 4)], schema=table.rows().schema, orient="row")
    )
    wanted = [(one, batch) for one in (key, other) if one is not None for batch in (first, second)]
    found = {place: stream.monoid.present(total) for place, total in stream.get_many(wanted).items()}
    assert found == {(key, first): (7,), **({(other, second): (5,)} if other is not None else {})}

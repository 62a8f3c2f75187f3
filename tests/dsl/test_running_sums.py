"""Each value with the total before it: the same in every run, whatever the batching, the order of arrival and the faults."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pytest

from ouzel import QueryError, Source, Stream, monoid
from ouzel.compiler.records import made_of
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from tests.effort import seeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MONOIDS: tuple[monoid.Monoid[Any, Any, Any], ...] = (monoid.Sum(), monoid.Count(), monoid.Max(), monoid.Mean())


class Sale(NamedTuple):
    at: datetime
    shop: str | None
    price: int | None


def sales(folder: Path, seed: int) -> Stream[Any]:
    """Sales of shops, several at a moment, out of order."""
    random = Random(seed)
    moments = [number // 3 + random.randint(-5, 0) for number in range(60)]
    rows = [
        Sale(
            datetime(2026, 1, 1) + timedelta(minutes=n),
            random.choice(["a", "b", None]),
            random.choice([None, 1, 2, 3, 3]),
        )
        for n in moments
    ]
    pl.DataFrame(rows, schema=list(Sale._fields), orient="row").write_parquet(folder / f"sales{seed}.parquet")
    source = Source.file(str(folder / f"sales{seed}.parquet"), Sale, format="parquet")
    return source.event_time("at", delay=timedelta(minutes=10)).map(
        lambda sale: (sale.shop, sale.price), returns=tuple[str | None, int | None]
    )


def test_the_simulator_has_the_totals_before_that_plain_python_has(tmp_path: Path) -> None:
    for seed in seeds():
        random = Random(seed)
        stream = sales(tmp_path, seed).running_sum(random.choice(MONOIDS))
        job = stream.job(parallelism=1 + seed % 3, batch_rows=random.choice([7, 1000]))
        run = simulate(
            job.topology, job.packing, job.directory, seed=seed, faults=random.choices(SURVIVABLE, k=seed % 3)
        )
        rows = [row for frame in run.frames.values() for row in frame.iter_rows(named=True)]
        assert run.rows_late == 0
        assert Counter(made_of(stream.record, row) for row in rows) == Counter(stream.memory()), f"seed {seed}"


def test_what_was_before_and_what_came_make_what_is_before_the_next(tmp_path: Path) -> None:
    for seed in seeds()[:3]:
        before: dict[str | None, int] = {}
        for key, (total, added) in (
            sales(tmp_path, seed).filter_values(lambda price: price is not None).running_sum(monoid.Sum()).memory()
        ):
            assert total == before.get(key)
            before[key] = (total or 0) + added


def test_what_has_no_order_is_refused() -> None:
    class Tagged(NamedTuple):
        at: datetime
        tags: list[str]

    pairs = Source.of([("a", 1)])
    said = r"of streams that have a time, and what comes of .*:\d+ has none; give its records a datetime, and call event_time"
    with pytest.raises(QueryError, match=said):
        pairs.running_sum(monoid.Sum())
    tagged = Source.of([Tagged(datetime(2026, 1, 1), ["x"])]).event_time("at")
    with pytest.raises(QueryError, match=r"ARRAY<VARCHAR> has none; map them to numbers or texts"):
        tagged.map(lambda one: (1, one.tags)).running_sum(monoid.Count())


@pytest.mark.slow
@pytest.mark.spark
def test_spark_has_the_same_totals_before(tmp_path: Path, spark: SparkSession) -> None:
    stream = sales(tmp_path, 1).running_sum(monoid.Sum())
    found = Counter(made_of(stream.record, row) for row in stream.batch().iter_rows(named=True))
    assert found == Counter(stream.memory())

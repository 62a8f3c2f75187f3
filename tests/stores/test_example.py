"""dsl_examples/hybrid_flights.py does what docs/stores.md says, with Spark."""

from __future__ import annotations

from datetime import datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import polars as pl
import pytest

from tests.house.source import ROOT

EXAMPLE = ROOT / "dsl_examples/hybrid_flights.py"


@pytest.mark.spark
def test_three_days_of_flights_with_a_wrong_batch_repaired(tmp_path: Path) -> None:
    spec = spec_from_file_location("hybrid_flights", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    wrong, left, totals = example.work(tmp_path, "memory")
    assert {one.batch.number for one in wrong} == {15707}, "2013-01-02"
    assert {one.key for one in wrong} == {"EWR", "JFK", "LGA"}
    assert (left, totals.holes, totals.boundary) == ([], (), datetime(2013, 1, 3))
    flights = pl.read_parquet(example.DATA).filter(
        pl.col("ts").is_between(example.DAYS[0], example.DAYS[-1], closed="left")
    )
    assert totals.values == {origin: (count,) for origin, count in flights["origin"].value_counts().iter_rows()}

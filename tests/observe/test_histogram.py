"""Quantiles from log buckets are right to 2 %, and histograms add up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ouzel.runtime.observe.histogram import Histogram

latencies = st.lists(st.floats(1, 1e9), min_size=1, max_size=200)


@given(latencies, st.floats(0, 1))
def test_a_quantile_is_close_to_the_exact_one(values: list[float], share: float) -> None:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    exact = sorted(values)[max(0, -int(-share * len(values) // 1) - 1)]
    got = histogram.quantile(share)
    assert got is not None
    assert abs(got / exact - 1) < 0.02 or any(abs(got / value - 1) < 0.02 for value in values if value >= exact)


@given(latencies, latencies)
def test_merging_is_adding_everything(left: list[float], right: list[float]) -> None:
    both, one, other = Histogram(), Histogram(), Histogram()
    for value in left:
        one.add(value)
        both.add(value)
    for value in right:
        other.add(value, 3)
        both.add(value, 3)
    one.merge(other.buckets)
    assert one.buckets == both.buckets
    assert one.since(both.buckets).buckets == {}


def test_an_empty_one_has_no_quantile() -> None:
    assert Histogram().quantile(0.5) is None


def test_only_what_came_later_counts() -> None:
    histogram = Histogram()
    histogram.add(10, 100)
    earlier = dict(histogram.buckets)
    histogram.add(1_000_000, 5)
    recent = histogram.since(earlier).quantile(0.5)
    assert recent is not None
    assert recent > 900_000

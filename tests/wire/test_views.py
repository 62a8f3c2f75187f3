"""Strings lose the text that nobody points at, and nothing else."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.runtime.wire import views

LONG = [f"{number:030}" for number in range(3_000)]


def arrow(values: pl.Series) -> pa.Array:
    array = values.to_arrow(compat_level=pl.CompatLevel.newest())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def size(array: pa.Array) -> int:
    return sum(buffer.size for buffer in array.buffers() if buffer is not None)


@pytest.mark.parametrize("kind", [pl.String, pl.Binary])
@settings(deadline=None)
@given(picked=st.lists(st.none() | st.integers(0, 5_999), max_size=60))
def test_values_stay_and_text_goes(kind: type[pl.DataType], picked: list[int | None]) -> None:
    everything = pl.Series([*LONG, *("short" for _ in LONG)]).cast(kind)
    values = everything.gather(pl.Series(picked, dtype=pl.UInt32))
    array = views.compact(arrow(values))
    assert array is not None
    array.validate(full=True)
    assert pl.Series(pl.from_arrow(array)).equals(values)
    assert size(array) <= 60 * (16 + 31) + views.SLACK_BYTES


def test_what_is_used_is_left_alone() -> None:
    array = arrow(pl.Series(LONG))
    assert views.compact(array) is array


def test_a_slice_with_nulls_is_left_to_offsets() -> None:
    values = pl.Series([text if number % 2 else None for number, text in enumerate(LONG)])
    array = arrow(values.gather(range(0, 3_000, 101)))
    assert views.compact(array[5:9]) is None
    whole = views.compact(array[0:9])
    assert whole is not None
    assert whole.to_pylist() == array[0:9].to_pylist()


def test_the_kernels_are_loaded_before_the_fork() -> None:
    views.load_kernels()
    before = len(views._gather.signatures), len(views._long_rows.signatures)
    views.compact(arrow(pl.Series(LONG).gather([7])))
    assert (len(views._gather.signatures), len(views._long_rows.signatures)) == before

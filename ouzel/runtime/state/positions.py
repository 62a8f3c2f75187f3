"""Rows at given places, as NumPy has them. Of a few hundred rows a call costs more than they do, and these are the calls that cost least:

a Series of UInt32 is taken as it is; an array is first looked at and cast; what is an expression within is planned each time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

_Places = npt.NDArray[np.int64]

_SMALL = 4_096
"""Of so many rows at most it costs less to take some than to filter."""


def take_rows(frame: pl.DataFrame, places: _Places) -> pl.DataFrame:
    """The rows at these places, none of which is below 0."""
    return frame[pl.Series(places.astype(np.uint32))]


def take_values(series: pl.Series, places: _Places) -> pl.Series:
    """The values at these places, none of which is below 0."""
    return series[pl.Series(places.astype(np.uint32))]


def take_values_with_gaps(series: pl.Series, places: _Places) -> pl.Series:
    """The values at these places, NULL for one below 0."""
    gaps = places < 0
    if not gaps.any():
        return take_values(series, places)
    longer = pl.concat([series, make_nulls(series.name, series.dtype, 1)])
    return take_values(longer, np.where(gaps, len(series), places))


def filter_rows(frame: pl.DataFrame, chosen: npt.NDArray[np.bool_]) -> pl.DataFrame:
    """The rows that are chosen; the frame itself if all are."""
    if chosen.all():
        return frame
    return take_rows(frame, np.flatnonzero(chosen)) if frame.height <= _SMALL else frame.filter(chosen)


def make_nulls(name: str, kind: pl.DataType, number: int) -> pl.Series:
    """A column of NULLs."""
    return pl.Series(name, [None], dtype=kind).new_from_index(0, number)

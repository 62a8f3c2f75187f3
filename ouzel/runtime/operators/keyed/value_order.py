"""The order in which an aggregate takes its values."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.functions.gathering import Orders
from ouzel.compiler.types import DataType, RowType
from ouzel.runtime.operators.buffers import Ints
from ouzel.runtime.state.positions import take_values_with_gaps


def ordered_rows(groups: Ints, values: pl.Series, orders: Orders) -> Ints:
    """The rows by group, and in each group by their values: as these are, or by the fields of a ROW as each of `orders` says.

    A ROW that has one order and several fields is the value itself, and goes by all of them.
    """
    group = pl.Series("group", groups)
    if len(orders) > 1 or (orders and isinstance(values.dtype, pl.Struct) and len(values.dtype.fields) == 1):
        keys = values.struct.unnest().get_columns()[: len(orders)]
    else:
        keys = [values.alias("f0")]
    frame = pl.DataFrame([group, *keys, pl.Series("row", np.arange(len(groups)))])
    descending = [False, *(order.descending for order in orders)] if orders else False
    nulls_last = [False, *(order.nulls_last for order in orders)] if orders else False
    by = ["group", *(key.name for key in keys)]
    return frame.sort(by, descending=descending, nulls_last=nulls_last)["row"].to_numpy()


def group_ends(groups: Ints, last: bool) -> Ints:
    """Of rows that are sorted by group the place of the first, or of the last, of each."""
    if not groups.size:
        return np.zeros(0, np.int64)
    changes = np.flatnonzero(groups[1:] != groups[:-1])
    return np.append(changes, len(groups) - 1) if last else np.append(0, changes + 1)


def take_last_field(values: pl.Series, kind: DataType) -> pl.Series:
    """What of a ROW is no order."""
    assert isinstance(kind, RowType)
    return values.struct.field(kind.fields[-1][0])


def spread(groups: Ints, values: pl.Series, number: int) -> pl.Series:
    """A value for each of so many groups: those of `groups`, each of which comes once, and NULL of the others."""
    places = np.full(number, -1, np.int64)
    places[groups] = np.arange(len(groups))
    return take_values_with_gaps(values, places)

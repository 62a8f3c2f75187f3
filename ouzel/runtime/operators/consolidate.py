"""Adding up the weights of equal rows, for sinks and for whoever folds a changelog into a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.operators.buffers import Ints
from ouzel.runtime.operators.keyed import kernels
from ouzel.runtime.operators.keyed.groups import row_weights
from ouzel.runtime.state.hashing import PRIVATE_SEED, key_hashes
from ouzel.runtime.state.index import KeyIndex
from ouzel.runtime.state.positions import take_rows


def consolidate(frame: pl.DataFrame, keys: Sequence[str] = ()) -> pl.DataFrame:
    """The frame with each row once, and its weights added up; rows of weight 0 are gone. The order is that of first appearance.

    With `keys` the form that an upsert sink takes: for each key its new row with +1, the last one put in if there are several; or one
    row with -1 if rows were only taken back; or nothing. A frame without WEIGHT has weight 1 in each row.
    """
    weighted = frame.columns[-1:] == [WEIGHT]
    columns = frame.columns[:-1] if weighted else frame.columns
    rows, total = _add_up(frame, columns, row_weights(frame))
    if keys:
        rows, total = _by_key(frame, keys, rows, total)
    return take_rows(frame.select(columns), rows).hstack([pl.Series(WEIGHT, total)])


def with_weight(frame: pl.DataFrame, weight: int) -> pl.DataFrame:
    """The frame with this weight for each row."""
    weights = pl.Series(WEIGHT, np.full(frame.height, weight, np.int64))
    return frame.with_columns(weights) if WEIGHT in frame.columns else frame.hstack([weights])


def net_changes(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The changes that are left of these, one row for each +1 and -1."""
    net = consolidate(pl.concat(frames))
    weights = net[WEIGHT].to_numpy()
    rows = np.repeat(np.arange(net.height), np.abs(weights))
    return with_weight(take_rows(net, rows), 1).with_columns(pl.Series(WEIGHT, np.sign(weights[rows]).astype(np.int64)))


def _add_up(frame: pl.DataFrame, columns: Sequence[str], weights: Ints) -> tuple[Ints, Ints]:
    """The last place of each row whose weights do not cancel, in order, and its weight."""
    groups, number = group_rows(frame, columns)
    total = np.zeros(number, np.int64)
    kernels.add_amounts(total, groups, weights)
    last = np.empty(number, np.int64)
    last[groups] = np.arange(frame.height)
    left = np.flatnonzero(total)
    left = left[np.argsort(last[left], kind="stable")]
    return last[left], total[left]


def _by_key(frame: pl.DataFrame, keys: Sequence[str], rows: Ints, total: Ints) -> tuple[Ints, Ints]:
    """For each key the last row of positive weight, or the last of negative weight if there is no other."""
    groups, number = group_rows(take_rows(frame.select(keys), rows), keys)
    chosen = np.full(number, -1, np.int64)
    for wanted in (np.flatnonzero(total < 0), np.flatnonzero(total > 0)):
        chosen[groups[wanted]] = wanted
    chosen.sort()
    return rows[chosen], np.sign(total[chosen])


def group_rows(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[Ints, int]:
    """Each row's group, numbered from 0 in order of appearance, and how many there are."""
    index = KeyIndex(min(frame.height, 1 << 16) or 1)
    slots = index.find_or_insert(*key_hashes(frame, columns, PRIVATE_SEED))
    return slots, len(index)

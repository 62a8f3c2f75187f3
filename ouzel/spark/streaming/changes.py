"""From what Spark gives a micro-batch to what a sink takes: the changes since the last one, with weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import TopologyError
from ouzel.runtime.operators.consolidate import consolidate
from ouzel.runtime.state.hashing import PRIVATE_SEED, key_hashes
from ouzel.runtime.state.index import KeyIndex
from ouzel.runtime.state.rows import RowStore

HELD_ROWS_MAX = 5_000_000
"""Most rows of a table that the driver holds to tell what changed."""


class Changes(Protocol):
    """What a sink's table is known to hold."""

    def since(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The changes that a micro-batch's rows mean: each row once, with WEIGHT unless they are all new.

        Raises:
            TopologyError: the table has become larger than the driver may hold.
        """


class NewRows:
    """Of a query that gives new rows only (Spark's append mode): nothing need be held."""

    def since(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows."""
        return rows


class RowsByKey:
    """Of a query that gives the rows that changed (update mode): `keys` tell which row is in place of which."""

    def __init__(self, columns: Mapping[str, pl.DataType], keys: Sequence[str]) -> None:
        self._keys, self._index, self._rows = list(keys), KeyIndex(), RowStore(columns)

    def since(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The old rows with -1, the new ones with +1; those that are the same are left out."""
        if not rows.height:
            return _weigh(rows, 1)
        slots = self._index.find_or_insert(*key_hashes(rows, self._keys, PRIVATE_SEED))
        _check(len(self._index))
        old = self._rows.take(slots[~self._rows.missing(slots)])
        self._rows.put(slots, rows)
        return consolidate(pl.concat([_weigh(old, -1), _weigh(rows, 1)]))


class WholeTable:
    """Of a query that gives its whole table each time (complete mode)."""

    def __init__(self, columns: Mapping[str, pl.DataType]) -> None:
        self._rows = pl.DataFrame(schema=dict(columns))

    def since(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that have gone with -1, rows that have come with +1."""
        _check(rows.height)
        old, self._rows = self._rows, rows
        return consolidate(pl.concat([_weigh(old, -1), _weigh(rows, 1)]))


def _weigh(rows: pl.DataFrame, weight: int) -> pl.DataFrame:
    return rows.with_columns(pl.lit(weight, pl.Int64).alias(WEIGHT))


def _check(rows: int) -> None:
    if rows > HELD_ROWS_MAX:
        raise TopologyError(
            f"the table has more than {HELD_ROWS_MAX:,} rows, which the driver holds to tell what changes; aggregate further, or let "
            "windows close (EMIT AFTER WATERMARK), so that rows only come"
        )

"""What an operator keeps, in short: how many keys and rows each of its tables has, and the keys with the most rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from ouzel.runtime.state.keyed_table import KeyedTable

LARGEST_SHOWN = 5


@dataclass(frozen=True)
class StateSize:
    """How much an operator of a task keeps, as it is told with every report.

    Attributes:
        keys: of all its tables; None if it has none.
        rows: kept for these keys, beside what is kept once a key; None if it keeps none.
        bytes: of memory: of arrays those of all slots used so far, of rows what Polars estimates; None if that is not known.

    Of a component written by hand it is what its last snapshot came to: the entries of a dict or set as keys, and its bytes.
    """

    keys: int | None = None
    rows: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class TableCounts:
    """How much is in one table of a task, without a look at values.

    Attributes:
        name: of the table.
        keys: how many it has.
        rows: how many rows its bags hold for them; None if it has no bags.
        largest: the keys with the most rows, as a frame of their columns; the most first.
        sizes: the rows of each of these.
    """

    name: str
    keys: int
    rows: int | None
    largest: pl.DataFrame
    sizes: tuple[int, ...]


def count_table(table: KeyedTable, most: int = LARGEST_SHOWN) -> TableCounts:
    """What a table and its bags hold, in whole columns: 8 bytes and a few nanoseconds a key and a row, and no copy of what is lent."""
    keys, limit = len(table.index), table.index.limit
    if not table.bags:
        return TableCounts(table.name, keys, None, pl.DataFrame(), ())
    counts = np.zeros(limit, np.int64)
    for bag in table.bags:
        counts += bag.count_of_owners(limit)
    slots = _find_largest(counts, most)
    return TableCounts(table.name, keys, int(counts.sum()), table.keys(slots), tuple(counts[slots].tolist()))


def _find_largest(counts: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Where the largest of these are that are above 0, the largest first."""
    places = np.argpartition(counts, -most)[-most:] if counts.size > most else np.arange(counts.size)
    places = places[counts[places] > 0]
    return places[np.argsort(-counts[places], kind="stable")]

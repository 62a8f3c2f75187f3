"""MIN and MAX of text, bytes and decimals over many sets of the same rows: of the ranks of their values, which are numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import BIGINT
from ouzel.runtime.operators.buffers import Values, to_series, valid_rows
from ouzel.runtime.state.positions import take_values, take_values_with_gaps


@dataclass(frozen=True)
class RankedExtreme:
    """A MIN or MAX whose values are compared once, when all are put in order, and from then on by their places there."""

    call: AggregateCall

    @property
    def column(self) -> str:
        """The column of ranks."""
        return f"{self.call.name}$rank"

    @property
    def of_ranks(self) -> AggregateCall:
        """The same of the ranks."""
        return replace(self.call, argument=self.column, type=BIGINT)

    def rank(
        self, rows: pl.DataFrame, so_far: pl.DataFrame | None
    ) -> tuple[pl.DataFrame, pl.DataFrame | None, pl.Series]:
        """Rows with a column of ranks, partial aggregates that are ranks too, and the value of each rank."""
        assert self.call.argument is not None
        values, partial = rows[self.call.argument].alias("value"), f"{self.call.name}$value"
        if so_far is not None:
            values = pl.concat([values, so_far[partial].alias("value")])
        order = values.arg_sort().to_numpy().astype(np.int64)
        ordered = take_values(values, order)
        changes = ordered.ne_missing(ordered.shift(1)).to_numpy().copy()
        changes[:1] = True
        places = np.empty(len(values), np.int64)
        places[order] = np.cumsum(changes) - 1
        ranks = to_series(self.column, BIGINT, places, valid_rows(values))
        distinct = take_values(ordered, np.flatnonzero(changes))
        if so_far is not None:
            so_far = so_far.with_columns(ranks[rows.height :].alias(partial))
        return rows.with_columns(ranks[: rows.height]), so_far, distinct

    def values_of(self, ranks: Values, distinct: pl.Series) -> Values:
        """The values that have these ranks."""
        assert isinstance(ranks.data, np.ndarray)
        places = ranks.data if ranks.valid is None else np.where(ranks.valid, ranks.data, -1)
        return Values(self.call.type, take_values_with_gaps(distinct, places))

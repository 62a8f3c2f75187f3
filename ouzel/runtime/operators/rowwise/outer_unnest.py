"""LEFT JOIN UNNEST ... ON a condition: the elements that meet it, and a row of NULLs where none does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from ouzel.compiler.plan import Unnest
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.rowwise.rows import Selection, Unnesting

_ROW = "$row"


class OuterUnnesting(Operator):
    """Unnest with a condition."""

    def __init__(self, node: Unnest) -> None:
        super().__init__()
        assert node.condition is not None
        self._unnesting = Unnesting(replace(node, outer=False, condition=None))
        self._selection = Selection(node.condition)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows with each element that fits; behind them those of which none does."""
        kept, elements = self._unnesting.unnest(frame.with_row_index(_ROW))
        fitting = self._selection.process(elements)
        self._take_refused()
        lonely = np.ones(frame.height, np.bool_)
        lonely[fitting[_ROW].to_numpy()] = False
        others = kept.filter(lonely[kept[_ROW].to_numpy()])
        return pl.concat([fitting, others], how="diagonal").drop(_ROW)

    def _take_refused(self) -> None:
        for operator in (self._unnesting, self._selection):
            self.refused += operator.refused
            self.counters.refused += operator.counters.refused
            operator.refused, operator.counters.refused = [], 0

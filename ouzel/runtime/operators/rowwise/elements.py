"""Subqueries over the elements of a row's array: these are computed as rows of their own, and gathered again."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.expressions import Literal
from ouzel.compiler.plan import GatherElements, Unnest
from ouzel.compiler.types import BOOLEAN, ArrayType, to_polars
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Mask
from ouzel.runtime.operators.rowwise.rows import Computing, Unnesting

_ROW = "$row"
_KEEP = "$keep"


class GatheringElements(Operator):
    """GatherElements."""

    def __init__(self, node: GatherElements) -> None:
        super().__init__()
        self._node, self._kind = node, to_polars(ArrayType(node.item.type))
        self._unnesting = Unnesting(Unnest(node.input, node.array, node.names))
        condition = Literal(BOOLEAN, True) if node.condition is None else node.condition
        self._selecting, self._computing = Computing([(_KEEP, condition)]), Computing([(node.name, node.item)])

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows none of whose elements fails, with the array beside them."""
        kept, elements = self._unnesting.unnest(frame.with_row_index(_ROW))
        good, chosen = self._selecting.compute(elements)
        failed = _differ(elements, good, frame.height)
        fitting = good.filter(chosen.to_series().fill_null(False))
        good, items = self._computing.compute(fitting)
        failed |= _differ(fitting, good, frame.height)
        self._take_refused()
        name = self._node.name
        made = good.select(_ROW).hstack([items.to_series().alias(name)])
        arrays = made.group_by(_ROW, maintain_order=True).agg(pl.col(name))
        whole = kept.filter(~failed[kept[_ROW].to_numpy()]).join(arrays, on=_ROW, how="left", maintain_order="left")
        array = pl.coalesce(pl.col(name), pl.lit([], dtype=self._kind)).cast(self._kind)
        columns = self._node.input.schema.names
        weight = [each for each in frame.columns if each not in columns]
        return whole.select(*columns, array.alias(name), *weight)

    def _take_refused(self) -> None:
        for operator in (self._unnesting, self._selecting, self._computing):
            self.refused += operator.refused
            self.counters.refused += operator.counters.refused
            operator.refused, operator.counters.refused = [], 0


def _differ(before: pl.DataFrame, after: pl.DataFrame, height: int) -> Mask:
    """The rows of which an element was refused."""
    counts = (np.bincount(each[_ROW].to_numpy(), minlength=height) for each in (before, after))
    mask: Mask = np.not_equal(*counts)
    return mask

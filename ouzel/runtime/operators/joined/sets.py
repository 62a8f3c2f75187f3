"""INTERSECT and EXCEPT: how often each row is in either input, and the difference that a batch makes to its number in the answer."""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, SetKind, SetOperation
from ouzel.compiler.types import FloatType
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, without_sign_of_zero
from ouzel.runtime.operators.keyed import kernels
from ouzel.runtime.operators.keyed.groups import row_weights
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.index import Slots

SIDES = ("left", "right")


class Comparing(Operator):
    """The operator of SetOperation."""

    stateful = True

    def __init__(self, node: SetOperation, seed: int) -> None:
        super().__init__()
        self._node, self._seed, self._names = node, seed, list(node.schema.names)
        self._floats = [field.name for field in node.schema if isinstance(field.type, FloatType)]
        self.state = StateContext(node.stable_id, seed, self._names)
        self._table = self.state.table("rows", node.schema.polars())
        self._counts = self._table.columns("counts", dict.fromkeys(SIDES, np.int64))

    def fresh(self) -> Operator:
        return Comparing(self._node, self._seed)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What this batch of one input adds to the answer and takes from it."""
        rows = frame.select(self._names).with_columns(map(without_sign_of_zero, self._floats))
        _, slots, _, touched = self._table.enter(rows, self._names)
        before = self._count_answered(touched)
        kernels.add_amounts(self._counts[SIDES[port]], slots, row_weights(frame))
        changes = self._count_answered(touched) - before
        out = self._table.keys(np.repeat(touched, np.abs(changes)))
        self._table.remove(touched[~np.any([self._counts[side][touched] for side in SIDES], axis=0)])
        if not out.height:
            return None
        signs = np.repeat(np.sign(changes), np.abs(changes))
        return out.with_columns(pl.Series(WEIGHT, signs)) if self._node.retracts else out

    def _count_answered(self, slots: Slots) -> Ints:
        """How often each row is in the answer; one that is taken back before it came is not there."""
        left, right = (np.maximum(self._counts[side][slots], 0) for side in SIDES)
        if not self._node.all:
            left, right = np.minimum(left, 1), np.minimum(right, 1)
        answer: Ints = np.minimum(left, right) if self._node.kind is SetKind.INTERSECT else np.maximum(left - right, 0)
        return answer

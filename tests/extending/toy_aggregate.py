"""An aggregate of the user's own, in one file: the exclusive or of whole numbers. It says that it cannot take rows back."""

from __future__ import annotations

import numpy as np

from ouzel.compiler.functions.aggregate_function import AggregateFunction, Columns, GroupState, SparkForm, by_spark
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import BIGINT, DataType, IntegerType
from ouzel.runtime.operators.buffers import Ints, Values, numbers
from ouzel.runtime.operators.keyed.accumulators import Accumulators, SlottedRows
from ouzel.runtime.state.index import Slots


def _resolve(kind: DataType) -> tuple[DataType, DataType] | None:
    return (BIGINT, BIGINT) if isinstance(kind, IntegerType) else None


def _state(argument: DataType | None, result: DataType, changes: bool) -> Columns:
    return (("bits", BIGINT, False), ("count", BIGINT, False))


XOR = AggregateFunction(
    "toy_xor",
    _resolve,
    "a whole number",
    "the exclusive or of all values",
    "TOY_XOR(value)",
    GroupState(_state, "tests.extending.toy_aggregate:Xor"),
    SparkForm(by_spark("bit_xor")),
    counts=False,
)


class Xor(Accumulators):
    """Bits and how many values they are of."""

    def __init__(self, call: AggregateCall, argument: DataType | None, retracting: bool) -> None:
        super().__init__(call)
        self.types = {"bits": np.int64, "count": np.int64}

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        series = self._series(batch)
        self._add(batch, numbers(series.fill_null(0)), weights)

    def merge(self, batch: SlottedRows) -> None:
        self._add(batch, numbers(self._take_merged(batch, "bits")), numbers(self._take_merged(batch, "count")))

    def result(self, slots: Slots) -> Values:
        return Values(BIGINT, self.columns["bits"][slots], self.columns["count"][slots] > 0)

    def _add(self, batch: SlottedRows, bits: Ints, counts: Ints) -> None:
        there = counts != 0
        np.bitwise_xor.at(self.columns["bits"], batch.slots[there], bits[there])
        np.add.at(self.columns["count"], batch.slots, counts)

"""LATE INTO: rows that the operator before it has dropped, as a stream of their own."""

from __future__ import annotations

import polars as pl

from ouzel.compiler.plan import INPUT, WEIGHT, LateRows
from ouzel.runtime.operators.base import Operator


class Lateness(Operator):
    """The operator of LateRows: is given what another drops, and names its columns."""

    def __init__(self, node: LateRows) -> None:
        super().__init__()
        self._port = node.port
        self._columns = [pl.col(column).alias(name) for name, column in node.items]
        if node.retracts:
            self._columns.append(pl.col(WEIGHT))

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows of its input, in its columns."""
        if INPUT in frame.columns:
            frame = frame.filter(pl.col(INPUT) == self._port)
        return frame.select(self._columns) if frame.height else None

"""The tasks of one operator with state, as models of what it computes need them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, Node
from ouzel.runtime.operators.build import OPERATORS
from ouzel.runtime.operators.chain import Chain, Streams
from ouzel.runtime.protocol.groupings import key_tasks
from ouzel.runtime.state.context import Snapshot, key_groups_of
from ouzel.runtime.state.positions import filter_rows

SEED = 7
Row = tuple[Any, ...]


class Tasks:
    """The tasks of a node, of which there are sometimes more and sometimes fewer; what leaves adds up in `out`."""

    def __init__(self, node: Node) -> None:
        self.node, self.out = node, Counter[Row]()
        self.begin(1)

    def begin(self, count: int) -> None:
        """So many new tasks; one where rows have no keys to be spread by."""
        count = count if self.node.distribution[0].keys else 1
        self.chains = [Chain([OPERATORS[type(self.node)](self.node, SEED)]) for _ in range(count)]
        self._take: list[list[Snapshot]] = [[] for _ in range(count)]
        for task, chain in enumerate(self.chains):
            chain.states[0].groups = key_groups_of(task, count)

    def process(self, rows: Iterable[tuple[Row, int]], port: int = 0) -> None:
        """Rows and their weights come, each to its task."""
        source, keys = self.node.inputs[port], self.node.distribution[port].keys
        columns = [*source.schema.polars(), *[WEIGHT] * source.retracts]
        schema = {**source.schema.polars(), WEIGHT: pl.Int64}
        frame = pl.DataFrame([(*row, weight) for row, weight in rows], schema, orient="row").select(columns)
        chosen = key_tasks(frame, keys, len(self.chains), SEED) if keys else np.zeros(frame.height)
        for task, chain in enumerate(self.chains):
            mine = filter_rows(frame, chosen == task)
            self.take(chain.process(mine, port) if mine.height else [])

    def advance(self, watermark_us: int) -> None:
        """Event time of all inputs has come so far."""
        for chain in self.chains:
            self.take(chain.advance(watermark_us))

    def take(self, made: Streams) -> None:
        """Add up what leaves."""
        for _, frame in made:
            weights = frame[WEIGHT] if WEIGHT in frame.columns else [1] * frame.height
            for row, weight in zip(frame.drop(WEIGHT, strict=False).iter_rows(), weights, strict=True):
                self.out[row] += weight

    def move(self, count: int) -> None:
        """A snapshot of changes is taken; so many tasks go on with it and those before, or, if none, the same ones."""
        for chain, taken in zip(self.chains, self._take, strict=True):
            snapshot = chain.states[0].changes()
            taken[:] = [snapshot] if snapshot.whole else [*taken, snapshot]
        taken = self._take
        if count:
            self.begin(count)
            for chain in self.chains:
                chain.states[0].restore(*taken)
                chain.on_restored()

    @property
    def parts(self) -> list[tuple[str, pl.DataFrame]]:
        """What all tasks keep."""
        return [part for chain in self.chains for part in chain.states[0].snapshot().parts.items()]

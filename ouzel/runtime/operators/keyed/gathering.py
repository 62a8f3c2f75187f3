"""EMIT AFTER DELAY of any changes: the operator of Gather."""

from __future__ import annotations

import polars as pl

from ouzel.compiler.plan import Gather
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.consolidate import consolidate

MOST_ROWS = 1_000_000
"""When so many rows wait they leave before the delay is over."""


class Gathering(Operator):
    """Rows wait together; of those that may be taken back what is left of them leaves. Nothing waits when a snapshot is taken."""

    stateful = True

    def __init__(self, node: Gather) -> None:
        super().__init__()
        self._node = node
        self._waiting: list[pl.DataFrame] = []
        self._rows = 0
        self._due_ms: int | None = None

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """Keep the rows; all leave when they are too many."""
        self._waiting.append(frame)
        self._rows += frame.height
        return self._release() if self._rows >= MOST_ROWS else None

    def tick(self, now_ms: int) -> pl.DataFrame | None:
        """Let them out if the delay is over."""
        if self._due_ms is None:
            self._due_ms = now_ms + self._node.delay_ms
        if now_ms < self._due_ms:
            return None
        self._due_ms = now_ms + self._node.delay_ms
        return self._release()

    def flush_on_pause(self) -> pl.DataFrame | None:
        """Let them out before the delay is over."""
        return self._release()

    def finish(self) -> pl.DataFrame | None:
        """Let out what is left."""
        return self._release()

    def fresh(self) -> Gathering:
        """The same operator without rows."""
        return type(self)(self._node)

    def _release(self) -> pl.DataFrame | None:
        waiting, self._waiting, self._rows = self._waiting, [], 0
        if not waiting:
            return None
        rows = pl.concat(waiting)
        rows = consolidate(rows) if self._node.retracts else rows
        return rows if rows.height else None

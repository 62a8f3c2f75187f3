"""Appending to a table of versions: what gathers between two flushes is one commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from ouzel.connectors.formats.conversion import sql_name
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError


class CommittingSink:
    """Gathers batches; `flush` commits them. A batch that comes again after a crash is written again."""

    def __init__(self, options: TableOptions, append: Callable[[Sequence[pl.DataFrame]], None]) -> None:
        """`append` adds the rows of frames in one commit."""
        self.flush_interval_ms = options.integer("flush.interval.ms")
        self.flush_rows = options.integer("flush.rows")
        self._append = append
        self._waiting: list[pl.DataFrame] = []

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Take a batch; it is in the table after the next `flush`."""
        if frame.height:
            self._waiting.append(frame)

    def flush(self) -> None:
        """Commit what has gathered."""
        if self._waiting:
            self._append(self._waiting)
            self._waiting = []

    def close(self) -> None:
        """Nothing stays open."""


def check_written(
    request: SinkRequest, written: Mapping[str, pl.DataType], held: Mapping[str, pl.DataType], where: str, other: str
) -> None:
    """See that the table has each column that is written, in the type in which it is `written`.

    Raises:
        ConnectorError: it has not; the advice is to name `other`.
    """
    wrong = next((name for name, kind in written.items() if held.get(name) != kind), None)
    if wrong is not None:
        kind = sql_name(held[wrong]) if wrong in held else "no column of that name"
        raise ConnectorError(
            f"table '{request.table}' writes '{wrong}' as {sql_name(request.columns[wrong])}, and {where} has {kind}; "
            f"CAST it in the query, or name another {other}"
        )

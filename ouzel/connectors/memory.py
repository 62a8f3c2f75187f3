"""memory: tables of this process, by name; for tests and the memory engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from ouzel.connectors.base import (
    BatchView,
    Connector,
    HistoryView,
    Option,
    Reads,
    Replay,
    SinkDelivery,
    Writers,
    Writes,
    always,
    never,
)
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import (
    NothingCommitted,
    OffsetRange,
    Partition,
    ReadBatch,
    ReadState,
    SourceRequest,
    before,
)
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

CONNECTOR = Connector(
    "memory",
    "A table in the memory of the process, filled and read through `ouzel.connectors.memory.TABLES`. With the memory engine "
    "only: processes do not share it.",
    (
        Option("name", "Which table of `TABLES`; by default the SQL table's own name."),
        Option("partitions", "Into how many partitions the rows are dealt, in turn.", "1", kind="integer"),
    ),
    Reads(
        "ouzel.connectors.memory:MemorySource",
        bounded=always,
        batch=BatchView(dict),
        replay=Replay.OFFSET,
        changelog=never,
        ordered=never,
        grows=never,
        resumes=never,
        seeks=always,
        shared=False,
        at_rest=True,
        history=HistoryView(),
        metadata={"row": pl.Int64()},
    ),
    Writes("ouzel.connectors.memory:MemorySink", ("append", "retract", "upsert"), Writers.ONE, SinkDelivery.IDEMPOTENT),
    subject="name",
)


@dataclass
class MemoryTable:
    """What was put in to be read, and what sinks have written: batches by (task, batch id), in order of arrival."""

    rows: pl.DataFrame | None = None
    written: dict[tuple[int, int], pl.DataFrame] = field(default_factory=dict)

    def result(self) -> pl.DataFrame:
        """Everything written, in order of arrival."""
        return pl.concat(self.written.values()) if self.written else pl.DataFrame()


TABLES: dict[str, MemoryTable] = {}
"""All tables of this process by name."""


class MemorySource(NothingCommitted):
    """Reads the rows of a table of `TABLES`."""

    def __init__(self, request: SourceRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        name = options.text("name") or request.table
        rows = TABLES[name].rows if name in TABLES else None
        if rows is None:
            raise ConnectorError(f"there is no table '{name}' in memory.TABLES with rows to read")
        self._count = max(1, options.integer("partitions"))
        numbered = rows.with_row_index("$row", offset=1).with_columns(pl.col("$row").cast(pl.Int64))
        places = dict.fromkeys(request.metadata, "$row")
        self._frame = numbered.select(
            pl.col(places.get(column, column)).cast(kind).alias(column) for column, kind in request.columns.items()
        )

    def partitions(self) -> Sequence[Partition]:
        """One for each share of the rows."""
        return [Partition(str(number), True) for number in range(self._count)]

    def reader(self, partition: Partition, offset: int | None) -> FrameReader:
        """Read a share."""
        return FrameReader(self._share(partition), offset or 0)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """All rows are there."""
        start, last = offset or 0, self._share(partition).height
        return OffsetRange(start, min(start + rows, last), start + rows >= last)

    def _share(self, partition: Partition) -> pl.DataFrame:
        return self._frame.gather_every(self._count, int(partition.id))


class FrameReader:
    """Reads a frame; offsets are its rows."""

    def __init__(self, frame: pl.DataFrame, offset: int) -> None:
        self._frame, self._at = frame, offset

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        """The next rows."""
        start, end = self._at, min(before(until, self._at + rows), self._frame.height)
        if start >= end:
            return ReadState.END
        self._at = end
        return ReadBatch(self._frame[start:end], start, end)

    def close(self) -> None:
        """Nothing is open."""


class MemorySink:
    """Writes into a table of `TABLES`; a batch that comes again replaces itself."""

    flush_interval_ms, flush_rows = 0, 1

    def __init__(self, request: SinkRequest) -> None:
        name = TableOptions(CONNECTOR, request.options).text("name") or request.table
        self._table, self._task = TABLES.setdefault(name, MemoryTable()), request.task

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Keep the batch."""
        self._table.written[self._task, batch_id] = frame

    def flush(self) -> None:
        """Memory is as safe as it gets."""

    def close(self) -> None:
        """Nothing is open."""

"""A connector of another package, in one file: whole numbers from 0 on, and a sink of one line of text a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from ouzel.connectors.base import (
    BatchView,
    Connector,
    Option,
    Reads,
    Replay,
    SinkDelivery,
    Writers,
    Writes,
    always,
    never,
)
from ouzel.connectors.reading import Committed, OffsetRange, Partition, ReadBatch, ReadState, SourceRequest, before
from ouzel.connectors.writing import SinkRequest

CONNECTOR = Connector(
    "toy",
    "Whole numbers from 0 on; written as lines of text.",
    (Option("rows", "How many numbers.", "10", kind="integer"), Option("path", "The file to write.")),
    Reads(
        "toy_connector:ToySource",
        bounded=always,
        batch=BatchView(dict),
        replay=Replay.OFFSET,
        changelog=never,
        ordered=never,
        grows=never,
        resumes=never,
        seeks=always,
        shared=True,
        at_rest=True,
    ),
    Writes("toy_connector:ToySink", ("append",), Writers.ONE, SinkDelivery.AT_LEAST_ONCE),
)


class ToySource:
    """One partition of numbers."""

    def __init__(self, request: SourceRequest) -> None:
        self._rows, self._columns = int(request.options.get("rows", "10")), request.columns

    def partitions(self) -> Sequence[Partition]:
        return [Partition("all", True)]

    def reader(self, partition: Partition, offset: int | None) -> ToyReader:
        return ToyReader(self._rows, offset or 0, self._columns)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        start = offset or 0
        return OffsetRange(start, min(start + rows, self._rows), start + rows >= self._rows)

    def commit(self, places: Mapping[str, Committed]) -> str:
        return ""

    def committed(self) -> Mapping[str, Committed]:
        return {}

    def close(self) -> None:
        pass


class ToyReader:
    """Reads numbers from an offset on."""

    def __init__(self, rows: int, offset: int, columns: Mapping[str, pl.DataType]) -> None:
        self._rows, self._at, self._columns = rows, offset, columns

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        start, end = self._at, min(before(until, self._at + rows), self._rows)
        if start >= end:
            return ReadState.END
        self._at = end
        numbers = pl.Series(range(start, end))
        return ReadBatch(pl.DataFrame({name: numbers.cast(kind) for name, kind in self._columns.items()}), start, end)

    def close(self) -> None:
        pass


class ToySink:
    """Writes a line a row."""

    flush_interval_ms, flush_rows = 0, 1

    def __init__(self, request: SinkRequest) -> None:
        self._file = (request.directory / request.options["path"]).open("a")

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        self._file.writelines(f"{row}\n" for row in frame.rows())

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

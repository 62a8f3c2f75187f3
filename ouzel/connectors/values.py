"""values: a table of one row, whose content does not matter. VALUES and a SELECT without FROM read it."""

from __future__ import annotations

from dataclasses import replace

from ouzel.connectors.base import BatchView, Connector, Reads, Replay, always, never
from ouzel.connectors.datagen import DatagenReader, DatagenSource
from ouzel.connectors.reading import Partition, ReadBatch, ReadState, SourceRequest

CONNECTOR = Connector(
    "values",
    "One row, which VALUES and a SELECT without FROM compute theirs of. There is no need to write it.",
    reads=Reads(
        "ouzel.connectors.values:open_values",
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
        spark="one row",
    ),
)


class _OneRow(DatagenSource):
    """A row made up like any other, but in no place: what is wrong with it is in the query or in the program, which says so itself."""

    def reader(self, partition: Partition, offset: int | None) -> DatagenReader:
        return _OneRowReader(super().reader(partition, offset))


class _OneRowReader(DatagenReader):
    def __init__(self, reader: DatagenReader) -> None:
        self._reader = reader

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        read = self._reader.read(rows, until)
        return replace(read, place=lambda row: "") if isinstance(read, ReadBatch) else read


def open_values(request: SourceRequest) -> DatagenSource:
    """Its source."""
    return _OneRow(replace(request, options={"rows": "1", "partitions": "1"}))

"""values: a table of numbered rows. VALUES and a SELECT without FROM read one; of each, a program's own records have one."""

from __future__ import annotations

from dataclasses import replace

from ouzel.connectors.base import BatchView, Connector, HistoryView, Option, Reads, Replay, always, never
from ouzel.connectors.datagen import DatagenReader, DatagenSource
from ouzel.connectors.reading import Partition, ReadBatch, ReadState, SourceRequest

CONNECTOR = Connector(
    "values",
    "Numbered rows. VALUES and a SELECT without FROM compute theirs of one, and `Source.of` its records. There is no need to write it.",
    (Option("rows", "How many rows there are, numbered from 0.", "1", kind="integer"),),
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
        history=HistoryView(),
        spark="given rows",
    ),
)


class _Numbers(DatagenSource):
    """Rows made up like any others. The one row of SQL is in no place: what is wrong with it is in the query, which says so itself."""

    def __init__(self, request: SourceRequest) -> None:
        self._place = request.table if "rows" in request.options else ""
        numbered = {"partitions": "1", "fields.id.kind": "sequence", "fields.id.start": "0"}
        super().__init__(replace(request, options={"rows": "1", **request.options, **numbered}))

    def reader(self, partition: Partition, offset: int | None) -> DatagenReader:
        return _NumbersReader(super().reader(partition, offset), self._place)


class _NumbersReader(DatagenReader):
    def __init__(self, reader: DatagenReader, place: str) -> None:
        self._reader, self._place = reader, place

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        read = self._reader.read(rows, until)
        if not isinstance(read, ReadBatch):
            return read
        return replace(read, place=lambda row: f"{self._place}[{read.start + row}]" if self._place else "")


def open_values(request: SourceRequest) -> DatagenSource:
    """Its source."""
    return _Numbers(request)

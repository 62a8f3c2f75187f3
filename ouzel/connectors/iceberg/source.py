"""Reading a snapshot of a table, and those that come after it, as its metadata has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from ouzel.connectors.file.parquet import ParquetReader
from ouzel.connectors.formats.widening import match_columns, require_columns
from ouzel.connectors.iceberg import CONNECTOR
from ouzel.connectors.iceberg.columns import file_columns, find_fields, fixed_by_name
from ouzel.connectors.iceberg.places import find_place, local_path
from ouzel.connectors.iceberg.snapshots import (
    choose_snapshot,
    later_snapshots,
    list_snapshot_files,
    schema_columns,
    unread_partitions,
)
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import Reader, SourceRequest
from ouzel.connectors.versioned.source import DataFile, TableVersion, VersionedSource


class IcebergSource(VersionedSource):
    """A version is a snapshot of the branch `main`."""

    noun, option, cleaner = "snapshot", "snapshot.id", "expire_snapshots"

    def __init__(self, request: SourceRequest) -> None:
        self._place = find_place(request.options, request.directory)
        self._table = self._place.load()
        super().__init__(request, TableOptions(CONNECTOR, request.options), local_path(self._table.location()))
        self._chosen = choose_snapshot(request.options, self._table, self._place.where)
        self._fields = find_fields(self._columns, self._chosen.schema.fields)

    def _begin(self) -> TableVersion:
        number, schema = self._chosen
        where = f"snapshot {number} of {self._place.where}"
        held = dict(pl.Schema(schema_columns(schema, where)))
        match_columns(held, self._columns, where)
        require_columns(list(held), self._columns, where)
        return TableVersion(number, list_snapshot_files(self._table, number, where))

    def _later(self, version: int) -> Iterator[TableVersion]:
        self._table = self._place.load()
        return later_snapshots(self._table, version, self._place.where)

    def _open(self, file: DataFile, path: str, offset: int) -> Reader:
        def names() -> Mapping[str, str]:
            table = self._table
            return file_columns(path, self._fields, table.name_mapping(), file.fixed, unread_partitions(table))

        fixed = fixed_by_name(self._fields, file.fixed)
        return ParquetReader(self._request, path, offset, file.rows or 0, fixed=fixed, names=names)

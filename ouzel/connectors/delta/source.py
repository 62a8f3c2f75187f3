"""Reading a version of a table, and the commits behind it. Files of Parquet are read as the file connector reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ouzel.connectors.delta import CONNECTOR, is_followed
from ouzel.connectors.delta.log import (
    DataFile,
    added_files,
    choose_version,
    open_snapshot,
    snapshot_files,
    table_types,
)
from ouzel.connectors.file.parquet import ParquetReader, read_footer
from ouzel.connectors.formats.widening import match_columns, require_columns
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import NothingCommitted, OffsetRange, Partition, Reader, SourceRequest
from ouzel.errors import ConnectorError


class _Known(NamedTuple):
    file: DataFile
    rows: int


class DeltaSource(NothingCommitted):
    """A partition is a file of the version that reading begins with, or one that a later commit adds: `<version>:<name>`."""

    def __init__(self, request: SourceRequest) -> None:
        self._request, self._options = request, TableOptions(CONNECTOR, request.options)
        self._folder = request.directory / self._options.text("path")
        self._first = choose_version(request.options, self._folder)
        self._follows = is_followed(request.options)
        self._ends = self._options.text("end") == "latest"
        self._next = self._first
        self._files: dict[str, _Known] = {}

    def partitions(self) -> Sequence[Partition]:
        """Files of the first version by name, then those of each commit in its order."""
        if self._next == self._first:
            self._begin()
        while self._follows and (added := added_files(self._folder, self._next)) is not None:
            self._add(added)
        self._follows = self._follows and not self._ends
        return [Partition(name, not self._follows, called=known.file.name) for name, known in self._files.items()]

    def _begin(self) -> None:
        table = open_snapshot(self._folder, self._first)
        held, where = table_types(table), f"version {self._first} of {self._folder}"
        columns = {name: kind for name, kind in self._request.columns.items() if name not in self._request.metadata}
        match_columns(held, columns, where)
        require_columns(list(held), columns, where)
        self._add(snapshot_files(table, self._folder))

    def _add(self, files: Sequence[DataFile]) -> None:
        """The files of the next version; nothing is kept of them unless all are there, so that it can be tried again."""
        known = {f"{self._next}:{file.name}": _Known(file, self._count(file)) for file in files}
        self._files |= known
        self._next += 1

    def _count(self, file: DataFile) -> int:
        return file.rows if file.rows is not None else int(read_footer(str(self._path(file))).num_rows)

    def _path(self, file: DataFile) -> Path:
        path = self._folder / file.name
        if not path.exists():
            raise ConnectorError(
                f"{path} is gone, which version {self._next} or one before it has: VACUUM has removed it, or someone else; read a newer "
                "'version', and keep what VACUUM removes for longer than it takes to read"
            )
        return path

    def _known(self, partition: Partition) -> _Known:
        if partition.id not in self._files:
            self.partitions()
        if partition.id not in self._files:
            raise ConnectorError(f"{self._folder} has no file '{partition.id}' as it is read now")
        return self._files[partition.id]

    def reader(self, partition: Partition, offset: int | None) -> Reader:
        """Start at a row; None is the first."""
        file, rows = self._known(partition)
        return ParquetReader(self._request, str(self._path(file)), offset or 0, rows, fixed=file.fixed)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """The log says how many rows a file has."""
        start, end = offset or 0, self._known(partition).rows
        return OffsetRange(start, min(start + rows, end), start + rows >= end)

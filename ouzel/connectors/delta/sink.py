"""Appending to a table: what gathers between two flushes is one commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, SchemaMismatchError, TableNotFoundError

from ouzel.connectors.delta import CONNECTOR
from ouzel.connectors.delta.log import commit_path, table_types
from ouzel.connectors.options import TableOptions
from ouzel.connectors.versioned.sink import CommittingSink, check_written
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError


class AppendedTable:
    """The table that a sink writes to, which is made if it is missing.

    Raises:
        ConnectorError: it cannot be made, or its columns are others.
    """

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self.name, self.folder = request.table, Path(request.directory / options.text("path"))
        self._schema = pl.DataFrame(schema=dict(request.columns)).to_arrow().schema
        try:
            self.table = self._open(list(options.names("partition.by")))
        except (DeltaError, OSError, ValueError) as error:
            raise self.make_error(error) from None
        self._check_columns(request)

    def _open(self, partition_by: list[str]) -> DeltaTable:
        """The table as it is, made if it is missing."""
        try:
            return DeltaTable(self.folder)
        except TableNotFoundError:
            self._refuse_other_files()
            self._make(partition_by)
            return DeltaTable(self.folder)

    def _make(self, partition_by: list[str]) -> None:
        """Of tasks that do so at once one has its first commit there: the library would make the others' a second, which changes all."""
        first = commit_path(self.folder, 0)
        first.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self.folder, prefix="_made-") as place, suppress(FileExistsError):
            DeltaTable.create(place, pa.schema(self._schema), partition_by=partition_by or None)
            os.link(commit_path(Path(place), 0), first)

    def _refuse_other_files(self) -> None:
        """Files that no log speaks of would look as if they belonged to the table."""
        there = next((path for path in self.folder.glob("*") if not path.name.startswith("_")), None)
        if there is not None and not commit_path(self.folder, 0).exists():
            raise ConnectorError(
                f"table '{self.name}' cannot be made in {self.folder}, which holds {there.name} and no log; name an empty folder"
            )

    def _check_columns(self, request: SinkRequest) -> None:
        held = table_types(self.table)
        check_written(request, request.columns, held, str(self.folder), "folder")
        self._check_partitions({name: held[name] for name in self.table.metadata().partition_columns})

    def _check_partitions(self, held: Mapping[str, pl.DataType]) -> None:
        """deltalake 1.6 writes -3.65 as -3.-65 into the log, which nobody can read then."""
        name = next((name for name, kind in held.items() if isinstance(kind, pl.Decimal)), None)
        if name is not None:
            raise ConnectorError(
                f"table '{self.name}' cannot be written to {self.folder}: it is partitioned by '{name}', a DECIMAL, of which the library "
                "deltalake writes negative values wrongly; partition by another column"
            )

    def append(self, frames: Iterable[pl.DataFrame], properties: CommitProperties | None = None) -> None:
        """Add the rows of frames in one commit.

        Raises:
            ConnectorError: they cannot be written; none of them is visible then.
        """
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches(frames))
        try:
            write_deltalake(self.table, reader, mode="append", commit_properties=properties)
        except (DeltaError, OSError, ValueError, pa.ArrowException) as error:
            raise self.make_error(error) from None

    def _batches(self, frames: Iterable[pl.DataFrame]) -> Iterator[pa.RecordBatch]:
        for frame in frames:
            yield from frame.to_arrow().cast(self._schema).to_batches()

    def make_error(self, error: Exception) -> ConnectorError:
        """What is told of an error of the library, or of the disk."""
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, SchemaMismatchError):
            reason += "; its columns were changed meanwhile"
        if isinstance(error, CommitFailedError):
            reason += "; another writer has changed the table"
        return ConnectorError(f"table '{self.name}' cannot be written to {self.folder}: {reason}")


class DeltaSink(CommittingSink):
    """Each flush is a commit of its own."""

    def __init__(self, request: SinkRequest) -> None:
        super().__init__(TableOptions(CONNECTOR, request.options), AppendedTable(request).append)

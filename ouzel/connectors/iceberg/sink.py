"""Appending to a table: what gathers between two flushes is one snapshot."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import polars as pl
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    NotInstalledError,
    TableAlreadyExistsError,
    ValidationError,
)
from pyiceberg.io.pyarrow import _dataframe_to_data_files
from pyiceberg.manifest import DataFile as Entry
from pyiceberg.table import Table, TableProperties
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from ouzel.connectors.iceberg import CONNECTOR
from ouzel.connectors.iceberg.places import Catalog, first_line, load_table
from ouzel.connectors.iceberg.snapshots import schema_columns
from ouzel.connectors.options import TableOptions
from ouzel.connectors.versioned.sink import CommittingSink, check_written
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_FILE_BYTES = 128 << 20
"""How much of a commit is in memory at once, and becomes a data file, or one for each partition."""
_ANSWERLESS_TRIES = 20
"""How often a commit is tried whose outcome the catalog does not tell, as SQLite's file is locked for long."""
_PAUSE_S = 0.05
"""At most so long a commit waits that another writer came before."""
_FAILURES = (
    OSError, ValueError, TypeError, NotImplementedError, pa.ArrowException, SQLAlchemyError, NotInstalledError, NoSuchTableError,
    ValidationError,
)  # fmt: skip

Noted = Callable[[Table], Mapping[str, str] | None]
"""From the table as it is to the properties that it gets with a commit; None: there is nothing to commit. Raises ConnectorError."""


class CatalogTable:
    """The table that a sink writes to, which is made if it is missing.

    Raises:
        ConnectorError: it cannot be made, or its columns are others.
    """

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self.name, self._place = request.table, Catalog(request.options, request.directory)
        self._schema = pl.DataFrame(schema=dict(request.columns)).to_arrow().schema
        try:
            self._table = self._open(list(options.names("partition.by")))
        except _FAILURES as error:
            raise self._make_error(error) from None
        self._check_columns(request)

    def _open(self, partition_by: Sequence[str]) -> Table:
        """The table as it is, made if it is missing. Of tasks that make it at once one does."""
        catalog = self._open_catalog()
        try:
            return load_table(catalog, self._place.table)
        except NoSuchTableError:
            self._make(catalog, partition_by)
            return load_table(catalog, self._place.table)

    def _open_catalog(self) -> SqlCatalog:
        self._place.file.parent.mkdir(parents=True, exist_ok=True)
        try:
            return self._place.open(make=True)
        except ConnectorError:  # another task has made its tables in the same moment
            return self._place.open(make=False)

    def _make(self, catalog: SqlCatalog, partition_by: Sequence[str]) -> None:
        unknown = next((name for name in partition_by if name not in self._schema.names), None)
        if unknown is not None:
            raise ConnectorError(
                f"table '{self.name}' has no column '{unknown}', by which 'partition.by' partitions it"
            )
        with suppress(NamespaceAlreadyExistsError, IntegrityError):
            catalog.create_namespace(self._place.table.rpartition(".")[0])
        merged = {TableProperties.MANIFEST_MERGE_ENABLED: "true"}
        with (
            suppress(TableAlreadyExistsError, CommitFailedException),
            catalog.create_table_transaction(self._place.table, self._schema, properties=merged) as made,
            made.update_spec() as spec,
        ):
            for name in partition_by:
                spec.add_identity(name)

    def _check_columns(self, request: SinkRequest) -> None:
        schema = self._table.schema()
        held = dict(pl.Schema(schema_columns(schema, self._place.where)))
        written = {name: _stored(kind) for name, kind in request.columns.items()}
        check_written(request, written, held, self._place.where, "table")
        required = next((field.name for field in schema.fields if field.required), None)
        if required is not None:
            raise ConnectorError(
                f"table '{self.name}' cannot be written: column '{required}' of {self._place.where} is required, and a query's columns may "
                f"be NULL; ALTER TABLE ... ALTER COLUMN {required} DROP NOT NULL"
            )

    def append(
        self, frames: Iterable[pl.DataFrame], noted: Noted = lambda table: {}, summary: Mapping[str, str] | None = None
    ) -> None:
        """Add the rows of frames in one snapshot, whose summary says these words too.

        Raises:
            ConnectorError: they cannot be written; none of them is visible then.
        """
        try:
            self._table.refresh()
            if noted(self._table) is not None:
                self._commit(self._write(frames), noted, summary or {})
        except _FAILURES as error:
            raise self._make_error(error) from None

    def _write(self, frames: Iterable[pl.DataFrame]) -> list[Entry]:
        """Files that no snapshot has yet."""
        written: list[Entry] = []
        for batches in self._portions(frames):
            rows = pa.Table.from_batches(batches, self._schema)
            written += _dataframe_to_data_files(self._table.metadata, rows, self._table.io)
        return written

    def _portions(self, frames: Iterable[pl.DataFrame]) -> Iterator[list[pa.RecordBatch]]:
        """Batches of about as many bytes as a file may have."""
        waiting: list[pa.RecordBatch] = []
        for frame in frames:
            waiting += frame.to_arrow().cast(self._schema).to_batches()
            if sum(batch.nbytes for batch in waiting) >= _FILE_BYTES:
                yield waiting
                waiting = []
        if waiting:
            yield waiting

    def _commit(self, files: Sequence[Entry], noted: Noted, summary: Mapping[str, str]) -> None:
        """Another writer may come first, each time: then it is tried again, if `noted` has nothing against it."""
        spec, uuid, answerless = self._table.metadata.default_spec_id, self._table.metadata.table_uuid, 0
        while (properties := noted(self._table)) is not None:
            if (self._table.metadata.default_spec_id, self._table.metadata.table_uuid) != (spec, uuid):
                raise ConnectorError(
                    f"table '{self.name}': {self._place.where} was partitioned otherwise, or made anew, while rows were written to it"
                )
            try:
                self._commit_once(files, properties, summary)
                return
            except CommitFailedException:
                answerless = 0
            except OperationalError as error:
                answerless += 1
                if answerless == _ANSWERLESS_TRIES:
                    raise self._make_error(error) from None
            time.sleep(random.uniform(0, _PAUSE_S))
            self._table.refresh()

    def _commit_once(self, files: Sequence[Entry], properties: Mapping[str, str], summary: Mapping[str, str]) -> None:
        """A snapshot whose parent is the one that `main` was at when the table was read, or none.

        By itself the library would give it another parent, if another writer came first: whoever is fenced would commit then.
        """
        metadata = self._table.metadata
        kept = {**metadata.properties, TableProperties.COMMIT_NUM_RETRIES: "0"}
        self._table.metadata = metadata.model_copy(update={"properties": kept})
        transaction = self._table.transaction()
        if properties:
            transaction.set_properties(dict(properties))
        with transaction.update_snapshot(snapshot_properties=dict(summary)).merge_append() as append:
            for file in files:
                append.append_data_file(file)
        transaction.commit_transaction()

    def _make_error(self, error: Exception) -> ConnectorError:
        """What is told of an error of the library, of the catalog or of the disk."""
        return ConnectorError(f"table '{self.name}' cannot be written to {self._place.where}: {first_line(error)}")


def _stored(kind: pl.DataType) -> pl.DataType:
    """The type that a table has for a column: Iceberg's integers have 32 bits or 64."""
    match kind:
        case pl.Int8() | pl.Int16():
            return pl.Int32()
        case pl.List():
            return pl.List(_stored(_instance(kind.inner)))
        case pl.Struct():
            return pl.Struct({field.name: _stored(_instance(field.dtype)) for field in kind.fields})
    return kind


def _instance(kind: object) -> pl.DataType:
    made: pl.DataType = kind() if isinstance(kind, type) else kind  # type: ignore[assignment]
    return made


class IcebergSink(CommittingSink):
    """Each flush is a snapshot of its own."""

    def __init__(self, request: SinkRequest) -> None:
        super().__init__(TableOptions(CONNECTOR, request.options), CatalogTable(request).append)

"""The sums of a stream, read where it has written them: any table that is at rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from ouzel.connectors import CONNECTORS, open_source, reads_of
from ouzel.connectors.reading import ReadBatch, SourceRequest
from ouzel.errors import ConnectorError
from ouzel.stores.batcher import Batcher, BatchID
from ouzel.stores.columns import StoreColumns
from ouzel.stores.folder import FolderStore, added_up, totals_of
from ouzel.stores.keyed import KeyedStream, KeyedTotals, NamedTable
from ouzel.stores.merging import file_options

WEIGHT = "$weight"


def read_rows(
    table: str, connector: str, options: Mapping[str, str], columns: Mapping[str, pl.DataType], directory: Path
) -> pl.DataFrame:
    """All rows of a table that are there now; of one whose rows are taken back, those that have stayed.

    Raises:
        ConnectorError: it cannot be read, or a record of it cannot.
    """
    changes = reads_of(connector, table).changelog(options)
    source = open_source(connector, SourceRequest(table, options, columns, directory, weight=WEIGHT))
    frames = [pl.DataFrame(schema={**columns, WEIGHT: pl.Int64()} if changes else dict(columns))]
    try:
        for partition in source.partitions():
            reader = source.reader(partition, None)
            try:
                while isinstance(batch := reader.read(50_000), ReadBatch):
                    if batch.bad:
                        raise ConnectorError(f"table '{table}' at {batch.bad[0].where}: {batch.bad[0].reason}")
                    frames.append(batch.frame)
            finally:
                reader.close()
    finally:
        source.close()
    rows = pl.concat(frames)
    if not changes:
        return rows
    left = rows.group_by(list(columns)).agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) > 0)
    return left.select(pl.col(list(columns)).repeat_by(WEIGHT)).explode(list(columns))


class StoredStream:
    """A stream store that is a table: the sums of windows that a topology has written, by a query of the store's.

    Reads the table once, when it is first asked.

    Args:
        batcher: how time is cut.
        columns: what the columns mean.
        table: what messages call the table.
        options: its connector, and that one's options.
        directory: where relative paths start.
    """

    def __init__(
        self, batcher: Batcher, columns: StoreColumns, table: str, options: Mapping[str, str], directory: Path
    ) -> None:
        self.batcher, self.columns = batcher, columns
        self._table, self._options, self._directory = table, dict(options), directory

    @property
    def at_rest(self) -> bool:
        """Whether all rows are there now, so that they can be read."""
        options = dict(self._options)
        try:
            row = CONNECTORS[options.pop("connector", "")]
        except KeyError:  # said when the table is made
            return False
        return row.reads is not None and row.reads.at_rest and row.reads.bounded(options)

    @cached_property
    def _rows(self) -> dict[BatchID, pl.DataFrame]:
        options = dict(self._options)
        connector, wanted, time = options.pop("connector"), self.columns.sums.polars(), self.columns.time.name
        rows = read_rows(self._table, connector, options, wanted, self._directory)
        starts = rows[time].unique()
        numbers = pl.DataFrame(
            {time: starts, "$batch": [self.batcher.batch_of(start).number for start in starts]},
            schema={time: rows.schema[time], "$batch": pl.Int64()},
        )
        parts = rows.join(numbers, on=time).partition_by("$batch", as_dict=True, include_key=False)
        return {BatchID(int(number)): part for (number,), part in parts.items()}

    def batches(self) -> frozenset[BatchID]:
        """The batches that it has rows of. An empty batch is not told from one that is missing."""
        return frozenset(self._rows)

    def get_many(self, keys: Iterable[tuple[Any, BatchID]]) -> dict[tuple[Any, BatchID], Any]:
        """The totals of those of the keys in their batches that there are."""
        asked: dict[BatchID, list[Any]] = {}
        for key, batch in keys:
            asked.setdefault(batch, []).append(key)
        return {
            (key, batch): total
            for batch, wanted in asked.items()
            if batch in self._rows
            for key, total in totals_of(self._rows[batch], self.columns, wanted).items()
        }

    def sums(self, batch: BatchID) -> dict[Any, Any]:
        """What one batch adds up to, by key."""
        return added_up(self._rows[batch], self.columns) if batch in self._rows else {}


def stored_stream(store: FolderStore, table: str | Path | NamedTable) -> StoredStream | KeyedStream:
    """What a stream by the store's query has written: as Parquet to a folder, or to a server's table.

    Args:
        store: the batch store, whose columns these are.
        table: the folder, or the table as `Sink.postgres(...)` gives it.

    Raises:
        QueryError: there is no store yet.
    """
    page = store.page
    if isinstance(table, str | Path):
        return StoredStream(page.batcher, page.columns, Path(table).name, file_options(table), Path.cwd())
    return stream_of(
        page.batcher, page.columns, table.name, {"connector": table.connector, **dict(table.options)}, Path.cwd()
    )


def stream_of(
    batcher: Batcher, columns: StoreColumns, table: str, options: Mapping[str, str], directory: Path
) -> StoredStream | KeyedStream:
    """A stream store that is a table; its arguments are StoredStream's."""
    connector = options.get("connector", "")
    if connector not in CONNECTORS or not CONNECTORS[connector].keyed:
        return StoredStream(batcher, columns, table, options, directory)
    given = {name: value for name, value in options.items() if name != "connector"}
    totals = KeyedTotals(table, connector, given, (columns.time, *columns.keys), columns.values, directory)
    return KeyedStream(batcher, columns, totals)

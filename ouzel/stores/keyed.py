"""Totals by key in a server's table: Redis, PostgreSQL. They are looked up, and added to, each batch of additions once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl

from ouzel.compiler.records import KEY, VALUE, record_of
from ouzel.compiler.types import TIMESTAMP, Field, Schema
from ouzel.connectors import CONNECTORS, open_keyed
from ouzel.connectors.keyed import KeyedRequest, KeyedRows
from ouzel.errors import QueryError
from ouzel.monoid import Monoid, TupleOf
from ouzel.stores.batcher import Batcher, BatchID
from ouzel.stores.columns import MONOIDS, StoreColumns, StoredValue, merged_by_of
from ouzel.stores.folder import added_up, key_frame, key_of, key_parts

SOLE_WRITER = "alone"
"""The default name of a program as a writer."""

LOOKUPS_MOST = 100_000
"""More windows of keys than these are not looked up one by one."""


class NamedTable(Protocol):
    """A table as `Store.<connector>(...)` gives it."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def connector(self) -> str:
        """The name of the connector."""

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """The options, as in WITH."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns; empty for key and value."""


@dataclass(frozen=True)
class KeyedTotals:
    """The total of each key, of all time: a service, and what merges into it.

    A key is the value of the key column, or a tuple if there are several; a total is of `monoid`, over the values of all columns.

    Args:
        table: what messages call the table.
        connector: its connector.
        options: what WITH would hold.
        keys: the columns of the key.
        values: the sums.
        directory: where relative paths start.
        writer: who adds to it; the ids of batches are its own.
    """

    table: str
    connector: str
    options: Mapping[str, str]
    keys: tuple[Field, ...]
    values: tuple[StoredValue, ...]
    directory: Path = field(default_factory=Path.cwd)
    writer: str = SOLE_WRITER

    @property
    def schema(self) -> Schema:
        """All columns."""
        return Schema((*self.keys, *(Field(one.name, one.type) for one in self.values)))

    @property
    def monoid(self) -> TupleOf:
        """How totals add up: each column's values by a monoid of its own."""
        return TupleOf(tuple(MONOIDS[one.merged_by] for one in self.values))

    def get_many(self, keys: Iterable[Any]) -> dict[Any, Any]:
        """The totals of these keys, without keys that have none.

        Raises:
            ConnectorError: the server refuses.
        """
        asked = key_frame(self, keys)
        if asked.is_empty():
            return {}
        with _Opened(self) as table:
            return added_up(table.get_many(asked), self)

    def frame(self) -> pl.DataFrame:
        """All rows of the table now.

        Raises:
            ConnectorError: the server refuses.
        """
        with _Opened(self) as table:
            return table.rows()

    def merge_many(self, deltas: Mapping[Any, Any], batch: str) -> None:
        """Add these to the totals, all of them or none, and only if the batch was not added before.

        Args:
            deltas: totals by key.
            batch: its id; whoever comes again with it, after a crash say, changes nothing.

        Raises:
            ConnectorError: the server refuses, or a sum does not fit its type.
        """
        present = self.monoid.present
        rows = [(*key_parts(self, key), *present(total)) for key, total in deltas.items()]
        self.merge_frame(pl.DataFrame(rows, schema=self.schema.polars(), orient="row"), batch)

    def merge_frame(self, rows: pl.DataFrame, batch: str) -> None:
        """Merge additions in columns: keys and values; a key may come several times."""
        if rows.height:
            with _Opened(self, writes=True) as table:
                table.merge({batch: rows.select(self.schema.names)})


class _Opened:
    """The table, open for the length of a `with`."""

    def __init__(self, totals: KeyedTotals, writes: bool = False) -> None:
        self._totals, self._writes = totals, writes

    def __enter__(self) -> KeyedRows:
        totals = self._totals
        request = KeyedRequest(
            totals.table, totals.options, totals.schema.polars(), tuple(one.name for one in totals.keys), totals.directory,
            {one.name: one.merged_by for one in totals.values}, self._writes, totals.writer,
        )  # fmt: skip
        self._table = open_keyed(totals.connector, request)
        return self._table

    def __exit__(self, *error: object) -> None:
        self._table.close()


@dataclass(frozen=True)
class KeyedStream:
    """A stream store in a server's table: the sums of windows, by the time when each began and by key.

    Args:
        batcher: how time is cut.
        columns: what the columns mean.
        totals: the table, whose first key is the time.
        whole: rows are of whole batches, and not of windows in them.
    """

    batcher: Batcher
    columns: StoreColumns
    totals: KeyedTotals
    whole: bool = False
    at_rest: ClassVar = True

    @property
    def monoid(self) -> Monoid[Any, Any, Any]:
        """How totals add up."""
        return self.columns.monoid

    def batches(self) -> frozenset[BatchID]:
        """The batches that it has rows of."""
        return frozenset(map(self.batcher.batch_of, self.totals.frame()[self.columns.time.name].unique()))

    def get_many(self, keys: Iterable[tuple[Any, BatchID]]) -> dict[tuple[Any, BatchID], Any]:
        """The totals of these keys in these batches, without those that have none."""
        asked: dict[BatchID, list[Any]] = {}
        for key, batch in keys:
            asked.setdefault(batch, []).append(key)
        starts = {batch: self._starts(batch) for batch in asked}
        wanted = [self._row_key(start, key) for batch, some in asked.items() for key in some for start in starts[batch]]
        found: dict[tuple[Any, BatchID], Any] = {}
        for row_key, total in self._looked_up(wanted).items():
            start, *parts = key_parts(self.totals, row_key)
            place = key_of(tuple(parts)), self.batcher.batch_of(start)
            found[place] = self.monoid.plus(found[place], total) if place in found else total
        return found

    def _looked_up(self, wanted: list[Any]) -> dict[Any, Any]:
        if len(wanted) <= LOOKUPS_MOST:
            return self.totals.get_many(wanted)
        rows = self.totals.frame().join(
            key_frame(self.totals, wanted), on=[one.name for one in self.totals.keys], how="semi"
        )
        return added_up(rows, self.totals)

    def _starts(self, batch: BatchID) -> list[datetime]:
        """When the windows in a batch begin."""
        (start, end), window = self.batcher.interval_of(batch), self.columns.window
        if self.whole:
            return [start]
        return [start + place * window for place in range((end - start) // window)]

    def _row_key(self, start: datetime, key: Any) -> Any:
        """The key of a row of the table."""
        return key_of((start, *key_parts(self.columns, key)))

    def sums(self, batch: BatchID) -> dict[Any, Any]:
        """The totals of one batch, by key."""
        time = self.columns.time.name
        rows = self.totals.frame()
        start, end = self.batcher.interval_of(batch)
        return added_up(rows.filter(pl.col(time).is_between(start, end, closed="left")), self.columns)

    def merge_many(self, deltas: Mapping[tuple[Any, BatchID], Any], batch: str) -> None:
        """Add these to the totals of keys in batches; see KeyedTotals.merge_many."""
        first = self.batcher.earliest_time_of
        made = {self._row_key(first(within), key): total for (key, within), total in deltas.items()}
        self.totals.merge_many(made, batch)


def keyed_totals(
    table: NamedTable, monoid: Monoid[Any, Any, Any], key: Any, value: Any, writer: str = SOLE_WRITER
) -> KeyedTotals:
    """The totals that `sum_by_key(monoid, table)` keeps.

    Args:
        table: as `Store.redis(...)` gives it.
        monoid: how totals add up.
        key: the type of keys, as `str`.
        value: the type of values.
        writer: who adds to it, if you do; the ids of batches are its own.

    Raises:
        QueryError: the connector keeps no rows by key, or cannot add up so.
    """
    if not CONNECTORS[table.connector].keyed:
        able = ", ".join(name for name, row in CONNECTORS.items() if row.keyed)
        raise QueryError(
            f"the connector {table.connector} keeps no rows that are found by key", instead=f"take one of {able}"
        )
    given, kind = record_of(key).columns[0].type, record_of(value).columns[0].type
    names = table.columns or (KEY, VALUE)
    stored = StoredValue(names[1], monoid.signature(kind).result, merged_by_of(monoid, kind))
    return KeyedTotals(
        table.name, table.connector, dict(table.options), (Field(names[0], given),), (stored,), writer=writer
    )


def keyed_stream(totals: KeyedTotals, batcher: Batcher, time: str = "window_start") -> KeyedStream:
    """The same by batches of time, for a program that adds to it itself.

    Args:
        totals: the table, without the time.
        batcher: how time is cut.
        time: the column that says when a batch began.
    """
    began = Field(time, TIMESTAMP, nullable=False)
    columns = StoreColumns(began, timedelta(), totals.keys, totals.values, totals.table)
    return KeyedStream(batcher, columns, replace(totals, keys=(began, *totals.keys)), whole=True)

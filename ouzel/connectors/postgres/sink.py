"""Writing a table: rows wait for `flush`, which is one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from ouzel.connectors.keyed import GatheringWriter, KeyedRequest, keyed_request, writer_of
from ouzel.connectors.options import TableOptions
from ouzel.connectors.postgres import CONNECTOR
from ouzel.connectors.postgres.client import PostgresConnection
from ouzel.connectors.postgres.table import PostgresTable
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.errors import ConnectorError

Put = Callable[[PostgresConnection, list[pl.DataFrame]], None]
"""What writes frames, in a transaction of the connection."""


def open_postgres(request: SinkRequest) -> SinkWriter:
    """What writes such a table: row by row, or adding up.

    Raises:
        ConnectorError: the server does not answer, or has no such table.
    """
    table, put = open_table(request)
    return GatheringWriter(lambda batches: table.write(batches, put), table.close)


def open_table(request: SinkRequest, application: str = "ouzel") -> tuple[PostgresTable, Put]:
    """The table, and what writes its rows.

    Raises:
        ConnectorError: the server does not answer, or has no such table.
    """
    keys = TableOptions(CONNECTOR, request.options).names("key.fields") or tuple(request.keys)
    if unknown := [key for key in keys if key not in request.columns]:
        raise ConnectorError(
            f"table '{request.table}' has no column '{unknown[0]}' for 'key.fields'; it has {', '.join(request.columns)}"
        )
    if request.mode == "merge":
        table = PostgresTable(keyed_request(request, keys), application)
        return table, table.add
    given = KeyedRequest(
        request.table, request.options, request.columns, keys, request.directory, {}, True, writer_of(request), request.again
    )  # fmt: skip
    table = PostgresTable(given, application)
    return table, PostgresRows(table, replace(request, keys=keys)).put


class PostgresRows:
    """Inserts rows; of a table with keys rows replace what has theirs, and go."""

    def __init__(self, table: PostgresTable, request: SinkRequest) -> None:
        self._table, self._request = table, request

    def put(self, connection: PostgresConnection, frames: list[pl.DataFrame]) -> None:
        """Write frames, of which the later counts where two have a row of one key."""
        rows, keys = pl.concat(frames), list(self._request.keys)
        if keys:
            rows = rows.unique(keys, keep="last", maintain_order=True)
        if self._request.mode != "append":
            gone = rows.filter(pl.col(self._request.weight) < 0)
            rows = rows.filter(pl.col(self._request.weight) > 0)
            if gone.height:
                self._table.delete(connection, gone)
        if rows.height:
            self._table.replace(connection, rows)

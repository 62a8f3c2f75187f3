"""Publishing epochs to a table: the rows of an epoch and its number are one transaction.

The table of epochs has a row for each task that publishes: the newest epoch that is visible, and a generation, which grows whenever a task
takes over. A transaction locks that row and looks at the generation first. So a task that others have taken over from publishes no more,
and a transaction that it has open is ended: its connection is found by its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import polars as pl
from psycopg import sql

from ouzel.connectors.keyed import gathered
from ouzel.connectors.options import TableOptions
from ouzel.connectors.postgres import CONNECTOR
from ouzel.connectors.postgres.client import PostgresConnection
from ouzel.connectors.postgres.sink import open_table
from ouzel.connectors.postgres.table import ONE_AT_A_TIME
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_ROWS = 50_000

_EPOCHS = """CREATE TABLE IF NOT EXISTS {} (
    store text, writer text, epoch bigint NOT NULL, generation bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (store, writer)
)"""
_END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE application_name = %s AND usename = current_user AND pid <> pg_backend_pid()"
)
_WAIT = "SET LOCAL lock_timeout = '1s'"
"""Whoever gets the row between the end of others and the wait for it is ended by the next try."""

_TAKE_OVER = (
    "INSERT INTO {t} (store, writer, epoch, generation) VALUES (%s, %s, 0, 1) "
    "ON CONFLICT (store, writer) DO UPDATE SET generation = {t}.generation + 1 RETURNING epoch, generation"
)
_HELD = "SELECT epoch, generation FROM {t} WHERE store = %s AND writer = %s FOR UPDATE"
_NOTE = "UPDATE {t} SET epoch = %s, at = now() WHERE store = %s AND writer = %s"


class PostgresPublisher:
    """See writing.EpochPublisher."""

    def __init__(self, request: SinkRequest) -> None:
        self._epochs = sql.Identifier(*TableOptions(CONNECTOR, request.options).text("epochs.table").split("."))
        self._writer = request.publisher
        digest = hashlib.sha256(self._writer.encode()).hexdigest()
        self._application = f"ouzel-{digest[:32]}"  # PostgreSQL cuts it off behind 63 bytes
        self._table, self._put = open_table(request, self._application)
        self._place = [self._table.name, self._writer]
        self._epoch = self._generation = 0

    def last_published(self) -> int:
        self._table.transact(self._make)
        self._epoch, self._generation = self._table.transact(self._take_over)
        return self._epoch

    def _make(self, connection: PostgresConnection) -> None:
        connection.execute(ONE_AT_A_TIME)
        connection.execute(sql.SQL(_EPOCHS).format(self._epochs))

    def _take_over(self, connection: PostgresConnection) -> tuple[int, int]:
        connection.execute(_END_OTHERS, [self._application])
        connection.execute(_WAIT)
        taken = connection.execute(sql.SQL(_TAKE_OVER).format(t=self._epochs), self._place).fetchone()
        assert taken is not None
        return taken[0], taken[1]

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        self._table.transact(lambda connection: self._publish(connection, epoch, frames))
        self._epoch = epoch

    def _publish(self, connection: PostgresConnection, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        if self._visible(connection) == epoch:
            return  # an earlier try was committed, and the answer has not arrived
        for portion in gathered(frames, _ROWS):
            self._put(connection, portion)
        connection.execute(sql.SQL(_NOTE).format(t=self._epochs), [epoch, *self._place])

    def _visible(self, connection: PostgresConnection) -> int:
        """The newest epoch that is visible; its row is locked."""
        held = connection.execute(sql.SQL(_HELD).format(t=self._epochs), self._place).fetchone()
        epoch, generation = held or (0, 0)
        if generation > self._generation:
            raise ConnectorError(
                f"table '{self._table.name}': another task has taken over from '{self._writer}'; what this one had begun is not visible"
            )
        if generation < self._generation or epoch < self._epoch:
            raise ConnectorError(
                f"table '{self._table.name}': PostgreSQL has lost what it had committed: of '{self._writer}' it has epoch {epoch}, and "
                f"{self._epoch} was visible; restore the database, or start a new run"
            )
        return int(epoch)

    def close(self) -> None:
        self._table.close()

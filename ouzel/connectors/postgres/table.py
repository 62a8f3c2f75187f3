"""A table of PostgreSQL, written in transactions that note which batches are in them, and looked up by key.

Rows go in columns: as CSV by COPY into a temporary table of the connection, from which one statement takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl
from psycopg import sql

from ouzel.connectors.file.ledger import REMEMBERED
from ouzel.connectors.keyed import LEDGER_DAYS, KeyedRequest, merge_rows
from ouzel.connectors.options import TableOptions
from ouzel.connectors.postgres import CONNECTOR
from ouzel.connectors.postgres.client import PostgresConnection, PostgresServer
from ouzel.connectors.postgres.types import check_kept, type_name
from ouzel.errors import ConnectorError

_Answer = TypeVar("_Answer")
_ROWS = sql.Identifier("ouzel_rows")
_FORGET_EVERY = 1_000

_NOTE = ""
"""The writer of the note that says what a table adds up."""

ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('ouzel'))"
"""IF NOT EXISTS fails where two come at once."""

_LEDGER = """CREATE TABLE IF NOT EXISTS {} (
    store text, writer text, batch text, place bigint GENERATED ALWAYS AS IDENTITY, at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (store, writer, batch)
)"""
_HELD = (
    "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
)
_OWN_ROWS = ["pg_temp.ouzel_rows"]
_TEMPORARY = "CREATE TEMPORARY TABLE {} ON COMMIT DELETE ROWS AS SELECT {} FROM {} WITH NO DATA"

_ADDED = {
    "sum": "COALESCE({old} + {new}, {old}, {new})",
    "min": "LEAST({old}, {new})",
    "max": "GREATEST({old}, {new})",
    "bool_and": "COALESCE({old} AND {new}, {old}, {new})",
    "bool_or": "COALESCE({old} OR {new}, {old}, {new})",
}
"""How a column is added up; NULL adds nothing."""


class PostgresTable:
    """See keyed.KeyedRows. `write` takes rows in any other way, too."""

    def __init__(self, request: KeyedRequest, application: str = "ouzel") -> None:
        self._options = TableOptions(CONNECTOR, request.options)
        self._request = request
        self.name = self._options.text("table")
        self._name = sql.Identifier(*self.name.split("."))
        self._ledger = sql.Identifier(*self._options.text("added.table").split("."))
        self._kinds = {name: type_name(request.table, name, kind) for name, kind in request.columns.items()}
        self._columns = sql.SQL(", ").join(map(sql.Identifier, request.columns))
        self._keys = sql.SQL(", ").join(map(sql.Identifier, request.keys))
        self._flushes = 0
        self._server = PostgresServer(self._options, request.directory, self._prepare, application)
        if not request.again:
            try:
                self._server.greet()
            except ConnectorError:
                self._server.close()
                raise
            if request.writes:
                self._server.run(self._forget_old)

    def _prepare(self, connection: PostgresConnection) -> None:
        """Make what a connection needs, and see that the table is what it was."""
        if self._options.flag("create"):
            connection.execute(ONE_AT_A_TIME)
            connection.execute(self._creation())
        if self._request.writes:
            connection.execute(ONE_AT_A_TIME)
            connection.execute(sql.SQL(_LEDGER).format(self._ledger))
            connection.execute(sql.SQL(_TEMPORARY).format(_ROWS, self._columns, self._name))
            check_kept(
                self._request.table, self._request.columns, dict(connection.execute(_HELD, _OWN_ROWS).fetchall())
            )
        self._check(connection)

    def _check(self, connection: PostgresConnection) -> None:
        """See that the table adds up what it did, or note what it adds up."""
        place = [self.name, _NOTE]
        known = connection.execute("SELECT to_regclass(%s)", [self._options.text("added.table")]).fetchone()
        if not self._request.merged_by or known == (None,):
            return
        noted = sql.SQL("SELECT batch FROM {} WHERE store = %s AND writer = %s").format(self._ledger)
        note = connection.execute(noted, place).fetchone()
        self._request.check_same(note[0] if note else None, f"the table '{place[0]}'")
        if note is None and self._request.writes:
            made = sql.SQL("INSERT INTO {} (store, writer, batch) VALUES (%s, %s, %s)").format(self._ledger)
            connection.execute(made, [*place, self._request.description])

    def _creation(self) -> sql.Composed:
        columns = [sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in self._kinds.items()]
        if self._request.keys:
            columns.append(sql.SQL("PRIMARY KEY ({})").format(self._keys))
        return sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(self._name, sql.SQL(", ").join(columns))

    def get_many(self, keys: pl.DataFrame) -> pl.DataFrame:
        names = self._request.keys
        asked = sql.SQL(", ").join(sql.SQL("%s::{}[]").format(sql.SQL(self._kinds[name])) for name in names)
        query = sql.SQL("SELECT {} FROM {} WHERE ({}) IN (SELECT * FROM unnest({}))").format(
            self._columns, self._name, self._keys, asked
        )
        return self._fetch(query, [keys[name].to_list() for name in names])

    def rows(self) -> pl.DataFrame:
        return self._fetch(sql.SQL("SELECT {} FROM {}").format(self._columns, self._name), [])

    def _fetch(self, query: sql.Composed, values: Sequence[Any]) -> pl.DataFrame:
        rows = self._server.run(lambda connection: connection.execute(query, values).fetchall())
        return pl.DataFrame(rows, schema=dict(self._request.columns), orient="row")

    def merge(self, batches: Mapping[str, pl.DataFrame]) -> None:
        self.write(batches, self.add)

    def transact(self, work: Callable[[PostgresConnection], _Answer]) -> _Answer:
        """What comes of the work, done in one transaction; see PostgresServer.run."""
        return self._server.run(work)

    def write(
        self, batches: Mapping[str, pl.DataFrame], put: Callable[[PostgresConnection, list[pl.DataFrame]], None]
    ) -> None:
        """Put those of the batches that were not put before, in one transaction; see `merge`."""
        self._server.run(lambda connection: self._write(connection, batches, put))
        self._flushes += 1
        if self._flushes % _FORGET_EVERY == 0:
            self._server.run(self._forget_most)

    def _write(
        self,
        connection: PostgresConnection,
        batches: Mapping[str, pl.DataFrame],
        put: Callable[[PostgresConnection, list[pl.DataFrame]], None],
    ) -> None:
        noted = connection.execute(
            sql.SQL(
                "INSERT INTO {} (store, writer, batch) SELECT %s, %s, * FROM unnest(%s::text[]) ON CONFLICT DO NOTHING RETURNING batch"
            ).format(self._ledger),
            [self.name, self._request.writer, list(batches)],
        )
        fresh = {batch for (batch,) in noted.fetchall()}
        frames = [rows for batch, rows in batches.items() if batch in fresh]
        if frames:
            put(connection, frames)

    def add(self, connection: PostgresConnection, frames: list[pl.DataFrame]) -> None:
        """Add rows to those of their keys."""
        by = self._request.merged_by
        changes = [(name, _added(name, aggregate, self._name, self._kinds[name])) for name, aggregate in by.items()]
        self.insert(connection, merge_rows(self._request, frames), changes)

    def replace(self, connection: PostgresConnection, frame: pl.DataFrame) -> None:
        """Insert rows, each of a key of its own, in place of those that have their keys; of a table without keys, beside them."""
        others = [name for name in self._request.columns if name not in self._request.keys]
        self.insert(connection, frame, [(name, sql.SQL("excluded.{}").format(sql.Identifier(name))) for name in others])

    def insert(
        self, connection: PostgresConnection, frame: pl.DataFrame, changes: Sequence[tuple[str, sql.Composed]]
    ) -> None:
        """Insert rows, each of a key of its own; where there is one of its key, that one's columns become these."""
        self._copy(connection, frame)
        text = sql.SQL("INSERT INTO {} ({}) SELECT * FROM {}").format(self._name, self._columns, _ROWS)
        if self._request.keys:  # in one order, so that nobody waits for who waits for him
            text += sql.SQL(" ORDER BY {} ON CONFLICT ({}) DO ").format(self._keys, self._keys)
            made = [sql.SQL("{} = {}").format(sql.Identifier(name), value) for name, value in changes]
            text += sql.SQL("UPDATE SET ") + sql.SQL(", ").join(made) if made else sql.SQL("NOTHING")
        connection.execute(text)
        connection.execute(sql.SQL("TRUNCATE {}").format(_ROWS))

    def delete(self, connection: PostgresConnection, frame: pl.DataFrame) -> None:
        """Delete the rows that have these keys."""
        self._copy(connection, frame)
        same = [
            sql.SQL("{}.{k} = {}.{k}").format(self._name, _ROWS, k=sql.Identifier(key)) for key in self._request.keys
        ]
        connection.execute(
            sql.SQL("DELETE FROM {} USING {} WHERE {}").format(self._name, _ROWS, sql.SQL(" AND ").join(same))
        )
        connection.execute(sql.SQL("TRUNCATE {}").format(_ROWS))

    def _copy(self, connection: PostgresConnection, frame: pl.DataFrame) -> None:
        binary = [
            (pl.lit("\\x") + pl.col(name).bin.encode("hex")).alias(name)
            for name, kind in self._request.columns.items()
            if kind == pl.Binary
        ]
        rows = frame.select(list(self._request.columns)).with_columns(binary)
        text = sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(_ROWS)
        with connection.cursor() as cursor, cursor.copy(text) as copy:
            copy.write(rows.write_csv(include_header=False, quote_style="non_numeric"))

    def _forget_most(self, connection: PostgresConnection) -> None:
        """Forget the oldest batches of this writer."""
        connection.execute(
            sql.SQL(
                "DELETE FROM {t} WHERE store = %(s)s AND writer = %(w)s AND place <= (SELECT place FROM {t} WHERE store = %(s)s "
                "AND writer = %(w)s ORDER BY place DESC OFFSET %(n)s LIMIT 1)"
            ).format(t=self._ledger),
            {"s": self.name, "w": self._request.writer, "n": REMEMBERED},
        )

    def _forget_old(self, connection: PostgresConnection) -> None:
        """Forget what runs of long ago have written."""
        connection.execute(
            sql.SQL(
                "DELETE FROM {} WHERE store = %s AND writer <> %s AND at < now() - make_interval(days => %s)"
            ).format(self._ledger),
            [self.name, _NOTE, LEDGER_DAYS],
        )

    def close(self) -> None:
        """Let go of the connection."""
        self._server.close()


def _added(name: str, aggregate: str, table: sql.Identifier, kind: str) -> sql.Composed:
    """What becomes of a column; texts go by their bytes, as in SQL here."""
    collated = ' COLLATE "C"' if kind == "text" else ""
    old, new = (sql.SQL("{}.{}").format(whose, sql.Identifier(name)) for whose in (table, sql.SQL("excluded")))
    return sql.SQL(_ADDED[aggregate]).format(old=old + sql.SQL(collated), new=new)

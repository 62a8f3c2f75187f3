"""A connection that is made again when it breaks, and what the server's errors mean."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import errors

from ouzel.connectors.options import TableOptions, resolve_secrets
from ouzel.errors import ConnectorError

AWAY = (psycopg.OperationalError, psycopg.InterfaceError)
"""Errors of the server and not of a statement. Many of them do not pass: a row that no index can hold, a disk that is full."""

AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
"""Errors of a transaction that need not come again."""

_PASSING = frozenset({"53300", "55006", "55P03", "57P01", "57P02", "57P03", "57P05"})
"""Those that pass, by SQLSTATE: too many connections, something is locked, the server stops or starts."""

_BROKEN = "08"
"""How the SQLSTATE of a broken connection begins."""

_CANCELLED_MOST = 10
"""So often in a row a transaction may run into `statement_timeout`, or be cancelled, before that is told of."""

_PORT = 5432
_PAUSE_S = 0.1
_SECRETS = {"tls.ca.path": "sslrootcert", "tls.cert.path": "sslcert", "tls.key.path": "sslkey"}

PostgresConnection = psycopg.Connection[tuple[Any, ...]]
_Answer = TypeVar("_Answer")


class PostgresServer:
    """Where the database is, and how to greet it; messages name host, port and database, and no secret.

    `prepare` is called with each new connection, inside a transaction. `application` is the name that the server's views show.
    """

    def __init__(
        self,
        options: TableOptions,
        directory: Path,
        prepare: Callable[[PostgresConnection], None],
        application: str = "ouzel",
    ) -> None:
        url = urlsplit(options.text("url"))
        database, password = unquote(url.path.strip("/")), options.get("password")
        self.name = f"{url.hostname}:{url.port or _PORT}/{database}"
        self._prepare = prepare
        self._connection: PostgresConnection | None = None
        self._arguments: dict[str, Any] = {
            "host": url.hostname,
            "port": url.port or _PORT,
            "dbname": database,
            "user": options.get("username") or url.username,
            "password": resolve_secrets("password", password) if password else None,
            "sslmode": options.text("tls.mode"),
            "connect_timeout": max(2, ceil(options.integer("connect.timeout.ms") / 1000)),  # libpq takes no less
            "application_name": application,
            "options": "-c timezone=UTC",
            **{name: str(directory / path) for option, name in _SECRETS.items() if (path := options.get(option))},
        }

    def greet(self) -> None:
        """See that it answers.

        Raises:
            ConnectorError: it does not, or does not let us in.
        """
        try:
            self._connected()
        except psycopg.Error as error:
            if not _passes(error):
                raise self.error(error) from None
            reason = _one_line(error)
            raise ConnectorError(f"no PostgreSQL server lets us in at {self.name}: {reason}; is 'url' right?") from None

    def run(self, work: Callable[[PostgresConnection], _Answer]) -> _Answer:
        """What comes of the work, done in one transaction that is safe on disk; it is done again as often as the connection breaks.

        Raises:
            ConnectorError: the server refuses it.
        """
        cancelled = 0
        while True:
            try:
                connection = self._connected()
                with connection.transaction():
                    return work(connection)
            except AGAIN:
                continue
            except errors.QueryCanceled as error:
                cancelled += 1
                if cancelled == _CANCELLED_MOST:
                    raise self.error(error) from None
            except psycopg.Error as error:
                if not _passes(error):
                    raise self.error(error) from None
                self.close()
                time.sleep(_PAUSE_S)

    def _connected(self) -> PostgresConnection:
        if self._connection is None or self._connection.closed:
            made = psycopg.connect(**self._arguments, autocommit=True)
            try:
                with made.transaction():
                    self._prepare(made)
            except BaseException:
                made.close()
                raise
            self._connection = made
        return self._connection

    def error(self, error: Exception) -> ConnectorError:
        """The error in words, with the server's address."""
        missing = isinstance(error, errors.UndefinedTable)
        advice = "; make it, or write 'create' = 'true'" if missing else ""
        return ConnectorError(f"PostgreSQL at {self.name}: {_one_line(error)}{advice}")

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _passes(error: psycopg.Error) -> bool:
    """Whether the error is gone when the server is back. What has no SQLSTATE the connection says, and not the server."""
    state = error.sqlstate
    return isinstance(error, AWAY) and (state is None or state in _PASSING or state.startswith(_BROKEN))


def _one_line(error: Exception) -> str:
    told = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join((told or str(error)).split()).rstrip(".")

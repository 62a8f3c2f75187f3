"""postgres: tables of a PostgreSQL server that are written: new rows, rows by key, or rows that are added up."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from ouzel.connectors.base import Connector, Option, SinkDelivery, Writers, Writes, always
from ouzel.connectors.file.ledger import REMEMBERED
from ouzel.connectors.keyed import LEDGER_DAYS, MERGE_OPTION, merged_columns
from ouzel.errors import QueryError


def _check(options: Mapping[str, str]) -> None:
    url = options.get("url", "")
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("postgresql", "postgres") or not parts.hostname or parts.port == 0 or parts.query
    except ValueError:
        wrong = True
    if not wrong and parts.password is not None:
        raise QueryError("'url' cannot hold a password", instead="write 'password' = '${env:NAME}'")
    if wrong or not parts.path.strip("/"):
        raise QueryError(f"'url' cannot be '{url}'", instead="write 'postgresql://host:5432/database'")
    if options.get("tls.mode", "prefer") == "disable" and any(name.endswith(".path") for name in options):
        raise QueryError("certificates have no effect with 'tls.mode' = 'disable'", instead="leave one of them out")
    merged_columns(options)


CONNECTOR = Connector(
    "postgres",
    "A table of a PostgreSQL server (13 or newer), which is written and not read. It takes new rows, upserts and deletions by PRIMARY KEY, "
    "or, with `merge`, rows that are added to those of their keys. Each flush is one transaction, in which the ids of its batches are "
    "noted in the table `added.table`: so a batch that comes again after a crash is not written twice. The last "
    f"{REMEMBERED:,} of each task are remembered, for {LEDGER_DAYS} days. Each task has one connection. While the server is away "
    "writing waits. A column that would round or cut what it is given is refused.",
    (
        Option("url", "The server and its database, `postgresql://host:5432/database`; without a password.", required=True),
        Option("table", "The table, `counts` or `schema.counts`; names are taken as they are written.", required=True),
        Option("username", "Who writes; by default as in the URL, else who runs the query."),
        Option("password", "As `${env:NAME}` or `${file:/path}`.", secret=True),
        Option(
            "tls.mode",
            "Whether the connection is encrypted, and the server's certificate looked at; see PostgreSQL's `sslmode`.",
            "prefer",
            choices=("disable", "prefer", "require", "verify-ca", "verify-full"),
        ),
        Option("tls.ca.path", "The certificates to trust."),
        Option("tls.cert.path", "The client's certificate, if the server asks for one."),
        Option("tls.key.path", "Its private key."),
        Option("key.fields", "The columns by which rows are replaced, separated by commas; by default the PRIMARY KEY."),
        MERGE_OPTION,
        Option(
            "create",
            "Whether the table is made if it is not there, with the PRIMARY KEY of the query's table.",
            "false",
            kind="boolean",
        ),
        Option("added.table", "Where the ids of batches are noted; it is made if it is not there.", "ouzel_added"),
        Option(
            "epochs.table",
            "Where epochs are noted that are written [effectively once](delivery.md#effectively-once); it is made if it is not there.",
            "ouzel_epochs",
        ),
        Option("connect.timeout.ms", "How long to wait for a server that does not answer.", "5000", kind="integer"),
    ),
    writes=Writes(
        "ouzel.connectors.postgres.sink:open_postgres", ("append", "upsert", "merge"), Writers.MANY, SinkDelivery.IDEMPOTENT,
        replaces=always, merged=merged_columns, publisher="ouzel.connectors.postgres.publisher:PostgresPublisher",
    ),
    extra="postgres",
    check=_check,
    subject="table",
    keyed="ouzel.connectors.postgres.table:PostgresTable",
)  # fmt: skip

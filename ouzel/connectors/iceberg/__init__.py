"""iceberg: tables of Apache Iceberg, read at a snapshot, followed snapshot by snapshot, and appended to."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.connectors.base import Alias, Connector, Option, SinkDelivery, Writers, Writes
from ouzel.connectors.versioned import COMMITTING, FOLLOWING, check_reading, is_followed, reads_versions
from ouzel.errors import QueryError

CATALOG = "catalog.uri"
SQLITE = "sqlite:///"
ONE_FILE = ".metadata.json"
"""How the name of a file ends that says all of a table as it was once."""


def _check(options: Mapping[str, str]) -> None:
    if ("path" in options) == (CATALOG in options):
        there = "both are" if "path" in options else "neither is"
        raise QueryError(
            f"a table of Iceberg is named by 'path', or by '{CATALOG}' and 'table', and here {there}",
            instead=f"write '{CATALOG}' = '{SQLITE}catalog.db', 'table' = 'namespace.name' for one in a catalog; 'path' = its folder for "
            "one without",
        )
    _check_path(options) if "path" in options else _check_catalog(options)
    check_reading(options, "snapshot.id")
    if "schema.id" in options and "snapshot.id" not in options:
        raise QueryError("'schema.id' is of the snapshot that is read, and none is named", instead="add 'snapshot.id'")


def _check_path(options: Mapping[str, str]) -> None:
    path = options["path"]
    if "://" in path:
        raise QueryError(
            f"'path' cannot be '{path}': tables of Iceberg are read in folders of this machine or of a shared file system",
            instead="mount the bucket, and name the folder",
        )
    of_catalog = sorted({"table", "catalog.name", "catalog.warehouse"} & options.keys())
    if of_catalog:
        raise QueryError(
            f"'{of_catalog[0]}' is of a table in a catalog, and this one is named by its 'path'", instead="leave it out"
        )
    if path.endswith(ONE_FILE) and is_followed(options):
        raise QueryError(
            f"'follow' waits for new snapshots, and '{path}' says for ever what the table was when it was written",
            instead=f"name the table by '{CATALOG}' and 'table', or by its folder if that has a version-hint.text",
        )


def _check_catalog(options: Mapping[str, str]) -> None:
    if not options[CATALOG].startswith(SQLITE):
        raise QueryError(
            f"'{CATALOG}' cannot be '{options[CATALOG]}': of Iceberg's catalogs only SQL ones in a file of SQLite are supported; those of "
            "REST, Hive and Glue mostly have tables in object stores, which Ouzel does not read",
            instead=f"write '{SQLITE}catalog.db', or read the table by its 'path'",
        )
    namespace, _, name = options.get("table", "").rpartition(".")
    if not namespace or not name:
        raise QueryError(
            f"'table' says which of the catalog's tables it is, and is '{options.get('table', '')}'",
            instead="write 'table' = 'namespace.name'",
        )


def _refuse_writing(options: Mapping[str, str]) -> str:
    if "path" in options:
        return (
            "a folder of Iceberg has nobody who decides between two that commit to it at once; name the table by "
            f"'{CATALOG}' and 'table'"
        )
    return ""


CONNECTOR = Connector(
    "iceberg",
    "A table of Apache Iceberg, in a SQL catalog in a file of SQLite (`catalog.uri`, `table`), or in a folder (`path`), which is only"
    " read. Its files are Parquet, in folders of this machine or of a shared file system. As a source it is read at one snapshot, or "
    "at the one of a time; a table that declares no columns, or `*` for them, finds both its columns and its newest snapshot when the"
    " query is planned. Columns are found by Iceberg's field ids, so files that were written before a column was renamed are read as "
    "they should be. With `follow` the rows of each later snapshot of the branch `main` follow. A partition is a data file, "
    "`<snapshot>:<file>`, and its offsets are rows: so a replay reads the same rows. A snapshot that deletes or rewrites rows ends "
    "the following with the reason; one that only moves rows, as rewrite_data_files does, is passed over. Tables with delete files or"
    " deletion vectors are not read: rewrite them first. As a sink it takes new rows: each flush is a snapshot of its own; "
    "[effectively once](delivery.md#effectively-once) each epoch is one, its number is kept in the table's properties, and a writer "
    "that another has taken over from cannot commit. Spark reads and writes it by Ouzel's connector, and needs no jars. [Tables of "
    "Iceberg](iceberg.md) says what is read and what is not.",
    (
        Option(
            "path",
            "Source: the table's folder, which has a `metadata/version-hint.text`, or one of its files that end with `.metadata.json`; "
            "relative to the SQL file.",
        ),
        Option(
            CATALOG,
            "The catalog's file, `sqlite:///catalog.db`, relative to the SQL file; `sqlite:////` for a path from the root on. A sink makes "
            "it if it is not there.",
        ),
        Option("table", "The table in the catalog, `namespace.name`. A sink makes both if they are not there."),
        Option("catalog.name", "The name that the catalog goes by in its file.", "default"),
        Option(
            "catalog.warehouse",
            "Sink: the folder in which the folder of a table that is made is, `<namespace>/<name>`; by default the catalog's.",
        ),
        Option(
            "snapshot.id",
            "Source: the snapshot to read, and to follow from; 0 is the table before its first one.",
            kind="integer",
            aliases=(Alias("snapshot-id"),),
        ),
        Option(
            "schema.id",
            "Source: by which of the table's schemas columns are named; by default the snapshot's. It is another after a column was "
            "renamed, for that makes no snapshot.",
            kind="integer",
        ),
        Option(
            "timestamp",
            "Source: read the snapshot that was the newest at that time, which lies behind the last one's no longer.",
            kind="timestamp",
        ),
        *FOLLOWING,
        Option(
            "partition.by", "Sink: columns, separated by commas, by whose values a table that is made is partitioned."
        ),
        *COMMITTING,
    ),
    reads_versions(
        "ouzel.connectors.iceberg.source:IcebergSource",
        infer="ouzel.connectors.iceberg.snapshots:infer_snapshot",
        refuses="ouzel.connectors.iceberg.snapshots:refuse_snapshot",
    ),
    Writes(
        "ouzel.connectors.iceberg.sink:IcebergSink",
        ("append",),
        Writers.MANY,
        SinkDelivery.AT_LEAST_ONCE,
        publisher="ouzel.connectors.iceberg.publisher:IcebergPublisher",
        refuses=_refuse_writing,
    ),
    extra="iceberg",
    check=_check,
    subject="path",
)
